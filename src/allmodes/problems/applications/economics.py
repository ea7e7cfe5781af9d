"""A system of polynomials from economics."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem

_AMOUNTS = np.array([0.7, -1.1, 0.4, 0.9, -1.3, 0.8])  # of a solution, before their sum is made -1
_LAST = 1.3


def _sums(y: Floats) -> tuple[Floats, Floats]:
    """y_k + sum_i y_i y_{i+k} for each k, (N, 6), and the derivatives, (N, 6, 6)."""
    sums, slopes = y.copy(), np.tile(np.eye(y.shape[1]), (len(y), 1, 1))
    for k in range(1, y.shape[1]):
        sums[:, k - 1] += (y[:, :-k] * y[:, k:]).sum(axis=1)
        slopes[:, k - 1, :-k] += y[:, k:]
        slopes[:, k - 1, k:] += y[:, :-k]
    return sums, slopes


def _left_sides(x: Floats) -> Floats:
    y, last = x[:, :-1], x[:, -1:]
    return np.concatenate([last * _sums(y)[0], y.sum(axis=1, keepdims=True) + 1.0], axis=1)


def _right_sides() -> Floats:
    solution = np.append(_AMOUNTS - (_AMOUNTS.sum() + 1.0) / len(_AMOUNTS), _LAST)
    return _left_sides(solution[None])


_CONSTANTS = _right_sides()


def _residuals(x: Floats) -> Floats:
    return _left_sides(x) - _CONSTANTS


def _jacobian(x: Floats) -> Floats:
    sums, slopes = _sums(x[:, :-1])
    derivatives = np.zeros((len(x), 7, 7))
    derivatives[:, :-1, :-1] = x[:, -1, None, None] * slopes
    derivatives[:, :-1, -1] = sums
    derivatives[:, -1, :-1] = 1.0
    return derivatives


def economics() -> Problem:
    """Economic modelling with 7 unknowns, least squares: 27 optima, 6 of them exact solutions; 15 are at bounds.

    (x_k + sum_{i=1..6-k} x_i x_{i+k}) x_7 = c_k for k = 1 to 6, and x_1 + ... + x_6 = -1. The other 21 are minima of
    the misfit that solve nothing. The left sides are autocorrelations of 1, x_1, ..., x_6: where the sum is -1, nothing
    changes if these are reversed and divided by x_6, and x_7 is multiplied by x_6^2, so that solutions come in pairs.
    The system is from Morgan, Solving Polynomial Systems Using Continuation, 1987, and is used in Van Hentenryck,
    McAllester and Kapur, SIAM J. Numer. Anal. 34:797, 1997; the constants c_k are made up, from a solution.
    """
    return least_squares("economics", _residuals, _jacobian, [[-3.0, 3.0]] * 7)
