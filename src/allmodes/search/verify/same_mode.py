"""Are two points on one hill? The only test there is of what lies between two points.

Straight: if the function falls below both ends somewhere between, they are two. What a straight line cannot show,
because the hill is bent, `comparison.LevelPath` looks for.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored

Array = NDArray[np.float64]

SHARES = np.arange(1, 6) / 6.0  # of the line from one to the other, where the function is evaluated
_SURE = 3.0  # standard errors by which a noisy function falls between two hills


@stored
class Relation(IntEnum):
    """What is known of two points."""

    UNDECIDED = 0
    ONE = 1
    TWO = 2


def points_between(box: Box, start: Array, end: Array) -> Array:
    """Points (..., 5, d) on the straight line between points (..., d), inside the bounds."""
    way = box.difference(end, start)
    return box.project(start[..., None, :] + SHARES[:, None] * way[..., None, :])


def compare(lower: Array | float, between: Array, slack: Array | float = 0.0) -> NDArray[np.intp]:
    """The relation (...) of pairs, by the lower value of both ends (...) and values between (..., n).

    The function may fall below the lower end by `slack` (...), which is what rounding or a bent ridge explain.
    """
    limit = np.asarray(lower) - slack
    is_one = (between >= limit[..., None]).all(axis=-1)
    return np.where(is_one, int(Relation.ONE), int(Relation.TWO))


def compare_noisy(lower: float, between: Array, errors: Array, is_enough: bool) -> Relation:
    """The same by means of repeated values, with the standard errors (n,) of their differences from the lower end.

    Two when the function surely falls; one when it was looked at often enough and that was never seen.
    """
    if (lower - between > _SURE * errors).any():
        return Relation.TWO
    return Relation.ONE if is_enough else Relation.UNDECIDED
