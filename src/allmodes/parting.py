"""Parts places whose ends are on several hills, by what lies between two ends of a place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.grouping import STOPS, Groups, group
from allmodes.objective.bounds import Box
from allmodes.search.verify.same_mode import SHARES, is_one_hill, points_between

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_TIGHT = 0.1  # radii: ends closer than this to the best of their place are there
_FINER = 0.1  # of the radius: with which a place on several hills is grouped again


def parted(
    box: Box, units: Array, losses: Array, groups: Groups, radius: float, values_at: Callable[[Array], Array], most: int
) -> tuple[Groups, int]:
    """The groups, with those on several hills parted, and how many evaluations that took, at most `most`.

    Between the best end and the farthest of each place the function is evaluated; it is one hill if it is nowhere
    worse than the worse of them. In a bent valley it may be, and one place becomes several: they are followed, and
    prove to be one.

    Args:
        units: ends (m, d), with losses (m,).
        values_at: losses at points (n, d).
    """
    leaders, members = _farthest(box, units, groups, _TIGHT * radius)
    keep = most // len(SHARES)
    leaders, members = leaders[:keep], members[:keep]
    if not len(leaders):
        return groups, 0
    points = points_between(box, units[leaders], units[members])
    between = -values_at(points.reshape(-1, box.d)).reshape(points.shape[:2])
    slack = STOPS * np.maximum(np.abs(losses[members]), 1.0)
    apart = leaders[~is_one_hill(-losses[members], between, slack)]
    found, joined = groups.leaders.copy(), groups.joined.copy()
    for leader in apart:
        rows = np.flatnonzero(groups.leaders == leader)
        found[rows] = rows[group(units[rows], losses[rows], _FINER * radius, box.periodic_unit).leaders]
        joined[rows] = found[rows]
    return Groups(found, joined, groups.chained), points.shape[0] * points.shape[1]


def _farthest(box: Box, units: Array, groups: Groups, least: float) -> tuple[Indices, Indices]:
    """The leaders of groups that are wider than that, those of most ends first, and the farthest end of each."""
    apart = np.abs(box.difference(units, units[groups.leaders])).max(axis=1)
    order = np.lexsort((apart, groups.leaders))
    leaders, counts = np.unique(groups.leaders, return_counts=True)
    last = order[np.cumsum(counts) - 1]
    wide = np.flatnonzero(apart[last] > least)
    wide = wide[np.argsort(-counts[wide], kind="stable")]
    return leaders[wide], last[wide]
