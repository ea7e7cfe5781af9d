"""Parts of an objective: each calls one function of the user for a value, a gradient, a Hessian, or several."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.evaluation import Needs
from allmodes.objective.objective import BadReturnError, checked
from allmodes.objective.scales import lengths

VALUE_NAME = "value"
GRADIENT_NAME = "gradient"
HESSIAN_NAME = "hessian"
# What users call the function that returns each.
ARGUMENTS = {VALUE_NAME: "fun", GRADIENT_NAME: "jac", HESSIAN_NAME: "hess"}
_ALONE: dict[str, Needs] = {name: frozenset({name}) for name in ARGUMENTS}

_STEP = float(np.sqrt(np.finfo(np.float64).eps))  # balances rounding and curvature in a forward difference

Floats = NDArray[np.float64]


def shape_of(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a value, gradient or Hessian at points (D,) or (N, D)."""
    if name == VALUE_NAME:
        return shape[:-1]
    return shape if name == GRADIENT_NAME else (*shape, shape[-1])


def moved_inside(box: Box, points: Floats, share: float = 0.0) -> tuple[Floats, Floats]:
    """Steps (n, d) of forward differences, and points (n, D) moved by them, one free coordinate at a time (n, d, D).

    No point leaves the bounds: a step turns inward where a bound is near. Steps are short, or a share of x.
    """
    places = np.flatnonzero(box.free)
    x = points[:, places]
    size = (share or _STEP) * lengths(x, box.scale, None if box.is_log is None else box.is_log[places])
    target = x + size
    target = np.where(target > box.upper[places], x - size, target)
    target = np.clip(target, box.lower[places], box.upper[places])
    target = np.where(target == x, np.nextafter(x, np.where(x < box.upper[places], np.inf, -np.inf)), target)
    moved = np.repeat(points[:, None, :], box.d, axis=1)
    moved[:, np.arange(box.d), places] = target
    return target - x, moved


def coarse_step(rounding: float) -> float:
    """The share of a coordinate that balances rounding and curvature where values are off by such a share."""
    return float(np.sqrt(rounding))


class Counts(NamedTuple):
    """At how many points values, gradients and Hessians were computed."""

    nfev: int = 0
    njev: int = 0
    nhev: int = 0

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """self + times * other."""
        return Counts(self.nfev + times * other.nfev, self.njev + times * other.njev, self.nhev + times * other.nhev)

    @staticmethod
    @lru_cache
    def of(names: Needs) -> Counts:
        """One each of what is named."""
        return Counts(*(int(name in names) for name in ARGUMENTS))


class Part(Protocol):
    """Something that can be called for some of value, gradient and Hessian.

    Batched parts take points (N, D), others one point (D,). What they return is checked by whoever calls them.
    """

    @property
    def provides(self) -> Needs:
        """What it can be asked for."""

    @property
    def batched(self) -> bool:
        """Whether it takes points (N, D)."""

    def __call__(self, x: Floats, wanted: Needs, /) -> dict[str, Any]:
        """What is wanted at x, by name; more if it comes for free."""

    def cost(self, wanted: Needs, /) -> Counts:
        """What is counted for one point."""


@dataclass(frozen=True)
class WithArgs:
    """A function with further arguments after its point."""

    function: Callable[..., Any]
    args: tuple[Any, ...]

    def __call__(self, x: Any) -> Any:
        """The function at x."""
        return self.function(x, *self.args)


@dataclass(frozen=True)
class Given:
    """A function of the user that returns one thing."""

    name: str
    function: Callable[[Any], Any]
    batched: bool

    @property
    def provides(self) -> Needs:
        """The one thing."""
        return _ALONE[self.name]

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """What the function returns."""
        return {self.name: self.function(x)}

    def cost(self, wanted: Needs) -> Counts:
        """One of it."""
        return Counts.of(self.provides)


@dataclass(frozen=True)
class Pair:
    """A function of the user that returns (value, gradient), as with jac=True."""

    function: Callable[[Any], Any]
    batched: bool
    provides: ClassVar[Needs] = frozenset({VALUE_NAME, GRADIENT_NAME})

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """Both, whichever is wanted: the function always computes them together."""
        both = self.function(x)
        if not isinstance(both, (tuple, list)) or len(both) != 2:
            raise BadReturnError(f"fun returned {type(both).__name__}; with jac=True it must return (value, gradient).")
        return dict(zip((VALUE_NAME, GRADIENT_NAME), both, strict=True))

    def cost(self, wanted: Needs) -> Counts:
        """A call for the gradient is a call of fun as well."""
        return Counts(1, int(GRADIENT_NAME in wanted))


@dataclass(frozen=True)
class Differences:
    """Hessians from forward differences of another part's gradients; no point leaves the bounds.

    A coordinate's step turns inward where the bound is near. Fixed coordinates are not differenced: 0 in the Hessian.
    """

    part: Part
    box: Box
    step: float = 0.0  # a share of the coordinates; 0 for the one that suits functions in float64

    def coarser(self, rounding: float) -> Differences:
        """The same, of gradients that are off by such a share."""
        return replace(self, step=coarse_step(rounding))

    @property
    def provides(self) -> Needs:
        """What the other part provides, and Hessians."""
        return self.part.provides | {HESSIAN_NAME}

    @property
    def batched(self) -> bool:
        """As the other part."""
        return self.part.batched

    def cost(self, wanted: Needs) -> Counts:
        """A Hessian costs a gradient at the point and one for each free coordinate."""
        if HESSIAN_NAME not in wanted:
            return self.part.cost(wanted)
        return self.part.cost(wanted | {GRADIENT_NAME}).plus(self.part.cost(_ALONE[GRADIENT_NAME]), self.box.d)

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """The other part's result at x; with a Hessian if wanted."""
        if HESSIAN_NAME not in wanted:
            return self.part(x, wanted)
        points = x.reshape(-1, self.box.D).copy()
        found = self.part(x, (wanted | {GRADIENT_NAME}) & self.part.provides)
        found = {name: copy(result) for name, result in found.items()}  # the next call may overwrite it
        gradient = self._checked(found[GRADIENT_NAME], x.shape).reshape(points.shape)
        steps, moved = moved_inside(self.box, points, self.step)
        around = self._gradients(moved.reshape(-1, self.box.D)).reshape(moved.shape)
        places = np.flatnonzero(self.box.free)
        rows = (around - gradient[:, None, :]) / steps[:, :, None]
        hessian = np.zeros((*points.shape, self.box.D))
        hessian[:, places[:, None], places] = 0.5 * (rows[..., places] + rows[..., places].mT)
        return found | {GRADIENT_NAME: gradient.reshape(x.shape), HESSIAN_NAME: hessian.reshape(*x.shape, self.box.D)}

    def _gradients(self, points: Floats) -> Floats:
        only = _ALONE[GRADIENT_NAME]
        if self.batched and len(points):
            return self._checked(self.part(points, only)[GRADIENT_NAME], points.shape)
        shape = points.shape[1:]
        rows = np.empty(points.shape)
        for n, point in enumerate(points):
            rows[n] = self._checked(self.part(point, only)[GRADIENT_NAME], shape)
        return rows

    def _checked(self, gradient: Any, shape: tuple[int, ...]) -> Floats:
        what = f"a batch of {shape[0]} points" if self.batched else "one point"
        return checked(ARGUMENTS[GRADIENT_NAME], gradient, shape, what)
