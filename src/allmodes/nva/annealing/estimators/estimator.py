"""What an estimator of natural gradients must be able to do.

To add one, write one file with a subclass of Estimator whose constructor needs no arguments; the contract tests find
it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from allmodes.arrays import Array
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.families import Family, Gaussian
from allmodes.objective import VALUE, Evaluation, Needs


class Estimator(ABC):
    """From the fitness at a sample to the direction in which every component moves."""

    # Whether the family must be Gaussian (Bonnet's and Price's theorems hold for no other).
    is_gaussian_only: bool = False

    @abstractmethod
    def needs(self, family: Family) -> Needs:
        """The derivatives of the objective that this estimator reads besides the value."""

    def check_samples(self, B: int) -> None:  # noqa: B027
        """Raise ValueError when B samples are too few. By default one is enough."""

    @abstractmethod
    def direction(self, family: Any, components: Any, sample: Sample, f: Evaluation) -> Any:
        """The natural gradient of every component, from fitness arrays (K or 1, n, ...)."""


class MeanEstimator(Estimator):
    """An estimator that can also serve for the means alone."""

    @abstractmethod
    def mean_needs(self) -> Needs:
        """The derivatives that `mean` reads besides the value."""

    @abstractmethod
    def mean(self, family: Gaussian, components: Any, sample: Sample, f: Evaluation) -> Array:
        """g = A^T gamma_mu, (K, d)."""


class ScoreEstimator(MeanEstimator):
    """Estimates from values alone, for every family: sum_n scores_n F^-1 (T(xi_n) - grad A)."""

    @abstractmethod
    def scores(self, sample: Sample, f: Evaluation) -> Array:
        """How much every sample counts for every component, (K, n)."""

    def needs(self, family: Family) -> Needs:
        return VALUE

    def mean_needs(self) -> Needs:
        return VALUE

    def mean(self, family: Gaussian, components: Any, sample: Sample, f: Evaluation) -> Array:
        return family.mean_gradient(sample.local, self.scores(sample, f))

    def direction(self, family: Family, components: Any, sample: Sample, f: Evaluation) -> Any:
        return family.natural_gradient(components, sample.local, self.scores(sample, f))
