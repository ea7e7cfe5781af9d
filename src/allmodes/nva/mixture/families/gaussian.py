"""Gaussian components with any covariance structure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.checks import instance
from allmodes.nva.mixture.covariances import Covariance, Factors, Fixed, Full
from allmodes.nva.mixture.covariances.covariance import as_matrices
from allmodes.nva.mixture.families.family import Family, Rates, Rule
from allmodes.storage import stored

_LOG_2PI = math.log(2.0 * math.pi)


@stored
class GaussianComponents(NamedTuple):
    """Means mu (K, d) and the factors of the covariances."""

    mu: Array
    factors: Factors


class GaussianDirection(NamedTuple):
    """A natural gradient in whitened coordinates: g = A^T gamma_mu (K, d) and G = A^T gamma_Sigma A as blocks.

    G is None when the covariances are fixed.
    """

    g: Array
    G: Array | None


@dataclass(frozen=True)
class Gaussian(Family):
    """N(mu_k, A_k A_k^T). Local coordinates are the whitened residuals z = C^T (xi - mu).

    >>> Gaussian(covariance=Fixed(Full())).moves_spread
    False
    """

    covariance: Covariance | Fixed = Full()
    is_differentiable = True

    def __post_init__(self) -> None:
        if not isinstance(self.covariance, Fixed):
            instance("covariance", self.covariance, Covariance, "Write Full(), Diagonal(), Isotropic() or Fixed(...).")

    @property
    def structure(self) -> Covariance:
        return self.covariance.structure if isinstance(self.covariance, Fixed) else self.covariance

    @property
    def moves_spread(self) -> bool:  # type: ignore[override]
        return not isinstance(self.covariance, Fixed)

    def start(self, means: NDArray[np.float64], covariances: Any) -> GaussianComponents:
        if covariances is None:
            raise ValueError(
                "covariances is missing; wanted a number, d variances, a matrix (d, d) or K matrices (K, d, d). A "
                "covariance as wide as the region to search is a good start."
            )
        return GaussianComponents(means, self.structure.start(as_matrices(covariances, *means.shape)))

    def means(self, components: GaussianComponents) -> Array:
        return components.mu

    def covariances(self, components: GaussianComponents) -> Array:
        return self.structure.matrices(components.factors, components.mu.shape[-1])

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> NDArray[np.float64]:
        return rng.standard_normal((*shape, d))

    def sample(self, components: GaussianComponents, noise: Array) -> tuple[Array, Array]:
        return components.mu[..., None, :] + self.structure.colour(components.factors, noise), noise

    def locate(self, components: GaussianComponents, points: Array) -> Array:
        return self.structure.whiten(components.factors, points - components.mu[..., None, :])

    def log_components(self, components: GaussianComponents, points: Array) -> Array:
        return self._log_normal(components, self.locate(components, points[None]))

    def _log_normal(self, components: GaussianComponents, z: Array) -> Array:
        d = z.shape[-1]
        log_density = namespace(z).einsum("...d,...d->...", z, z)  # faster than vecdot for short vectors
        log_density *= -0.5
        log_density += (self.structure.log_det_root_precision(components.factors, d) - 0.5 * d * _LOG_2PI)[..., None]
        return log_density

    def log_components_and_pulls(self, components: GaussianComponents, points: Array) -> tuple[Array, Array]:
        """log q_k(xi_n) as (K, N) and minus its gradient in xi, S_k (xi_n - mu_k), as (K, N, d).

        Paper: eq:lem_responsibility
        """
        z = self.locate(components, points[None])
        return self._log_normal(components, z), self.structure.lift(components.factors, z)

    def mean_gradient(self, local: Array, scores: Array) -> Array:
        """g = sum_n scores_n z_n."""
        return (scores[..., None, :] @ local)[..., 0, :]

    def spread_gradient(self, local: Array, scores: Array) -> Array | None:
        """G = sum_n scores_n (z_n z_n^T - I) as blocks."""
        if not self.moves_spread:
            return None
        second = self.structure.gram(scores[..., None] * local, local)
        return second - self.structure.identity(scores.sum(axis=-1), local.shape[-1])

    def natural_gradient(self, components: GaussianComponents, local: Array, scores: Array) -> GaussianDirection:
        return GaussianDirection(self.mean_gradient(local, scores), self.spread_gradient(local, scores))

    def step(
        self, components: GaussianComponents, direction: GaussianDirection, rates: Rates, rule: Rule
    ) -> GaussianComponents:
        """S_new = C M C^T with M from the rule, then mu_new = mu + rho S_new^-1 gamma_mu.

        Paper: eq:natural_gradient_update_s, eq:natural_gradient_update_mu
        """
        mu, factors = components
        structure = self.structure
        if direction.G is None:
            displacement = structure.colour(factors, direction.g[..., None, :])[..., 0, :]
        else:
            M = rule.precision_change(structure, rates.covariance * direction.G, mu.shape[-1])
            factors, displacement = structure.advance(factors, structure.root(M), direction.g)
            if rates.damping is not None:
                # The means follow the damped covariance Sigma + tau I: their step gains tau gamma_mu, gamma_mu = C g.
                gamma_mu = structure.lift(components.factors, direction.g[..., None, :])[..., 0, :]
                displacement = displacement + rates.damping * gamma_mu
                factors = structure.damp(factors, rates.damping)
        return GaussianComponents(mu + rates.mean * displacement, factors)
