"""Score-function estimates from values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allmodes.annealing.control_variates import Constant, ControlVariate
from allmodes.annealing.estimators.estimator import MeanEstimator
from allmodes.annealing.proposals import Sample
from allmodes.arrays import Array
from allmodes.checks import instance
from allmodes.mixture.families import Family, Gaussian
from allmodes.objective import VALUE, Evaluation, Needs


@dataclass(frozen=True)
class BlackBox(MeanEstimator):
    """sum_n w_n (f_n - baseline) F^-1 (T(xi_n) - grad A), for every family.

    For Gaussian components and in whitened coordinates: g = mean(f z) and G = mean(f (z z^T - I)).

    Paper: G_mu-bb, G_Sigma-bb
    """

    baseline: ControlVariate = Constant(0.0)

    def __post_init__(self) -> None:
        instance("baseline", self.baseline, ControlVariate, "Write BlackBox(control_variates.LeaveOneOut()).")

    def _scores(self, sample: Sample, f: Evaluation) -> Array:
        return sample.weights * (f.value - self.baseline(sample.weights, f.value))

    def needs(self, family: Family) -> Needs:
        return VALUE

    def mean_needs(self) -> Needs:
        return VALUE

    def mean(self, family: Gaussian, components: Any, sample: Sample, f: Evaluation) -> Array:
        return family.mean_gradient(sample.local, self._scores(sample, f))

    def direction(self, family: Family, components: Any, sample: Sample, f: Evaluation) -> Any:
        return family.natural_gradient(components, sample.local, self._scores(sample, f))
