"""Evaluated points that wait to be starts, first those that beat their neighbours: the one queue of the search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import embed
from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_MOST_POINTS = 2**17  # kept; the oldest are forgotten, since memory must not grow with the number of evaluations
_NEIGHBOURS_UP_TO = 5  # dimensions: in higher ones a handful of neighbours says nothing about a point


@stored
@dataclass
class Queue:
    """Points with values, and which of them were starts already.

    Attributes:
        points, values: (n, d) and (n,).
        is_used: (n,).
        forgotten: how many points are not kept any more.
    """

    box: Box
    points: Array = field(init=False)
    values: Array = field(default_factory=lambda: np.zeros(0))
    is_used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    forgotten: int = 0

    def __post_init__(self) -> None:
        self.points = np.zeros((0, self.box.d))

    def __len__(self) -> int:
        return len(self.values)

    def add(self, points: Array, values: Array) -> None:
        """Points (n, d) that were evaluated; failures are left out. Numbers of points change only here."""
        is_fine = np.isfinite(values)
        self.points = np.concatenate([self.points, points[is_fine]])
        self.values = np.append(self.values, values[is_fine])
        self.is_used = np.append(self.is_used, np.zeros(int(is_fine.sum()), np.bool_))
        excess = len(self) - _MOST_POINTS
        if excess > 0:
            self.points, self.values, self.is_used = self.points[excess:], self.values[excess:], self.is_used[excess:]
            self.forgotten += excess

    def use(self, numbers: Indices | int) -> None:
        """These points are starts now."""
        self.is_used[numbers] = True

    def local_bests(self, modes: Array | None = None, heights: Array | None = None, neighbours: int = 0) -> Indices:
        """Numbers of the unused points that are better than their nearest neighbours, best first.

        Modes (k, d) with these heights (k,) count as neighbours, too. In many dimensions every unused point is listed,
        unless it is said how many neighbours to look at.
        """
        chosen, d = np.flatnonzero(~self.is_used), self.box.d
        points, values = self.points, self.values
        if modes is not None and heights is not None:
            points, values = np.concatenate([points, modes]), np.append(values, heights)
        count = min(neighbours or (2 * d + 2 if d <= _NEIGHBOURS_UP_TO else 0), len(values) - 1)
        if count > 0 and len(chosen):
            from scipy.spatial import KDTree  # late: importing it takes a while

            places = embed(self.box, points)
            near = KDTree(places).query(places[chosen], k=[*range(1, count + 2)])[1]
            chosen = chosen[~(values[near] > values[chosen, None]).any(axis=1)]
        return chosen[np.argsort(-values[chosen], kind="stable")]
