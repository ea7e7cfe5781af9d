"""Von Mises components on angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace, special
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily, NaturalParameters

# Candidates of the rejection sampler. Each is accepted with probability above 0.65, so that all of them fail less often
# than once in 1e14 draws; the first one is taken then.
_CANDIDATES = 32
_SMALLEST = 1e-8  # a smaller concentration is drawn as this one: uniform to eight digits
_SERIES_FROM = 150.0  # where the asymptotic series in 1 / kappa have full accuracy


def _resultant(kappa: Array) -> tuple[Array, Array, Array]:
    """r = I_1/I_0 at kappa, r / kappa, and the derivative of r, 1 - r / kappa - r^2, without cancellation."""
    xp = namespace(kappa)
    small = xp.maximum(xp.minimum(kappa, _SERIES_FROM), _SMALLEST)
    r = special(kappa).i1e(small) / special(kappa).i0e(small)
    slope = xp.where(small > 1e-3, 1.0 - r / small - r**2, 0.5 - 3.0 / 16.0 * small**2)
    e = 1.0 / xp.maximum(kappa, _SERIES_FROM)
    series = 1.0 - e * (1 / 2 + e * (1 / 8 + e * (1 / 8 + e * (25 / 128 + e * (13 / 32 + e * 1073 / 1024)))))
    series_slope = e**2 * (1 / 2 + e * (1 / 4 + e * (3 / 8 + e * (25 / 32 + e * (65 / 32 + e * 3219 / 512)))))
    large = kappa > _SERIES_FROM
    over_kappa = xp.where(large, series * e, r / small)
    return kappa * over_kappa, over_kappa, xp.where(large, series_slope, slope)


@dataclass(frozen=True)
class VonMises(ExponentialFamily):
    """Von Mises with direction m and concentration kappa: lambda = kappa (cos m, sin m), T = (cos x, sin x).

    Angles are in radians, in (-pi, pi]. The variance of a component is stated as 1 / kappa, which is what it tends
    to when the component is narrow.
    """

    has_positive_parameters = False

    def statistics(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.stack([xp.cos(x), xp.sin(x)], axis=-1)

    def log_base(self, x: Array) -> Array:
        return 0.0 * x

    def log_partition(self, natural: Array) -> Array:
        xp = namespace(natural)
        kappa = xp.hypot(natural[..., 0], natural[..., 1])
        return xp.log(2.0 * math.pi * special(kappa).i0e(kappa)) + kappa

    def _polar(self, natural: Array) -> tuple[Array, Array]:
        """Concentration (..., 1) and unit direction (..., 2)."""
        xp = namespace(natural)
        kappa = xp.hypot(natural[..., :1], natural[..., 1:])
        towards = natural / xp.where(kappa > 0, kappa, 1.0)
        return kappa, xp.where(kappa > 0, towards, xp.asarray([1.0, 0.0]))

    def mean_statistics(self, natural: Array) -> Array:
        kappa, direction = self._polar(natural)
        return _resultant(kappa)[0] * direction

    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        # F has eigenvalue slope along the direction and r / kappa across it.
        kappa, direction = self._polar(natural)
        _, across, slope = _resultant(kappa)
        along = namespace(natural).sum(direction * vectors, axis=-1, keepdims=True) * direction
        return along / slope + (vectors - along) / across

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return rng.random((*shape, d, _CANDIDATES)), rng.random((*shape, d, _CANDIDATES)), rng.random((*shape, d))

    def draw(self, natural: Array, noise: Any) -> tuple[Array, Array]:
        """Rejection from a wrapped Cauchy (Best and Fisher, 1979), arranged so that nothing cancels."""
        xp = namespace(natural)
        proposal, acceptance, side = noise
        kappa, direction = self._polar(natural)
        kappa = xp.maximum(kappa, _SMALLEST)
        root = xp.sqrt(1.0 + 4.0 * kappa**2)
        tau = 1.0 + root
        rho = 2.0 * kappa / (tau + xp.sqrt(2.0 * tau))
        one_minus_rho = (xp.sqrt(2.0 * tau) - 1.0 - 1.0 / (root + 2.0 * kappa)) / (2.0 * kappa)
        one_minus_rho = xp.where(kappa > 1.0, one_minus_rho, 1.0 - rho)
        excess = one_minus_rho**2 / (2.0 * rho)  # the sampler's r, less 1
        z = xp.cos(math.pi * proposal)
        drop = excess * (1.0 - z) / (1.0 + excess + z)  # 1 - cos of the candidate
        c = kappa * (excess + drop)
        accepted = xp.log1p(-acceptance) <= xp.log(c) + 1.0 - c
        first = xp.argmax(accepted, axis=-1)[..., None]
        drop = xp.take_along_axis(xp.broadcast_to(drop, accepted.shape), first, axis=-1)[..., 0]
        angle = 2.0 * xp.arcsin(xp.sqrt(xp.clip(0.5 * drop, 0.0, 1.0)))
        turned = xp.where(side < 0.5, -angle, angle) + xp.atan2(direction[..., 1], direction[..., 0])
        turns = xp.where(turned > math.pi, 1.0, 0.0) - xp.where(turned <= -math.pi, 1.0, 0.0)
        points = turned - 2.0 * math.pi * turns
        return points, self.statistics(points)

    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([np.cos(means), np.sin(means)], axis=-1) / variances[..., None]

    def means(self, components: NaturalParameters) -> Array:
        natural = components.natural
        return namespace(natural).atan2(natural[..., 1], natural[..., 0])

    def variances(self, natural: Array) -> Array:
        return 1.0 / namespace(natural).hypot(natural[..., 0], natural[..., 1])
