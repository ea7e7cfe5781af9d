"""A function with one flat and one ordinary global mode."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from allmodes.arrays import Array, namespace
from allmodes.checks import real_array
from allmodes.objective import Objective
from allmodes.problems.problem import Problem, symmetric_2x2

_MODES = ((-3.0, 0.0), (3.0, 0.0))


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


def degenerate(bounds: ArrayLike = ((-4.0, 4.0), (-2.0, 2.0))) -> Problem:
    """psi(x_1) (x_2^2 + 1) with global modes at (-3, 0), where the Hessian is singular, and at (3, 0), where it is not.

    There are no other modes in any box around these two, nor on its boundary.

    Paper: app:simu_degenerate
    """
    wanted = "pairs (lower, upper) for two coordinates with both modes, (-3, 0) and (3, 0), between them"
    box = real_array("bounds", bounds, wanted)
    modes = np.array(_MODES)
    if box.shape != (2, 2) or not ((box[:, 0] < modes) & (modes < box[:, 1])).all():
        raise ValueError(f"bounds is {box.tolist()}; wanted {wanted}, as in ((-4, 4), (-2, 2)).")

    def fun(x: Array) -> Array:
        return _psi(x[..., 0])[0] * (x[..., 1] ** 2 + 1.0)

    def jac(x: Array) -> Array:
        psi, slope, _ = _psi(x[..., 0])
        y = x[..., 1]
        return namespace(x).stack([slope * (y**2 + 1.0), 2.0 * psi * y], axis=-1)

    def hess(x: Array) -> Array:
        psi, slope, curvature = _psi(x[..., 0])
        y = x[..., 1]
        return symmetric_2x2(curvature * (y**2 + 1.0), 2.0 * slope * y, 2.0 * psi)

    return Problem("degenerate", Objective(fun, jac, hess, vectorized=True), box, modes, np.array([True, True]))
