"""What a family of component distributions must be able to do.

A family knows how to draw from its components, how to score points, and how to follow a natural gradient without
leaving its domain. Draws are a deterministic function of noise that the caller provides, so that a run depends on
nothing but its noise.

To add a family on the real line, the half-line, an interval or a finite set, subclass ExponentialFamily; the contract
tests find it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array
from allmodes.checks import real_array
from allmodes.nva.mixture.covariances import Covariance


class Rates(NamedTuple):
    """Sizes of one update: rho for means, rho for covariances (0 during burn-in), damping tau (None: no damping)."""

    mean: Array
    covariance: Array
    damping: Array | None = None


class Rule(Protocol):
    """How a step along the natural gradient is taken; the members are in allmodes.nva.annealing.updates."""

    def precision_change(self, covariance: Covariance, X: Array, d: int) -> Array:
        """M such that S_new = C M C^T, for a whitened step X = rho G."""

    def retract(self, parameters: Array, change: Array) -> Array:
        """New values of parameters that must stay positive; NaN where the rule would leave the domain."""


class Family(ABC):
    """K components of one family, in structure-of-arrays form: every leaf of `components` has K as its first axis."""

    # Whether log densities have gradients and Hessians in the point, as Bonnet's and Price's theorems need.
    is_differentiable: bool = False
    # Whether natural gradients are taken for the spread of the components as well as for their means.
    moves_spread: bool = True

    @abstractmethod
    def start(self, means: NDArray[np.float64], covariances: Any) -> Any:
        """Components with these means (K, d) and covariances; ValueError when they are outside the domain."""

    @abstractmethod
    def means(self, components: Any) -> Array:
        """Means (K, d)."""

    @abstractmethod
    def covariances(self, components: Any) -> Array:
        """Covariances (K, d, d)."""

    @abstractmethod
    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        """What `sample` needs to draw `shape` points: an array or a tuple of arrays that begin with `shape`."""

    @abstractmethod
    def sample(self, components: Any, noise: Any) -> tuple[Array, Array]:
        """Points (K, n, d) and their local coordinates."""

    @abstractmethod
    def locate(self, components: Any, points: Array) -> Array:
        """Local coordinates (K, n, ...), the ones natural_gradient understands, of points (K or 1, n, d)."""

    @abstractmethod
    def log_components(self, components: Any, points: Array) -> Array:
        """log q_k(xi_n) for points (N, d), as (K, N)."""

    @abstractmethod
    def natural_gradient(self, components: Any, local: Array, scores: Array) -> Any:
        """sum_n scores_kn F^-1 (T(xi_n) - grad A), the direction of every component, for scores (K, n).

        Paper: eq:gradients_as_expectations
        """

    @abstractmethod
    def step(self, components: Any, direction: Any, rates: Rates, rule: Rule) -> Any:
        """The components after one update."""

    def check_points(self, name: str, points: NDArray[np.float64]) -> None:  # noqa: B027
        """Raise ValueError for points outside the domain. By default there are none."""


def as_means(given: Any, name: str = "means") -> NDArray[np.float64]:
    """Means as an array (K, d) with at least one component and one coordinate."""
    means = real_array(name, given, "an array (K, d): one row per component")
    if means.ndim != 2 or 0 in means.shape:
        hint = " Write [means] for one component, means[:, None] for many in one dimension." if means.ndim == 1 else ""
        raise ValueError(f"{name} has shape {means.shape}; wanted (K, d), one row per component.{hint}")
    return means
