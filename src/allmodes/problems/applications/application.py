"""How a problem from an application is put together: a function to be minimised, turned upside down, and its optima."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allmodes.objective import Objective
from allmodes.problems.problem import Problem, best_first

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

_KNOWN = Path(__file__).with_name("known.json")  # 12 digits: what is left of gradients is far below any tolerance
_EQUAL = 1e-6  # values of optima that symmetries exchange, to rounding; others differ by 1e-4 at least


def minimised(name: str, fun: Function, jac: Function, bounds: ArrayLike, periodic: tuple[int, ...] = ()) -> Problem:
    """The maxima of minus a function (N, d) -> (N,) with the gradient (N, d) -> (N, d).

    Args:
        name: in lower case and with underscores, the key of its optima.
        periodic: coordinates that wrap around.
    """

    def value(x: Floats) -> Floats:
        return -fun(x)

    def gradient(x: Floats) -> Floats:
        return -jac(x)

    objective = Objective(value, gradient, vectorized=True)
    box = np.array(bounds, dtype=np.float64)
    return best_first(name, objective, box, np.array(_known()[name.lower().replace(" ", "_")]), _EQUAL, periodic)


def least_squares(name: str, residuals: Function, jacobian: Function, bounds: ArrayLike) -> Problem:
    """The maxima of minus a sum of squares, of residuals (N, d) -> (N, m) with derivatives (N, d) -> (N, m, d)."""

    def fun(x: Floats) -> Floats:
        return (residuals(x) ** 2).sum(axis=1)

    def jac(x: Floats) -> Floats:
        return 2.0 * np.einsum("nm,nmd->nd", residuals(x), jacobian(x))

    return minimised(name, fun, jac, bounds)


@cache
def _known() -> dict[str, list[list[float]]]:
    """The places of the known optima, by the problem."""
    return dict(json.loads(_KNOWN.read_text(encoding="utf-8")))
