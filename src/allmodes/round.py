"""The points of one round: asked for, handed out, told in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.objective import VALUE, Needs
from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.strategy import Request

Array = NDArray[np.float64]


@stored
@dataclass
class Round:
    """Points of one round and what is known of them so far.

    Attributes:
        units, points: in the solver's and in the user's coordinates.
        needs: derivatives wanted.
        value, gradient, hessian: what was told, in the user's sign and coordinates.
        is_handed, is_known: for each point whether it was handed out, and told.
        is_free: which were known before the search, and are no evaluations.
        last: numbers of the points handed out last; all that are not told when none were.
        is_whole: False when the budget cut the round short.
        is_passed: whether the strategy has seen it.
        cost: evaluations of the function for each point.
        others: points (n, D) and values (n,) that were told without being asked for.
    """

    units: Array
    points: Array
    needs: Needs
    value: Array
    gradient: Array | None
    hessian: Array | None
    is_handed: NDArray[np.bool_]
    is_known: NDArray[np.bool_]
    is_whole: bool = True
    is_passed: bool = False
    cost: int = 1
    others: list[tuple[Array, float]] = field(default_factory=list)
    is_free: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    last: NDArray[np.intp] | None = field(default=None, metadata={"stored": False})

    @staticmethod
    def of(box: Box, request: Request, most: int) -> Round:
        """The round of a request, at most so many points."""
        units = request.points[:most]
        N, D = len(units), box.D
        nothing = np.zeros(N, bool)
        return Round(
            units, box.to_user(units), request.needs, np.full(N, np.nan),
            np.full((N, D), np.nan) if "gradient" in request.needs else None,
            np.full((N, D, D), np.nan) if "hessian" in request.needs else None,
            nothing, nothing.copy(), len(request.points) <= most, N == 0, is_free=nothing.copy(),
        )  # fmt: skip

    @staticmethod
    def empty(box: Box) -> Round:
        """A round that is over."""
        return Round.of(box, Request(np.zeros((0, box.d)), VALUE), 0)

    @property
    def is_told(self) -> bool:
        return bool(self.is_known.all())

    def hand_out(self, n: int | None) -> Array:
        """At most n points not handed out yet; those not told yet when there are no others."""
        waiting = np.flatnonzero(~self.is_handed & ~self.is_known)
        if not len(waiting):
            waiting = np.flatnonzero(~self.is_known)
        if n is not None:
            waiting = waiting[: whole_number("n", n, 1)]
        self.is_handed[waiting] = True
        self.last = waiting
        return self.points[waiting]

    @property
    def pending(self) -> NDArray[np.intp]:
        """Numbers of the points that were evaluated and that the strategy has not seen."""
        return np.flatnonzero(self.is_known & ~self.is_free & (not self.is_passed))

    def fill(
        self, value: Array, gradient: Array | None, hessian: Array | None, rows: NDArray[np.intp] | None = None
    ) -> None:
        """The points handed out last, in their order, or some of these by their numbers there."""
        last = np.flatnonzero(~self.is_known) if self.last is None else self.last
        rows = last if rows is None else last[rows]
        if len(rows) == len(self.value):
            self.value, self.gradient, self.hessian = value, gradient, hessian
        else:
            for own, told in ((self.value, value), (self.gradient, gradient), (self.hessian, hessian)):
                if own is not None:
                    own[rows] = told
        self.is_known[rows] = True

    def fill_free(self, is_free: NDArray[np.bool_], values: Array) -> None:
        """Values that were known before the search."""
        self.is_free, self.is_known = is_free, is_free.copy()
        self.value[is_free] = values[is_free]

    def take(self, x: Array, value: Array, gradient: Array | None, hessian: Array | None) -> None:
        """Points in any order; those that were not asked for are kept apart. Refused as a whole or taken as a whole."""
        for own, told in ((self.gradient, gradient), (self.hessian, hessian)):
            if own is not None and told is None and len(x):
                raise ValueError(_MISSING)
        places: dict[bytes, list[int]] = {}
        for i in np.flatnonzero(~self.is_known)[::-1]:
            places.setdefault(self.points[i].tobytes(), []).append(int(i))
        for row, point in enumerate(x):
            waiting = places.get(point.tobytes())
            if not waiting:
                self.others.append((point, float(value[row])))
                continue
            i = waiting.pop()
            self.value[i], self.is_known[i] = value[row], True
            for own, told in ((self.gradient, gradient), (self.hessian, hessian)):
                if own is not None and told is not None:
                    own[i] = told[row]

    def drain(self) -> tuple[Array, Array] | None:
        """Points and values that nobody asked for, once."""
        if not self.others:
            return None
        points = np.array([point for point, _ in self.others])
        values = np.array([value for _, value in self.others])
        self.others = []
        return points, values


_MISSING = (
    "tell got no derivatives for a point at which they are wanted; pass gradients= (and hessians=), or make the finder "
    "without jac=True and hess=True."
)


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
