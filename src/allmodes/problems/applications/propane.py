"""A chemical equilibrium."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem

_PRESSURE = 40.0  # atmospheres
_AIR = 10.0  # R, the amount of air in proportion to that of fuel
# Constants of the reactions, as the equations have them.
_R5 = 0.193
_R6, _R7, _R9 = np.array([2.597e-3, 3.448e-3, 2.155e-4]) / np.sqrt(_PRESSURE)
_R8, _R10 = np.array([1.799e-5, 3.846e-5]) / _PRESSURE
_UNIT = 40.0  # of the second unknown, so that all are of order one
_BOUNDS = [[-0.2, 0.5], [0.2, 2.0], [-1.0, 1.0], [-1.5, 1.5], [-0.2, 0.3]]


def _unknowns(x: Floats) -> Floats:
    """y1 to y5 of the equations, (5, N)."""
    return (x * [1.0, _UNIT, 1.0, 1.0, 1.0]).T


def _residuals(x: Floats) -> Floats:
    y1, y2, y3, y4, y5 = _unknowns(x)
    shared = y2 * (y3**2 + _R7 * y3 + _R9 * y4 + _R8)
    return np.stack(
        [
            y1 * (y2 + 1.0) - 3.0 * y5,
            y1 * (2.0 * y2 + 1.0) + 2.0 * _R10 * y2**2 + shared - _AIR * y5,
            y2 * y3 * (2.0 * y3 + _R7) + y3 * (2.0 * _R5 * y3 + _R6) - 8.0 * y5,
            y4 * (_R9 * y2 + 2.0 * y4) - 4.0 * _AIR * y5,
            y1 * (y2 + 1.0) + _R10 * y2**2 + shared + y3 * (_R5 * y3 + _R6) + y4**2 - 1.0,
        ],
        axis=1,
    )


def _jacobian(x: Floats) -> Floats:
    y1, y2, y3, y4, _ = _unknowns(x)
    zero = np.zeros_like(y1)
    shared = y3**2 + _R7 * y3 + _R9 * y4 + _R8
    slope = y2 * (2.0 * y3 + _R7)
    rows = [
        [y2 + 1.0, y1, zero, zero, zero - 3.0],
        [2.0 * y2 + 1.0, 2.0 * y1 + 4.0 * _R10 * y2 + shared, slope, _R9 * y2, zero - _AIR],
        [zero, y3 * (2.0 * y3 + _R7), y2 * (4.0 * y3 + _R7) + 4.0 * _R5 * y3 + _R6, zero, zero - 8.0],
        [zero, _R9 * y4, zero, _R9 * y2 + 4.0 * y4, zero - 4.0 * _AIR],
        [y2 + 1.0, y1 + 2.0 * _R10 * y2 + shared, slope + 2.0 * _R5 * y3 + _R6, _R9 * y2 + 2.0 * y4, zero],
    ]
    return np.moveaxis(np.array(rows), 2, 0) * [1.0, _UNIT, 1.0, 1.0, 1.0]


def propane() -> Problem:
    """Propane burning in air: the equilibrium of ten species, reduced to five equations; four real solutions.

    All four are exact, so that every optimum is global, and one of them has no negative amount: the one that nature
    takes. The valleys that lead to them are narrow, with conditions of 1e8. There are no symmetries. Equations:
    Meintjes and Morgan, Chemical equilibrium systems as numerical test problems, ACM TOMS 16:143, 1990; their second
    unknown is 40 times ours.
    """
    return least_squares("propane", _residuals, _jacobian, _BOUNDS)
