"""Beta components on the unit interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace, special
from allmodes.mixture.families.exponential_family import ExponentialFamily, NaturalParameters
from allmodes.mixture.families.gamma import gamma_draw, gamma_noise

_EDGE = 2.0**-53  # draws keep this distance from 0 and 1, which are outside the domain
_SERIES_FROM = 1000.0


def _inverse_trigamma_excess(a: Array) -> Array:
    """1 / psi'(a) - a + 1/2, accurate for large a where the terms cancel."""
    xp = namespace(a)
    r = 1.0 / xp.maximum(a, _SERIES_FROM)
    series = r * (1 / 12 + r * (1 / 24 - r / 720))
    small = xp.minimum(a, _SERIES_FROM)
    return xp.where(a > _SERIES_FROM, series, 1.0 / special(a).polygamma(1, small) - small + 0.5)


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
        return special(natural).betaln(natural[..., 0], natural[..., 1])

    def mean_statistics(self, natural: Array) -> Array:
        xp = namespace(natural)
        digamma = special(natural).digamma
        return digamma(natural) - digamma(xp.sum(natural, axis=-1, keepdims=True))

    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        # F = diag(psi'(a), psi'(b)) - psi'(a + b) 1 1^T, inverted by Sherman and Morrison with m = 1 / psi'.
        xp = namespace(natural)
        excess = _inverse_trigamma_excess(natural)
        m = natural - 0.5 + excess
        total = _inverse_trigamma_excess(xp.sum(natural, axis=-1, keepdims=True))
        denominator = 0.5 + total - xp.sum(excess, axis=-1, keepdims=True)  # m(a + b) - m(a) - m(b)
        scaled = m * vectors
        return scaled + m * xp.sum(scaled, axis=-1, keepdims=True) / denominator

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return gamma_noise(rng, (*shape, d)), gamma_noise(rng, (*shape, d))

    def draw(self, natural: Array, noise: Any) -> Array:
        xp = namespace(natural)
        shape = noise[0][2].shape
        first = gamma_draw(xp.broadcast_to(natural[..., 0], shape), noise[0])
        second = gamma_draw(xp.broadcast_to(natural[..., 1], shape), noise[1])
        return xp.clip(first / (first + second), _EDGE, 1.0 - _EDGE)

    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        total = means * (1.0 - means) / variances - 1.0
        if not (total > 0).all():
            raise ValueError(
                f"covariances has a variance of {variances.max():g}; Beta() with these means wants variances below "
                f"{(means * (1.0 - means)).min():g} (mean times one minus mean)."
            )
        return np.stack([means * total, (1.0 - means) * total], axis=-1)

    def means(self, components: NaturalParameters) -> Array:
        natural = components.natural
        return natural[..., 0] / (natural[..., 0] + natural[..., 1])

    def variances(self, natural: Array) -> Array:
        a, b = natural[..., 0], natural[..., 1]
        return a * b / ((a + b) ** 2 * (a + b + 1.0))
