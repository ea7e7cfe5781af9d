"""Points that walks have reached: their values, and the modes that they led to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


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
        self.levels, self.reals = np.zeros((1, self.m), np.int64), np.zeros((1, self.r))
        self.values, self.modes = np.zeros(1), np.full(1, -1)

    def __len__(self) -> int:
        return self.number

    @property
    def _rows(self) -> dict[bytes, list[int]]:
        """By levels, also right after loading."""
        if self.number and not self.rows:
            for row, key in enumerate(_keys(self.levels[: self.number])):
                self.rows.setdefault(key, []).append(row)
        return self.rows

    @property
    def known(self) -> tuple[Levels, Array]:
        """Levels (n, m) and values (n,)."""
        return self.levels[: self.number], self.values[: self.number]

    def find(self, levels: Levels) -> int:
        """The first with these levels, -1 if there is none."""
        found = self._rows.get(levels.tobytes())
        return -1 if found is None else found[0]

    def find_all(self, levels: Levels) -> NDArray[np.intp]:
        """The first with each of these levels (n, m), -1 where there is none."""
        get = self._rows.get
        found = map(get, _keys(levels))
        return np.array([-1 if rows is None else rows[0] for rows in found], dtype=np.intp)

    def nearest(self, levels: Levels, reals: Array) -> tuple[int, float]:
        """Of those with these levels from which a mode is known, the one closest to these real coordinates.

        With its distance, in the coordinate in which it differs most; -1 and infinity if there is none.
        """
        rows = np.array([row for row in self._rows.get(levels.tobytes(), ()) if self.modes[row] >= 0], dtype=np.intp)
        if not len(rows):
            return -1, np.inf
        apart = np.abs(self.reals[rows] - reals).max(axis=1, initial=0.0)
        return int(rows[apart.argmin()]), float(apart.min())

    def add(self, levels: Levels, reals: Array, value: float) -> int:
        """Add one; returns its row."""
        return self.add_all(levels[None], reals[None], np.array([value]))

    def add_all(self, levels: Levels, reals: Array, values: Array) -> int:
        """Add several (n, m), (n, r), (n,); returns the row of the first."""
        first, rows = self.number, self._rows
        self.number += len(values)
        while self.number > len(self.values):
            for name in ("levels", "reals", "values", "modes"):
                part = getattr(self, name)
                setattr(self, name, np.concatenate([part, np.full_like(part, -1)]))
        new = slice(first, self.number)
        self.levels[new], self.reals[new], self.values[new], self.modes[new] = levels, reals, values, -1
        for row, key in enumerate(_keys(levels), first):
            rows.setdefault(key, []).append(row)
        return first

    def lead(self, rows: list[int], mode: int) -> None:
        """Walks from there end in this mode."""
        self.modes[rows] = mode


def _keys(levels: Levels) -> list[bytes]:
    """The keys by which combinations (n, m) are looked up."""
    data, size = np.ascontiguousarray(levels).tobytes(), 8 * levels.shape[1]
    return [data[i : i + size] for i in range(0, len(data), size)]
