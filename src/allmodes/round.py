"""The points of one round: asked for, handed out, told in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation, Needs
from allmodes.objective.bounds import Box
from allmodes.search.searcher import Request
from allmodes.storage import stored

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@stored
@dataclass
class Round:
    """Points of one round and what is known of them so far.

    Attributes:
        number: of the round in its search; `ticket`, what the search calls it.
        units, points: in the solver's and in the user's coordinates.
        needs: derivatives wanted.
        value, gradient, hessian: what was told, in the user's sign and coordinates.
        is_handed, is_known: for each point whether it was handed out, and told.
        is_free: which were known before the round and do not count as evaluations.
        left: how many are not told.
        is_begun: whether any was handed out or told.
        cost: evaluations of the function for each point.
        held: how many, at the end, the budget does not allow: they wait until it is raised.
        out: numbers of the points handed out to be told by row.
        is_twin: for each point whether it waits for the same one elsewhere in flight, which is handed out in its place;
            None if none does.
        since: how many evaluations were known when points were last handed out to whoever asks for fresh ones, and how
            many these got.
    """

    number: int
    ticket: int
    units: Array
    points: Array
    needs: Needs
    value: Array
    gradient: Array | None
    hessian: Array | None
    is_handed: NDArray[np.bool_]
    is_known: NDArray[np.bool_]
    is_free: NDArray[np.bool_]
    left: int
    is_begun: bool = False
    cost: int = 1
    held: int = 0
    out: Rows | None = field(default=None, metadata={"stored": False})
    is_twin: NDArray[np.bool_] | None = None
    since: tuple[int, int] | None = field(default=None, metadata={"stored": False})

    @staticmethod
    def of(box: Box, request: Request, number: int = 0, cost: int = 1) -> Round:
        """The round of a request."""
        units = request.points
        N, D = len(units), box.D
        return Round(
            number, request.ticket, units, box.to_user(units), request.needs, _unknown(N),
            _unknown(N, D) if "gradient" in request.needs else None,
            _unknown(N, D, D) if "hessian" in request.needs else None,
            np.zeros(N, np.bool_), np.zeros(N, np.bool_), np.zeros(N, np.bool_), N, cost=cost,
        )  # fmt: skip

    @property
    def is_told(self) -> bool:
        return self.left == 0

    @property
    def allowed(self) -> int:
        """How many points, from the first, the budget allows."""
        return len(self.points) - self.held

    @property
    def reserved(self) -> int:
        """Evaluations that the points which the budget allows cost, told or not."""
        return self.cost * (self.allowed - int(np.count_nonzero(self.is_free[: self.allowed])))

    def allow(self, evaluations: int) -> None:
        """Hold back what costs more than so many evaluations."""
        costs = (~self.is_free).cumsum() * self.cost
        self.held = len(costs) - int(costs.searchsorted(evaluations, side="right"))

    @property
    def waiting(self) -> Rows:
        """Numbers of the points that were neither handed out nor told, and that the budget allows."""
        if not self.is_begun and self.left == len(self.points):
            return np.arange(self.allowed)
        return (~(self.is_handed | self.is_known)[: self.allowed]).nonzero()[0]

    @property
    def unknown(self) -> Rows:
        """Numbers of the points that are not told, and that the budget allows."""
        return (~self.is_known[: self.allowed]).nonzero()[0]

    @property
    def pending(self) -> Rows:
        """Numbers of the points that were evaluated and that the search has not seen."""
        return (self.is_known & ~self.is_free).nonzero()[0]

    def hand_out(self, rows: Rows) -> Array:
        """These points."""
        self.is_handed[rows] = self.is_begun = True
        return self.points[rows]

    def pair(self, row: int) -> None:
        """A point is not handed out: it will be known with its twin."""
        self.is_twin = np.zeros(len(self.points), np.bool_) if self.is_twin is None else self.is_twin
        self.is_twin[row] = self.is_handed[row] = self.is_begun = True

    def has_twin(self, row: int) -> bool:
        """Whether a point waits for the same one elsewhere."""
        return self.is_twin is not None and bool(self.is_twin[row])

    @property
    def handed(self) -> Rows:
        """Numbers of the points that are out, without those that wait for the same point elsewhere."""
        is_out = self.is_handed & ~self.is_known
        return (is_out if self.is_twin is None else is_out & ~self.is_twin).nonzero()[0]

    def give_up(self) -> None:
        """Points that are out count as failed."""
        N, D = len(self.handed), self.points.shape[1]
        self.fill(self.handed, _unknown(N), _unknown(N, D), _unknown(N, D, D))

    def fill_twin(self, row: int, value: Array, gradient: Array | None, hessian: Array | None) -> None:
        """The twin of a point was told: this one costs nothing."""
        if self.has_twin(row):
            self.is_free[row] = True
            self.fill(np.array([row]), value, gradient, hessian)

    def told(self, row: int) -> tuple[Any, Any, Any]:
        """What was told of a point."""
        parts = (self.value, self.gradient, self.hessian)
        return parts[0][row], *(None if part is None else part[row] for part in parts[1:])

    def fill(self, rows: Rows | None, value: Array, gradient: Array | None, hessian: Array | None) -> None:
        """Results at some points, in this order, or at all (None)."""
        if rows is None:
            self.value, self.gradient, self.hessian = value, gradient, hessian
            self.is_known[:] = self.is_begun = True
            self.left = 0
            return
        for own, told in ((self.value, value), (self.gradient, gradient), (self.hessian, hessian)):
            if own is not None:
                own[rows] = told
        self.is_known[rows] = self.is_begun = True
        self.left = len(self.points) - int(self.is_known.sum())

    def fill_free(self, is_free: NDArray[np.bool_], evaluation: Evaluation) -> None:
        """What was known of some points before the round; NaN in the evaluation for the others."""
        own = (self.value, self.gradient, self.hessian)
        for mine, known in zip(own, evaluation, strict=True):
            if mine is not None and known is not None:
                mine[is_free] = known[is_free]
        self.is_free = self.is_free | is_free
        self.is_known = self.is_known | is_free
        self.left = len(is_free) - int(self.is_known.sum())


def _unknown(*shape: int) -> Array:
    numbers = np.empty(shape)
    numbers.fill(np.nan)
    return numbers


def checked_told(box: Box, x: Any, values: Any, gradients: Any, hessians: Any) -> tuple[Array, Array, Any, Any]:
    """What a user tells, as arrays of matching shapes."""
    x = np.atleast_2d(_numbers("x", x, "points (n, D)"))
    if x.ndim != 2 or x.shape[1] != box.D:
        raise ValueError(f"x has shape {x.shape}; wanted (n, {box.D}), one row per point.")
    given: list[Any] = [x]
    wanted = (("values", values, ()), ("gradients", gradients, (box.D,)), ("hessians", hessians, (box.D, box.D)))
    for name, told, shape in wanted:
        if told is None:
            if name == "values":
                raise ValueError(f"values is None; wanted ({len(x)},), NaN where the function failed.")
            given.append(told)
            continue
        array = _numbers(name, told, f"{(len(x), *shape)}")
        if array.shape != (len(x), *shape):
            if array.size != len(x) * int(np.prod(shape)):
                raise ValueError(f"{name} has shape {array.shape}; wanted {(len(x), *shape)} for {len(x)} points.")
            array = array.reshape(len(x), *shape)
        given.append(array)
    return given[0], given[1], given[2], given[3]


def _numbers(name: str, given: Any, wanted: str) -> Array:
    """Real numbers, finite or not, as float64."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers ({error}); wanted {wanted}.") from error
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers were wanted, {wanted}.")
    return array.astype(np.float64)
