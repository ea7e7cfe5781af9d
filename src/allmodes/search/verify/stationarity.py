"""Is a smooth candidate an optimum, and of what kind? By its derivatives, and by values where these cannot tell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.geometry import clip, is_held, lengths, room
from allmodes.search.searchers.local.finite_differences import gradient_step
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.search.verify.question import ByValues, Higher, NoOptimum, Optimum, Step
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_SIDES = np.array([1.0, -1.0])
_CLOSER = 0.25  # length of the closer check over that of the other


class Shape(NamedTuple):
    """The curvature of a candidate in the coordinates that no bound holds.

    Attributes:
        held: (d,), coordinates at a bound that the ascent surely pushes against.
        eigenvalues, axes: ascending (n,), and directions (n, d).
        level: curvature that cannot be told from none; `gentle`, curvature that values must confirm.
    """

    held: NDArray[np.bool_]
    eigenvalues: Array
    axes: Array
    level: float
    gentle: float

    @property
    def least(self) -> float:
        """The curvature that is closest to rising, or rises."""
        return float(self.eigenvalues[-1])

    @property
    def largest(self) -> float:
        return float(np.abs(self.eigenvalues).max(initial=0.0))


def shape(context: Context, candidate: Candidate) -> Shape:
    """What gradient and Hessian of a candidate say."""
    H, g, d = candidate.hessian, candidate.gradient, context.box.d
    rim = (TUNING.rim if context.order == 0 else TUNING.rim * 1e-3) * np.maximum(np.diagonal(H), 0.0)
    unsure = 1e-8 if context.order else 2.0 * gradient_step(context)  # differences are off by half their step
    error = np.maximum(rim, unsure * np.abs(H).max(initial=0.0))
    held = is_held(context.box, candidate.point, g) & (np.abs(g) > error)
    free = np.flatnonzero(~held)
    eigenvalues, vectors = np.linalg.eigh(H[np.ix_(free, free)])
    axes = np.zeros((len(free), d))
    axes[:, free] = vectors.T
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    level = (TUNING.level_from_hessian if context.order == 2 else TUNING.level_from_differences) * largest
    if context.order == 0:  # rounding of a value over the square of a difference step, with room
        level = max(level, 1e8 * EPSILON * abs(candidate.value))
    if not context.is_sampled:  # a given start, before anything is known of the function
        gentle = np.inf
    else:
        is_sharp = context.order > 0 and candidate.is_sharp
        gentle = max(level, (TUNING.faint if is_sharp else TUNING.gentle) * context.scale)
    return Shape(held, np.asarray(eigenvalues, dtype=np.float64), axes, level, gentle)


def kind_of(context: Context, candidate: Candidate, seen: Shape) -> str:
    """ "optimum", "boundary", "flat" if values must tell, or empty for a saddle."""
    if not len(seen.eigenvalues):
        return "boundary"
    if seen.least > seen.level:  # at a bound values tell whether it rises inward
        is_at_bound = is_held(context.box, candidate.point, candidate.gradient) & ~seen.held
        return "flat" if is_at_bound.any() else ""
    if seen.least >= -seen.gentle:
        return "flat"
    return "boundary" if seen.held.any() else "optimum"


def examine(context: Context, candidate: Candidate) -> Step:
    """The first step of verifying a smooth candidate."""
    seen = shape(context, candidate)
    kind = kind_of(context, candidate, seen)
    if not kind:
        return NoOptimum("a saddle")
    if not len(seen.eigenvalues):
        return Optimum(candidate, kind)
    if kind == "flat":
        is_checked = seen.least < -TUNING.faint * seen.largest and context.is_sampled
        return LeastCurvature(candidate, kind) if is_checked else LevelGround(candidate)
    smallest = float(np.abs(seen.eigenvalues).min())
    is_narrow = smallest < TUNING.gentle * max(seen.largest, context.scale)
    if context.order == 0 or (context.order == 1 and is_narrow):
        return LeastCurvature(candidate, kind)
    return Optimum(candidate, kind)


def _slack(context: Context, candidate: Candidate) -> float:
    """Differences of values near a candidate that mean nothing."""
    return context.tolerances.rounding(float(np.abs(candidate.hessian).max(initial=0.0)))


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
class LeastCurvature(ByValues):
    """Does the function fall along the direction that is curved least, as the model says?

    Differences along the axes may take a ridge for a peak, along which the function goes on rising; and a model from
    close by may call the floor of a bent valley curved.
    """

    candidate: Candidate
    kind: str

    def points(self, context: Context) -> Array:
        seen = shape(context, self.candidate)
        tolerances = context.tolerances
        fall = min(context.xtol * context.scale, 1e3 * _slack(context, self.candidate))
        length = np.clip(np.sqrt(2.0 * fall / max(-seen.least, TINY)), tolerances.same, tolerances.close)
        shares = np.array([1.0, -1.0, _CLOSER, -_CLOSER] if self.kind == "flat" else [1.0, -1.0])
        return clip(context.box, self.candidate.point + length * np.outer(shares, seen.axes[-1]))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate = self.candidate
        higher = _higher(context, candidate, points, values)
        if higher is not None:
            return higher
        seen = shape(context, candidate)
        axis = seen.axes[-1]
        ahead, behind = np.abs((points[:2] - candidate.point) @ axis)
        predicted = -0.5 * seen.least * ahead * behind
        fall = candidate.value - float(values[:2].mean())
        slack = _slack(context, candidate)
        is_clear = math.isclose(ahead, behind, rel_tol=1e-3) and abs(predicted - fall) > 10.0 * slack
        kind = self.kind
        if is_clear and fall < TUNING.seen * predicted:
            H = candidate.hessian - (seen.least + 2.0 * fall / ahead**2) * np.outer(axis, axis)
            candidate = replace(candidate, hessian=H)
            if kind_of(context, candidate, shape(context, candidate)) in ("flat", ""):
                kind = "flat"
        elif len(values) > 2:
            falls = np.array([fall, (candidate.value - float(values[2:].mean())) / _CLOSER**2])
            if ((falls > TUNING.seen * predicted) & (falls < predicted / TUNING.seen)).all():  # as it seems
                return _optimum(context, candidate)
        return LevelGround(candidate) if kind == "flat" else Optimum(candidate, kind)


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
            curvatures = np.abs(shape(context, candidate).eigenvalues)
            is_weak = curvatures.min(initial=np.inf) < TUNING.weak * curvatures.max(initial=0.0)
            return _optimum(context, candidate, is_level=bool(context.order < 2 and is_weak))
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
        if candidate.value < context.best_value - slack and np.abs(candidate.hessian).max() <= slack:
            return NoOptimum("a plateau below the best value")
        return Optimum(candidate, "flat", is_level=True)


def _probes(context: Context, candidate: Candidate, distances: Array) -> Array:
    """Points (n, d) on both sides along every direction that looks level, ordered by distance, side, direction."""
    seen = shape(context, candidate)
    axes = seen.axes[seen.eigenvalues >= -seen.gentle]
    directions = _SIDES[:, None, None] * axes
    reach = np.minimum(distances[:, None, None], room(context.box, candidate.point, directions))
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
