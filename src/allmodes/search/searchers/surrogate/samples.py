"""Random functions that agree with all known values: the true one may be any of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.searchers.surrogate.model import Model
from allmodes.search.searchers.surrogate.tuning import TUNING

Array = NDArray[np.float64]


class Sample(NamedTuple):
    """A random function: waves, bent so that it takes the known values (Matheron's rule).

    Args:
        model: what is known.
        waves: frequencies (F, d); `phases`, `heights`: (F,).
        weights: (n,), of the points.
    """

    model: Model
    waves: Array
    phases: Array
    heights: Array
    weights: Array

    @staticmethod
    def draw(model: Model, rng: np.random.Generator) -> Sample:
        """One of them."""
        d, F = model.points.shape[1], TUNING.waves
        waves = rng.standard_normal((F, d)) / model.kernel.lengths
        turning = model.kernel.is_periodic
        waves[:, turning] = 2.0 * np.pi * np.rint(waves[:, turning] / (2.0 * np.pi))
        phases = rng.uniform(0.0, 2.0 * np.pi, F)
        heights = rng.standard_normal(F) * model.size * np.sqrt(2.0 / F)
        missing = model.residuals - np.cos(model.points @ waves.T + phases) @ heights
        missing -= np.sqrt(model.roughness) * model.size * rng.standard_normal(len(missing))
        return Sample(model, waves, phases, heights, model.correlations_solved(missing))

    def expected(self, x: Array) -> tuple[Array, Array, Array]:
        """Values (N,) at points (N, d), with gradients and Hessians."""
        value, gradient, hessian = self.model.kernel.sums(x, self.model.points, self.weights)
        angles = x @ self.waves.T + self.phases
        waving, turning = np.cos(angles) * self.heights, np.sin(angles) * self.heights
        value = self.model.mean + value + waving.sum(axis=1)
        gradient = gradient - turning @ self.waves
        squares = (self.waves[:, :, None] * self.waves[:, None]).reshape(len(self.waves), -1)
        hessian = hessian - (waving @ squares).reshape(hessian.shape)
        return value, gradient, hessian
