"""Where local searches went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import warn_renamed
from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Paths:
    """Points that local searches moved through, one path after the other. Of many searches only some are kept.

    Attributes:
        searches: how many there were.
        numbers: of the local search that each point belongs to, (n,), from 0 in the order in which they began.
        points: (n, D), in the user's coordinates.
        values: of the user's function there, (n,).

    >>> paths = Paths(2, np.array([0, 0, 1]), np.array([[0.0], [1.0], [5.0]]), np.zeros(3))
    >>> [path.tolist() for path in paths]
    [[[0.0], [1.0]], [[5.0]]]
    """

    searches: int = 0
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    points: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    values: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def launches(self) -> int:
        """The old name of `searches`."""
        warn_renamed("Paths.launches", "Paths.searches")
        return self.searches

    @property
    def of_launch(self) -> dict[int, Floats]:
        """The old name of `by_search`."""
        warn_renamed("Paths.of_launch", "Paths.by_search")
        return self.by_search

    @property
    def by_search(self) -> dict[int, Floats]:
        """The path (n_i, D) of every local search that is kept, by its number."""
        starts = np.flatnonzero(np.diff(self.numbers, prepend=-1))
        parts = np.split(self.points, starts[1:])
        return {int(self.numbers[i]): part for i, part in zip(starts, parts, strict=False)}

    def __iter__(self) -> Iterator[Floats]:
        return iter(self.by_search.values())

    def __len__(self) -> int:
        return int((np.diff(self.numbers, prepend=-1) != 0).sum())

    def __repr__(self) -> str:
        return f"Paths of {len(self)} of {self.searches} local searches, {len(self.points)} points"
