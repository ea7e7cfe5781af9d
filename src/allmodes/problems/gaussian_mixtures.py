"""Log-densities of Gaussian mixtures: the paper's symmetric and asymmetric test functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array
from allmodes.nva.mixture import Mixture, log_density
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Needs, Objective
from allmodes.problems.problem import Problem, refine


def mixture_objective(
    means: NDArray[np.float64], covariances: NDArray[np.float64], weights: NDArray[np.float64]
) -> Objective:
    """log sum_k weights_k N(x; means_k, covariances_k), with derivatives."""
    family = Gaussian()
    mixture = Mixture(np.log(weights) - np.log(weights[-1]), family.start(means, covariances))

    def at(points: Array, needs: Needs) -> Array:
        return log_density(family, mixture, points, needs).log_q

    return Objective(
        lambda x: at(x, VALUE).value,
        lambda x: at(x, GRADIENT).gradient,
        lambda x: at(x, HESSIAN).hessian,
        vectorized=True,
    )


def symmetric_mixture() -> Problem:
    """Three equal components on a triangle, so close that a fourth, lower mode arises in the middle.

    Paper: sub:simu_mode
    """
    angle = np.pi / 2 + 2 * np.pi * np.arange(1, 4) / 3
    gamma = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    objective = mixture_objective(gamma, np.broadcast_to(0.54 * np.eye(2), (3, 2, 2)), np.full(3, 1 / 3))
    modes = refine(objective, np.vstack([0.511 * gamma, np.zeros(2)]))
    return Problem(
        "symmetric mixture", objective, np.array([[-2.0, 2.0]] * 2), modes, np.array([True, True, True, False])
    )


def asymmetric_mixture() -> Problem:
    """Two global modes of different curvature with a lower one between them.

    The covariances are those that give the printed weights 0.527 and 0.373 (the first is printed as diag(0.3, 0.6)).

    Paper: fig:weight_asym
    """
    gamma = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    variances = np.array([[0.03, 0.6], [0.005, 0.9], [0.03, 0.3]])
    sharpness = variances.prod(axis=1) ** -0.5
    first = 0.9 * sharpness[2] / (sharpness[0] + sharpness[2])
    objective = mixture_objective(gamma, variances[:, :, None] * np.eye(2), np.array([first, 0.1, 0.9 - first]))
    modes = refine(objective, gamma[[0, 2, 1]])
    return Problem("asymmetric mixture", objective, np.array([[-2.0, 2.0]] * 2), modes, np.array([True, True, False]))
