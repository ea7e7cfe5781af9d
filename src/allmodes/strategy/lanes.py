"""Rounds of launches that are under way at the same time."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]
Block: TypeAlias = tuple[int, NDArray[np.intp], Array]  # phase, rows of launches, points (n, points each, d)

_MANY = 8  # launches under way from which they are asked about in turns


def lanes(width: int) -> int:
    """In how many rounds launches are asked about in turns, when so many are under way.

    A point that takes long holds up its own round and those after it, but not the one that is under way already. What
    one round finds the other does not know yet: that costs 1 to 3 % more evaluations, and rounds of half the size
    cost more of the solver's own time.
    """
    return 2 if width >= _MANY else 1


@stored
class Flight(NamedTuple):
    """A round that is not told: what launches want to know, or points (n, d) to screen."""

    ticket: int
    blocks: list[Block]
    screened: Array | None = None

    @property
    def rows(self) -> list[int]:
        """The launches that wait for it."""
        return [k for _, rows, _ in self.blocks for k in rows.tolist()]
