"""The six-hump camel function, turned upside down."""

from __future__ import annotations

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.objective import Objective
from allmodes.problems.problem import Problem, best_first, refine, symmetric_2x2

# Three modes to four decimals; the other three are their mirror images in the origin. Refined from there.
_HALF = np.array([[-0.0898, 0.7127], [-1.7036, 0.7961], [1.6071, 0.5687]])


def six_hump_camel() -> Problem:
    """-((4 - 2.1 x^2 + x^4 / 3) x^2 + x y + (4 y^2 - 4) y^2): six modes in three pairs, the best pair global.

    There are none on the boundary.
    """

    def fun(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        return -(4.0 - 2.1 * x**2 + x**4 / 3.0) * x**2 - x * y - (4.0 * y**2 - 4.0) * y**2

    def jac(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        slopes = [-8.0 * x + 8.4 * x**3 - 2.0 * x**5 - y, -x - 16.0 * y**3 + 8.0 * y]
        return namespace(points).stack(slopes, axis=-1)

    def hess(points: Array) -> Array:
        x, y = points[..., 0], points[..., 1]
        return symmetric_2x2(-8.0 + 25.2 * x**2 - 10.0 * x**4, -1.0 + 0.0 * x, 8.0 - 48.0 * y**2)

    objective = Objective(fun, jac, hess, vectorized=True)
    modes = refine(objective, np.vstack([_HALF, -_HALF]))
    return best_first("six-hump camel", objective, np.array([[-3.0, 3.0], [-2.0, 2.0]]), modes)
