"""Points that walks have come to: their values, and the modes that they led to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]

_FIRST = 64  # rows to begin with; doubled when they are full


@stored
@dataclass(eq=False)
class Nodes:
    """Combinations of levels with real coordinates that are optimal for them, as far as differences tell.

    Args:
        m, r: how many discrete and real coordinates there are.

    Attributes:
        levels, reals, values: (n, m), (n, r), (n,), with free rows at the end.
        modes: (n,), the mode that a walk from there ended in; -1 while it is not known.
        number: how many there are.
        rows: those with the same levels; made anew after loading.
    """

    m: int
    r: int
    levels: Levels = field(init=False)
    reals: Array = field(init=False)
    values: Array = field(init=False)
    modes: Levels = field(init=False)
    number: int = 0
    rows: dict[bytes, list[int]] = field(default_factory=dict, metadata={"stored": False})

    def __post_init__(self) -> None:
        self.levels, self.reals = np.zeros((_FIRST, self.m), np.int64), np.zeros((_FIRST, self.r))
        self.values, self.modes = np.zeros(_FIRST), np.full(_FIRST, -1)

    def __len__(self) -> int:
        return self.number

    @property
    def _rows(self) -> dict[bytes, list[int]]:
        """By levels, also right after loading."""
        if self.number and not self.rows:
            for row in range(self.number):
                self.rows.setdefault(self.levels[row].tobytes(), []).append(row)
        return self.rows

    def find(self, levels: Levels) -> int:
        """The first with these levels, -1 if there is none."""
        found = self._rows.get(levels.tobytes())
        return -1 if found is None else found[0]

    def find_all(self, levels: Levels) -> list[int]:
        """The first with each of these levels (n, m), -1 where there is none."""
        get, size = self._rows.get, 8 * self.m
        data = np.ascontiguousarray(levels).tobytes()
        found = (get(data[i : i + size]) for i in range(0, len(data), size))
        return [-1 if rows is None else rows[0] for rows in found]

    def near(self, levels: Levels, reals: Array, same: float) -> int:
        """The one with these levels whose real coordinates are no farther off than this, -1 if there is none."""
        for row in self._rows.get(levels.tobytes(), ()):
            if np.abs(self.reals[row] - reals).max(initial=0.0) < same:
                return row
        return -1

    def add(self, levels: Levels, reals: Array, value: float) -> int:
        """Another one; its row."""
        row, rows = self.number, self._rows
        if row == len(self.values):
            for name in ("levels", "reals", "values", "modes"):
                part = getattr(self, name)
                setattr(self, name, np.concatenate([part, np.full_like(part, -1)]))
        self.levels[row], self.reals[row], self.values[row], self.modes[row] = levels, reals, value, -1
        rows.setdefault(self.levels[row].tobytes(), []).append(row)
        self.number += 1
        return row

    def lead(self, rows: list[int], mode: int) -> None:
        """Walks from there end in this mode."""
        self.modes[rows] = mode
