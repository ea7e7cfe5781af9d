"""One step, as two pure functions: where to evaluate, and what the evaluations do to the mixture.

Noise, temperature and learning rate are arguments: whoever calls these owns the loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from allmodes.arrays import Array, leaves, namespace
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.estimators.weights import weight_gradient
from allmodes.nva.annealing.fitness import fitness
from allmodes.nva.annealing.proposals import Proposed
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.mixture import Mixture, log_density
from allmodes.objective import Evaluation


class Info(NamedTuple):
    """What one may look at after a step: mean objective of every component (K,), best value and where it was."""

    mean_value: Array
    best_value: Array
    best_point: Array


class Settings(NamedTuple):
    """The numbers of one step: temperature omega and the sizes of the update."""

    omega: Array
    rates: Rates


def ask(algorithm: Algorithm, mixture: Mixture, noise: Any) -> Proposed:
    """The points to evaluate."""
    return algorithm.proposal.propose(algorithm.family, mixture, noise)


def tell(
    algorithm: Algorithm,
    mixture: Mixture,
    proposed: Proposed,
    evaluation: Evaluation,
    log_prior: Evaluation | None,
    settings: Settings,
) -> tuple[Mixture, Info]:
    """The mixture after one update with the objective's evaluation at the proposed points.

    All gradients are taken at the old mixture; weights and components move together.

    Paper: alg:snga_annealing
    """
    family, proposal = algorithm.family, algorithm.proposal
    K = mixture.log_ratios.shape[0]
    keeps = proposal.needs_components
    density = log_density(family, mixture, proposed.points, algorithm.needs, keeps_components=keeps)
    sample = proposal.weigh(family, mixture, proposed, density)
    f = fitness(
        _projected(algorithm, evaluation),
        density.log_q,
        settings.omega,
        None if log_prior is None else _projected(algorithm, log_prior),
    )
    f = proposal.arrange(f, K)
    direction = algorithm.estimator.direction(family, mixture.components, sample, f)
    components = family.step(mixture.components, direction, settings.rates, algorithm.rule)
    log_ratios = mixture.log_ratios + settings.rates.mean * weight_gradient(sample, f)
    if algorithm.weight_limit is not None:
        log_ratios = namespace(log_ratios).clip(log_ratios, -algorithm.weight_limit, algorithm.weight_limit)
    values = proposal.arrange(Evaluation(evaluation.value), K).value
    best = evaluation.value.argmax()
    info = Info((sample.weights * values).sum(axis=-1), evaluation.value[best], proposed.points[best])
    return Mixture(log_ratios, components), info


def _projected(algorithm: Algorithm, evaluation: Evaluation) -> Evaluation:
    """Hessians as blocks of the covariance structure."""
    if evaluation.hessian is None:
        return evaluation
    assert isinstance(algorithm.family, Gaussian)
    return evaluation._replace(hessian=algorithm.family.structure.project(evaluation.hessian))


def is_finite(tree: Any) -> Array:
    """Whether everything in nested tuples of arrays is finite."""
    # A sum is finite only if all its terms are, short of overflow, and is the cheapest test there is.
    parts = leaves(tree)
    return namespace(parts[0]).isfinite(sum(part.sum() for part in parts))
