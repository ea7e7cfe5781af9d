"""What is annealed: the algorithm, its components at first, and the parts that can be saved with a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import instance
from allmodes.nva.annealing import control_variates, estimators, proposals, updates, utilities
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.control_variates import LeaveOneOut
from allmodes.nva.annealing.estimators import BlackBox
from allmodes.nva.annealing.presets import nva_gm
from allmodes.nva.annealing.proposals import PerComponent, Proposed
from allmodes.nva.mixture import covariances, families
from allmodes.nva.mixture.families import Beta, Gamma, Gaussian
from allmodes.nva.mixture.families.exponential_family import NaturalParameters
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


class Choice(NamedTuple):
    """An algorithm, and how many components its first run has."""

    algorithm: Algorithm
    num_components: int


def choose(algorithm: Algorithm | None, order: int, d: int) -> Choice:
    """What to anneal with when there are derivatives up to this order; an algorithm that is given stays.

    Few samples do: a step that uses derivatives has next to no noise where it has settled. From values alone a sample
    must see every direction.
    """
    if algorithm is None:
        if order == 0:
            black_box = nva_gm(
                0, weight_limit=_WEIGHT_LIMIT, estimator=BlackBox(LeaveOneOut()), num_samples=2 * (d + 4)
            )
            return Choice(black_box, 2 * TUNING.first_components)
        return Choice(nva_gm(order, weight_limit=_WEIGHT_LIMIT, num_samples=3 - order), TUNING.first_components)
    instance("algorithm", algorithm, Algorithm, "Write presets.nva_gm(order=2), presets.fs_nva_gm(), ...")
    if not isinstance(algorithm.family, (Gaussian, Beta, Gamma)):
        raise ValueError(
            f"{algorithm.name} has components of {type(algorithm.family).__name__}(), which do not live in a box; use "
            "Gaussian() or Beta(), or call allmodes.anneal, which has no bounds."
        )
    _check_order(algorithm, order)
    algorithm.estimator.check_samples(algorithm.num_samples)
    return Choice(algorithm, (1 if algorithm.needs else 2) * TUNING.first_components)


def _check_order(algorithm: Algorithm, order: int) -> None:
    """Refuse an algorithm that needs derivatives which were not given."""
    names = {"gradient": "jac", "hessian": "hess"}
    missing = [names[need] for need in sorted(algorithm.needs) if order < (2 if need == "hessian" else 1)]
    if missing:
        raise ValueError(
            f"{algorithm.name} needs {' and '.join(missing)}, which were not given. Pass them, or use an algorithm "
            "that needs values alone: presets.nva_gm(order=0) or presets.fs_nva_gm()."
        )


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
