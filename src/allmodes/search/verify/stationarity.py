"""Is a smooth candidate an optimum, and of what kind? By its derivatives, and by values where these cannot tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.curvature import LowRank, largest
from allmodes.search.geometry import clip, is_held, lengths, room
from allmodes.search.searchers.local import finite_differences
from allmodes.search.tolerances import TINY
from allmodes.search.verify.question import PLATEAU, ByValues, Higher, NoOptimum, Optimum, Step
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_SIDES = np.array([1.0, -1.0])
_WEAKEST = 1  # axes of little curvature that values must confirm in many dimensions
_FARTHER = 4.0  # times farther: where the fall along a weak axis is measured again, on the other side


class Shape(NamedTuple):
    """The curvature of a candidate in the coordinates that no bound holds.

    Attributes:
        held: (d,), coordinates at a bound that the ascent surely pushes against.
        eigenvalues, axes: ascending (n,), and directions (n, d).
        level: the largest curvature that cannot be told from none.
        is_weak: (n,), where the curvature is so small that values must confirm it.
    """

    held: NDArray[np.bool_]
    eigenvalues: Array
    axes: Array
    level: float
    is_weak: NDArray[np.bool_]

    @property
    def least(self) -> float:
        """The curvature that is closest to rising, or that rises."""
        return float(self.eigenvalues[-1])


def shape(context: Context, candidate: Candidate) -> Shape:
    """What gradient and Hessian of a candidate say."""
    if isinstance(candidate.hessian, LowRank):
        return _shape_of_few(context, candidate, candidate.hessian)
    H, g, d = candidate.hessian, candidate.gradient, context.box.d
    rim = (TUNING.rim if context.order == 0 else TUNING.rim * 1e-3) * np.maximum(np.diagonal(H), 0.0)
    unsure = 1e-8 if context.order else 2.0 * TUNING.unsure  # differences are off by half their step
    error = np.maximum(rim, unsure * np.abs(H).max(initial=0.0))
    held = is_held(context.box, candidate.point, g) & (np.abs(g) > error)
    free = np.flatnonzero(~held)
    eigenvalues, vectors = np.linalg.eigh(H[np.ix_(free, free)])
    axes = np.zeros((len(free), d))
    axes[:, free] = vectors.T
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    share = context.tolerances.near if context.order == 2 else 1.0  # a given Hessian is that of the point itself
    level = TUNING.level * share * largest
    if context.order == 0:  # rounding of values over the square of the longest difference step
        level = max(level, 4.0 * float(context.tolerances.error_of(candidate.value)) / TUNING.longest**2)
    is_weak = eigenvalues >= -max(TUNING.weak * share * largest, TUNING.gentle * context.scale, level)
    if context.order == 0:  # across a kink, or beside an inflection, differences show curvature that is not there
        is_weak[-1:] = True
    return Shape(held, np.asarray(eigenvalues, dtype=np.float64), axes, level, is_weak)


def _shape_of_few(context: Context, candidate: Candidate, H: LowRank) -> Shape:
    """The same of one that is known along a few axes: values are asked along the weakest of these alone."""
    g, size = candidate.gradient, largest(H)
    held = is_held(context.box, candidate.point, g) & (np.abs(g) > 1e-8 * size)
    level = TUNING.level * size
    is_weak = H.eigenvalues >= -max(TUNING.weak * size, TUNING.gentle * context.scale, level)
    is_weak[:-_WEAKEST] = False
    return Shape(held, H.eigenvalues, H.axes, level, is_weak)


def examine(context: Context, candidate: Candidate) -> Step:
    """The first step of verifying a smooth candidate."""
    seen = shape(context, candidate)
    kind = "boundary" if seen.held.any() else "optimum"
    if not seen.is_weak.any():
        return Optimum(candidate, kind)
    if seen.least > seen.level:  # at a bound values tell whether it rises inward
        is_at_bound = is_held(context.box, candidate.point, candidate.gradient) & ~seen.held
        return LevelGround(candidate) if is_at_bound.any() else NoOptimum("a saddle")
    return LevelGround(candidate) if seen.least >= -seen.level else WeakAxes(candidate)


def _slack(context: Context, candidate: Candidate) -> float:
    """Differences of values near a candidate that may be rounding."""
    return context.tolerances.rounding(largest(candidate.hessian))


def _higher(context: Context, candidate: Candidate, points: Array, values: Array) -> Higher | None:
    """The best of these points, if it is above the candidate."""
    best = int(np.argmax(values))
    if not values[best] > candidate.value + _slack(context, candidate):
        return None
    return Higher(points[best], candidate.radius)


def _optimum(context: Context, candidate: Candidate, is_level: bool = False) -> Optimum:
    seen = shape(context, candidate)
    return Optimum(candidate, "boundary" if seen.held.any() else "optimum", is_level)


@stored
@dataclass(frozen=True)
class WeakAxes(ByValues):
    """Does the function fall along every direction of little curvature as the model says: like a parabola?

    It is asked as near as rounding allows, for valleys bend; but not so near that the function falls by what may still
    be gained: there a level valley, or a peak of higher order, looks like a parabola, too.

    Attributes:
        is_remeasured: whether the curvature was measured twice.
    """

    candidate: Candidate
    is_remeasured: bool = False

    def _lengths(self, context: Context, seen: Shape) -> Array:
        candidate = self.candidate
        fall = max(TUNING.clear * float(context.tolerances.error_of(candidate.value)), TUNING.beyond * candidate.gain)
        least = np.sqrt(2.0 * fall / np.maximum(np.abs(seen.eigenvalues[_asked(context, seen)]), TINY))
        return np.clip(least, TUNING.shortest, TUNING.longest)

    def points(self, context: Context) -> Array:
        seen = shape(context, self.candidate)
        moves = self._lengths(context, seen)[:, None] * seen.axes[_asked(context, seen)]
        sides = [1.0, -_FARTHER] if context.order else [1.0, -_FARTHER, -1.0, _FARTHER]  # where no slope is known both
        return clip(context.box, self.candidate.point + np.concatenate([side * moves for side in sides]))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate = self.candidate
        error = float(context.tolerances.error_of(candidate.value))
        best = int(np.argmax(values))
        if values[best] > candidate.value + 10.0 * error:
            return Higher(points[best], candidate.radius)
        seen = shape(context, candidate)
        moves = points - candidate.point
        asked = _asked(context, seen)
        parts = (-1, 2, int(asked.sum()))  # (sides, near and far, axes)
        falls = (candidate.value - values + moves @ candidate.gradient).reshape(parts)
        predicted = -0.5 * seen.eigenvalues[asked] * (lengths(moves) ** 2).reshape(parts)
        (near, far), expected = falls.mean(axis=0), predicted[:, 0].mean(axis=0)  # a slope cancels
        if context.order == 0 and near[0] > 10.0 * error and far[0] < TUNING.linear * near[0]:
            return NoOptimum("a kink that differences took for a peak")
        is_alike = (near > TUNING.seen * expected) & (near < expected / TUNING.seen)
        # each far side by itself: where a level valley bends, one falls a lot and the other hardly
        is_parabola = (falls > TUNING.seen * predicted)[:, 1].all(axis=0) & (far < TUNING.quartic * near)
        if not (is_alike & is_parabola).all():
            is_another = (near > 0.0) & (far > TUNING.linear * near) & (far < TUNING.quartic * near)
            is_another = (is_another & (falls[:, 1] > TUNING.seen * far).all(axis=0)).all()
            return self._again(context) if is_another else LevelGround(candidate)
        is_vague = seen.least > -TUNING.vague_of_fits * float(np.abs(seen.eigenvalues).max())
        is_vague &= context.has_model and candidate.source != "derivatives"  # where residuals vanish models are exact
        return _optimum(context, candidate, is_level=is_vague)

    def _again(self, context: Context) -> Step:
        """A parabola, but not that of the model: is the model wrong?"""
        again, level = Remeasured(self.candidate), LevelGround(self.candidate)
        if context.order or context.has_model or self.is_remeasured:
            return level
        return again if context.box.inside(again.points(context)).all() else level


@stored
@dataclass(frozen=True)
class Remeasured(ByValues):
    """What is the curvature, measured on both sides? On one side alone it is off by what changes over the step."""

    candidate: Candidate

    def _steps(self, context: Context, seen: Shape) -> Array:
        values = np.array([self.candidate.value])
        return finite_differences.curvature_steps(context, values, seen.eigenvalues[None])[0]

    def points(self, context: Context) -> Array:
        seen = shape(context, self.candidate)
        return finite_differences.central_points(self.candidate.point, self._steps(context, seen), seen.axes)

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, seen = self.candidate, shape(context, self.candidate)
        if not np.isfinite(values).all():
            return LevelGround(candidate)
        M = finite_differences.central_hessian(candidate.value, values, self._steps(context, seen))
        free = np.ix_(~seen.held, ~seen.held)
        hessian = np.array(candidate.hessian)
        hessian[free] = (seen.axes.T @ M @ seen.axes)[free]
        step = examine(context, replace(candidate, hessian=hessian))
        if isinstance(step, WeakAxes):
            return replace(step, is_remeasured=True)
        return step if isinstance(step, Optimum) else LevelGround(candidate)


def _asked(context: Context, seen: Shape) -> NDArray[np.bool_]:
    """The weak axes, and from values the steepest one, too: it shows a kink."""
    asked = seen.is_weak.copy()
    asked[:1] |= context.order == 0
    return asked


@stored
@dataclass(frozen=True)
class LevelGround(ByValues):
    """Is ground that looks level really level, near and ten times farther away?"""

    candidate: Candidate

    def points(self, context: Context) -> Array:
        near = TUNING.probe_near
        return _probes(context, self.candidate, np.array([near, TUNING.probe_ratio * near]))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, slack = self.candidate, _slack(context, self.candidate)
        higher = _higher(context, candidate, points, values)
        if higher is not None:
            return higher
        falls = (candidate.value - values).reshape(2, 2, -1)  # (distance, side, axis)
        length = lengths(points - candidate.point).reshape(falls.shape)
        is_cut_off = length[0] < 0.5 * TUNING.probe_near  # by a bound: that side tells nothing
        if not ((np.abs(falls) > slack).any(axis=0) | is_cut_off).all():
            return FarGround(candidate)  # exactly level as far as was seen: look farther
        if is_curved(length, falls, slack).all():
            return _optimum(context, candidate, is_level=context.order < 2)
        return Optimum(candidate, "flat", is_level=True)


@stored
@dataclass(frozen=True)
class FarGround(ByValues):
    """Ground that is exactly level nearby: does it rise or fall anywhere, up to the width of the box?"""

    candidate: Candidate

    def points(self, context: Context) -> Array:
        far = TUNING.probe_ratio * TUNING.probe_near
        distances = far ** (np.arange(3, -1, -1) / 3.0)  # geometric, from the last distance to the whole box
        return _probes(context, self.candidate, distances)

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, slack = self.candidate, _slack(context, self.candidate)
        rises = (values - candidate.value).reshape(4, 2, -1)  # (distance, side, axis)
        differs = np.abs(rises) > slack
        first = differs & (np.cumsum(differs, axis=0) == 1)  # beyond the first that differs another hill may begin
        higher = _higher(context, candidate, points, np.where(first.reshape(-1), values, -np.inf))
        if higher is not None:
            return higher
        if candidate.value < context.best_value - slack and largest(candidate.hessian) <= slack:
            return NoOptimum(PLATEAU)
        return Optimum(candidate, "flat", is_level=True)


def _probes(context: Context, candidate: Candidate, distances: Array) -> Array:
    """Points (n, d) on both sides along every direction that looks level, ordered by distance, side, direction.

    Where a bound leaves no room they are moved along it: at a corner the function may rise along an edge.
    """
    seen = shape(context, candidate)
    directions = _SIDES[:, None, None] * seen.axes[seen.is_weak]
    left = room(context.box, candidate.point, directions)
    reach = np.minimum(distances[:, None, None], np.where(left < 0.5 * distances[0], np.inf, left))
    return clip(context.box, candidate.point + reach[..., None] * directions).reshape(-1, context.box.d)


def is_curved(length: Array, falls: Array, slack: float) -> NDArray[np.bool_]:
    """Along which axes values fall like those of a parabola: lengths and falls (nearer and farther, sides, axes).

    By the side that falls less; one that a bound cuts short tells little.
    """
    share = length[0] / np.maximum(length[1], TINY)
    counts = (share <= 0.5) & (length[0] > 0.0)
    near, far = np.where(counts, falls, np.inf)
    side, axes = far.argmin(axis=0), np.arange(far.shape[1])
    parabola = share[side, axes] ** 2 * far[side, axes]
    return counts.any(axis=0) & (near.min(axis=0) > np.maximum(10.0 * slack, TUNING.curved * parabola))
