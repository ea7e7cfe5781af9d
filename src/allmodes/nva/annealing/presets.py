"""The named algorithms of the paper: assemblies of parts, nothing more.

Every preset takes further parts of Algorithm by name (rule, damping, burn_in, weight_limit, ...).
"""

from __future__ import annotations

from typing import Any

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.estimators import BlackBox, Estimator, FitnessShaped, Gradient, Hessian
from allmodes.nva.annealing.proposals import Importance
from allmodes.nva.annealing.utilities import CMAES, Utility
from allmodes.nva.mixture.covariances import Covariance, Fixed, Full
from allmodes.nva.mixture.families import Family, Gaussian

_FULL = Full()
_GAUSSIAN = Gaussian()
_CMAES = CMAES()
_SUFFIX = {0: "black-box", 1: "gradient", 2: "Hessian"}


def snga_m(family: Family = _GAUSSIAN, **parts: Any) -> Algorithm:
    """Stochastic natural gradient ascent with mixtures: one temperature throughout.

    Paper: alg:snga
    """
    return Algorithm(**{"name": "SNGA-M", "family": family, "is_annealed": False, **parts})


def nva_m(family: Family = _GAUSSIAN, **parts: Any) -> Algorithm:
    """Natural variational annealing with mixtures of any family, from values alone.

    Paper: alg:snga_annealing
    """
    return Algorithm(**{"name": "NVA-M", "family": family, **parts})


def _estimator(order: int) -> Estimator:
    estimators: dict[int, Estimator] = {0: BlackBox(), 1: Gradient(), 2: Hessian()}
    if not isinstance(order, int) or order not in estimators:
        raise ValueError(f"order is {order!r}; wanted 0 (black-box), 1 (gradient) or 2 (Hessian).")
    return estimators[order]


def nva_gm(order: int = 2, covariance: Covariance | Fixed = _FULL, **parts: Any) -> Algorithm:
    """NVA with Gaussian mixtures. order: 0 reads values, 1 gradients too, 2 gradients and Hessians.

    >>> nva_gm(order=1).name
    'NVA-GM (gradient)'

    Paper: alg:snga_annealing_gaussian
    """
    settings: dict[str, Any] = {"estimator": _estimator(order), "name": f"NVA-GM ({_SUFFIX[order]})"} | parts
    return Algorithm(family=Gaussian(covariance), **settings)


def nva_gm_is(
    order: int = 2,
    covariance: Covariance | Fixed = _FULL,
    *,
    equal_weights: bool = False,
    self_normalized: bool = False,
    **parts: Any,
) -> Algorithm:
    """NVA-GM with one sample that all components share by importance weights.

    Paper: sec:computational_cost
    """
    settings: dict[str, Any] = {
        "estimator": _estimator(order),
        "name": f"NVA-GM-IS ({_SUFFIX[order]})",
        "num_samples": 32,
    } | parts
    return Algorithm(family=Gaussian(covariance), proposal=Importance(equal_weights, self_normalized), **settings)


def fs_nva_gm(utility: Utility = _CMAES, covariance: Covariance | Fixed = _FULL, **parts: Any) -> Algorithm:
    """Fitness-shaped NVA-GM: values alone, by rank.

    The learning rate must be bounded (schedules.coupled(0.1, 0.8, maximum=0.05)): with the published one, which reaches
    91, every run diverges.

    Paper: alg:snga_annealing_utility
    """
    settings: dict[str, Any] = {"name": "FS-NVA-GM", "num_samples": 16} | parts
    return Algorithm(family=Gaussian(covariance), estimator=FitnessShaped(utility), **settings)


def fs_nva_gm_is(
    utility: Utility = _CMAES,
    covariance: Covariance | Fixed = _FULL,
    *,
    equal_weights: bool = False,
    self_normalized: bool = False,
    **parts: Any,
) -> Algorithm:
    """FS-NVA-GM with one sample that all components share by importance weights.

    Paper: sec:computational_cost
    """
    settings: dict[str, Any] = {"name": "FS-NVA-GM-IS", "num_samples": 64} | parts
    proposal = Importance(equal_weights, self_normalized)
    return Algorithm(family=Gaussian(covariance), estimator=FitnessShaped(utility), proposal=proposal, **settings)
