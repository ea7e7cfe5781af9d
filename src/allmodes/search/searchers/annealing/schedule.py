"""What the paper leaves to the user's hand: temperatures and learning rates.

Paper: app:hyperparameter_procedure
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import map_leaves
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.estimators import Estimator, FitnessShaped
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.engine.step import Settings
from allmodes.nva.mixture.families import Family
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.families.gaussian import GaussianDirection
from allmodes.objective import Evaluation, Needs
from allmodes.search.archive import Archive
from allmodes.search.searchers.annealing.tuning import TUNING

Array = NDArray[np.float64]


def end_temperature(archive: Archive, scale: float) -> float:
    """omega_T, as a share of omega_1 = scale: components on known modes would shrink to a given share of the box.

    A settled component has the covariance omega (-Hessian)^-1; its widest direction counts, over modes the median.
    Halfway between the coldest and the warmest while no mode, and so no curvature, is known.

    Paper: eq:convergence_sigma_one_gaussian
    """
    coldest, warmest = TUNING.coldest_end, TUNING.warmest_end
    if not len(archive):
        return math.sqrt(coldest * warmest)
    widest = np.linalg.svd(archive.components.factors.A, compute_uv=False)[:, 0]  # 1 / sqrt of the least curvature
    with np.errstate(over="ignore", divide="ignore"):
        omega = np.median((TUNING.end_width / widest) ** 2) / scale
    return float(np.clip(omega, coldest, warmest))


def temperature(step: int, steps: int, end: float) -> float:
    """omega_t for t = 0 ... steps - 1, geometric from 1 to the end temperature."""
    return float(end ** (step / max(1, steps - 1)))


def settings(algorithm: Algorithm, step: int, omega: float) -> Settings:
    """The numbers of one step: rho = gain / omega, which `Bounded` shortens where it must.

    The covariance of a settled component loses the share rho omega of its error in one step.
    """
    rho = TUNING.gain / omega
    is_moving = step >= algorithm.burn_in
    damping = algorithm.damping if algorithm.damping and is_moving else None
    return Settings(omega, Rates(rho, rho if is_moving else 0.0, damping))


@dataclass(frozen=True)
class Bounded(Estimator):
    """Another estimator with directions so short that a step at the given rate changes no component by much.

    The bound on |rho G| and |rho g| in whitened coordinates bounds the Kullback-Leibler divergence of the step, so that
    the learning rate needs no tuning. Rank-based directions have no scale of their own: they move at half the gain.

    Paper: sub:learning_rate
    """

    inner: Estimator
    rate: float

    @property
    def is_gaussian_only(self) -> bool:  # type: ignore[override]
        return self.inner.is_gaussian_only

    def needs(self, family: Family) -> Needs:
        return self.inner.needs(family)

    def direction(self, family: Any, components: Any, sample: Sample, f: Evaluation) -> Any:
        direction = self.inner.direction(family, components, sample, f)
        share = 0.5 * TUNING.gain / self.rate if isinstance(self.inner, FitnessShaped) else 1.0
        with np.errstate(all="ignore"):
            factor = np.minimum(share, TUNING.gain / (self.rate * _length(direction, components)))
        return map_leaves(lambda leaf: leaf * factor.reshape(-1, *(1,) * (leaf.ndim - 1)), direction)


def _length(direction: Any, components: Any) -> Array:
    """How large every component's direction is, (K,), so that the gain is the longest step for all of its parts.

    That is |rho G| for a precision, and sqrt(2 gain) for |rho g| of a mean.
    """
    if not isinstance(direction, GaussianDirection):  # positive natural parameters: their relative change
        relative = np.abs(direction.natural / components.natural)
        return relative.reshape(len(relative), -1).max(axis=1)
    g, G = direction
    length = np.sqrt(0.5 * TUNING.gain * np.einsum("kd,kd->k", g, g))
    if G is None:
        return length
    is_whole = np.isfinite(G).all(axis=tuple(range(1, G.ndim)))
    eigenvalues = np.linalg.eigvalsh(np.where(is_whole[:, None, None], G, 0.0)) if G.ndim == 3 else G
    return np.where(is_whole, np.maximum(length, np.abs(eigenvalues).max(axis=1)), np.nan)
