"""The estimate by which the mixture weights move."""

from __future__ import annotations

from allmodes.arrays import Array
from allmodes.nva.annealing.proposals import Sample
from allmodes.objective import Evaluation


def weight_gradient(sample: Sample, f: Evaluation) -> Array:
    """gamma_pi,k = E_{q_k}[f] - E_{q_K}[f], (K,); 0 for the last component.

    Paper: G_pi
    """
    mean = (sample.weights * f.value).sum(axis=-1)
    return mean - mean[-1]
