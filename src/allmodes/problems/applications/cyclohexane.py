"""Shapes of a ring of six carbon atoms."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem

_SCALE = 0.1  # of the equations: values of the misfit are of order one around the solutions


def _residuals(x: Floats) -> Floats:
    y = np.roll(x, -1, axis=1)
    return _SCALE * (13.0 + x**2 + y**2 + (x * y) ** 2 - 24.0 * x * y)


def _jacobian(x: Floats) -> Floats:
    y = np.roll(x, -1, axis=1)
    i, next_ = np.arange(3), np.array([1, 2, 0])
    derivatives = np.zeros((len(x), 3, 3))
    derivatives[:, i, i] = 2.0 * x * (1.0 + y * y) - 24.0 * y
    derivatives[:, i, next_] = 2.0 * y * (1.0 + x * x) - 24.0 * x
    return _SCALE * derivatives


def cyclohexane() -> Problem:
    """Conformations of cyclohexane: three equations between the tangents of half the angles in its ring; 16 solutions.

    13 + x^2 + y^2 + x^2 y^2 - 24 x y = 0 for each of the three pairs of unknowns; the misfit is the sum of squares, and
    every optimum is global. Unknowns may be exchanged, and all signs changed together. The equations are from Emiris,
    Sparse Elimination and Applications in Kinematics, Berkeley 1994, and are an example in Van Hentenryck, Michel and
    Deville, Numerica, MIT Press 1997.
    """
    return least_squares("cyclohexane", _residuals, _jacobian, [[-20.0, 20.0]] * 3)
