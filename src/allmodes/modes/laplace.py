"""Laplace's approximation around modes: flatness, and the weights of modes in the Gibbs measure exp(l / omega).

Everything here maximises l; eigenvalues are those of its Hessian, and only their size counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfcx

from allmodes.arrays import logsumexp
from allmodes.checks import number

_FLOOR = 1e-3  # smallest eigenvalue in a weight, as a share of the mode's largest: the same as for frozen components
_ROUNDING = 1e-13  # error of computed eigenvalues, as a share of the largest, for up to some hundred dimensions
_SHARE_OF_SPREAD = 0.01  # the default temperature: low enough to tell good modes from poor ones

Floats = NDArray[np.float64]


def flatness(eigenvalues: Floats, tolerance: float = _ROUNDING) -> Any:
    """zeta = |prod_j lambda_j|^(-1/d), large for flat modes; eigenvalues (..., d) of Hessians to zeta (...).

    Infinite for a degenerate mode, whose smallest eigenvalue is below `tolerance` times its largest; NaN where one is
    not known. Weights at low temperatures go with zeta^(d/2). (The paper says with zeta; its formula is right.)

    Paper: sub:interpretation_weights

    >>> float(flatness(np.array([-2.0, -8.0])))
    0.25
    """
    sizes = np.abs(np.asarray(eigenvalues, dtype=np.float64))
    if sizes.shape[-1] == 0:
        return np.full(sizes.shape[:-1], np.nan)[()]
    with np.errstate(divide="ignore", over="ignore"):
        zeta = np.exp(-np.log(sizes).mean(axis=-1))
    is_known = ~np.isnan(sizes).any(axis=-1)
    is_degenerate = is_known & (sizes.min(axis=-1) <= tolerance * sizes.max(axis=-1))
    return np.where(is_degenerate, np.inf, zeta)[()]


def log_weights(
    values: Floats,
    eigenvalues: Floats,
    temperature: float,
    *,
    is_free: NDArray[np.bool_] | None = None,
    slopes: Floats | None = None,
    least: float | None = None,
) -> Floats:
    """log c_i, normalised, of c_i ~ exp(l_i / omega) prod_j (2 pi omega / |lambda_ij|)^(1/2).

    The weights of modes in the Gibbs measure at temperature omega, each with its Laplace approximation. Along a
    coordinate at a bound the integral is one-sided, (pi omega / 2 |lambda|)^(1/2) erfcx(|s| / (2 omega |lambda|)^(1/2))
    for a slope s, which is omega / |s| unless the slope is small.

    Eigenvalues are floored at 1e-3 of the mode's largest, so that a degenerate mode has a finite weight. A mode with a
    value, eigenvalue or slope of NaN has a weight of NaN and does not affect the others.

    Args:
        values: l_i, (J,).
        eigenvalues: lambda_ij, (J, d). With coordinates at bounds: of the free block, in the places of the free
            coordinates, and the curvature along the others in theirs (zero if it is not known).
        temperature: omega.
        is_free: which coordinates are not at a bound, (J, d); all, by default.
        slopes: derivatives of l, (J, d), read where a coordinate is at a bound; needed with `is_free`.
        least: floor of the sizes of eigenvalues, in place of 1e-3 of the mode's largest.

    Paper: lem:limit_cfi, th:laplace

    >>> np.exp(log_weights(np.zeros(2), np.array([[-1.0], [-4.0]]), 0.1)).round(3)
    array([0.667, 0.333])
    """
    omega = number("temperature", temperature, above=0.0)
    values, eigenvalues = _checked(values, eigenvalues, least)
    return _normalised(_scaled(values, omega) + _log_volumes(eigenvalues, omega, is_free, slopes))


def log_volumes(
    eigenvalues: Floats, temperature: float, is_free: NDArray[np.bool_] | None = None, slopes: Floats | None = None
) -> Floats:
    """log prod_j (2 pi omega / |lambda_ij|)^(1/2), (J,), one-sided at bounds as in `log_weights`, nothing floored.

    With the values of a log density they make Laplace's evidence around each mode, at a temperature of 1.

    >>> float(log_volumes(np.array([[-2.0 * np.pi, -2.0 * np.pi]]), 1.0)[0])
    0.0
    """
    sizes = np.abs(np.asarray(eigenvalues, dtype=np.float64))
    return _log_volumes(sizes, number("temperature", temperature, above=0.0), is_free, slopes)


def _log_volumes(sizes: Floats, omega: float, is_free: Any, slopes: Any) -> Floats:
    with np.errstate(divide="ignore"):  # infinite along a direction without curvature
        log_widths = 0.5 * (np.log(2.0 * np.pi) + np.log(omega) - np.log(sizes))
    if is_free is not None:
        log_widths += _log_one_sided(sizes, omega, is_free, slopes)
    return np.asarray(log_widths.sum(axis=-1))


def log_inside(hessian: Floats, below: Floats, above: Floats, temperature: float) -> float:
    """Logarithm of the share of a mode's Gaussian that lies between bounds, by its marginals.

    A mode next to a bound, or on one without a slope, weighs no more than what is on this side: half of the Gaussian
    where it lies on the bound. That makes weights continuous in where the mode is.

    Args:
        hessian: of l at the mode, (d, d), of the coordinates that no bound holds.
        below, above: how far away the lower and the upper bounds are, (d,), at least 0; infinite where there is none.
        temperature: omega.

    >>> round(float(np.exp(log_inside(np.array([[-1.0]]), np.zeros(1), np.array([np.inf]), 0.1))), 3)
    0.5
    """
    eigenvalues, vectors = np.linalg.eigh(hessian)
    widths = np.sqrt(2.0 * temperature * (vectors**2 / _floored(eigenvalues)).sum(axis=1))
    return float(np.log(0.5 * (erf(below / widths) + erf(above / widths))).sum())


def limit_weights(values: Floats, eigenvalues: Floats, tolerance: float) -> Floats:
    """The weights (J,) as the temperature goes to zero: det(-Hessian)^(-1/2) shares among the global modes.

    Those are the ones within `tolerance` of the best value; all others weigh nothing. The theorem is about modes in
    the interior that are not degenerate; eigenvalues are floored as in `log_weights`.

    Paper: th:annealing_limit

    >>> limit_weights(np.array([1.0, 1.0, 0.5]), np.array([[-1.0], [-4.0], [-1.0]]), 1e-6).round(3)
    array([0.667, 0.333, 0.   ])
    """
    tolerance = number("tolerance", tolerance, at_least=0.0)
    values, eigenvalues = _checked(values, eigenvalues)
    is_global = values >= np.nanmax(values, initial=-np.inf) - tolerance
    log_shares = np.where(is_global, -0.5 * np.log(eigenvalues).sum(axis=-1), -np.inf)
    return np.exp(_normalised(np.where(np.isnan(values), np.nan, log_shares)))


def temperature_for(spread: float) -> float:
    """The temperature at which weights are stated by default: 1 % of a spread of values.

    The spread is the caller's, such as the best value minus the median value at the starts. Without any spread all
    values are equal, the temperature does not matter, and it is 1.
    """
    return _SHARE_OF_SPREAD * number("spread", spread, at_least=0.0) or 1.0


def _floored(eigenvalues: Floats) -> Floats:
    """Sizes of at least 1e-3 of the mode's largest, or of the largest of all modes where it has none, or 1."""
    sizes = np.abs(eigenvalues)
    largest = sizes.max(axis=-1, keepdims=True, initial=0.0)
    overall = np.nanmax(sizes, initial=0.0) or 1.0
    return np.maximum(sizes, _FLOOR * np.where(largest == 0.0, overall, largest))


def _scaled(values: Floats, omega: float) -> Floats:
    """(l_i - max l) / omega."""
    with np.errstate(over="ignore"):  # -inf is the right answer for a mode that is far too low
        return (values - np.nanmax(values, initial=-np.inf)) / omega


def _normalised(log_shares: Floats) -> Floats:
    is_known = ~np.isnan(log_shares)
    return log_shares - logsumexp(log_shares[is_known]) if is_known.any() else log_shares


def _log_one_sided(eigenvalues: Floats, omega: float, is_free: Any, slopes: Any) -> Floats:
    """Logarithm of the one-sided integral as a share of the full Gaussian one; 0 for free coordinates."""
    if slopes is None:
        raise ValueError("slopes is missing; modes with coordinates at bounds (is_free) need the derivatives there.")
    for name, given in (("is_free", is_free), ("slopes", slopes)):
        if np.shape(given) != eigenvalues.shape:
            raise ValueError(f"{name} has shape {np.shape(given)}; wanted that of eigenvalues, {eigenvalues.shape}.")
    with np.errstate(over="ignore", divide="ignore"):  # an infinite slope leaves no weight: log 0 = -inf
        # separate roots: their product may overflow
        steepness = np.where(is_free, 0.0, np.abs(slopes)) / np.sqrt(eigenvalues) / np.sqrt(2.0 * omega)
        return np.where(is_free, 0.0, np.log(0.5 * erfcx(steepness)))


def _checked(values: Floats, eigenvalues: Floats, least: float | None = None) -> tuple[Floats, Floats]:
    """Values, NaN where they are not finite, and floored sizes of eigenvalues."""
    values, eigenvalues = np.asarray(values, dtype=np.float64), np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or eigenvalues.ndim != 2 or len(values) != len(eigenvalues):
        found = f"values has shape {values.shape} and eigenvalues {eigenvalues.shape}"
        raise ValueError(f"{found}; wanted (J,) and (J, d), one row per mode.")
    sizes = _floored(eigenvalues) if least is None else np.maximum(np.abs(eigenvalues), least)
    return np.where(np.isfinite(values), values, np.nan), sizes
