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
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_SIDES, DISTANCES = np.array([1.0, -1.0]), np.array([1.0, 0.25])
CUSP, _SMOOTH = 3.0, 8.0  # fall over the one at the nearer distance: 2 for a root, 4 on a cone, 16 on a parabola


@stored
@dataclass(frozen=True)
class AroundKink(ByValues):
    """What does the function do on both sides of a candidate on a kink, along and across the ridge?"""

    candidate: Candidate

    def _axes(self) -> Array:
        """Directions (d, d), from those across the kink to those in which a search can move freely."""
        assert self.candidate.factor is not None
        return np.asarray(np.linalg.eigh(self.candidate.factor)[1].T)

    def _around(self, context: Context) -> Array:
        """Points (4 d, d) by distance, side and axis, also beyond the bounds."""
        steps = context.tolerances.near * DISTANCES[:, None, None, None] * _SIDES[:, None, None] * self._axes()
        return self.candidate.point + steps.reshape(-1, context.box.d)

    def points(self, context: Context) -> Array:
        return clip(context.box, self._around(context))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, near, best = self.candidate, context.tolerances.near, int(values.argmax())
        if values[best] > candidate.value + context.tolerances.rounding():
            return Higher(points[best], near, is_kinked=True)
        is_seen = np.isfinite(values) & (points == self._around(context)).all(axis=1)  # a bound cuts off the others
        far, close = np.where(is_seen, candidate.value - values, 0.0).reshape(2, 2, -1).max(axis=1)
        is_known = is_seen.reshape(2, 2, -1).any(axis=1).all(axis=0)  # at both distances
        is_cusp = is_known & (far < CUSP * close) & (close > context.tolerances.rounding())
        if is_cusp.any() and context.box.d > 1:  # in one dimension there is no ridge
            return NoOptimum("the function gets steeper towards it: values cannot tell the peak from its ridge")
        is_smooth = is_known & (far >= _SMOOTH * close)
        if is_smooth.all():
            return Higher(candidate.point, near)
        # a kink counts as curved as the parabola that falls as far at the same distance
        height = max(candidate.value - context.level, 1e-3 * context.scale, TINY)
        curvatures = np.where(is_smooth, 2.0, 2.0 * far / height) * far / near**2
        axes, d = self._axes(), context.box.d
        measured = replace(candidate, hessian=-(axes.T * np.maximum(curvatures, TINY)) @ axes)
        return ComesBack(measured, np.linalg.qr(context.rng.standard_normal((d, d)))[0])


@stored
@dataclass(frozen=True)
class ComesBack(BySearch):
    """Do searches from a little aside come back? On a rising ridge those from farther up do not.

    Attributes:
        sides: (d, d), the directions, one after the other.
        returns: how often a search came back.
        tries: how often that was started over.
        is_nearer: whether searches begin less far aside, because one ended elsewhere at the same height.
    """

    candidate: Candidate
    sides: Array
    returns: int = 0
    tries: int = 0
    is_nearer: bool = False

    def distance(self, context: Context) -> float:
        """How far aside."""
        return context.tolerances.close * (TUNING.back if self.is_nearer else 1.0)

    def search(self, context: Context, origin: Origin) -> Continue:
        """From the next side; from the opposite one where a bound is in the way."""
        box, candidate, distance = context.box, self.candidate, self.distance(context)
        aside = distance * (-1) ** self.returns * self.sides[self.returns // 2]  # both sides of one, then the next
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
        if self.tries >= TUNING.most_restarts and not is_back:
            return NoOptimum("searches from beside it end elsewhere")
        if not is_back and (not is_level or not self.is_nearer):  # stuck, or perhaps at another peak of this height
            return replace(self, tries=self.tries + 1, returns=0, is_nearer=self.is_nearer or is_level)
        if gain > 0.0:
            candidate = replace(candidate, point=there.point, value=there.value, gradient=there.gradient)
        if not is_back:
            return Optimum(candidate, "flat", is_level=True)
        if self.returns + 1 < min(TUNING.returns, 2 * context.box.d):
            return replace(self, candidate=candidate, returns=self.returns + 1)
        is_at_bound = is_held(context.box, candidate.point, candidate.gradient).any()
        return Optimum(candidate, "boundary" if is_at_bound else "optimum")
