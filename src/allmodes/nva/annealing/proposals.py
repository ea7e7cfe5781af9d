"""Where the objective is evaluated: samples of every component, or one sample that all components share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from allmodes.arrays import Array, logsumexp, namespace
from allmodes.nva.mixture.families.family import Family
from allmodes.nva.mixture.mixture import LogDensity, Mixture, SharedNoise
from allmodes.nva.mixture.mixture import noise as mixture_noise
from allmodes.nva.mixture.mixture import sample as sample_mixture
from allmodes.objective import Evaluation


class Proposed(NamedTuple):
    """Points (N, d) to evaluate, and their local coordinates where these are known from the draw."""

    points: Array
    local: Any


class Sample(NamedTuple):
    """What an estimator sees: sum_n weights_kn h(xi_n) estimates E_{q_k}[h], for weights (K, n).

    `local` are the local coordinates (K, n, ...) of the points with respect to every component.
    """

    weights: Array
    local: Any


class Proposal(ABC):
    """A way to place the points of one step.

    Attributes:
        needs_components: whether it weighs points by the densities of all components.
    """

    needs_components: ClassVar[bool] = True

    @abstractmethod
    def num_points(self, K: int, B: int) -> int:
        """Evaluations in one step with mini-batch size B."""

    @abstractmethod
    def noise(self, rng: np.random.Generator, family: Family, K: int, B: int, d: int) -> Any:
        """Everything random in one step."""

    @abstractmethod
    def propose(self, family: Family, mixture: Mixture, noise: Any) -> Proposed:
        """The points of one step."""

    @abstractmethod
    def weigh(self, family: Family, mixture: Mixture, proposed: Proposed, density: LogDensity) -> Sample:
        """Weights and local coordinates of the points for every component."""

    @abstractmethod
    def arrange(self, evaluation: Evaluation, K: int) -> Evaluation:
        """An evaluation at N points with axes (K or 1, n) in place of (N,)."""


@dataclass(frozen=True)
class PerComponent(Proposal):
    """B samples from every component, used by that component alone: K B evaluations.

    Paper: alg:snga_annealing_gaussian
    """

    needs_components = False

    def num_points(self, K: int, B: int) -> int:
        return K * B

    def noise(self, rng: np.random.Generator, family: Family, K: int, B: int, d: int) -> Any:
        return family.noise(rng, (K, B), d)

    def propose(self, family: Family, mixture: Mixture, noise: Any) -> Proposed:
        points, local = family.sample(mixture.components, noise)
        return Proposed(points.reshape(-1, points.shape[-1]), local)

    def weigh(self, family: Family, mixture: Mixture, proposed: Proposed, density: LogDensity) -> Sample:
        xp = namespace(proposed.points)
        K, N = mixture.log_ratios.shape[0], proposed.points.shape[0]
        return Sample(xp.full((K, N // K), K / N), proposed.local)

    def arrange(self, evaluation: Evaluation, K: int) -> Evaluation:
        return Evaluation(*(None if a is None else a.reshape(K, -1, *a.shape[1:]) for a in evaluation))


@dataclass(frozen=True)
class Importance(Proposal):
    """One sample of B points from the mixture, weighted for every component: B evaluations, whatever K.

    Args:
        equal_weights: draw from the mixture with equal weights instead of from q itself; the importance weights are
            then at most K, also for a component whose own weight vanishes.
        self_normalized: divide the importance weights by their sum: less variance for a bias that falls as 1/B. A
            component far from all points then moves as if the nearest were its own; draw with equal weights, and enough
            points that every component gets some.

    Paper: sec:computational_cost
    """

    equal_weights: bool = False
    self_normalized: bool = False

    def num_points(self, K: int, B: int) -> int:
        return B

    def noise(self, rng: np.random.Generator, family: Family, K: int, B: int, d: int) -> SharedNoise:
        return mixture_noise(family, rng, B, d)

    def propose(self, family: Family, mixture: Mixture, noise: SharedNoise) -> Proposed:
        if self.equal_weights:
            mixture = Mixture(0.0 * mixture.log_ratios, mixture.components)
        return Proposed(sample_mixture(family, mixture, noise), None)

    def weigh(self, family: Family, mixture: Mixture, proposed: Proposed, density: LogDensity) -> Sample:
        """w_kn = q_k(xi_n) / p(xi_n), p being the density the points were drawn from; over B, or over its sum."""
        xp = namespace(proposed.points)
        log_components = density.log_components
        assert log_components is not None
        K, N = log_components.shape
        log_p = logsumexp(log_components) - np.log(K) if self.equal_weights else density.log_q.value
        log_w = log_components - log_p
        log_total = logsumexp(log_w, axis=1)[:, None] if self.self_normalized else np.log(N)
        return Sample(xp.exp(log_w - log_total), family.locate(mixture.components, proposed.points[None]))

    def arrange(self, evaluation: Evaluation, K: int) -> Evaluation:
        return Evaluation(*(None if a is None else a[None] for a in evaluation))
