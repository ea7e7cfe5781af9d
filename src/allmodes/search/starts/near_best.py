"""Starts around the best mode: where a function has ripples on a broad slope, the next better mode is not far."""

from __future__ import annotations

import numpy as np

from allmodes.search.candidate import NEAR_BEST, Start
from allmodes.search.context import Context
from allmodes.search.starts.tuning import TUNING


def draw(context: Context, n: int) -> list[Start]:
    """n starts at distances of all orders of magnitude from the best mode: the spacing of ripples is not known."""
    box, rng, archive = context.box, context.rng, context.archive
    steps = np.exp(rng.uniform(np.log(context.tolerances.near), np.log(TUNING.farthest), (n, 1)))
    points = box.reflect(archive.means[int(archive.values.argmax())] + steps * rng.standard_normal((n, box.d)))
    return [Start(point, NEAR_BEST, float(step)) for point, (step,) in zip(points, steps, strict=True)]
