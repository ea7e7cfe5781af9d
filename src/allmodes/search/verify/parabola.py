"""A parabola through noisy values: regression with errors, and what it says about the maximum."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import clip, is_held
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]


class Fit(NamedTuple):
    """A parabola, at its centre.

    Attributes:
        value, error: the value and its standard error.
        gradient, hessian: (d,) and (d, d).
        factor: (d, d), of the covariance of the points; the errors are in coordinates in which that is 1.
        slope_error, curvature_error: of a first and of a second derivative, the largest.
        is_poor: whether the function differs from a parabola by more than chance.
    """

    value: float
    error: float
    gradient: Array
    hessian: Array
    factor: Array
    slope_error: float
    curvature_error: float
    is_poor: bool

    @property
    def least(self) -> float:
        """The smallest curvature that is not chance."""
        return TUNING.sure * self.curvature_error


class Peak(NamedTuple):
    """Where a parabola says that its maximum in the box is.

    Attributes:
        point, rise: (d,), and how much higher the function is there.
        step: length of the way there, in standard deviations of the points of the fit.
        gradient, active: at the point, and which bounds hold it there, (d,).
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


def num_coefficients(d: int) -> int:
    """Of a parabola."""
    return 1 + d + d * (d + 1) // 2


# ---- where to evaluate


def first_factor(hessian: Array, noise: float, narrowest: float) -> Array:
    """A factor (d, d) of the covariance of points to fit a parabola to, by a component's guess of its Hessian.

    Noise makes components shrink for no reason, so the curvature is taken to be less.
    """
    return _adapted(np.eye(len(hessian)), hessian / TUNING.wider**2, TINY, noise, np.inf, narrowest)


def next_factor(fit: Fit, noise: float, was_poor: bool, narrowest: float) -> Array:
    """The next factor: as the curvature says where that is sure, wider where it is not, narrower if the fit is poor.

    Never wider again once a fit was poor.
    """
    most = TUNING.wider**-0.5 if fit.is_poor else 1.0 if was_poor else TUNING.wider
    return _adapted(fit.factor, fit.hessian, fit.least, noise, most, narrowest)


def _adapted(factor: Array, hessian: Array, least: float, noise: float, most: float, narrowest: float) -> Array:
    """A factor within which the function falls by a few times the noise, at most so much wider than the one before."""
    curvatures, axes = np.linalg.eigh(factor.T @ hessian @ factor)
    ratios = np.sqrt(2.0 * TUNING.fall * noise / np.maximum(-curvatures, max(least, TINY)))
    vectors, widths, _ = np.linalg.svd(factor @ (axes * np.minimum(ratios, most)))
    return np.asarray(vectors * np.clip(widths, narrowest, TUNING.widest))


# ---- the fit


def fit_parabola(steps: Array, values: Array, noise: float, factor: Array) -> Fit | None:
    """A parabola through values (n,) at steps (n, d) from its centre, some of which are repeated.

    None if they are too few. `factor` is how the steps were drawn.
    """
    n, d = steps.shape
    p = num_coefficients(d)
    if n < 2 * p:
        return None
    i, j = np.triu_indices(d)
    inverse = np.linalg.inv(factor)
    u = steps @ inverse.T
    design = np.concatenate([np.ones((n, 1)), u, u[:, i] * u[:, j]], axis=1)
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    residual = values - design @ coefficients
    total = float(residual @ residual)
    errors = math.sqrt(total / (n - p)) * np.sqrt(np.diag(np.linalg.pinv(design.T @ design)))
    H = np.zeros((d, d))
    H[i, j] = coefficients[1 + d :]
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
    return ratio > 1.0 + TUNING.sure * math.sqrt(2.0 / (m - p) + 2.0 / (n - m))


def deviation(pooled: float, noise: float) -> float:
    """Standard deviation of a value by repeats; what is known of it where these are alike: it is rough, not random."""
    return noise if pooled < TUNING.alike * noise else pooled


# ---- the maximum


def find_peak(fit: Fit, centre: Array, box: Box) -> Peak:
    """The maximum in the box of a parabola around a centre (d,), as far as it is trusted.

    Coordinates that meet a bound on the way stop there; the others go on in the next fit.
    """
    g, H = fit.gradient, fit.hessian
    free = np.flatnonzero(~is_held(box, centre, g))
    wanted = np.zeros(len(centre))
    wanted[free], ascent = _free_step(fit, free)
    goal = clip(box, centre + wanted)
    step = goal - centre
    slope = g + H @ step
    active = is_held(box, goal, slope)
    free = np.flatnonzero(~active)
    is_sure = not len(free) or bool(_axes(fit, free)[1].max() < -fit.least)
    rise, length = float(g @ step + 0.5 * step @ H @ step), float(np.linalg.norm(np.linalg.solve(fit.factor, step)))
    return Peak(box.project(goal), rise, length, np.where(active, slope, 0.0), active, is_sure, ascent)


def _axes(fit: Fit, free: NDArray[np.intp]) -> tuple[Array, Array]:
    """Axes (n, n) over free coordinates, as long as the points are wide along them, and the curvatures (n,) there."""
    L = np.linalg.cholesky((fit.factor @ fit.factor.T)[np.ix_(free, free)])
    curvatures, vectors = np.linalg.eigh(L.T @ fit.hessian[np.ix_(free, free)] @ L)
    return L @ vectors, curvatures


def _free_step(fit: Fit, free: NDArray[np.intp]) -> tuple[Array, float]:
    """Newton's step where the curvature is surely negative; elsewhere uphill. How sure that ascent is."""
    axes, curvatures = _axes(fit, free)
    slopes = axes.T @ fit.gradient[free]
    ascents = np.where(curvatures < -fit.least, 0.0, np.abs(slopes) / max(fit.slope_error, TINY))
    along = slopes / np.maximum(-curvatures, max(fit.least, TINY))
    along *= min(1.0, TUNING.reach / max(float(np.linalg.norm(along)), TINY))
    return axes @ along, float(ascents.max(initial=0.0))
