"""Starts made of known modes, for functions with some symmetry: a + b - c of three, or coordinates of two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import BETWEEN_MODES, Start
from allmodes.search.context import Context
from allmodes.search.starts.tuning import TUNING

Array = NDArray[np.float64]

FEWEST = 3  # modes: sums of two lie on the line through both, which leaves little to try


def mix(context: Context, modes: Array, n: int) -> Array:
    """At most n points (n, d) made of modes (J, d), inside the box and none of them a known mode."""
    rng, box = context.rng, context.box
    if len(modes) < FEWEST:
        return np.zeros((0, box.d))
    tries = TUNING.tries * n
    a, b, c = modes[rng.integers(len(modes), size=(3, tries))]
    is_sum = rng.random((tries, 1)) < 0.5
    crossed = np.where(rng.random((tries, box.d)) < 0.5, a, b)
    points = np.where(is_sum, a + box.difference(b, c), crossed)
    points = box.project(points[box.inside(points)])
    is_new = context.archive.nearest(points)[1] > context.tolerances.near
    return points[is_new][:n]


def draw(context: Context, n: int) -> list[Start]:
    """At most n starts made of the modes that count."""
    modes = context.archive.means[context.counted]
    return [Start(point, BETWEEN_MODES) for point in mix(context, modes, n)]
