"""Is a component that came to rest where the function ends an optimum of the edge? By values on all sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.geometry import clip, lengths
from allmodes.search.verify.kinks import CUSP, DISTANCES
from allmodes.search.verify.question import ByValues, NoOptimum, Optimum, Step
from allmodes.storage import stored

Array = NDArray[np.float64]

_WAYS = 16  # directions for each coordinate, and their opposites: one mostly has a third of the slope across the edge


@stored
@dataclass(frozen=True)
class AtEdge(ByValues):
    """Does the function fall, or end, in all directions?

    Across the edge it falls as at a kink. If it gets steeper towards the edge, like a square root at 0, values say
    nothing about the way along it, and the component may have come to rest anywhere: that is not verified.
    """

    optimum: Optimum

    def points(self, context: Context) -> Array:
        """Points (n, d) in random directions, each at two distances."""
        d = context.box.d
        ways = context.rng.standard_normal((_WAYS * d, d))
        ways /= lengths(ways)[:, None]
        moves = context.tolerances.near * DISTANCES[:, None, None] * np.concatenate([ways, -ways])
        return clip(context.box, self.optimum.candidate.point + moves.reshape(-1, d))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        value = self.optimum.candidate.value
        if values.max() > value + context.tolerances.tie:
            return NoOptimum("values farther along the edge are higher")
        far, close = (value - values).reshape(2, -1)
        is_known = np.isfinite(far) & np.isfinite(close)
        is_steeper = (far < CUSP * close)[is_known]
        is_cusp = context.box.d > 1 and bool(2 * is_steeper.sum() > len(is_steeper))  # by most: some only graze it
        is_at_edge = bool(np.isinf(values).any() and is_known.any()) and not is_cusp
        return self.optimum._replace(kind="boundary") if is_at_edge else self.optimum
