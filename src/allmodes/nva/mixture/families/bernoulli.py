"""Products of Bernoulli distributions on binary vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily, NaturalParameters


@dataclass(frozen=True)
class Bernoulli(ExponentialFamily):
    """x in {0, 1} with log-odds lambda: T = x, A = log(1 + exp lambda). The mean of a component is P(x = 1)."""

    has_positive_parameters = False

    def check_points(self, name: str, points: NDArray[np.float64]) -> None:
        if not ((points > 0) & (points < 1)).all():
            wrong = points[~((points > 0) & (points < 1))][0]
            raise ValueError(f"{name} contains {wrong:g}; Bernoulli() needs probabilities strictly between 0 and 1.")

    def start(self, means: NDArray[np.float64], covariances: Any) -> NaturalParameters:
        if covariances is not None:
            raise ValueError("covariances was given; a Bernoulli() component has none beyond its mean. Leave it out.")
        self.check_points("means", means)
        return NaturalParameters(self.from_moments(means, means))

    def statistics(self, x: Array) -> Array:
        return x[..., None]

    def log_base(self, x: Array) -> Array:
        return 0.0 * x

    def log_partition(self, natural: Array) -> Array:
        return namespace(natural).logaddexp(0.0 * natural, natural)[..., 0]

    def mean_statistics(self, natural: Array) -> Array:
        # tanh saturates where exp would overflow
        return 0.5 * (1.0 + namespace(natural).tanh(0.5 * natural))

    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        return vectors * (2.0 + 2.0 * namespace(natural).cosh(natural))  # 1 / (p (1 - p))

    def natural_scores(self, natural: Array, statistics: Array) -> Array:
        # F^-1 (x - p) is 1/p for x = 1 and -1/(1 - p) for x = 0: no 0/0 when p is 0 or 1 to machine precision.
        xp = namespace(natural)
        sign = 2.0 * statistics - 1.0
        return sign * (1.0 + xp.exp(xp.minimum(-sign * natural[..., None, :, :], 700.0)))

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return rng.random((*shape, d))

    def draw(self, natural: Array, noise: Any) -> tuple[Array, Array]:
        points = namespace(natural).where(noise < self.mean_statistics(natural)[..., 0], 1.0, 0.0)
        return points, self.statistics(points)

    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(means / (1.0 - means))[..., None]

    def means(self, components: NaturalParameters) -> Array:
        return self.mean_statistics(components.natural)[..., 0]

    def variances(self, natural: Array) -> Array:
        p = self.mean_statistics(natural)[..., 0]
        return p * (1.0 - p)
