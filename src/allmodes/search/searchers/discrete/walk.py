"""From a point to a better neighbour, and so on until none is better: spaces without real coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


@stored
@dataclass(eq=False)
class Walk:
    """A walk uphill. It ends where no neighbour is better, or where an earlier walk has been, which costs nothing.

    Equal neighbours are followed: a plateau is an optimum, one for all its points, if nothing beside it is better.

    Args:
        start: (m,), where it begins.
        is_fresh: whether that was drawn at random.

    Attributes:
        path: points that it passed, as rows of the nodes.
        level: points of equal value found at its end; `at`, those of them whose neighbours are known.
        around: neighbours of the current point, in the order in which they are evaluated.
        leap: a point farther on in the direction that was good last.
        mode: a known mode that it ended in; -1 for none.
        is_over, is_optimum: whether it has ended, and in an optimum (`is_cut`: of a plateau not seen as a whole).
    """

    start: Levels
    is_fresh: bool
    path: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    at: int = 0
    around: Levels = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    leap: Levels | None = None
    mode: int = -1
    is_over: bool = False
    is_optimum: bool = False
    is_cut: bool = False

    @property
    def row(self) -> int:
        """Where it stands."""
        return self.path[-1]

    def height(self, nodes: Nodes) -> float:
        """The value where it stands."""
        return float(nodes.values[self.row]) if self.path else -np.inf

    def ask(self, context: Context, space: Space, nodes: Nodes) -> Levels:
        """Combinations (n, m) whose values it wants to know; none if it has ended."""
        if not self.path:
            row = nodes.find(self.start)
            if row < 0:
                return self.start[None]
            self._enter(row, context, space, nodes)
        while not self.is_over:
            value = nodes.values[self.row]
            if nodes.modes[self.row] >= 0 or not np.isfinite(value):
                self.mode, self.is_over = int(nodes.modes[self.row]), True
                break
            wanted = self._look(context, space, nodes, float(value))
            if len(wanted):
                return wanted
        return np.zeros((0, space.counts.size), np.int64)

    def _enter(self, row: int, context: Context, space: Space, nodes: Nodes) -> None:
        before = nodes.levels[self.row] if self.path else None
        self.path.append(row)
        self.level, self.at = [row], 0
        here = nodes.levels[row]
        self.leap = None if before is None else space.leap(here, before)
        self._turn_to(here, context, space)

    def _turn_to(self, levels: Levels, context: Context, space: Space) -> None:
        """Look at the neighbours of a point next, in random order."""
        around = space.neighbours(levels)
        self.around = around[context.rng.permutation(len(around))]

    def _look(self, context: Context, space: Space, nodes: Nodes, value: float) -> Levels:
        """Go on to a better neighbour that is known, or along a plateau, or say which neighbours are not known."""
        around = self.around
        rows = nodes.find_all(around if self.leap is None else np.concatenate([around, self.leap[None]]))
        known = rows[rows >= 0]
        values = nodes.values[known]
        error = context.tolerances.misread(value)
        if len(known) and values.max() > value + error:
            self._enter(int(known[values.argmax()]), context, space, nodes)
            return around[:0]
        is_far = self.leap is not None and rows[-1] < 0
        unknown = around[rows[: len(around)] < 0]
        if len(unknown):
            first = unknown[: max(2, round(TUNING.share_looked * len(around)))]
            return first if not is_far else np.concatenate([self.leap[None], first])  # type: ignore[index]
        is_beside = rows[: len(around)]
        self._follow(is_beside[nodes.values[is_beside] >= value - error].tolist(), nodes)
        self.at += 1
        if self.at == len(self.level) or self.is_over:
            self.is_over, self.is_optimum = True, self.mode < 0
        else:
            self._turn_to(nodes.levels[self.level[self.at]], context, space)
        return around[:0]

    def _follow(self, equal: list[int], nodes: Nodes) -> None:
        """Add points to the plateau, or end in the mode that they belong to."""
        for row in equal:
            if nodes.modes[row] >= 0:
                self.mode, self.is_over = int(nodes.modes[row]), True
            elif row not in self.level:
                if len(self.level) < TUNING.most_level:
                    self.level.append(row)
                else:
                    self.is_cut = True
