"""The Styblinski–Tang function, turned upside down."""

from __future__ import annotations

from itertools import product

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.checks import whole_number
from allmodes.objective import Objective
from allmodes.problems.problem import Problem

_MOST_COORDINATES = 16  # nobody wants more than 2^16 modes listed


def styblinski_tang_objective() -> Objective:
    """-sum_i (x_i^4 - 16 x_i^2 + 5 x_i) / 2 in any dimension."""

    def fun(x: Array) -> Array:
        return -0.5 * (((x * x - 16.0) * x + 5.0) * x).sum(axis=-1)

    def jac(x: Array) -> Array:
        return (16.0 - 2.0 * x * x) * x - 2.5

    def hess(x: Array) -> Array:
        return (16.0 - 6.0 * x * x)[..., None] * namespace(x).eye(x.shape[-1])

    return Objective(fun, jac, hess, vectorized=True)


def styblinski_tang(d: int = 4) -> Problem:
    """2^d modes, one of them global (the paper's text says 2^d - 1).

    Paper: sub:simu_mode
    """
    if whole_number("d", d, 1) > _MOST_COORDINATES:
        raise ValueError(
            f"d is {d}; 2^{d} modes are too many to list, wanted at most {_MOST_COORDINATES}. "
            "styblinski_tang_objective() gives the function alone."
        )
    # The two maxima of one coordinate are the outer roots of its derivative, the left one the higher.
    low, _, high = np.sort(np.roots([-2.0, 0.0, 16.0, -2.5]).real)
    modes = np.array(sorted(product((low, high), repeat=d), key=lambda mode: mode.count(high)))
    bounds = np.array([[-4.0, 4.0]] * d)
    return Problem("Styblinski–Tang", styblinski_tang_objective(), bounds, modes, np.arange(2**d) == 0)
