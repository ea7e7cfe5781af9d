"""A function whose modes are known: how far points are from them, and derivatives of functions that have none.

A mode is a point or a connected set of points (a ring, a valley floor). Distances are shares of the bounds, in the
worst coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from allmodes.problems import Problem

Floats = NDArray[np.float64]
Function = Callable[[Any], Any]

_COMPLEX_STEP = 1e-30  # a derivative by a complex step has no cancellation: any tiny step is exact
_DIFFERENCE = 1e-5  # of gradients that are exact: Hessians have ten digits
_EQUAL = 1e-6  # two modes whose values differ by less are both global
_GRID = 2001  # points of a line on which minima of one coordinate are looked for
_SQUARE = 121  # points of a coordinate of a plane on which minima are looked for


@dataclass(frozen=True)
class Known:
    """A function of points (..., d), its derivatives if there are any, and its modes.

    Attributes:
        apart: of points (n, d), how far each is from each of the `count` modes, (n, count).
        places: (count, d), of modes that are points.
        settings: arguments of the search that the problem comes with, such as constraints.
    """

    fun: Function
    bounds: Floats
    apart: Callable[[Floats], Floats]
    count: int
    jac: Function | None = None
    hess: Function | None = None
    maximise: bool = False
    periodic: bool = False
    places: Any = ()
    settings: Any = field(default_factory=dict)


def from_points(
    fun: Function, bounds: Any, modes: Any, *, is_analytic: bool = True, periodic: bool = False, **rest: Any
) -> Known:
    """A function whose modes are points; with derivatives by complex steps if it is analytic."""
    box, places = np.asarray(bounds, dtype=np.float64), np.atleast_2d(np.asarray(modes, dtype=np.float64))
    width = np.ptp(box, axis=1)

    def apart(points: Floats) -> Floats:
        shares = np.abs(points[:, None, :] - places) / width
        return (np.minimum(shares, np.abs(1.0 - shares)) if periodic else shares).max(axis=2)

    if is_analytic and "jac" not in rest:
        rest |= {"jac": gradient_of(fun), "hess": hessian_of(fun)}
    return Known(fun, box, apart, len(places), periodic=periodic, places=places, **rest)


def from_sets(fun: Function, bounds: Any, sets: list[Any]) -> Known:
    """A function whose modes are sets, each given by many points (n, d) on it; one point for an ordinary mode."""
    box = np.asarray(bounds, dtype=np.float64)
    width = np.ptp(box, axis=1)
    clouds = [np.atleast_2d(np.asarray(points, dtype=np.float64)) for points in sets]

    def apart(points: Floats) -> Floats:
        return np.array([[(np.abs(x - cloud) / width).max(axis=1).min() for cloud in clouds] for x in points])

    return Known(fun, box, apart, len(clouds), gradient_of(fun), hessian_of(fun))


def from_problem(problem: Problem, is_global: bool = False) -> Known:
    """One of the problems of the package, to be maximised; all its modes, or the global ones."""
    objective = problem.objective
    values = objective.fun(problem.modes)
    modes = problem.modes[values >= values.max() - _EQUAL] if is_global else problem.modes
    return from_points(
        objective.fun, problem.bounds, modes, jac=objective.jac, hess=objective.hess, maximise=True
    )  # fmt: skip


# ---- derivatives and minima, found once and for all


def gradient_of(fun: Function) -> Function:
    """The gradient of an analytic function of real numbers, exact to rounding."""

    def jac(x: Any) -> Any:
        shifts = 1j * _COMPLEX_STEP * np.eye(x.shape[-1])
        return np.stack([np.imag(fun(x + shift)) / _COMPLEX_STEP for shift in shifts], axis=-1)

    return jac


def hessian_of(fun: Function) -> Function:
    """The Hessian, by differences of exact gradients."""
    jac = gradient_of(fun)

    def hess(x: Any) -> Any:
        shifts = _DIFFERENCE * np.eye(x.shape[-1])
        rows = np.stack([(jac(x + shift) - jac(x - shift)) / (2.0 * _DIFFERENCE) for shift in shifts], axis=-1)
        return 0.5 * (rows + rows.swapaxes(-1, -2))

    return hess


def grid(places: Any, d: int) -> Floats:
    """All points whose coordinates are among the places, (n^d, d)."""
    return np.array(list(product(places, repeat=d)))


def minima_on_line(fun: Function, lower: float, upper: float) -> Floats:
    """Minima of a function of one number, those at the ends included."""
    x = np.linspace(lower, upper, _GRID)
    values = np.pad(fun(x), 1, constant_values=np.inf)
    places = x[(values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:])]
    given: dict[str, Any] = {"bounds": [(lower, upper)], "method": "L-BFGS-B", "options": {"ftol": 0.0, "gtol": 1e-11}}

    def at(u: Floats) -> float:
        return float(fun(u[0]))

    return np.array([minimize(at, np.array([place]), **given).x[0] for place in places])


def minima_in_torus(fun: Function, width: float) -> Floats:
    """Minima of an analytic function of two angles, from a grid that wraps around."""
    x = np.linspace(0.0, width, _SQUARE, endpoint=False)
    points = grid(x, 2)
    values = fun(points).reshape(_SQUARE, _SQUARE)
    shifts = [(i, j) for i, j in product((-1, 0, 1), repeat=2) if (i, j) != (0, 0)]
    is_low = np.all([values < np.roll(values, shift, axis=(0, 1)) for shift in shifts], axis=0)
    jac, hess, places = gradient_of(fun), hessian_of(fun), points[is_low.ravel()]
    for _ in range(20):
        places = places - np.linalg.solve(hess(places), jac(places)[..., None])[..., 0]
    return places % width
