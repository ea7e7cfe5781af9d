"""Estimates from Hessians, by Price's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allmodes.checks import instance
from allmodes.nva.annealing.estimators.estimator import Estimator, MeanEstimator
from allmodes.nva.annealing.estimators.gradient import Gradient
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.families import Family, Gaussian
from allmodes.nva.mixture.families.gaussian import GaussianComponents, GaussianDirection
from allmodes.objective import HESSIAN, Evaluation, Needs


@dataclass(frozen=True)
class Hessian(Estimator):
    """gamma_Sigma = mean(hess f), whitened G = A^T gamma_Sigma A; the means follow another estimator.

    grad_Sigma E[f] is half of E[hess f] (the half is missing where the paper states Price's theorem, and present in
    its later equations); the factor 2 of the precision update cancels it.

    Args:
        mean: Gradient() as in the paper's experiments, or BlackBox() to do without gradients.

    Paper: G_Sigma-hess
    """

    mean: MeanEstimator = Gradient()
    is_gaussian_only = True

    def __post_init__(self) -> None:
        instance("mean", self.mean, MeanEstimator, "Write Hessian(mean=Gradient()) or Hessian(mean=BlackBox()).")

    def needs(self, family: Family) -> Needs:
        return self.mean.mean_needs() | (HESSIAN if family.moves_spread else frozenset())

    def check_samples(self, B: int) -> None:
        self.mean.check_samples(B)

    def direction(self, family: Gaussian, components: GaussianComponents, sample: Sample, f: Evaluation) -> Any:
        G = None
        if f.hessian is not None:
            K, n = sample.weights.shape
            blocks = f.hessian.reshape(f.hessian.shape[0], n, -1)
            gamma = (sample.weights[:, None, :] @ blocks).reshape(K, *f.hessian.shape[2:])
            G = family.structure.sandwich(components.factors, gamma)
        return GaussianDirection(self.mean.mean(family, components, sample, f), G)
