"""Points, bounds and modes: who is held where, how far one can go, which mode is closest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.strategy.search import Search

Array = NDArray[np.float64]


def is_held(box: Box, point: Array, g: Array) -> NDArray[np.bool_]:
    """Coordinates (d,) at a bound that the ascent pushes against."""
    lower, upper = box.edges
    return ((point <= lower) & (g < 0.0)) | ((point >= upper) & (g > 0.0))


def room(box: Box, point: Array, directions: Array) -> Array:
    """How far one can go from a point in directions (..., d) before a bound is met, (...)."""
    ends = np.where(directions > 0.0, box.upper_unit, box.lower_unit) - point
    return np.where(directions == 0.0, np.inf, ends / np.where(directions == 0.0, 1.0, directions)).min(axis=-1)


def closest(search: Search, point: Array) -> tuple[int, float]:
    """The closest mode and the largest coordinate of the difference; wants a mode."""
    apart = np.abs(search.box.difference(search.archive.means, point)).max(axis=1)
    return int(apart.argmin()), float(apart.min())
