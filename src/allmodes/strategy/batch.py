"""The launches that are under way: one row of every array for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Phase(IntEnum):
    """What a launch waits for."""

    START = 0  # everything at its start
    STEP = 1  # the value at its trial point, with derivatives if there are any
    SLOPE = 2  # difference points for the gradient at the point it has moved to
    CURVE = 3  # difference points for the curvature where it has arrived
    FINAL = 4  # the value at the last Newton step
    FLAT = 5  # values along directions in which the curvature vanishes
    FAR = 6  # values farther along directions that are level as far as was seen
    VALLEY = 7  # values on the way to a mode that is close
    CHECK = 8  # values along the direction that is curved least: a crease is none of a top
    # where the function is not smooth:
    LINE = 9  # the value at its trial point, with the gradient if there is one
    TILT = 10  # difference points for the gradient at the point it has moved to
    WAY = 11  # values on the way to a mode that is close
    PROBE = 12  # values around the point where it has arrived
    MOVE = 13  # everything at the point it is put to
    NUDGE = 14  # the value at the top of a parabola along a crease


_Entries = TypeVar("_Entries", bound=np.generic)


class _Part(Generic[_Entries]):
    """Some columns of a table of the batch, as an array of its own with d^power entries a row.

    The array is a view, made when it is first looked at: what is written into it is in the table.
    """

    def __init__(self, table: str, power: int = 0) -> None:
        self.table, self.power = table, power
        self.columns: dict[int, Any] = {}  # by dimension

    def __set_name__(self, owner: type[Batch], name: str) -> None:
        self.name = name
        parts = _parts_of(owner, self.table)
        self.before = [part.power for part in parts[: parts.index(self)]]

    def __get__(self, batch: Batch, owner: type[Batch]) -> NDArray[_Entries]:
        d, table = batch.d, getattr(batch, self.table)
        columns = self.columns.get(d)
        if columns is None:
            first = sum(d**power for power in self.before)
            columns = self.columns[d] = slice(first, first + d**self.power) if self.power else first
        view = table[:, columns]
        if self.power == 2:
            view = view.reshape(-1, d, d)
        batch.__dict__[self.name] = view
        return view


def _parts_of(owner: type[Batch], table: str) -> list[_Part[Any]]:
    return [part for part in vars(owner).values() if isinstance(part, _Part) and part.table == table]


@stored
@dataclass
class Batch:
    """State of launches, one row each. A launch keeps its row until it is over; then another may get it.

    Attributes:
        d: dimensions.
        rows: those in use, in the order of launching; `unused`, the others.
        numbers, counts, flags: everything about the launches, in the columns that the parts below name.
        point, value, gradient, hessian: where each is and its quadratic model there; the Hessian is a guess unless
            `is_measured`.
        radius: of the trust region.
        trial: where it wants to go.
        came_from, old_gradient: the point before, while the gradient at the new one is awaited.
        distance: to the top of the last model; `shrinkage`, by how much it had shrunk then.
        phase: what it waits for.
        arm: the kind of start, a number; -1 in rows that are not in use.
        picked: the mode it was launched near, or -1.
        rival: the mode that it may turn out to be, or -1.
        iterations, cost: steps and evaluations so far.
        kind: what it has been seen to be, as a number of settling.KINDS.
        seen: modes known when it was last compared with them.
        number: how many were launched before it.
        measurements: how often its curvature was measured.
        is_measured: whether the Hessian was measured nearby rather than guessed.
        is_doubtful: whether probes say that it is curved, along a direction that is known only nearly.
        refusals: trial points in a row that were no better.
        is_kinked, stage, tries, looks, small: where the function is not smooth, whether it has seen that, what it does
            about it, points on lines, tops it looked at, and short steps in a row.
        way, slope, base, length, low, high: the line that it searches then: direction, slope and value where it begins,
            length of the next step, and those known to be too short and too long, in units of the direction;
            `is_steepest`, whether it is the steepest way.
        steep: the slope where it met the first kink; `home`, `home_value`, `curve`, a top, and how curved it seems;
            `drop` and `aside`, how much lower and how far away it was put, in one of the directions `sides`; `returns`,
            how often it came back.
        is_bridge: whether it was launched to see if two level points are connected; then `along` is the direction from
            one to the other, in which it does not move.
    """

    d: int
    numbers: Array
    counts: NDArray[np.int64]
    flags: NDArray[np.bool_]
    rows: list[int] = field(default_factory=list)
    unused: list[int] = field(default_factory=list)
    launched: int = 0

    value = _Part[np.float64]("numbers")
    gradient = _Part[np.float64]("numbers", 1)
    hessian = _Part[np.float64]("numbers", 2)
    point = _Part[np.float64]("numbers", 1)
    trial = _Part[np.float64]("numbers", 1)
    came_from = _Part[np.float64]("numbers", 1)
    old_gradient = _Part[np.float64]("numbers", 1)
    along = _Part[np.float64]("numbers", 1)
    radius = _Part[np.float64]("numbers")
    distance = _Part[np.float64]("numbers")
    shrinkage = _Part[np.float64]("numbers")
    way = _Part[np.float64]("numbers", 1)
    home = _Part[np.float64]("numbers", 1)
    curve = _Part[np.float64]("numbers", 2)
    sides = _Part[np.float64]("numbers", 2)
    slope = _Part[np.float64]("numbers")
    base = _Part[np.float64]("numbers")
    length = _Part[np.float64]("numbers")
    low = _Part[np.float64]("numbers")
    high = _Part[np.float64]("numbers")
    steep = _Part[np.float64]("numbers")
    home_value = _Part[np.float64]("numbers")
    drop = _Part[np.float64]("numbers")
    aside = _Part[np.float64]("numbers")
    phase = _Part[np.int64]("counts")
    arm = _Part[np.int64]("counts")
    picked = _Part[np.int64]("counts")
    rival = _Part[np.int64]("counts")
    iterations = _Part[np.int64]("counts")
    cost = _Part[np.int64]("counts")
    kind = _Part[np.int64]("counts")
    seen = _Part[np.int64]("counts")
    number = _Part[np.int64]("counts")
    measurements = _Part[np.int64]("counts")
    refusals = _Part[np.int64]("counts")
    stage = _Part[np.int64]("counts")
    tries = _Part[np.int64]("counts")
    looks = _Part[np.int64]("counts")
    returns = _Part[np.int64]("counts")
    small = _Part[np.int64]("counts")
    is_measured = _Part[np.bool_]("flags")
    is_kinked = _Part[np.bool_]("flags")
    is_steepest = _Part[np.bool_]("flags")
    is_doubtful = _Part[np.bool_]("flags")
    is_bridge = _Part[np.bool_]("flags")

    @staticmethod
    def empty(d: int) -> Batch:
        """No launch yet."""
        width = sum(d**part.power for part in _parts_of(Batch, "numbers"))
        whole, flags = (len(_parts_of(Batch, table)) for table in ("counts", "flags"))
        return Batch(d, np.zeros((0, width)), np.zeros((0, whole), np.int64), np.zeros((0, flags), np.bool_))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def model(self) -> Array:
        """Value, gradient and Hessian, in one row (n, 1 + d + d^2)."""
        return self.numbers[:, : 1 + self.d + self.d**2]

    def open(self, points: Array, radius: Array, arm: NDArray[np.int64], picked: NDArray[np.int64]) -> Rows:
        """Launches about to begin at points (n, d); their rows."""
        n = len(points)
        if len(self.unused) < n:
            self._grow(n - len(self.unused))
        chosen, self.unused = self.unused[:n], self.unused[n:]
        rows = np.array(chosen, dtype=np.intp)
        self.rows += chosen
        for table in (self.numbers, self.counts, self.flags):
            table[rows] = 0  # Phase.START is 0
        self.value[rows] = -np.inf
        self.point[rows] = self.trial[rows] = self.came_from[rows] = points
        self.radius[rows], self.arm[rows], self.picked[rows], self.rival[rows] = radius, arm, picked, -1
        self.number[rows] = np.arange(self.launched, self.launched + n)
        self.launched += n
        return rows

    def close(self, gone: set[int]) -> None:
        """These launches are over."""
        self.rows = [k for k in self.rows if k not in gone]
        self.unused = sorted(gone) + self.unused
        self.arm[list(gone)] = -1

    def in_order(self, rows: Rows) -> Rows:
        """Rows in the order of launching."""
        return rows[self.number[rows].argsort()]

    def _grow(self, missing: int) -> None:
        """At least so many more rows."""
        size = len(self.numbers)
        more = max(missing, size)
        self.unused += range(size, size + more)
        for name in ("numbers", "counts", "flags"):
            table = getattr(self, name)
            setattr(self, name, np.concatenate([table, np.zeros((more, table.shape[1]), table.dtype)]))
        for part in [name for name in self.__dict__ if isinstance(vars(Batch).get(name), _Part)]:
            del self.__dict__[part]  # views of the smaller tables
        self.arm[size:] = -1
