"""Is a candidate on a kink an optimum? By values around it, and by searches that come back to it from its sides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, SearchEvent
from allmodes.search.geometry import clip, is_held
from allmodes.search.tolerances import TINY
from allmodes.search.verify.question import BySearch, ByValues, Elsewhere, Higher, NoOptimum, Optimum, Step
from allmodes.search.verify.surroundings import points_around, surroundings
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_STILL_HIGHER = 0.01  # of a tie: a gain that says that the candidate was not at the peak before


@stored
@dataclass(frozen=True)
class AroundKink(ByValues):
    """What does the function do around a candidate on a kink? `looks` counts how often that was asked."""

    candidate: Candidate
    looks: int = 0

    def _axes(self) -> Array:
        """Directions (d, d), from those across the kink to those in which a search can move freely."""
        assert self.candidate.factor is not None
        return np.asarray(np.linalg.eigh(self.candidate.factor)[1].T)

    def points(self, context: Context) -> Array:
        return points_around(context.box, self.candidate.point, self._axes(), context.tolerances.near)

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, tolerances = self.candidate, context.tolerances
        rounding, near = tolerances.rounding(), tolerances.near
        best = int(values.argmax())
        if values[best] > candidate.value + rounding:
            return Higher(points[best], near, is_kinked=True)
        height = max(candidate.value - context.level, 1e-3 * context.scale, TINY)
        seen = surroundings(candidate.point, candidate.value, self._axes(), near, points, values, height, rounding)
        if seen.is_cusp:
            return NoOptimum("the function is steeper the nearer: nothing tells the peak from its ridge")
        if seen.is_smooth:
            return Higher(candidate.point, near)
        if seen.rise is not None:  # a saddle along the ridge
            return Higher(clip(context.box, candidate.point + tolerances.close * seen.rise), near, is_kinked=True)
        return Nudge(
            replace(candidate, hessian=seen.hessian), clip(context.box, candidate.point + seen.peak), self.looks
        )


@stored
@dataclass(frozen=True)
class Nudge(ByValues):
    """Is the peak of the parabola along a ridge a little higher?"""

    candidate: Candidate
    peak: Array
    looks: int

    def points(self, context: Context) -> Array:
        return self.peak[None]

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, gain = self.candidate, float(values[0]) - self.candidate.value
        if gain > 0.0:
            candidate = replace(candidate, point=points[0], value=float(values[0]))
        if gain > _STILL_HIGHER * context.tolerances.tie and self.looks < TUNING.most_restarts:
            return AroundKink(candidate, self.looks + 1)
        d = context.box.d
        sides = np.linalg.qr(context.rng.standard_normal((d, d)))[0]
        return ComesBack(candidate, sides, self.looks)


@stored
@dataclass(frozen=True)
class ComesBack(BySearch):
    """Do searches that are put aside, in directions at right angles, come back?

    Attributes:
        sides: (d, d), the directions, one after the other.
        looks: how often anything was asked of this candidate.
        returns: how often a search came back.
        is_nearer: whether searches are put less far aside, because one ended elsewhere at the same height.
    """

    candidate: Candidate
    sides: Array
    looks: int
    returns: int = 0
    is_nearer: bool = False

    def distance(self, context: Context) -> float:
        """How far aside."""
        return context.tolerances.close * (TUNING.back if self.is_nearer else 1.0)

    def search(self, context: Context, origin: Origin) -> Continue:
        """From the next side; from the opposite one where a bound is in the way."""
        box, candidate, distance = context.box, self.candidate, self.distance(context)
        aside = distance * self.sides[self.returns]
        moved = candidate.point + aside
        is_outside = (moved < box.lower_unit) | (moved > box.upper_unit)
        start = clip(box, candidate.point + np.where(is_outside, -aside, aside))
        return Continue(
            origin, start, context.tolerances.near, True, candidate.point, candidate.value, TUNING.back * distance
        )  # fmt: skip

    def ended(self, context: Context, event: SearchEvent) -> Step:
        if not isinstance(event, Arrived):
            return NoOptimum("a search from beside it got stuck")
        candidate, there, tie = self.candidate, event.candidate, context.tolerances.tie
        apart = float(np.abs(context.box.difference(there.point, candidate.point)).max())
        gain = there.value - candidate.value
        is_level = abs(gain) <= tie
        is_back = apart <= (0.5 if is_level else TUNING.back) * self.distance(context)
        if not is_back and gain > tie:
            return Elsewhere(there)
        if self.looks >= TUNING.most_restarts and not is_back:
            return NoOptimum("searches from beside it end elsewhere")
        if not is_back and (not is_level or not self.is_nearer):  # stuck, or perhaps at another peak of this height
            return replace(self, looks=self.looks + 1, returns=0, is_nearer=self.is_nearer or is_level)
        if gain > 0.0:
            candidate = replace(candidate, point=there.point, value=there.value, gradient=there.gradient)
        if gain > _STILL_HIGHER * tie and self.looks < TUNING.most_restarts:  # it was not quite there
            return AroundKink(candidate, self.looks + 1)
        returns = self.returns + 1
        if is_back and returns < min(TUNING.returns, context.box.d):
            return replace(self, candidate=candidate, returns=returns)
        if not is_back:
            return Optimum(candidate, "flat", is_level=True)
        is_at_bound = is_held(context.box, candidate.point, candidate.gradient).any()
        return Optimum(candidate, "boundary" if is_at_bound else "optimum")
