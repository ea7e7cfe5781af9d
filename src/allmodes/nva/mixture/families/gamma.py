"""Gamma components on the positive reals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace, special
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily, NaturalParameters

# Candidates of the rejection sampler. Each is accepted with probability above 0.95, so that all of them fail less often
# than once in 1e15 draws; the first one is taken then.
_CANDIDATES = 12
_SMALLEST = 1e-300  # draws do not underflow to 0, which is outside the domain
_SERIES_FROM = 50.0  # where the asymptotic series of the trigamma function has full accuracy


def gamma_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
    """Noise for unit-rate gamma draws of the given shape."""
    return rng.standard_normal((*shape, _CANDIDATES)), rng.random((*shape, _CANDIDATES)), rng.random(shape)


def log_gamma_draw(a: Array, noise: tuple[Array, ...]) -> Array:
    """Logarithms of unit-rate gamma draws with shape parameters a (Marsaglia and Tsang, 2000: a cubed normal).

    In logarithms nothing underflows, however small the shape parameter.
    """
    xp = namespace(a)
    normal, uniform, boost = noise
    # Shapes below 1 are raised by 1 and brought back by a power of a uniform.
    raised = xp.where(a < 1.0, a + 1.0, a)[..., None]
    centre = raised - 1.0 / 3.0
    cubed = (1.0 + normal / xp.sqrt(9.0 * centre)) ** 3
    log_cubed = xp.log(xp.where(cubed > 0, cubed, 1.0))
    bound = 0.5 * normal**2 + centre * (1.0 - cubed + log_cubed)
    accepted = (cubed > 0) & (xp.log1p(-uniform) < bound)  # 1 - u lies in (0, 1], its logarithm is finite
    first = xp.argmax(accepted, axis=-1)[..., None]
    drawn = (xp.log(centre) + xp.take_along_axis(log_cubed, first, axis=-1))[..., 0]
    return drawn + xp.where(a < 1.0, xp.log1p(-boost) / a, 0.0)


def trigamma_excess(a: Array) -> Array:
    """a psi'(a) - 1, accurate for large a where the two terms cancel."""
    xp = namespace(a)
    r = 1.0 / xp.maximum(a, _SERIES_FROM)
    series = r * (1 / 2 + r * (1 / 6 + r**2 * (-1 / 30 + r**2 * (1 / 42 - r**2 / 30))))
    small = xp.minimum(a, _SERIES_FROM)
    return xp.where(a > _SERIES_FROM, series, small * special(a).polygamma(1, small) - 1.0)


@dataclass(frozen=True)
class Gamma(ExponentialFamily):
    """Gamma with shape a and rate b: lambda = (a, b), T = (log x, -x), h = 1/x, A = log Gamma(a) - a log b."""

    has_positive_parameters = True

    def check_points(self, name: str, points: NDArray[np.float64]) -> None:
        if not (points > 0).all():
            raise ValueError(f"{name} contains {points.min():g}; Gamma() lives on the positive reals, wanted > 0.")

    def statistics(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.stack([xp.log(x), -x], axis=-1)

    def log_base(self, x: Array) -> Array:
        return -namespace(x).log(x)

    def log_partition(self, natural: Array) -> Array:
        a, b = natural[..., 0], natural[..., 1]
        return special(a).gammaln(a) - a * namespace(a).log(b)

    def mean_statistics(self, natural: Array) -> Array:
        xp = namespace(natural)
        a, b = natural[..., 0], natural[..., 1]
        return xp.stack([special(a).digamma(a) - xp.log(b), -a / b], axis=-1)

    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        xp = namespace(natural)
        a, b = natural[..., 0], natural[..., 1]
        excess = trigamma_excess(a)
        along = (a * vectors[..., 0] + b * vectors[..., 1]) / excess
        # The second row of F^-1 is b (v_1 + b psi'(a) v_2) / excess = (b / a) (along + b v_2).
        return xp.stack([along, b / a * (along + b * vectors[..., 1])], axis=-1)

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return gamma_noise(rng, (*shape, d))

    def draw(self, natural: Array, noise: Any) -> tuple[Array, Array]:
        xp = namespace(natural)
        shape = noise[2].shape
        log_x = log_gamma_draw(xp.broadcast_to(natural[..., 0], shape), noise) - xp.log(natural[..., 1])
        x = xp.exp(log_x)
        return xp.maximum(x, _SMALLEST), xp.stack([log_x, -x], axis=-1)

    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([means**2 / variances, means / variances], axis=-1)

    def means(self, components: NaturalParameters) -> Array:
        return components.natural[..., 0] / components.natural[..., 1]

    def variances(self, natural: Array) -> Array:
        return natural[..., 0] / natural[..., 1] ** 2
