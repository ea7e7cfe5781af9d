"""Is a converged component of a population an optimum? By values on both sides along its own axes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.candidate import EDGES, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, SearchEvent, Stuck
from allmodes.search.searchers.local.finite_differences import axis_points, curvatures
from allmodes.search.verify.edges import AtEdge
from allmodes.search.verify.question import BySearch, ByValues, Elsewhere, NoOptimum, Optimum, Step
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_NEAR_BOUND = 6.0  # standard deviations within which a coordinate is taken to be on its bound


@stored
@dataclass(frozen=True)
class AroundComponent(ByValues):
    """Does the function fall to both sides along every axis of the component?

    The axes are conjugate directions where the component has converged, so that second differences along them are the
    whole Hessian. Coordinates next to a bound are put on it unless that is worse.
    """

    candidate: Candidate
    is_polished: bool = True

    def _on_bounds(self, context: Context) -> tuple[Array, NDArray[np.bool_]]:
        assert self.candidate.factor is not None
        near = np.minimum(context.tolerances.near, _NEAR_BOUND * np.sqrt((self.candidate.factor**2).sum(axis=1)))
        return _put_on_bounds(context.box, self.candidate.point, near)

    def points(self, context: Context) -> Array:
        assert self.candidate.factor is not None
        box, best, d = context.box, self.candidate.point, context.box.d
        steps = np.full((1, d), TUNING.component_step)
        beside = axis_points(best[None], steps, box.lower_unit, box.upper_unit, self.candidate.factor.T)
        return np.concatenate([self._on_bounds(context)[0][None], beside[0]])

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, d = self.candidate, context.box.d
        tie, value = context.tolerances.tie, candidate.value
        plus, minus = values[1 : d + 1], values[d + 1 :]
        if not values[1:].max(initial=-np.inf) <= value + tie:
            return NoOptimum("values beside it are higher")
        assert candidate.factor is not None
        gradient, hessian = _derivatives(candidate, points[1:], values[1:])
        point, active = self._on_bounds(context)
        if active.any() and values[0] >= value - tie:
            value = float(values[0])
        else:
            point, active = _put_on_bounds(context.box, candidate.point, np.zeros(d))
        measured = replace(candidate, point=point, value=value, gradient=gradient, hessian=hessian)
        kind = "boundary" if active.any() else _kind(value, plus, minus)
        widths = np.linalg.svd(candidate.factor, compute_uv=False)
        optimum = Optimum(measured, kind, is_level=bool(d > 1 and widths[0] > TUNING.component_long * widths[-1]))
        is_cut = (values[1:] == -np.inf).any() and kind == "unverified"
        if is_cut or candidate.origin.member == EDGES:  # there the function ends
            return AtEdge(optimum)
        return Polish(optimum) if self.is_polished else optimum


@stored
@dataclass(frozen=True)
class Polish(BySearch):
    """Where does a local search from a converged component arrive? On smooth ground that point is verified instead.

    Components come to rest on the floors of narrow valleys, too. Where the search gets stuck the function is too rough
    for it, and the verdict from values holds, unless it has climbed far away by then.
    """

    optimum: Optimum

    def search(self, context: Context, origin: Origin) -> Continue:
        return Continue(origin, self.optimum.candidate.point, context.tolerances.close)

    def ended(self, context: Context, event: SearchEvent) -> Step:
        candidate, tolerances = self.optimum.candidate, context.tolerances
        if isinstance(event, Arrived) and not event.candidate.is_kinked:
            is_as_high = event.candidate.value >= candidate.value - tolerances.tie
            return Elsewhere(event.candidate) if is_as_high else self.optimum
        if isinstance(event, Stuck) and event.value > candidate.value + tolerances.rounding():
            apart = float(np.abs(context.box.difference(event.point, candidate.point)).max())
            if apart > tolerances.close:
                return NoOptimum("a local search climbs away from it and ends at no optimum")
        return self.optimum


def _put_on_bounds(box: Box, point: Array, near: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The point with coordinates near a bound put on it, and which those are."""
    is_low, is_high = point - box.lower_unit <= near, box.upper_unit - point <= near
    return np.where(is_low, box.lower_unit, np.where(is_high, box.upper_unit, point)), is_low | is_high


def _kind(value: float, plus: Array, minus: Array) -> str:
    """What the values on both sides of a centre say: it is level, falls alike to both sides, or neither."""
    falls = value - np.stack([plus, minus])
    if (falls.max(axis=0) <= 0.0).any():
        return "flat"
    is_alike = falls.min(axis=0) >= TUNING.component_alike * falls.max(axis=0)
    return "optimum" if is_alike.all() else "unverified"


def _derivatives(candidate: Candidate, points: Array, values: Array) -> tuple[Array, Array]:
    """Gradient and Hessian from values at two points along each of the component's axes, the columns of its factor."""
    assert candidate.factor is not None
    axes, d = candidate.factor.T, len(candidate.factor)
    where = candidate.point[None], np.array([candidate.value]), points[None], values[None], axes
    with np.errstate(all="ignore"):
        bends = np.minimum(curvatures(*where)[0], 0.0)
        inverse = np.linalg.pinv(axes, rcond=0.0)
        step = np.diagonal((points[:d] - candidate.point) @ inverse)
        slopes = (values[:d] - candidate.value) / step - 0.5 * bends * step
        gradient, hessian = inverse @ slopes, (inverse * bends) @ inverse.T
    if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return np.zeros(d), np.zeros((d, d))
    return gradient, (hessian + hessian.T) / 2.0
