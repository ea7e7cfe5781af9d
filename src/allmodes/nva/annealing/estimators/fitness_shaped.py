"""Rank-based estimates: utilities in place of fitness values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.nva.annealing.estimators.estimator import ScoreEstimator
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.annealing.utilities import CMAES
from allmodes.objective import Evaluation


def shape(u: Array, weights: Array, f: Array) -> Array:
    """Scores (K, n) that replace weights * f: every sample counts by its rank within the component.

    With equal weights the b-th best of n samples scores u_b / n. In general the utilities define a step function of
    the quantile, and a sample is given its integral over the quantiles that its normalised weight covers, best sample
    first, times the sum of the weights: the same thing for samples that count as more or less than one.

    Paper: eq:define_rewriting_multi
    """
    xp = namespace(weights)
    B = u.shape[0]
    order = xp.argsort(-xp.broadcast_to(f, weights.shape), axis=-1, stable=True)
    total = weights.sum(axis=-1, keepdims=True)
    shares = weights / xp.where(total > 0, total, 1.0)  # a component that no sample counts for gets no scores
    quantile = xp.cumulative_sum(xp.take_along_axis(shares, order, axis=-1), axis=-1)
    place = B * xp.clip(quantile, 0.0, 1.0)
    interval = xp.clip(xp.floor(place), 0, B - 1)
    index = xp.astype(interval, xp.int64)
    below = (xp.cumulative_sum(u) - u)[index]
    integral = (below + (place - interval) * u[index]) / B
    mass = xp.diff(integral, axis=-1, prepend=xp.zeros_like(integral[..., :1]))
    return total * xp.take_along_axis(mass, xp.argsort(order, axis=-1), axis=-1)


@dataclass(frozen=True)
class FitnessShaped(ScoreEstimator):
    """Black-box estimates with utilities u_b for the b-th best sample: invariant under any rescaling of the fitness.

    Utilities decrease with the rank: the best sample gets u_1, the largest. (The text of the paper has the order
    reversed in one place; its algorithm is right.)

    Paper: G_mu-fs, G_Sigma-fs
    """

    utility: Callable[[int], NDArray[np.float64]] = CMAES()

    def __post_init__(self) -> None:
        if not callable(self.utility):
            raise TypeError(
                f"utility is {self.utility!r}; wanted a function of the number of samples. Write utilities.cma_es()."
            )

    def check_samples(self, B: int) -> None:
        self.utility(B)

    def scores(self, sample: Sample, f: Evaluation) -> Array:
        xp = namespace(sample.weights)
        return shape(xp.asarray(self.utility(sample.weights.shape[-1])), sample.weights, f.value)
