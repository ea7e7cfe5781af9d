"""Modes along a curved ridge."""

from __future__ import annotations

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.objective import Objective
from allmodes.problems.problem import Problem, best_first, symmetric_2x2

_STEEPNESS = 20.0  # how fast the function falls off the ridge y = x^2
_WAVE = 3.0 * np.pi  # angular frequency of the hills along the ridge


def banana() -> Problem:
    """-20 (y - x^2)^2 + cos(3 pi x) / 2 - x^2 / 20: seven modes on the ridge y = x^2, the one at the origin global.

    On the ridge the modes solve (3 pi / 2) sin(3 pi x) + x / 10 = 0; off it there are none, nor on the boundary.
    """

    def fun(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        return -_STEEPNESS * (y - x**2) ** 2 + 0.5 * namespace(x).cos(_WAVE * x) - 0.05 * x**2

    def jac(points: Array) -> Array:
        xp = namespace(points)
        x, y = points[..., 0], points[..., 1]
        off = 2.0 * _STEEPNESS * (y - x**2)
        return xp.stack([2.0 * off * x - 0.5 * _WAVE * xp.sin(_WAVE * x) - 0.1 * x, -off], axis=-1)

    def hess(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        wave = 0.5 * _WAVE**2 * namespace(x).cos(_WAVE * x)
        along = 4.0 * _STEEPNESS * (y - 3.0 * x**2) - wave - 0.1
        return symmetric_2x2(along, 4.0 * _STEEPNESS * x, -2.0 * _STEEPNESS + 0.0 * x)

    x = np.arange(-3.0, 4.0) * 2.0 * np.pi / _WAVE  # crests of the waves; the slope -x / 10 moves them a little
    for _ in range(10):
        x = x - (0.5 * _WAVE * np.sin(_WAVE * x) + 0.1 * x) / (0.5 * _WAVE**2 * np.cos(_WAVE * x) + 0.1)
    objective = Objective(fun, jac, hess, vectorized=True)
    return best_first("banana", objective, np.array([[-2.2, 2.2], [-1.0, 5.5]]), np.stack([x, x**2], axis=1))
