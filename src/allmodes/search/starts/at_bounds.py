"""Starts at the bounds: basins of optima there may hardly reach into the box."""

from __future__ import annotations

import numpy as np

from allmodes.search.candidate import AT_BOUNDS, Start
from allmodes.search.context import Context


def draw(context: Context, n: int) -> list[Start]:
    """n starts with one or more coordinates at a bound; random ones if there is no bound."""
    box, rng = context.box, context.rng
    points = rng.random((n, box.d))
    is_held = rng.random((n, box.d)) < rng.random((n, 1))
    is_held[np.arange(n), rng.integers(box.d, size=n)] = True
    ends = np.where(rng.random((n, box.d)) < rng.random((n, 1)), box.lower_unit, box.upper_unit)  # all small, or large
    return [Start(point, AT_BOUNDS) for point in np.where(is_held & np.isfinite(ends), ends, points)]
