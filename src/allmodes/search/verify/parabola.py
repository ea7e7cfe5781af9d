"""A parabola through noisy values: regression with errors, and what it says about the maximum."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]


class Fit(NamedTuple):
    """A parabola, at its centre.

    Attributes:
        value, error: and its standard error.
        gradient, hessian: (d,) and (d, d).
        factor: (d, d), of the covariance of the points; the errors are in coordinates in which that is 1.
        slope_error, curvature_error: of a first and of a second derivative, the largest; infinite where there were too
            few points for a parabola.
        is_poor: whether the function differs from a parabola by more than luck.
    """

    value: float
    error: float
    gradient: Array
    hessian: Array
    factor: Array
    slope_error: float
    curvature_error: float
    is_poor: bool


class Peak(NamedTuple):
    """Where a parabola says that its maximum in the box is.

    Attributes:
        point: (d,).
        rise: of the value on the way there.
        step: length of the way, in standard deviations of the points of the fit.
        gradient: at the point.
        active: (d,), which bounds hold it there.
        is_sure: whether the curvature is surely negative in all directions that no bound holds.
        ascent: how surely the function rises in a direction without a maximum: the slope in standard errors.
    """

    point: Array
    rise: float
    step: float
    gradient: Array
    active: NDArray[np.bool_]
    is_sure: bool
    ascent: float


# ---- where to evaluate


def num_coefficients(d: int) -> int:
    """Of a parabola."""
    return 1 + d + d * (d + 1) // 2


def first_factor(hessian: Array, noise: float, narrowest: float) -> Array:
    """A factor (d, d) of the covariance of points to fit a parabola to, by a guess of its Hessian.

    The function falls by a few times the noise within such points.
    """
    eigenvalues, vectors = np.linalg.eigh(-hessian)
    widths = np.sqrt(2.0 * TUNING.fall * noise / np.maximum(eigenvalues, TINY))
    return _limited(vectors * (TUNING.first_wider * np.clip(widths, narrowest, TUNING.widest)), narrowest)


def next_factor(fit: Fit, noise: float, was_poor: bool, narrowest: float) -> Array:
    """The next factor: as the curvature says where that is sure, wider where it is not, narrower if the fit is poor.

    Only a little wider if it was poor before.
    """
    if fit.is_poor:
        return _limited(fit.factor * TUNING.wider**-0.5, narrowest)
    curvatures, axes = np.linalg.eigh(fit.factor.T @ fit.hessian @ fit.factor)
    is_sure = curvatures < -TUNING.sure * fit.curvature_error
    most = TUNING.wider ** (1.0 / 3.0) if was_poor else TUNING.wider
    wanted = np.sqrt(2.0 * TUNING.fall * noise / np.where(is_sure, -curvatures, np.inf))
    return _limited(fit.factor @ (axes * np.where(is_sure, np.minimum(wanted, most), most)), narrowest)


def _limited(factor: Array, narrowest: float) -> Array:
    """The same with widths along its axes within limits."""
    axes, widths, _ = np.linalg.svd(factor)
    return np.asarray(axes * np.clip(widths, narrowest, TUNING.widest_unsure))


# ---- the fit


def fit_parabola(steps: Array, values: Array, noise: float, factor: Array | None = None) -> Fit | None:
    """A parabola through values (n,) at steps (n, d) from its centre, some of which are repeated.

    With too few points for that it is their mean; None without any. `factor` is how they were drawn.
    """
    n, d = steps.shape
    if not n:
        return None
    if factor is None:
        factor = np.diag(np.maximum(np.abs(steps).max(axis=0), TINY))
    p = num_coefficients(d)
    if n < 2 * p:
        error, zeros = noise / math.sqrt(n), np.zeros((d, d))
        return Fit(float(values.mean()), error, zeros[0], zeros, factor, np.inf, np.inf, False)
    i, j = np.triu_indices(d)
    u = np.linalg.solve(factor, steps.T).T
    design = np.concatenate([np.ones((n, 1)), u, u[:, i] * u[:, j]], axis=1)
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
        _is_poor(steps, values, total, p, noise),
    )  # fmt: skip


def _is_poor(steps: Array, values: Array, total: float, p: int, noise: float) -> bool:
    """Whether the sum of squares left by p coefficients exceeds what repeats at the same places explain."""
    _, which, counts = np.unique(steps, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    means = np.bincount(which, values) / counts
    pure, n, m = float(((values - means[which]) ** 2).sum()), len(values), len(counts)
    if n == m or m <= p:
        return False
    sigma = deviation(math.sqrt(pure / (n - m)), noise)
    ratio = (total - pure) / (m - p) / max(sigma**2, TINY)
    return ratio > 1.0 + TUNING.misfit * math.sqrt(2.0 / (m - p) + 2.0 / (n - m))


def deviation(pooled: float, noise: float) -> float:
    """Standard deviation of a value by repeats, or what is known of it where repeats are all the same."""
    return noise if pooled < TUNING.alike * noise else pooled


# ---- the maximum


def find_peak(fit: Fit, centre: Array, box: Box) -> Peak:
    """The maximum in the box of a parabola around a centre (d,), as far as it is trusted."""
    d = len(centre)
    if not np.isfinite(fit.curvature_error):  # a mean is no parabola
        return Peak(centre, 0.0, 0.0, np.zeros(d), np.zeros(d, bool), False, 0.0)
    g, H = fit.gradient, fit.hessian
    low, high = box.lower_unit - centre, box.upper_unit - centre
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
    goal = np.where(is_low, box.lower_unit, np.where(is_high, box.upper_unit, centre + step))
    active = (is_low & (slope < 0.0)) | (is_high & (slope > 0.0))
    free = np.flatnonzero(~active)
    is_sure = not len(free) or bool(_axes(fit, free)[1].max() < -TUNING.sure * fit.curvature_error)
    rise, length = float(g @ step + 0.5 * step @ H @ step), float(np.linalg.norm(np.linalg.solve(fit.factor, step)))
    return Peak(box.project(goal), rise, length, np.where(active, slope, 0.0), active, is_sure, ascent)


def _axes(fit: Fit, free: NDArray[np.intp]) -> tuple[Array, Array]:
    """Axes (n, n) over free coordinates, as long as the points are wide along them, and the curvatures (n,) there."""
    L = np.linalg.cholesky((fit.factor @ fit.factor.T)[np.ix_(free, free)])
    curvatures, vectors = np.linalg.eigh(L.T @ fit.hessian[np.ix_(free, free)] @ L)
    return L @ vectors, curvatures


def _free_step(fit: Fit, g: Array, free: NDArray[np.intp]) -> tuple[Array, float]:
    """Newton's step where the curvature is surely negative; elsewhere uphill, farther the surer that is."""
    axes, curvatures = _axes(fit, free)
    slopes, least = axes.T @ g, TUNING.sure * fit.curvature_error
    is_curved = curvatures < -least
    ascents = np.where(is_curved, 0.0, np.abs(slopes) / max(fit.slope_error, TINY))
    bends = np.where(is_curved | (ascents > TUNING.sure), np.maximum(-curvatures, least), np.inf)
    along = slopes / np.maximum(bends, TINY)
    reach = TUNING.reach * (0.5 if fit.is_poor else 1.0)
    along *= min(1.0, reach / max(float(np.linalg.norm(along)), TINY))
    return axes @ along, float(ascents.max(initial=0.0))
