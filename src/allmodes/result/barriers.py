"""What lies between modes: the lowest ways from one to another that are known, and the tree that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.result.mode import point_text
from allmodes.storage import stored

_SHOWN = 20  # modes in the text
_ROUNDING = 1e-9  # of the worst barrier: values less than this are 0
_NOTHING = 1e-5  # of the largest coordinate on a way: less is 0
_OPEN = "?"  # where no way is known

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Way:
    """A way from one mode to another.

    Attributes:
        modes: the ranks of both, from 1, the better one first.
        value: the worst value on the way: the highest on one between minima, the lowest on one between maxima.
        x: where that is, (D,): the pass.
        is_saddle: whether the pass is a saddle: stationary, and an optimum in all directions but that of the way.
            Otherwise it is the worst point that was seen on the way, and a better way may be close by.
        points: (n, D), from mode to mode; the way is straight in between, in logarithms where the search was.
    """

    modes: tuple[int, int]
    value: float
    x: Floats
    is_saddle: bool
    points: Floats

    def __repr__(self) -> str:
        kind = "a saddle" if self.is_saddle else "no saddle"
        return f"Way({self.modes[0]} to {self.modes[1]}: {self.value:.6g} at {point_text(self.x)}, {kind})"


class Merge(NamedTuple):
    """Where two groups of modes join in the tree: at a value, by a way; ranks of both, that of the best mode first."""

    value: float
    way: Way
    better: tuple[int, ...]
    worse: tuple[int, ...]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Barriers:
    """Between modes: the ways that were found, and what follows from them. Ranks are from 1, as everywhere.

    A barrier is how bad the function gets on the best way that is known; the true one cannot be worse.

    Attributes:
        values: of the modes, best first, (n,).
        maximise: whether large values are good.
        ways: all that were found, in the order of their values, best first.
        nfev, njev: points at which the function and its gradient were evaluated for them.
        is_complete: whether all that was to be tried has been tried; False if `maxfev` ended it.
    """

    values: Floats
    maximise: bool
    ways: tuple[Way, ...]
    nfev: int
    njev: int
    is_complete: bool

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """How groups of modes join as the level gets worse: the disconnectivity tree, best values first."""
        group: dict[int, tuple[int, ...]] = {rank: (rank,) for rank in range(1, len(self.values) + 1)}
        found = []
        for way in self.ways:
            better, worse = sorted((group[way.modes[0]], group[way.modes[1]]))
            if better == worse:
                continue
            found.append(Merge(way.value, way, better, worse))
            joined = (better[0], *sorted((*better[1:], *worse)))
            group.update(dict.fromkeys(joined, joined))
        return tuple(found)

    @cached_property
    def matrix(self) -> Floats:
        """The barrier between every two modes, (n, n), in the order of ranks: on the diagonal the values of the modes.

        Infinite where no way is known.
        """
        n = len(self.values)
        found = np.full((n, n), -np.inf if self.maximise else np.inf)
        np.fill_diagonal(found, self.values)
        for merge in self.merges:
            rows, columns = (np.array(ranks) - 1 for ranks in (merge.better, merge.worse))
            found[np.ix_(rows, columns)] = merge.value
            found[np.ix_(columns, rows)] = merge.value
        return found

    @cached_property
    def depths(self) -> Floats:
        """How far one must climb from each mode to get to a better one, (n,); infinite for the best.

        Of maxima how far down one must go. It is infinite, too, where no way is known.
        """
        found = np.full(len(self.values), np.inf)
        for merge in self.merges:
            found[merge.worse[0] - 1] = abs(merge.value - self.values[merge.worse[0] - 1])
        return found

    def between(self, i: int, j: int) -> float:
        """The barrier between the modes of two ranks."""
        n = len(self.values)
        for rank in (i, j):
            if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or not 1 <= rank <= n:
                raise ValueError(f"there is no mode of rank {rank!r}; wanted two ranks from 1 to {n}.")
        return float(self.matrix[i - 1, j - 1])

    def way(self, i: int, j: int) -> list[Way]:
        """The best way from mode i to mode j that is known, from mode to mode; [] if none is."""
        self.between(i, j)
        beside: dict[int, list[tuple[int, Way]]] = {}
        for merge in self.merges:
            a, b = merge.way.modes
            beside.setdefault(a, []).append((b, merge.way))
            beside.setdefault(b, []).append((a, merge.way))
        came: dict[int, tuple[int, Way] | None] = {i: None}
        waiting = [i]
        while waiting and j not in came:
            here = waiting.pop()
            for there, way in beside.get(here, []):
                if there not in came:
                    came[there] = (here, way)
                    waiting.append(there)
        found: list[Way] = []
        at = came.get(j)
        while at is not None:
            found.insert(0, at[1])
            at = came[at[0]]
        return found

    def __len__(self) -> int:
        return len(self.ways)

    def __repr__(self) -> str:
        n, joined = len(self.values), len(self.merges)
        what = "lower" if self.maximise else "climb"
        lines = [
            f"Barriers between {n} modes: {len(self.ways)} ways, {self.nfev} evaluations"
            + ("" if self.is_complete else "; ended by maxfev")
        ]
        if joined < n - 1:
            lines.append(f"{n - joined} groups of modes that no way joins")
        if n > 1:
            lines += ["", *_table(self, what)]
        return "\n".join(lines)


def _table(barriers: Barriers, what: str) -> list[str]:
    """Of each mode: the lowest way to a better one."""
    leads = {merge.worse[0]: merge for merge in barriers.merges}
    rows = [["", "value", "barrier", what, "to", "pass"]]
    highest = max((abs(merge.value) for merge in barriers.merges if np.isfinite(merge.value)), default=0.0)
    shown = np.where(np.abs(barriers.values) <= _ROUNDING * highest, 0.0, barriers.values)
    for rank, value in enumerate(shown[:_SHOWN].tolist(), 1):
        merge = leads.get(rank)
        if merge is None:
            rows.append([str(rank), f"{value:.6g}", "" if rank == 1 else _OPEN, "", "", ""])
            continue
        at = point_text(_place(merge.way)) + ("" if merge.way.is_saddle else ", no saddle")
        depth = float(barriers.depths[rank - 1])
        rows.append([str(rank), f"{value:.6g}", f"{merge.value:.6g}", f"{depth:.4g}", str(_target(merge)), at])
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = [
        "  ".join([*(entry.rjust(w) for entry, w in zip(row, widths, strict=False)), row[5]]).rstrip() for row in rows
    ]
    more = len(barriers.values) - _SHOWN
    return lines + ([f"and {more} more"] if more > 0 else [])


def _place(way: Way) -> Floats:
    """The pass, with zeros where coordinates are rounding."""
    return np.where(np.abs(way.x) <= _NOTHING * np.abs(way.points).max(axis=0), 0.0, way.x)


def _target(merge: Merge) -> int:
    """The better mode that the worse group is joined with."""
    return merge.better[0]


def ordered(ways: Sequence[Way], maximise: bool) -> tuple[Way, ...]:
    """Best values first."""
    return tuple(sorted(ways, key=lambda way: (-way.value if maximise else way.value, way.modes)))
