"""Looking again at a place of a noisy function: a parabola through fresh values, and what it says."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box

Array = NDArray[np.float64]

LUCK = 2.0  # standard errors that may be luck
_SURE = 2.0  # standard errors by which a curvature must differ from none
_MISFIT = 3.0  # the same for the misfit of the parabola, in units of its own scatter
_ALIKE = 0.1  # repeats that differ by less than this share of the noise are no measure of it
_FALL = 5.0  # standard deviations of the noise by which the function falls where a parabola is fitted
_WIDTHS = (1e-3, 0.07)  # of the box: standard deviation of the points that it is fitted to, at least and at most
_WIDEST = 0.2  # the same where a look could not tell the curvature
_WIDER, _NARROWER = 2.5, 0.6  # the next look, where one could not tell the curvature, and when it was no parabola
_LITTLE_WIDER = 1.3
_REACH = 2.0  # standard deviations of the points that were looked at: as far as a parabola is followed
_BENT_REACH = 1.0  # the same where the function is none
_TINY = 1e-300


class Fit(NamedTuple):
    """A parabola, at its centre.

    Attributes:
        value, error: and its standard error.
        gradient, hessian: (d,) and (d, d).
        factor: (d, d), of the covariance of the points; the errors are in coordinates in which that is 1.
        slope_error, bend_error: of a first and of a second derivative, the largest; infinite without a parabola.
        is_bent: whether the function is no parabola there: it differs by more than luck.
    """

    value: float
    error: float
    gradient: Array
    hessian: Array
    factor: Array
    slope_error: float
    bend_error: float
    is_bent: bool


class Climb(NamedTuple):
    """Where a parabola says that its top in the box is.

    Attributes:
        point: (d,).
        rise: of the value on the way.
        step: length of the way, in standard deviations of the points that were looked at.
        gradient: at the point.
        active: (d,), which bounds hold it there.
        is_sure: whether the curvature is surely negative in all directions that no bound holds.
        ascent: how surely it rises in a direction without a top: the slope in standard errors.
    """

    point: Array
    rise: float
    step: float
    gradient: Array
    active: NDArray[np.bool_]
    is_sure: bool
    ascent: float


def num_coefficients(d: int) -> int:
    """Of a parabola."""
    return 1 + d + d * (d + 1) // 2


def width_factor(hessian: Array, noise: float) -> Array:
    """A factor (d, d) of the covariance of points to look at: the function falls by some noise within them."""
    eigenvalues, vectors = np.linalg.eigh(-hessian)
    widths = np.sqrt(2.0 * _FALL * noise / np.maximum(eigenvalues, _TINY))
    return np.asarray(vectors * np.clip(widths, *_WIDTHS))


def scaled_factor(factor: Array, shares: float | Array) -> Array:
    """The same wider or narrower, along each of its axes, within limits."""
    axes, widths, _ = np.linalg.svd(factor)
    return axes * np.clip(shares * widths, _WIDTHS[0], _WIDEST)


def better_factor(fit: Fit, noise: float, was_bent: bool) -> Array:
    """How wide to look next: as the curvature says where that is sure, wider where it is not, narrower if bent.

    Little wider if it was bent before.
    """
    if fit.is_bent:
        return scaled_factor(fit.factor, _NARROWER)
    curvatures, axes = np.linalg.eigh(fit.factor.T @ fit.hessian @ fit.factor)
    is_sure, most = curvatures < -_SURE * fit.bend_error, _LITTLE_WIDER if was_bent else _WIDER
    wanted = np.sqrt(2.0 * _FALL * noise / np.where(is_sure, -curvatures, np.inf))
    return scaled_factor(fit.factor @ (axes * np.where(is_sure, np.minimum(wanted, most), most)), 1.0)


def scatter(pooled: float, noise: float) -> float:
    """Standard deviation of a value by repeats, or what is known of it where repeats are all the same."""
    return noise if pooled < _ALIKE * noise else pooled


def fit_parabola(steps: Array, values: Array, noise: float, factor: Array | None = None) -> Fit | None:
    """A parabola through values (n,) at steps (n, d) from its centre, of which some are repeated.

    With too few points for that it is their mean; None without any. `factor` is how they were drawn.
    """
    n, d = steps.shape
    if not n:
        return None
    if factor is None:
        factor = np.diag(np.maximum(np.abs(steps).max(axis=0), _TINY))
    i, j = np.triu_indices(d)
    u = np.linalg.solve(factor, steps.T).T
    design = np.concatenate([np.ones((n, 1)), u, u[:, i] * u[:, j]], axis=1)
    p = design.shape[1]
    if n < 2 * p:
        zero = np.zeros(d)
        return Fit(
            float(values.mean()), noise / math.sqrt(n), zero, np.zeros((d, d)), factor, np.inf, np.inf, False
        )  # fmt: skip
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    residual = values - design @ coefficients
    total = float(residual @ residual)
    errors = math.sqrt(total / (n - p)) * np.sqrt(np.diag(np.linalg.pinv(design.T @ design)))
    H = np.zeros((d, d))
    H[i, j] = coefficients[1 + d :]
    inverse = np.linalg.inv(factor)
    return Fit(
        float(coefficients[0]), float(errors[0]), inverse.T @ coefficients[1 : 1 + d], inverse.T @ (H + H.T) @ inverse,
        factor, float(errors[1 : 1 + d].max()), 2.0 * float(errors[1 + d :].max()),
        _is_bent(steps, values, total, p, noise),
    )  # fmt: skip


def _is_bent(steps: Array, values: Array, total: float, p: int, noise: float) -> bool:
    """Whether the sum of squares left by p coefficients exceeds what repeats at the same places explain."""
    _, which, counts = np.unique(steps, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    means = np.bincount(which, values) / counts
    pure, n, m = float(((values - means[which]) ** 2).sum()), len(values), len(counts)
    if n == m or m <= p:
        return False
    sigma = scatter(math.sqrt(pure / (n - m)), noise)
    freedom, within = m - p, n - m
    ratio = (total - pure) / freedom / max(sigma**2, _TINY)
    return ratio > 1.0 + _MISFIT * math.sqrt(2.0 / freedom + 2.0 / within)


def climb(fit: Fit, point: Array, box: Box) -> Climb:
    """The way from the centre of a parabola, a point (d,), to its top in the box, as far as it was looked at."""
    d = len(point)
    if not np.isfinite(fit.bend_error):  # it is no parabola, only a mean
        return Climb(point, 0.0, 0.0, np.zeros(d), np.zeros(d, bool), False, 0.0)
    g, H = fit.gradient, fit.hessian
    low, high = box.lower_unit - point, box.upper_unit - point
    held = ((low >= 0.0) & (g < 0.0)) | ((high <= 0.0) & (g > 0.0))
    step, ascent = np.zeros(d), 0.0
    for _ in range(d):  # every turn holds another coordinate, at least
        free = np.flatnonzero(~held)
        if not len(free):
            break
        wanted, ascent = _free_step(fit, (g + H[:, held] @ step[held])[free], free)
        step[free] = np.clip(wanted, low[free], high[free])
        meets = ((step <= low) | (step >= high)) & ~held
        if not meets.any():
            break
        held |= meets
    slope = g + H @ step
    is_low, is_high = step <= low, step >= high
    goal = np.where(is_low, box.lower_unit, np.where(is_high, box.upper_unit, point + step))
    active = (is_low & (slope < 0.0)) | (is_high & (slope > 0.0))
    free = np.flatnonzero(~active)
    is_sure = not len(free) or bool(_whitened(fit, free)[1].max() < -_SURE * fit.bend_error)
    rise, length = float(g @ step + 0.5 * step @ H @ step), float(np.linalg.norm(np.linalg.solve(fit.factor, step)))
    return Climb(box.project(goal), rise, length, np.where(active, slope, 0.0), active, is_sure, ascent)


def _whitened(fit: Fit, free: NDArray[np.intp]) -> tuple[Array, Array]:
    """Axes (n, n) over free coordinates, as long as points were looked at along them, and the curvatures (n,) there."""
    covariance = (fit.factor @ fit.factor.T)[np.ix_(free, free)]
    L = np.linalg.cholesky(covariance)
    curvatures, vectors = np.linalg.eigh(L.T @ fit.hessian[np.ix_(free, free)] @ L)
    return L @ vectors, curvatures


def _free_step(fit: Fit, g: Array, free: NDArray[np.intp]) -> tuple[Array, float]:
    """Newton's step where the curvature is surely negative; elsewhere uphill, farther the surer that is."""
    axes, curvatures = _whitened(fit, free)
    slopes, least = axes.T @ g, _SURE * fit.bend_error
    is_curved = curvatures < -least
    ascents = np.where(is_curved, 0.0, np.abs(slopes) / max(fit.slope_error, _TINY))
    bends = np.maximum(np.where(is_curved | (ascents > LUCK), np.maximum(-curvatures, least), np.inf), _TINY)
    along = slopes / bends
    along *= min(1.0, (_BENT_REACH if fit.is_bent else _REACH) / max(float(np.linalg.norm(along)), _TINY))
    return axes @ along, float(ascents.max(initial=0.0))
