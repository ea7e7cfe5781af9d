"""Rows of running searches: one row of a few wide arrays for each, with named columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Origin
from allmodes.search.events import SearchEvent

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
_Entries = TypeVar("_Entries", bound=np.generic)


class Outcome(NamedTuple):
    """What became of searches that were moved on; all others wait to be asked about.

    Attributes:
        ended: rows of those that are over, with what there is to say.
        handed: rows of those that go on with the other machine.
    """

    ended: list[tuple[int, SearchEvent]]
    handed: list[int]


class Column(Generic[_Entries]):
    """Some columns of one of a table's arrays, as an array of its own with d^power entries a row.

    The array is a view, made when it is first looked at: what is written into it is in the table.
    """

    def __init__(self, array: str, power: int = 0) -> None:
        self.array, self.power = array, power
        self.places: dict[int, Any] = {}  # by dimension

    def __set_name__(self, owner: type[Table], name: str) -> None:
        self.name = name
        columns = columns_of(owner, self.array)
        self.before = [column.power for column in columns[: columns.index(self)]]

    def __get__(self, table: Table, owner: type[Table]) -> NDArray[_Entries]:
        d = table.d
        places = self.places.get(d)
        if places is None:
            first = sum(d**power for power in self.before)
            places = self.places[d] = slice(first, first + d**self.power) if self.power else first
        view = getattr(table, self.array)[:, places]
        if self.power == 2:
            view = view.reshape(-1, d, d)
        table.__dict__[self.name] = view
        return view


def columns_of(owner: type[Table], array: str) -> list[Column[Any]]:
    """The columns of one of a table's arrays, in their order: those of `Table` first."""
    parts = [part for cls in reversed(owner.__mro__) for part in vars(cls).values() if isinstance(part, Column)]
    return [part for part in parts if part.array == array]


@dataclass(eq=False)
class Table:
    """State of running searches. A search keeps its row until it is over; then another may get it.

    Concrete tables list what else there is about a search as columns of `numbers`, `counts` or `flags`.

    Attributes:
        d: dimensions.
        rows: those in use, in the order of `path`; `unused`, the others.
        origins: of each row, as they were when the search was put here.
        point, value, gradient: where each search is, and what is known there.
        trial: where it wants to be evaluated.
        came_from, old_gradient: the point before.
        path: its number among all searches, the order in which they move.
        cost: evaluations so far.
        phase: what it waits for, as the value of its machine's enumeration.
        is_asked: whether it is in flight.
        is_awaited: whether the verifier waits for its end: it is not stopped early.
    """

    d: int
    numbers: Array = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    flags: NDArray[np.bool_] = field(init=False)
    origins: list[Origin | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    unused: list[int] = field(default_factory=list)

    point = Column[np.float64]("numbers", 1)
    trial = Column[np.float64]("numbers", 1)
    came_from = Column[np.float64]("numbers", 1)
    old_gradient = Column[np.float64]("numbers", 1)
    value = Column[np.float64]("numbers")
    gradient = Column[np.float64]("numbers", 1)
    path = Column[np.int64]("counts")
    cost = Column[np.int64]("counts")
    phase = Column[np.int64]("counts")
    is_asked = Column[np.bool_]("flags")
    is_awaited = Column[np.bool_]("flags")

    def __post_init__(self) -> None:
        kind, d = type(self), self.d
        self.numbers = np.zeros((0, sum(d**column.power for column in columns_of(kind, "numbers"))))
        self.counts = np.zeros((0, len(columns_of(kind, "counts"))), np.int64)
        self.flags = np.zeros((0, len(columns_of(kind, "flags"))), np.bool_)

    def __len__(self) -> int:
        return len(self.rows)

    def open(self, points: Array, origins: list[Origin], paths: list[int]) -> Rows:
        """Rows of searches that go on at points (n, d); everything else about them is 0, and their value unknown."""
        n = len(points)
        if len(self.unused) < n:
            self._grow(n - len(self.unused))
        chosen, self.unused = self.unused[:n], self.unused[n:]
        rows = np.array(chosen, dtype=np.intp)
        for array in (self.numbers, self.counts, self.flags):
            array[rows] = 0
        self.value[rows] = -np.inf
        self.point[rows] = self.trial[rows] = self.came_from[rows] = points
        self.path[rows], self.cost[rows] = paths, [origin.cost for origin in origins]
        self.is_awaited[rows] = [origin.question >= 0 for origin in origins]
        for k, origin in zip(chosen, origins, strict=True):
            self.origins[k] = origin
        self.rows = self.in_order(np.array(self.rows + chosen, dtype=np.intp)).tolist()
        return rows

    def close(self, gone: set[int]) -> None:
        """These searches are over."""
        self.rows = [k for k in self.rows if k not in gone]
        self.unused = sorted(gone) + self.unused
        for k in gone:
            self.origins[k] = None

    def idle(self) -> Rows:
        """Rows that are not in flight, in order."""
        rows = np.array(self.rows, dtype=np.intp)
        return rows[~self.is_asked[rows]]

    def in_order(self, rows: Rows) -> Rows:
        """Rows in the order of their paths."""
        return rows[self.path[rows].argsort(kind="stable")]

    def origin(self, k: int) -> Origin:
        """Of a search in use, with what it has cost so far."""
        origin = self.origins[k]
        assert origin is not None
        return origin._replace(cost=int(self.cost[k]))

    def _grow(self, missing: int) -> None:
        """At least so many more rows; the views are made anew."""
        size = len(self.numbers)
        more = max(missing, size)
        self.unused += range(size, size + more)
        self.origins += [None] * more
        self.numbers, self.counts, self.flags = (_longer(a, more) for a in (self.numbers, self.counts, self.flags))
        for array in ("numbers", "counts", "flags"):
            for column in columns_of(type(self), array):
                self.__dict__.pop(column.name, None)


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([array, np.zeros((more, array.shape[1]), array.dtype)])
