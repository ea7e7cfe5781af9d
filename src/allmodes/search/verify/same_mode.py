"""Are two points on one hill? The one test of what lies between two points.

Straight: if the function falls below both ends somewhere between, they are two. What a straight line cannot show,
because the hill is bent, `comparison.LevelPath` looks for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box

Array = NDArray[np.float64]

SHARES = np.arange(1, 6) / 6.0  # of the line from one to the other, where the function is evaluated


def points_between(box: Box, start: Array, end: Array) -> Array:
    """Points (..., 5, d) on the straight line between points (..., d), inside the bounds."""
    line = box.difference(end, start)
    return box.project(start[..., None, :] + SHARES[:, None] * line[..., None, :])


def is_one_hill(lower: Array | float, between: Array, slack: Array | float = 0.0) -> NDArray[np.bool_]:
    """Which pairs (...) are on one hill, by the lower value of both ends (...) and values between (..., n).

    The function may fall below the lower end by `slack` (...), which is what rounding, noise or a bent ridge explain.
    """
    limit = np.asarray(lower) - slack
    return np.asarray((between >= limit[..., None]).all(axis=-1))
