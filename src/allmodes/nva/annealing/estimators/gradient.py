"""Estimates from gradients, by Bonnet's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allmodes.arrays import Array
from allmodes.nva.annealing.estimators.estimator import MeanEstimator
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.families import Family, Gaussian
from allmodes.nva.mixture.families.gaussian import GaussianComponents, GaussianDirection
from allmodes.objective import GRADIENT, Evaluation, Needs


@dataclass(frozen=True)
class Gradient(MeanEstimator):
    """gamma_mu = mean(grad f) and gamma_Sigma = mean(S (xi - mu) (grad f)^T), its symmetric part.

    In whitened coordinates h = A^T grad f: g = mean(h), G = sym mean(z h^T). (As printed, the second estimate lacks the
    transpose; the symmetric part is what a precision matrix can follow.)

    Paper: G_mu-grad, G_Sigma-grad
    """

    is_gaussian_only = True

    def needs(self, family: Family) -> Needs:
        return GRADIENT

    def mean_needs(self) -> Needs:
        return GRADIENT

    def mean(self, family: Gaussian, components: GaussianComponents, sample: Sample, f: Evaluation) -> Array:
        gamma = sample.weights[:, None, :] @ f.gradient
        return family.structure.pull_back(components.factors, gamma)[:, 0]

    def direction(self, family: Gaussian, components: GaussianComponents, sample: Sample, f: Evaluation) -> Any:
        structure = family.structure
        G = None
        if family.moves_spread:
            h = structure.pull_back(components.factors, f.gradient)
            weighted = sample.weights[..., None] * sample.local
            G = 0.5 * (structure.gram(weighted, h) + structure.gram(h, weighted))
        return GaussianDirection(self.mean(family, components, sample, f), G)
