"""Log densities whose masses are known: what `benchmarks/masses.py` weighs.

Label switching and the eight schools (Rubin 1981) are posteriors with all constants, two of the others are normalised
mixtures. All take points (N, d).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Floats = NDArray[np.float64]

_LOG_2PI = float(np.log(2.0 * np.pi))
_SWITCHING = -62.347  # log evidence of label switching, +- 0.001, by `reference` with two seeds


class Target(NamedTuple):
    """A log density with its evidence.

    Attributes:
        log_density: at points (N, d).
        bounds: (d, 2).
        log_evidence: over the bounds.
        masses: at a place x, how much the mode there weighs; None where it has no mode to weigh.
        budget: of the search for modes, evaluations.
    """

    name: str
    log_density: Callable[[Floats], Floats]
    bounds: list[tuple[float, float]]
    log_evidence: float
    masses: Callable[[Floats], float]
    budget: int


def _normal(x: Floats, scale: Any = 1.0) -> Floats:
    return np.asarray(-0.5 * (x / scale) ** 2 - np.log(scale) - 0.5 * _LOG_2PI)


# ---- mixtures


def two_gaussians(x: Floats) -> Floats:
    first = np.log(0.8) + _normal(x - [-1.0, 0.0], 0.2).sum(axis=1)
    second = np.log(0.2) + _normal(x - [1.0, 0.5], np.array([0.1, 0.3])).sum(axis=1)
    return np.logaddexp(first, second)


def _banana(x: Floats, centre: Any, sign: float) -> Floats:
    y = sign * (x - centre)
    bend = 0.5 * ((y[:, 0] / 0.25) ** 2 - 1.0)
    return _normal(y[:, 0], 0.25) + _normal(y[:, 1] - bend, 0.5)


def bananas(x: Floats) -> Floats:
    return np.logaddexp(np.log(0.7) + _banana(x, [-1.5, 0.0], 1.0), np.log(0.3) + _banana(x, [1.5, 0.5], -1.0))


def students(x: Floats, nu: float = 3.0) -> Floats:
    d, parts = x.shape[1], []
    for weight, mean, scale in ((0.65, -1.5, 0.25), (0.35, 1.5, 0.4)):
        q = (((x - mean) / scale) ** 2).sum(axis=1)
        norm = gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi) - d * np.log(scale)
        parts.append(np.log(weight) + norm - 0.5 * (nu + d) * np.log1p(q / nu))
    return np.logaddexp(*parts)


def eggbox(x: Floats) -> Floats:
    return np.asarray((2.0 + np.cos(x[:, 0] / 2.0) * np.cos(x[:, 1] / 2.0)) ** 5)


def _of_eggbox() -> float:
    grid = np.linspace(0.0, 10.0 * np.pi, 1001)  # the trapezoidal rule: it is periodic
    values = eggbox(np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)).reshape(1001, 1001)
    logs = np.full(1001, 0.0)
    logs[[0, -1]] = -np.log(2.0)
    return float(logsumexp(values + logs + logs[:, None]) + 2.0 * np.log(grid[1]))


def _mass_in_eggbox(x: Floats) -> float:
    on_bounds = int((np.minimum(x, 10.0 * np.pi - x) < 1e-3).sum())
    return 0.08 * 0.5**on_bounds


# ---- label switching: a mixture of two Gaussians with unknown means, deviations and shares

_rng = np.random.default_rng(1)
DATA = np.where(_rng.random(40) < 0.6, -1.0, 1.2) + 0.7 * _rng.standard_normal(40)


def switching(x: Floats) -> Floats:
    """By two means, two log deviations and the logit of the first share; normal priors, a flat one of the share."""
    logs = -np.logaddexp(0.0, -x[:, 4]), -np.logaddexp(0.0, x[:, 4])
    of_data = np.logaddexp(
        *(logs[i][:, None] + _normal(DATA - x[:, i, None], np.exp(x[:, 2 + i, None])) for i in (0, 1))
    )
    prior = _normal(x[:, :2], 2.0).sum(axis=1) + _normal(x[:, 2:4] + 0.3, 0.5).sum(axis=1) + logs[0] + logs[1]
    return np.asarray(of_data.sum(axis=1) + prior)


# ---- eight schools

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def _of_hyperparameters(mean: Floats, log_tau: Floats) -> Floats:
    """mean ~ N(0, 5), tau ~ half-Cauchy(5), by log tau."""
    return np.asarray(
        _normal(mean, 5.0) + np.log(2.0 / (5.0 * np.pi)) - np.log1p((np.exp(log_tau) / 5.0) ** 2) + log_tau
    )


def not_centred(x: Floats) -> Floats:
    """By (mean, log tau, effects in units of tau around the mean)."""
    effects = x[:, :1] + np.exp(x[:, 1:2]) * x[:, 2:]
    likelihood = _normal(EFFECTS - effects, ERRORS).sum(axis=1)
    return np.asarray(likelihood + _normal(x[:, 2:]).sum(axis=1) + _of_hyperparameters(x[:, 0], x[:, 1]))


def centred(x: Floats) -> Floats:
    """By (mean, log tau, effects): it has no mode, but rises without end as tau falls."""
    likelihood = _normal(EFFECTS - x[:, 2:], ERRORS).sum(axis=1)
    prior = _normal(x[:, 2:] - x[:, :1], np.exp(x[:, 1:2])).sum(axis=1)
    return np.asarray(likelihood + prior + _of_hyperparameters(x[:, 0], x[:, 1]))


def _of_schools(lower: float, upper: float) -> float:
    """The effects integrate to normal distributions of the data; the rest on a grid."""
    mean, log_tau = np.meshgrid(np.linspace(-30.0, 30.0, 601), np.linspace(lower, upper, 601))
    deviation = np.sqrt(ERRORS**2 + np.exp(2.0 * log_tau[..., None]))
    values = _normal(EFFECTS - mean[..., None], deviation).sum(axis=2) + _of_hyperparameters(mean, log_tau)
    ends = np.log(np.r_[0.5, np.ones(599), 0.5])
    return float(logsumexp(values + ends + ends[:, None]) + np.log(0.1 * (upper - lower) / 600.0))


def targets() -> list[Target]:
    """In the order of the table."""
    of_switching = [(-4.0, 4.0)] * 2 + [(-3.0, 2.0)] * 2 + [(-5.0, 5.0)]
    of_effects = [(-30.0, 30.0), (-8.0, 6.0)] + [(-8.0, 8.0)] * 8
    of_centred = [(-30.0, 30.0), (-5.0, 6.0)] + [(-60.0, 80.0)] * 8
    return [
        Target("two Gaussians", two_gaussians, [(-3, 3)] * 2, 0.0, lambda x: 0.8 if x[0] < 0 else 0.2, 3000),
        Target("two bananas", bananas, [(-6, 6)] * 2, 0.0, lambda x: 0.7 if x[0] < 0 else 0.3, 3000),
        Target("label switching", switching, of_switching, _SWITCHING, lambda _: 0.5, 3000),
        Target("Student-t, nu = 3", students, [(-20, 20)] * 10, 0.0, lambda x: 0.65 if x[0] < 0 else 0.35, 6000),
        Target("eggbox", eggbox, [(0, 10 * np.pi)] * 2, _of_eggbox(), _mass_in_eggbox, 3000),
        Target("eight schools", not_centred, of_effects, _of_schools(-8.0, 6.0), lambda _: 1.0, 6000),
        Target("eight schools, centred", centred, of_centred, _of_schools(-5.0, 6.0), lambda _: 1.0, 6000),
    ]


def reference(draws: int = 4_000_000, seed: int = 0, blocks: int = 40) -> tuple[float, float]:
    """log evidence of label switching and its error, by plain importance sampling that shares no code with allmodes."""
    from scipy.optimize import minimize

    rng, d, nu = np.random.default_rng(seed), 5, 4.0
    start = np.array([-1.0, 1.2, -0.4, -0.4, 0.4])
    negative: Any = lambda x: -switching(x[None])[0]  # noqa: E731
    found: Any = minimize(negative, start, method="BFGS")
    swap = [1, 0, 3, 2]
    logs = []
    factor = np.linalg.cholesky(2.0 * found.hess_inv)
    mirrored = np.diag([1.0, 1.0, 1.0, 1.0, -1.0])[[*swap, 4]]
    norm = gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi) - np.log(np.diag(factor)).sum()
    low, high = np.array([-4, -4, -3, -3, -5]), np.array([4, 4, 2, 2, 5])
    for _ in range(blocks):
        n = draws // blocks
        step = rng.standard_normal((n, d)) * np.sqrt(nu / rng.chisquare(nu, n))[:, None]
        x = found.x + step @ factor.T
        x[: n // 2] = x[: n // 2] @ mirrored.T
        parts = []
        for y in (x, x @ mirrored.T):
            q = (np.linalg.solve(factor, (y - found.x).T) ** 2).sum(axis=0)
            parts.append(norm - 0.5 * (nu + d) * np.log1p(q / nu))
        is_inside = ((x >= low) & (x <= high)).all(axis=1)
        logs.append(np.where(is_inside, switching(x), -np.inf) - np.logaddexp(*parts) + np.log(2.0))
    whole = np.concatenate(logs)
    total = logsumexp(whole) - np.log(len(whole))
    return float(total), float(np.exp(whole - total).std() / np.sqrt(len(whole)))
