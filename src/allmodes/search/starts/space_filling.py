"""Starts that fill the box evenly, whatever is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

_BLOCK = 512  # points made at once


@stored
@dataclass
class SpaceFilling:
    """Scrambled Sobol points; the sequence is remembered as a seed and a position."""

    d: int
    seed: int
    drawn: int = 0
    block: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def next(self) -> Array:
        """The next point (d,), in [0, 1)^d."""
        return self.draw(1)[0]

    def draw(self, n: int) -> Array:
        """The next n points, (n, d)."""
        parts, missing = [np.zeros((0, self.d))], n
        while missing > 0:
            place = self.drawn % _BLOCK
            if place == 0:
                self.block = self._make()
            parts.append(self.block[place : place + missing])
            self.drawn += len(parts[-1])
            missing -= len(parts[-1])
        return np.concatenate(parts)

    def _make(self) -> Array:
        """The block that begins at the position."""
        from scipy.stats import qmc  # late: it is half of what importing the package would take

        engine = qmc.Sobol(self.d, seed=np.random.default_rng(self.seed))
        if self.drawn:
            engine.fast_forward(self.drawn)
        return np.asarray(engine.random(_BLOCK))
