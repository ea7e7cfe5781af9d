"""Where launches went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Paths:
    """Points that launches moved through, one path after the other. Of many launches only some are kept.

    Attributes:
        launches: how many there were.
        numbers: of the launch that each point belongs to, (n,), from 0 in the order in which they began.
        points: (n, D), in the user's coordinates.
        values: of the user's function there, (n,).

    >>> paths = Paths(2, np.array([0, 0, 1]), np.array([[0.0], [1.0], [5.0]]), np.zeros(3))
    >>> [path.tolist() for path in paths]
    [[[0.0], [1.0]], [[5.0]]]
    """

    launches: int = 0
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    points: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    values: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def of_launch(self) -> dict[int, Floats]:
        """The path (n_i, D) of every launch that is kept, by its number."""
        starts = np.flatnonzero(np.diff(self.numbers, prepend=-1))
        parts = np.split(self.points, starts[1:])
        return {int(self.numbers[i]): part for i, part in zip(starts, parts, strict=False)}

    def __iter__(self) -> Iterator[Floats]:
        return iter(self.of_launch.values())

    def __len__(self) -> int:
        return int((np.diff(self.numbers, prepend=-1) != 0).sum())

    def __repr__(self) -> str:
        return f"Paths of {len(self)} of {self.launches} launches, {len(self.points)} points"
