"""Himmelblau's function, turned upside down."""

from __future__ import annotations

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.objective import Objective
from allmodes.problems.problem import Problem, best_first, refine, symmetric_2x2

# To three decimals; refined from there.
_MODES = ((3.0, 2.0), (-2.805, 3.131), (-3.779, -3.283), (3.584, -1.848))


def himmelblau() -> Problem:
    """-(x^2 + y - 11)^2 - (x + y^2 - 7)^2 has four modes, all global with the value 0, and none on the boundary."""

    def fun(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        return -((x**2 + y - 11.0) ** 2) - (x + y**2 - 7.0) ** 2

    def jac(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        a, b = x**2 + y - 11.0, x + y**2 - 7.0
        return namespace(points).stack([-4.0 * x * a - 2.0 * b, -2.0 * a - 4.0 * y * b], axis=-1)

    def hess(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        return symmetric_2x2(42.0 - 12.0 * x**2 - 4.0 * y, -4.0 * (x + y), 26.0 - 12.0 * y**2 - 4.0 * x)

    objective = Objective(fun, jac, hess, vectorized=True)
    return best_first("Himmelblau", objective, np.array([[-6.0, 6.0]] * 2), refine(objective, np.array(_MODES)))
