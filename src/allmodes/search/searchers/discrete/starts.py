"""Where walks begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.tuning import TUNING

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


def start(context: Context, space: Space, given: Array) -> tuple[Levels, Array, bool]:
    """Levels (m,) and real coordinates (r,) to begin at, and whether they were drawn uniformly.

    The first of the points given (n, d); otherwise beside a known mode or anywhere.
    """
    rng, archive = context.rng, context.archive
    if len(given):
        levels, reals = (part[0] for part in space.split(given[:1]))
        return levels, reals, False
    if len(archive) and rng.random() < (TUNING.kicked if context.is_global else TUNING.kicked_all):
        levels, reals = (part[0] for part in space.split(archive.means[_chosen(context)][None]))
        return space.kicked(rng, levels), reals, False
    return space.random(rng, 1)[0], rng.random(len(space.reals)), True


def _chosen(context: Context) -> int:
    """A mode to set out from: any, or one of the best where only those count."""
    archive, rng = context.archive, context.rng
    if not context.is_global:
        return int(rng.integers(len(archive)))
    order = np.argsort(-archive.values, kind="stable")
    return int(order[min(int(rng.geometric(0.5)) - 1, len(order) - 1)])
