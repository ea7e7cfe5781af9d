"""The levels of discrete coordinates as whole numbers from 0: neighbours, random points, places in the box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


@stored
@dataclass(frozen=True, eq=False)
class Space:
    """The discrete part of a box.

    Args:
        places: (m,), the discrete coordinates among those of the box; `reals`, (r,), the others.
        counts: (m,), how many levels each has.
        is_ordered: (m,), whether neighbours are one level apart; otherwise all levels are neighbours.
        exchanged: (p, 2), pairs of entries with the same levels, whose exchange makes a neighbour, too.
    """

    places: NDArray[np.intp]
    reals: NDArray[np.intp]
    counts: Levels
    is_ordered: NDArray[np.bool_]
    exchanged: NDArray[np.intp]

    @staticmethod
    def of(box: Box, swaps: bool = False) -> Space:
        """That of a box with discrete coordinates."""
        places = np.array([place for place, _ in box.levels], dtype=np.intp)
        counts = np.array([grid.count for _, grid in box.levels], dtype=np.int64)
        is_ordered = np.array([grid.is_ordered for _, grid in box.levels], dtype=np.bool_)
        grids = [grid for _, grid in box.levels] if swaps else []
        pairs = [(i, j) for j in range(len(grids)) for i in range(j) if grids[i].is_like(grids[j])]
        exchanged = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        return Space(places, np.flatnonzero(box.is_real), counts, is_ordered, exchanged)

    @property
    def size(self) -> int:
        """How many combinations of levels there are."""
        return math.prod(self.counts.tolist())

    @property
    def is_mixed(self) -> bool:
        """Whether there are real coordinates, too."""
        return len(self.reals) > 0

    def units(self, levels: Levels, reals: Array) -> Array:
        """Points (n, d) of the unit box, from levels (n, m) and real coordinates (n, r)."""
        points = np.empty((len(levels), len(self.places) + len(self.reals)))
        points[:, self.places] = levels / (self.counts - 1)
        points[:, self.reals] = reals
        return points

    def split(self, points: Array) -> tuple[Levels, Array]:
        """Levels (n, m) and real coordinates (n, r) of points (n, d) of the unit box."""
        levels = np.rint(points[:, self.places] * (self.counts - 1)).astype(np.int64)
        return levels, points[:, self.reals]

    def numbers(self, levels: Levels) -> Levels:
        """The numbers (n,) of combinations (n, m), the last coordinate running first."""
        return np.ravel_multi_index(tuple(levels.T), tuple(self.counts.tolist()))

    def numbered(self, numbers: Levels) -> Levels:
        """The combinations (n, m) with these numbers (n,)."""
        return np.stack(np.unravel_index(numbers, tuple(self.counts.tolist())), axis=1).astype(np.int64)

    @cached_property
    def _changes(self) -> tuple[NDArray[np.intp], Levels]:
        """Every change of one entry, at the bounds too: which entry, and by how many levels."""
        steps = [
            (-1, 1) if is_ordered else range(1, count)
            for count, is_ordered in zip(self.counts.tolist(), self.is_ordered.tolist(), strict=True)
        ]
        places = np.repeat(np.arange(len(steps)), [len(each) for each in steps])
        return places, np.concatenate([np.array(each, dtype=np.int64) for each in steps])

    def neighbours(self, levels: Levels) -> Levels:
        """All combinations (n, m) that are one small change away from one (m,)."""
        places, steps = self._changes
        there = levels[places] + steps
        there = np.where(self.is_ordered[places], there, there % self.counts[places])
        is_inside = (there >= 0) & (there < self.counts[places])
        found = np.repeat(levels[None], int(is_inside.sum()), axis=0)
        found[np.arange(len(found)), places[is_inside]] = there[is_inside]
        return np.concatenate([found, self._swapped(levels)]) if len(self.exchanged) else found

    def _swapped(self, levels: Levels) -> Levels:
        first, second = self.exchanged[levels[self.exchanged[:, 0]] != levels[self.exchanged[:, 1]]].T
        found = np.repeat(levels[None], len(first), axis=0)
        rows = np.arange(len(first))
        found[rows, first], found[rows, second] = levels[second], levels[first]
        return found

    def leap(self, levels: Levels, before: Levels) -> Levels | None:
        """Twice as far as the last change, in the same direction; None where that leads nowhere new."""
        step = np.where(self.is_ordered, levels - before, 0)
        there = np.clip(levels + 2 * step, 0, self.counts - 1)
        return None if (np.abs(there - levels) <= 1).all() else there

    def random(self, rng: np.random.Generator, n: int) -> Levels:
        """Combinations (n, m), each equally likely."""
        return rng.integers(0, self.counts, (n, len(self.counts)))

    def kicked(self, rng: np.random.Generator, levels: Levels) -> Levels:
        """A combination with a few entries changed, at least two where there are as many."""
        m = len(levels)
        most = max(min(2, m), round(TUNING.kick * m))
        chosen = rng.choice(m, min(m, int(rng.integers(min(2, m), most + 1))), replace=False)
        found = levels.copy()
        for i in chosen.tolist():
            count = int(self.counts[i])
            if self.is_ordered[i] and count > 2:
                size = round((count / 4.0) ** rng.random())  # of all orders: near ones keep what was good of others
                step = max(1, size) * (1 if rng.random() < 0.5 else -1)
                found[i] = np.clip(found[i] + step, 0, count - 1)
            else:
                found[i] = (found[i] + rng.integers(1, count)) % count
        return found


def changes_in_words(box: Box, space: Space) -> list[str]:
    """What small changes there are."""
    grids = [grid for _, grid in box.levels]
    kinds = {
        "change of one whole number by one": any(grid.is_ordered and grid.sizes is None for grid in grids),
        "step of one size to the next": any(grid.sizes is not None for grid in grids),
        "other choice": any(not grid.is_ordered for grid in grids),
        "exchange of two": len(space.exchanged) > 0,
    }
    return [words for words, is_there in kinds.items() if is_there]


def no_change_in_words(box: Box, space: Space) -> str:
    """That no small change does something."""
    *others, last = [f"no {each}" for each in changes_in_words(box, space)]
    return f"{', '.join(others)} and {last}" if others else last
