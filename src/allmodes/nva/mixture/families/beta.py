"""Beta components on the unit interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace, special
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily, NaturalParameters
from allmodes.nva.mixture.families.gamma import gamma_noise, log_gamma_draw

_SMALLEST, _EDGE = 1e-300, 2.0**-53  # draws keep these distances from 0 and from 1, which are outside the domain
_SERIES_FROM = 1000.0  # where the series of 1 / psi' has full accuracy
_STIRLING_FROM = 10.0  # where Stirling's series has


def _inverse_trigamma(a: Array) -> tuple[Array, Array]:
    """1 / psi'(a), and the same less a - 1/2, accurate for large a where the terms cancel."""
    xp = namespace(a)
    is_large = a > _SERIES_FROM
    r = 1.0 / xp.maximum(a, _SERIES_FROM)
    series = r * (1 / 12 + r * (1 / 24 - r / 720))
    direct = 1.0 / special(a).polygamma(1, xp.minimum(a, _SERIES_FROM))
    return xp.where(is_large, a - 0.5 + series, direct), xp.where(is_large, series, direct - a + 0.5)


def _stirling(a: Array) -> Array:
    """log Gamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2) for a not too small."""
    r = 1.0 / a
    return r * (1 / 12 - r**2 * (1 / 360 - r**2 * (1 / 1260 - r**2 / 1680)))


def log_beta(a: Array, b: Array) -> Array:
    """log B(a, b) without the cancellation of log-gammas when both are large."""
    xp = namespace(a)
    gammaln = special(a).gammaln
    is_large = (a > _STIRLING_FROM) & (b > _STIRLING_FROM)
    x, y = xp.where(is_large, a, _STIRLING_FROM), xp.where(is_large, b, _STIRLING_FROM)
    bulk = x * xp.log(x / (x + y)) + y * xp.log(y / (x + y)) + 0.5 * xp.log(2.0 * math.pi * (x + y) / (x * y))
    large = bulk + _stirling(x) + _stirling(y) - _stirling(x + y)
    return xp.where(is_large, large, gammaln(a) + gammaln(b) - gammaln(a + b))


@dataclass(frozen=True)
class Beta(ExponentialFamily):
    """Beta(a, b): lambda = (a, b), T = (log x, log(1 - x)), h = 1 / (x (1 - x)), A = log B(a, b)."""

    has_positive_parameters = True

    def check_points(self, name: str, points: NDArray[np.float64]) -> None:
        if not ((points > 0) & (points < 1)).all():
            wrong = points[~((points > 0) & (points < 1))][0]
            raise ValueError(f"{name} contains {wrong:g}; Beta() lives strictly between 0 and 1.")

    def statistics(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.stack([xp.log(x), xp.log1p(-x)], axis=-1)

    def log_base(self, x: Array) -> Array:
        xp = namespace(x)
        return -xp.log(x) - xp.log1p(-x)

    def log_partition(self, natural: Array) -> Array:
        return log_beta(natural[..., 0], natural[..., 1])

    def mean_statistics(self, natural: Array) -> Array:
        xp = namespace(natural)
        digamma = special(natural).digamma
        return digamma(natural) - digamma(xp.sum(natural, axis=-1, keepdims=True))

    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        # F = diag(psi'(a), psi'(b)) - psi'(a + b) 1 1^T, inverted by Sherman and Morrison with m = 1 / psi'.
        xp = namespace(natural)
        total = natural.sum(axis=-1, keepdims=True)
        m, excess = _inverse_trigamma(natural)
        m_total, excess_total = _inverse_trigamma(total)
        # m(a + b) - m(a) - m(b): the leading terms cancel exactly for large parameters, and are absent for small ones.
        gap = xp.where(
            total > 1.0,
            0.5 + excess_total - excess.sum(axis=-1, keepdims=True),
            m_total - m.sum(axis=-1, keepdims=True),
        )
        scaled = m * vectors
        return scaled + m * scaled.sum(axis=-1, keepdims=True) / gap

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return gamma_noise(rng, (*shape, d)), gamma_noise(rng, (*shape, d))

    def draw(self, natural: Array, noise: Any) -> tuple[Array, Array]:
        xp = namespace(natural)
        shape = noise[0][2].shape
        first, second = (log_gamma_draw(xp.broadcast_to(natural[..., i], shape), part) for i, part in enumerate(noise))
        log_odds = first - second
        log_x, log_rest = -xp.logaddexp(0.0, -log_odds), -xp.logaddexp(0.0, log_odds)
        return xp.clip(xp.exp(log_x), _SMALLEST, 1.0 - _EDGE), xp.stack([log_x, log_rest], axis=-1)

    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        total = means * (1.0 - means) / variances - 1.0
        if not (total > 0).all():
            raise ValueError(
                f"covariances has a variance of {variances.max():g}; Beta() with these means needs variances below "
                f"{(means * (1.0 - means)).min():g} (mean times one minus mean)."
            )
        return np.stack([means * total, (1.0 - means) * total], axis=-1)

    def means(self, components: NaturalParameters) -> Array:
        natural = components.natural
        return natural[..., 0] / (natural[..., 0] + natural[..., 1])

    def variances(self, natural: Array) -> Array:
        a, b = natural[..., 0], natural[..., 1]
        return a * b / ((a + b) ** 2 * (a + b + 1.0))
