"""Starts in new places: they fill the box evenly, whatever is known, unless the user gave draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allmodes.search.starts.drawn import Drawn
from allmodes.storage import stored

if TYPE_CHECKING:
    from allmodes.search.context import Context

Array = NDArray[np.float64]

_BLOCK = 512  # points made at once


@stored
@dataclass
class SpaceFilling:
    """Scrambled Sobol points: a seed, how many were drawn, and those that are made and not drawn yet."""

    d: int
    seed: int
    drawn: int = 0
    block: Array = field(init=False)

    def __post_init__(self) -> None:
        self.block = np.zeros((0, self.d))

    def draw(self, n: int) -> Array:
        """The next n points (n, d), in [0, 1)^d."""
        while len(self.block) < n:
            self.block = np.concatenate([self.block, self._make(self.drawn + len(self.block))])
        points, self.block = self.block[:n], self.block[n:]
        self.drawn += n
        return points

    def _make(self, place: int) -> Array:
        """The block that begins at a place of the sequence."""
        from scipy.stats import qmc  # late: it is half of what importing the package would take

        engine = qmc.Sobol(self.d, seed=np.random.default_rng(self.seed))
        if place:
            engine.fast_forward(place)
        return np.asarray(engine.random(_BLOCK))


def places(context: Context) -> SpaceFilling | Drawn:
    """Where searches from new places begin: draws that the user gave, or points that fill the box."""
    if context.drawn is not None:
        return context.drawn
    return SpaceFilling(context.box.d, int(context.rng.integers(2**31)))
