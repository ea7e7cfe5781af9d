"""The Shubert function in two dimensions, turned upside down."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.objective import Objective
from allmodes.problems.problem import Problem, best_first, symmetric_2x2

_J = np.arange(1.0, 6.0)
_HALF_WIDTH = 10.0
_ON_THE_CIRCLE = 1e-8  # roots e^ix of real x have modulus 1 up to rounding; the others are far from it


def _s(x: Array) -> Array:
    """sum_j j cos((j + 1) x + j)."""
    return (_J * namespace(x).cos((_J + 1.0) * x[..., None] + _J)).sum(axis=-1)


def _slope(x: Array) -> Array:
    return (-_J * (_J + 1.0) * namespace(x).sin((_J + 1.0) * x[..., None] + _J)).sum(axis=-1)


def _curvature(x: Array) -> Array:
    return (-_J * (_J + 1.0) ** 2 * namespace(x).cos((_J + 1.0) * x[..., None] + _J)).sum(axis=-1)


def _stationary() -> NDArray[np.float64]:
    """Every x in the interval where s' = 0.

    With z = e^ix, 2i z^6 times s'(x) is the polynomial with coefficients -j (j + 1) e^ij at the power 6 + (j + 1) and
    j (j + 1) e^-ij at the power 6 - (j + 1).
    """
    top = len(_J) + 1
    coefficients = np.zeros(2 * top + 1, dtype=complex)  # highest power first
    for j in range(1, top):
        coefficients[top - (j + 1)] = -j * (j + 1) * np.exp(1j * j)
        coefficients[top + (j + 1)] = j * (j + 1) * np.exp(-1j * j)
    roots = np.roots(coefficients)
    angles = np.angle(roots[np.abs(np.abs(roots) - 1.0) < _ON_THE_CIRCLE])
    turns = 2.0 * np.pi * np.arange(-2, 3)  # the interval is a little more than three periods long
    x = np.sort((angles[:, None] + turns).ravel())
    x = x[np.abs(x) < _HALF_WIDTH]
    for _ in range(3):
        x = x - _slope(x) / _curvature(x)
    return x


def shubert() -> Problem:
    """-s(x) s(y) with s(x) = sum_{j=1..5} j cos((j + 1) x + j): 722 modes, 18 of them global.

    Where the gradient vanishes, either s(x) = s(y) = 0, which is a saddle, or s'(x) = s'(y) = 0: the modes are those
    pairs of stationary points of s at which both curvatures are negative. On the boundary of the box there are 39 more
    maxima, all lower than the global ones, which are not listed.
    """

    def fun(x: Array) -> Array:
        return -_s(x).prod(axis=-1)

    def jac(x: Array) -> Array:
        return -_slope(x) * _s(x)[..., ::-1]

    def hess(x: Array) -> Array:
        s, slope, curvature = _s(x), _slope(x), _curvature(x)
        return symmetric_2x2(-curvature[..., 0] * s[..., 1], -slope.prod(axis=-1), -curvature[..., 1] * s[..., 0])

    objective = Objective(fun, jac, hess, vectorized=True)
    pairs = np.array(list(product(_stationary(), repeat=2)))
    is_maximum = (_curvature(pairs) * _s(pairs)[:, ::-1] > 0.0).all(axis=1)
    return best_first("Shubert", objective, np.array([[-_HALF_WIDTH, _HALF_WIDTH]] * 2), pairs[is_maximum])
