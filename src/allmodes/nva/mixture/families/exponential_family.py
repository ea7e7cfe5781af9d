"""Families given by natural parameters, coordinate by coordinate.

q(x) = h(x) exp(<lambda, T(x)> - A(lambda)) for every coordinate x of a point, with p natural parameters each.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.checks import real_array
from allmodes.nva.mixture.families.family import Family, Rates, Rule


class NaturalParameters(NamedTuple):
    """lambda (K, d, p)."""

    natural: Array


class ExponentialFamily(Family):
    """Independent coordinates of one exponential family; local coordinates are the sufficient statistics.

    The statistics of a draw are known better than the point itself: log x of a gamma or beta draw is finite and exact
    also where x would round to 0 or 1, and the estimates stay unbiased.
    """

    # Whether all natural parameters must stay positive; otherwise they may be any real numbers.
    has_positive_parameters: ClassVar[bool]

    @abstractmethod
    def statistics(self, x: Array) -> Array:
        """Sufficient statistics T(x), (..., d, p) for x (..., d)."""

    @abstractmethod
    def log_base(self, x: Array) -> Array:
        """log h(x), (..., d)."""

    @abstractmethod
    def log_partition(self, natural: Array) -> Array:
        """A(lambda), (..., d)."""

    @abstractmethod
    def mean_statistics(self, natural: Array) -> Array:
        """grad A(lambda) = E[T(x)], (..., d, p)."""

    @abstractmethod
    def solve_fisher(self, natural: Array, vectors: Array) -> Array:
        """F(lambda)^-1 v for vectors (..., d, p), F being the Hessian of A."""

    @abstractmethod
    def draw(self, natural: Array, noise: Any) -> tuple[Array, Array]:
        """Points (K, n, d) and their statistics (K, n, d, p) from natural (K, 1, d, p) and noise (K, n, d, ...)."""

    @abstractmethod
    def from_moments(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Natural parameters (K, d, p) with these means and variances (K, d)."""

    @abstractmethod
    def variances(self, natural: Array) -> Array:
        """Variances (K, d)."""

    def start(self, means: NDArray[np.float64], covariances: Any) -> NaturalParameters:
        self.check_points("means", means)
        K, d = means.shape
        if covariances is None:
            raise ValueError(
                f"covariances is missing; {type(self).__name__}() needs one variance, or one for each coordinate ({d})."
            )
        variances = real_array("covariances", covariances, f"one variance or {d} variances")
        if variances.shape not in ((), (d,)):
            raise ValueError(
                f"covariances has shape {variances.shape}; {type(self).__name__}() has independent coordinates and "
                f"needs one variance or {d} variances."
            )
        if not (variances > 0).all():
            raise ValueError(f"covariances has a variance of {variances.min():g}; every variance must be positive.")
        return NaturalParameters(self.from_moments(means, np.broadcast_to(variances, (K, d))))

    def covariances(self, components: NaturalParameters) -> Array:
        variances = self.variances(components.natural)
        return variances[..., None] * namespace(variances).eye(variances.shape[-1])

    def sample(self, components: NaturalParameters, noise: Any) -> tuple[Array, Array]:
        return self.draw(components.natural[..., None, :, :], noise)

    def locate(self, components: NaturalParameters, points: Array) -> Array:
        return self.statistics(points)

    def log_components(self, components: NaturalParameters, points: Array) -> Array:
        """log q_k(x) summed over coordinates.

        Paper: eq:exponential_family_density
        """
        xp = namespace(points)
        natural = components.natural
        flat = natural.reshape(natural.shape[0], -1)
        inner = flat @ self.statistics(points).reshape(points.shape[0], -1).T
        partition = xp.sum(self.log_partition(natural), axis=-1)
        return inner - partition[:, None] + xp.sum(self.log_base(points), axis=-1)[None]

    def natural_scores(self, natural: Array, statistics: Array) -> Array:
        """F^-1 (T(x) - grad A), (K, n, d, p)."""
        natural = natural[..., None, :, :]
        return self.solve_fisher(natural, statistics - self.mean_statistics(natural))

    def natural_gradient(self, components: NaturalParameters, local: Array, scores: Array) -> NaturalParameters:
        per_point = self.natural_scores(components.natural, local)
        flat = per_point.reshape(*per_point.shape[:-2], -1)
        return NaturalParameters((scores[..., None, :] @ flat).reshape(components.natural.shape))

    def step(
        self, components: NaturalParameters, direction: NaturalParameters, rates: Rates, rule: Rule
    ) -> NaturalParameters:
        """lambda_new = lambda + rho F^-1 grad L, bent where parameters must stay positive.

        Paper: eq:natural_gradient_update_lambda
        """
        change = rates.mean * direction.natural
        natural = components.natural
        return NaturalParameters(rule.retract(natural, change) if self.has_positive_parameters else natural + change)
