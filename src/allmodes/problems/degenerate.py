"""A function with one flat and one ordinary global mode."""

from __future__ import annotations

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.objective import Objective
from allmodes.problems.problem import Problem


def _psi(x: Array) -> tuple[Array, Array, Array]:
    """The profile along the first coordinate and its two derivatives."""
    xp = namespace(x)
    left, right = x + 3.0, x - 3.0
    pieces = (
        (-(left**4) - 1.0, -4.0 * left**3, -12.0 * left**2),
        (-(x**3) / 8 + 0.75 * x**2 + 0.5 * x - 5.0, -0.375 * x**2 + 1.5 * x + 0.5, -0.75 * x + 1.5),
        (-(right**2) - 1.0, -2.0 * right, -2.0 + 0.0 * x),
    )
    a, b, c = (xp.where(x < -2.0, *pair) for pair in zip(pieces[0], pieces[1], strict=True))
    return tuple(xp.where(x > 2.0, outer, inner) for outer, inner in zip(pieces[2], (a, b, c), strict=True))


def degenerate() -> Problem:
    """psi(x_1) (x_2^2 + 1) with global modes at (-3, 0), where the Hessian is singular, and at (3, 0), where it is not.

    Paper: app:simu_degenerate
    """

    def fun(x: Array) -> Array:
        return _psi(x[..., 0])[0] * (x[..., 1] ** 2 + 1.0)

    def jac(x: Array) -> Array:
        psi, slope, _ = _psi(x[..., 0])
        y = x[..., 1]
        return namespace(x).stack([slope * (y**2 + 1.0), 2.0 * psi * y], axis=-1)

    def hess(x: Array) -> Array:
        xp = namespace(x)
        psi, slope, curvature = _psi(x[..., 0])
        y = x[..., 1]
        cross = 2.0 * slope * y
        rows = [xp.stack([curvature * (y**2 + 1.0), cross], axis=-1), xp.stack([cross, 2.0 * psi], axis=-1)]
        return xp.stack(rows, axis=-2)

    return Problem(
        "degenerate",
        Objective(fun, jac, hess, vectorized=True),
        np.array([[-4.0, 4.0], [-2.0, 2.0]]),
        np.array([[-3.0, 0.0], [3.0, 0.0]]),
        np.array([True, True]),
    )
