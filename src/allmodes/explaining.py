"""From modes of a sum of squares to explanations of data: residuals, errors of parameters, shares of the posterior."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp
from allmodes.modes import laplace
from allmodes.modes.identified import covariance, undetermined
from allmodes.nva.mixture import Mixture
from allmodes.objective.residuals import SumOfSquares
from allmodes.result import Fit, Mode, Result

_OTHER = 1e-6  # of a cost: far more than rounding, far less than other data would change
# What a search says of functions whose differences over short steps are 0, or rounding.
_ROUNDED = "the function is rough", "the function is coarse"
_LONG = 0.01  # of a parameter: steps over which differences show a slope
_EXACT = 1e-20  # of the usual cost: residuals that are rounding, and tell no errors of the data

Floats = NDArray[np.float64]


def explained(result: Result, part: SumOfSquares, is_absolute: bool, left: int, is_noisy: bool) -> Result:
    """The result with a `Fit` for every mode, and weights that are shares of the posterior.

    Residuals and Jacobian at the modes are evaluated in this process, best first, as far as the evaluations that are
    left reach; the search has kept some back for that. Where they are noisy, a Jacobian from differences says
    nothing, and no errors are stated; of models that are rounded it is made over long steps.
    """
    seen, nfev, njev = [], 0, 0
    is_rounded = any(words in result.message.lower() for words in _ROUNDED)
    step = _LONG if is_rounded and part.jac is None else 0.0
    counts, usual = part.cost(part.provides), max(result.temperature or 0.0, np.finfo(np.float64).tiny)
    for mode in result.modes:
        if nfev + counts.nfev > left:
            break
        nfev, njev = nfev + counts.nfev, njev + counts.njev
        r = part.residuals(mode.x[None])
        cost = float(part.loss.cost(r)[0])
        if not (is_noisy or is_rounded) and _is_other(cost, mode.fun, usual):
            raise ValueError(
                f"the cost at x = {mode.x} is {cost:.10g}, and was {mode.fun:.10g} in the search: the checkpoint was "
                "written for other data, another loss or another model. Name another file, or remove it."
            )
        seen.append((r[0], part.loss.weighted(r, part.jacobian(mode.x[None], r, step))))
    if not seen:
        return replace(result, problem=part)
    data, free = len(seen[0][0]), part.box.free
    best = _variance(2.0 * result.modes[0].fun, data - part.box.d, is_absolute)
    modes = []
    for i, mode in enumerate(result.modes):
        r, J = (seen[i][0], seen[i][1][1][0]) if i < len(seen) else (np.zeros(0), _root(mode.hessian))
        variance = _variance(2.0 * mode.fun, data - part.box.d, is_absolute)
        errors = covariance(np.where(free, J, np.nan), variance)
        words = undetermined(mode.x, _finite(errors.finite), part.box.upper - part.box.lower, result.coordinate_names)
        known = errors.known
        if math.isinf(variance):  # nothing is left over to estimate errors from; that says nothing of combinations
            words = ()
        if is_noisy and part.jac is None:
            known, words = np.full_like(known, np.nan), ()
        fit = Fit(r, mode.fun, data, part.box.d, is_absolute, known, words)
        modes.append(replace(mode, fit=fit))
    slopes = np.array([np.einsum("nm,nmd->d", *both) for _, both in seen])
    temperature = _temperature(result, best, is_absolute)
    weights = _weights(modes, slopes, part, temperature)
    return replace(
        result, modes=tuple(replace(mode, weight=float(w)) for mode, w in zip(modes, weights, strict=True)),
        temperature=temperature, mixture=_mixture(result, weights, temperature), nfev=result.nfev + nfev,
        njev=result.njev + njev, problem=part,
        message=result.message.replace(f"{result.nfev} of ", f"{result.nfev + nfev} of "),
    )  # fmt: skip


def _is_other(cost: float, searched: float, usual: float) -> bool:
    """Whether a cost is not the one that the search saw; the norms of residuals differ by rounding."""
    norms = np.sqrt(np.abs([cost, searched]))
    return bool(abs(norms[0] - norms[1]) > max(_OTHER * norms.max(), np.sqrt(_EXACT * usual)))


def _variance(chi2: float, dof: int, is_absolute: bool) -> float:
    """Of the residuals: known, or as they are themselves, as in scipy.optimize.curve_fit."""
    if is_absolute:
        return 1.0
    return chi2 / dof if dof > 0 else math.inf


def _root(hessian: Floats) -> Floats:
    """A matrix J with J^T J like a Hessian (D, D), for a mode whose residuals were not evaluated."""
    eigenvalues, vectors = np.linalg.eigh(np.nan_to_num(hessian))
    return np.asarray(np.sqrt(np.maximum(eigenvalues, 0.0))[:, None] * vectors.T)


def _finite(errors: Floats) -> Floats:
    return np.nan_to_num(errors, nan=0.0, posinf=1e300, neginf=-1e300)


def _temperature(result: Result, variance: float, is_absolute: bool) -> float:
    """At which exp(-cost / temperature) is the likelihood; that of any function where errors cannot be told."""
    usual = result.temperature
    return variance if is_absolute or _EXACT * usual < variance < math.inf else usual


def _weights(modes: list[Mode], slopes: Floats, part: SumOfSquares, temperature: float) -> Floats:
    """Laplace's approximation of the posterior, none of whose peaks is wider than the bounds."""
    places, box = np.flatnonzero(part.box.free), part.box
    width = np.where(np.isfinite(box.upper - box.lower), box.upper - box.lower, 1.0)[places]
    shape = len(modes), len(places)
    eigenvalues, is_free, sloped = np.zeros(shape), np.ones(shape, bool), np.zeros(shape)
    for i, mode in enumerate(modes):
        H = mode.hessian[np.ix_(places, places)] * np.outer(width, width)
        is_free[i] = ~np.isin(places, mode.active)
        free, held = np.flatnonzero(is_free[i]), np.flatnonzero(~is_free[i])
        eigenvalues[i, free] = np.linalg.eigvalsh(H[np.ix_(free, free)])
        eigenvalues[i, held] = H[held, held]
        sloped[i] = slopes[i][places] * width if i < len(slopes) else 0.0
    is_bounded = bool(np.isfinite(box.upper - box.lower).all())
    least = 2.0 * np.pi * temperature if is_bounded else 1e-300
    values = np.array([-mode.fun for mode in modes])
    logs = laplace.log_weights(values, eigenvalues, temperature, is_free=is_free, slopes=sloped, least=least)
    logs += np.log([mode.multiplicity or 1 for mode in modes])
    return np.exp(logs - logsumexp(logs[np.isfinite(logs)])) if np.isfinite(logs).any() else np.exp(logs)


def _mixture(result: Result, weights: Floats, temperature: float) -> Mixture | None:
    """The mixture of the modes at another temperature: its covariances go with it."""
    mixture = result.mixture
    if mixture is None:
        return None
    ratio, logs = math.sqrt(temperature / result.temperature), np.log(np.maximum(np.nan_to_num(weights), 1e-300))
    C, A = mixture.components.factors
    factors = mixture.components.factors._replace(C=C / ratio, A=A * ratio)
    return mixture._replace(log_ratios=logs - logs[-1], components=mixture.components._replace(factors=factors))
