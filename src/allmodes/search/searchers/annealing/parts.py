"""The parts of a run that the paper leaves to the user: algorithm, first components, lengths of steps.

Paper: app:hyperparameter_procedure
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import map_leaves
from allmodes.checks import instance
from allmodes.nva.annealing import control_variates, estimators, proposals, updates, utilities
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.control_variates import LeaveOneOut
from allmodes.nva.annealing.estimators import BlackBox, Estimator, FitnessShaped
from allmodes.nva.annealing.presets import nva_gm
from allmodes.nva.annealing.proposals import PerComponent, Proposed, Sample
from allmodes.nva.mixture import covariances, families
from allmodes.nva.mixture.families import Beta, Family, Gamma, Gaussian
from allmodes.nva.mixture.families.exponential_family import NaturalParameters
from allmodes.nva.mixture.families.gaussian import GaussianDirection
from allmodes.objective import Evaluation, Needs
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_WEIGHT_LIMIT = 10.0  # of log-ratios, as in the paper's own code: no component ever dies

# Whatever an algorithm may be made of can be saved with a search.
_PARTS = {
    part: None
    for module in (estimators, proposals, updates, utilities, control_variates, covariances, families)
    for part in vars(module).values()
    if isinstance(part, type) and hasattr(part, "__dataclass_fields__")
}
for _part in (Algorithm, Proposed, NaturalParameters, *_PARTS):
    stored(_part)


def choose(algorithm: Algorithm | None, order: int, d: int, is_global: bool = False) -> Algorithm:
    """What to anneal with when there are derivatives up to this order; an algorithm that is given stays.

    Few samples do: a step that uses derivatives has next to no noise where it has settled. From values alone a sample
    must see every direction.
    """
    if algorithm is None and (order == 0 or is_global):
        return nva_gm(0, weight_limit=_WEIGHT_LIMIT, estimator=BlackBox(LeaveOneOut()), num_samples=2 * (d + 4))
    if algorithm is None:
        return nva_gm(order, weight_limit=_WEIGHT_LIMIT, num_samples=3 - order)
    instance("algorithm", algorithm, Algorithm, "Write presets.nva_gm(order=2), presets.fs_nva_gm(), ...")
    if not isinstance(algorithm.family, (Gaussian, Beta, Gamma)):
        raise ValueError(
            f"{algorithm.name} has components of {type(algorithm.family).__name__}(), which do not live in a box; use "
            "Gaussian() or Beta(), or call allmodes.anneal, which has no bounds."
        )
    names = {"gradient": "jac", "hessian": "hess"}
    missing = [names[need] for need in sorted(algorithm.needs) if order < (2 if need == "hessian" else 1)]
    if missing:
        raise ValueError(
            f"{algorithm.name} needs {' and '.join(missing)}, which were not given. Pass them, or use an algorithm "
            "that needs values alone: presets.nva_gm(order=0) or presets.fs_nva_gm()."
        )
    algorithm.estimator.check_samples(algorithm.num_samples)
    return algorithm


def start(algorithm: Algorithm, means: Array) -> Any:
    """Components with these means (K, d), so wide that together they cover the box.

    Those that live strictly inside the box keep away from its bounds, and are narrow enough to have one peak.
    """
    K, d = means.shape
    variance = (TUNING.first_spread * K ** (-1.0 / d)) ** 2
    if isinstance(algorithm.family, Gaussian):
        return algorithm.family.start(means, variance)
    edge = TUNING.first_spread / 3.0
    return algorithm.family.start(np.clip(means, edge, 1.0 - edge), min(variance, 2.0 * edge**2))


def draw_noise(rng: np.random.Generator, algorithm: Algorithm, K: int, d: int) -> Any:
    """Noise of one step; in pairs z, -z for Gaussian components, which cancels odd errors."""
    B, proposal = algorithm.num_samples, algorithm.proposal
    is_paired = isinstance(algorithm.family, Gaussian) and isinstance(proposal, PerComponent)
    if not is_paired or B % 2:
        return proposal.noise(rng, algorithm.family, K, B, d)
    half = proposal.noise(rng, algorithm.family, K, B // 2, d)
    return np.concatenate([half, -half], axis=1)


@dataclass(frozen=True)
class Bounded(Estimator):
    """Another estimator with directions so short that a step at the given rate changes no component by much.

    The bound on |rho G| and |rho g| in whitened coordinates bounds the Kullback-Leibler divergence of the step, so that
    the learning rate needs no tuning. Rank-based directions have no scale of their own: they move at half the gain.
    Parts that are not finite are left out.

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
        direction = map_leaves(lambda leaf: np.nan_to_num(leaf, nan=0.0, posinf=0.0, neginf=0.0), direction)
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
    eigenvalues = np.linalg.eigvalsh(G) if G.ndim == 3 else G
    return np.maximum(length, np.abs(eigenvalues).max(axis=1))
