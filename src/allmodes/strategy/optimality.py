"""Is a converged component an optimum, and a new one? A few evaluations around it and towards the nearest mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Found
from allmodes.strategy.evolution import Evolution
from allmodes.strategy.search import Search

_STEPS = 3.0  # standard deviations between the centre and its checks: differences above rounding, still local
_BETWEEN = 5  # points on the way to the nearest mode
_ALIKE = 0.1  # the smaller of two falls, as a share of the larger, that a top shows on both its sides
_NEAR_BOUND = 6.0  # standard deviations within which a coordinate is taken to be on its bound
_MOST_NEAR = 1e-3  # and never farther than this, for components that stayed wide on a plateau

Floats = NDArray[np.float64]


class Verdict(NamedTuple):
    """Whether the centre is an optimum, whether it is on the nearest mode's hill, and what was measured."""

    is_optimum: bool
    is_known: bool
    point: Floats
    value: float
    found: Found


def check_points(search: Search, evolution: Evolution, k: int, mode: Floats | None) -> Floats:
    """The points to evaluate for `judge`: the mean, two on each axis of component k, those towards the nearest mode.

    Of a noisy function it is the mean, again and again.
    """
    box, best, factor = search.box, evolution.best_point[k], evolution.covariance_factor(k)
    middle = _middle(search, evolution, k)[0]
    if search.noise > 0:
        return np.repeat(middle[None], 2 * box.d + 1, axis=0)
    axes = _STEPS * factor.T
    points = [middle[None], best + axes, best - axes]
    if mode is not None:
        shares = np.arange(1, _BETWEEN + 1)[:, None] / (_BETWEEN + 1)
        points.append(best + shares * box.difference(mode, best))
    return box.reflect(np.concatenate(points))


def judge(search: Search, evolution: Evolution, k: int, height: float, values: Floats) -> Verdict:
    """What the values at `check_points` say; `height` is that of the mode. Differences below a tie say nothing."""
    box, d = search.box, search.box.d
    best, value, factor = evolution.best_point[k], float(evolution.best_value[k]), evolution.covariance_factor(k)
    middle, is_active = _middle(search, evolution, k)
    if search.noise > 0:
        return _judge_noisy(search, middle, is_active, factor, values)
    plus, minus, between = values[1 : d + 1], values[d + 1 : 2 * d + 1], values[2 * d + 1 :]
    is_optimum = bool(values[1 : 2 * d + 1].max(initial=-np.inf) <= value + search.tie)
    is_known = bool(len(between) and (between >= min(value, height) - search.tie).all())
    gradient, hessian = _derivatives(factor, value, plus, minus)
    if values[0] >= value - (search.tie if is_active.any() else 0.0):
        best, value = middle, float(values[0])
    else:
        best, is_active = _on_bounds(box, best, np.zeros((d, d)))
    gradient = np.where(is_active, 0.0, gradient)  # beyond the bounds points are mirrored: no slope is seen there
    kind = "boundary" if is_active.any() else _kind(value, plus, minus)
    return Verdict(
        is_optimum, is_known, best, value, Found(gradient, hessian, is_active, kind, "component", search.nfev)
    )


def _judge_noisy(
    search: Search, middle: Floats, is_active: NDArray[np.bool_], factor: Floats, values: Floats
) -> Verdict:
    """A noisy component stops where the function changes by the noise within it: that is its curvature."""
    finite = values[np.isfinite(values)]
    error = search.noise / np.sqrt(max(1, len(finite)))
    inverse = np.linalg.pinv(factor)
    hessian = -search.noise * inverse.T @ inverse
    kind = "boundary" if is_active.any() else "unverified"
    found = Found(np.zeros(len(middle)), hessian, is_active, kind, "component", search.nfev, float(error))
    return Verdict(len(finite) > 0, False, middle, float(finite.mean()) if len(finite) else -np.inf, found)


def _kind(value: float, plus: Floats, minus: Floats) -> str:
    """What the values on both sides of a centre say: it is level, falls alike to both sides, or neither."""
    falls = value - np.stack([plus, minus])
    if (falls.max(axis=0) <= 0.0).any():
        return "flat"
    return "optimum" if (falls.min(axis=0) >= _ALIKE * falls.max(axis=0)).all() else "unverified"


def _derivatives(factor: Floats, value: float, plus: Floats, minus: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian from differences along the component's axes, which are conjugate where it has converged."""
    d = len(factor)
    slopes, bends = (plus - minus) / (2 * _STEPS), (plus + minus - 2 * value) / _STEPS**2
    with np.errstate(all="ignore"):
        inverse = np.linalg.pinv(factor, rcond=0.0)
        gradient, hessian = inverse.T @ slopes, (inverse.T * np.minimum(bends, 0.0)) @ inverse
    if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return np.zeros(d), np.zeros((d, d))
    return gradient, (hessian + hessian.T) / 2


def _middle(search: Search, evolution: Evolution, k: int) -> tuple[Floats, NDArray[np.bool_]]:
    """The mean of component k, or its best point put on the bounds it is next to, and which those are."""
    box, factor = search.box, evolution.covariance_factor(k)
    point, is_active = _on_bounds(box, evolution.best_point[k], factor)
    if is_active.any() and search.noise == 0:
        return point, is_active
    return _on_bounds(box, box.reflect(evolution.mean[k]), factor)


def _on_bounds(box: Box, point: Floats, factor: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The point with coordinates that are next to a bound put on it, and which those are."""
    near = np.minimum(_MOST_NEAR, _NEAR_BOUND * np.sqrt((factor**2).sum(axis=1)))
    is_low, is_high = point - box.lower_unit <= near, box.upper_unit - point <= near
    point = np.where(is_low, box.lower_unit, np.where(is_high, box.upper_unit, point))
    return point, is_low | is_high


def counted(search: Search) -> NDArray[np.intp]:
    """Numbers of the modes that count: all, or those as good as the best."""
    values = search.archive.values
    if not search.is_global:
        return np.arange(len(values))
    return np.flatnonzero(values >= search.archive.best - search.tie)
