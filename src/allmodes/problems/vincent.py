"""The Vincent function: modes ever closer to each other."""

from __future__ import annotations

from itertools import product

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.checks import whole_number
from allmodes.objective import Objective
from allmodes.problems.problem import Problem

_MOST_COORDINATES = 6  # nobody wants more than 6^6 modes listed
_LEAST = 1e-3  # smaller coordinates, outside the box, count as this one: the logarithm needs positive numbers


def vincent(d: int = 2) -> Problem:
    """The mean over coordinates of sin(10 log x_i): 6^d modes, all global with the value 1, none on the boundary."""
    if whole_number("d", d, 1) > _MOST_COORDINATES:
        raise ValueError(f"d is {d}; 6^{d} modes are too many to list, wanted at most {_MOST_COORDINATES}.")

    def fun(x: Array) -> Array:
        xp = namespace(x)
        return xp.sin(10.0 * xp.log(xp.maximum(x, _LEAST))).mean(axis=-1)

    def jac(x: Array) -> Array:
        xp = namespace(x)
        x = xp.maximum(x, _LEAST)
        return 10.0 / d * xp.cos(10.0 * xp.log(x)) / x

    def hess(x: Array) -> Array:
        xp = namespace(x)
        x = xp.maximum(x, _LEAST)
        angle = 10.0 * xp.log(x)
        return ((-100.0 * xp.sin(angle) - 10.0 * xp.cos(angle)) / (d * x**2))[..., None] * xp.eye(d)

    low, high = 0.25, 10.0
    peaks = np.exp((0.5 + 2.0 * np.arange(-2, 4)) * np.pi / 10.0)  # 10 log x = pi / 2 + 2 pi k, those in the interval
    modes = np.array(list(product(peaks, repeat=d)))
    objective = Objective(fun, jac, hess, vectorized=True)
    return Problem("Vincent", objective, np.array([[low, high]] * d), modes, np.full(len(modes), True))
