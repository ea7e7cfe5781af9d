"""Starts from draws of a prior: where the function is expected to matter, not evenly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective.bounds import Box
from allmodes.objective.draws_given import location
from allmodes.storage import stored

Array = NDArray[np.float64]

_JITTER = 0.5  # of the best kernel width for a density estimate: enough to tell starts apart, and blurs little


@stored
@dataclass
class Drawn:
    """Draws in a random order, each used once; after that any of them, moved slightly.

    Attributes:
        points: (n, d), in unit coordinates and in this order.
        scale: (d,), by how much they are moved, the less the more there are.
        drawn: how many starts were made of them.
    """

    box: Box
    rng: np.random.Generator
    points: Array
    scale: Array = field(init=False)
    drawn: int = 0

    def __post_init__(self) -> None:
        n, d = self.points.shape
        self.points = self.rng.permutation(self.points)
        self.scale = _JITTER * n ** (-1.0 / (d + 4)) * location(self.points)[1]

    def draw(self, n: int) -> Array:
        """The next n points (n, d)."""
        fresh = self.points[self.drawn : self.drawn + n]
        self.drawn += n
        missing, (size, d) = n - len(fresh), self.points.shape
        if not missing:
            return fresh.copy()
        again = self.points[self.rng.integers(size, size=missing)]
        moved = self.box.reflect(again + self.scale * self.rng.standard_normal((missing, d)))
        return np.concatenate([fresh, moved])

    @property
    def account(self) -> str:
        """What the user should know; empty while no draw was used more than once."""
        size = len(self.points)
        if self.drawn <= size:
            return ""
        return f"all {counted(size, 'draw')} of starts were used, and {self.drawn - size} of them again, moved a little"
