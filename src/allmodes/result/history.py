"""How a search went: evaluations, best value, number of modes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

_ROWS = 1000  # of a history

Floats = NDArray[np.float64]


@stored
@dataclass(eq=False)
class History:
    """How a search went: one row per change of the best value or the number of modes, the first and the last state.

    When there are more than 1000, some are dropped so that the rest spread evenly over the evaluations.
    """

    rows: list[tuple[int, float, int]] = field(default_factory=list)

    def add(self, nfev: int, best: float, modes: int) -> None:
        """The state after so many evaluations."""
        if len(self.rows) > 1 and _is_same(self.rows[-1], self.rows[-2]):
            self.rows.pop()  # it was there only as the last one
        self.rows.append((int(nfev), float(best), int(modes)))
        if len(self.rows) > _ROWS:
            self._thin()

    def _thin(self) -> None:
        """Keep the first row in every cell of a grid over the evaluations: every other one would empty the beginning.

        The width of a cell is a power of two, so that each thinning merges whole cells of the one before.
        """
        first, *inner, last = self.rows
        width = 1
        while (last[0] - first[0]) // width > _ROWS // 2:
            width *= 2
        cells = {(row[0] - first[0]) // width: row for row in reversed([first, *inner])}
        self.rows = [*reversed(cells.values()), last]

    def copy(self) -> History:
        """A copy of the present state; the original may go on."""
        return History(list(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nfev(self) -> NDArray[np.int64]:
        """Evaluations made, (n,)."""
        return np.array([row[0] for row in self.rows], dtype=np.int64)

    @property
    def best(self) -> Floats:
        """Best value by then, (n,)."""
        return np.array([row[1] for row in self.rows], dtype=np.float64)

    @property
    def modes(self) -> NDArray[np.int64]:
        """Modes found by then, (n,)."""
        return np.array([row[2] for row in self.rows], dtype=np.int64)


def _is_same(a: tuple[int, float, int], b: tuple[int, float, int]) -> bool:
    return a[2] == b[2] and (a[1] == b[1] or (math.isnan(a[1]) and math.isnan(b[1])))
