"""Score-function estimates from values alone."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.arrays import Array
from allmodes.checks import instance
from allmodes.nva.annealing.control_variates import Constant, ControlVariate
from allmodes.nva.annealing.estimators.estimator import ScoreEstimator
from allmodes.nva.annealing.proposals import Sample
from allmodes.objective import Evaluation


@dataclass(frozen=True)
class BlackBox(ScoreEstimator):
    """sum_n w_n (f_n - baseline) F^-1 (T(xi_n) - grad A), for every family.

    For Gaussian components and in whitened coordinates: g = mean(f z) and G = mean(f (z z^T - I)).

    Paper: G_mu-bb, G_Sigma-bb
    """

    baseline: ControlVariate = Constant(0.0)

    def __post_init__(self) -> None:
        instance("baseline", self.baseline, ControlVariate, "Write BlackBox(control_variates.LeaveOneOut()).")

    def check_samples(self, B: int) -> None:
        self.baseline.check_samples(B)

    def scores(self, sample: Sample, f: Evaluation) -> Array:
        return sample.weights * (f.value - self.baseline(sample.weights, f.value))
