"""What is solved without the objective: the nearest feasible point, and the best one of a quadratic model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.constraints import Constraints
from allmodes.search.searchers.constrained.quadratic import Model, best_within
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

_ACCURACY = 1e-14  # of SLSQP, for a model and constraints of size 1
_ITERATIONS = 60  # of SLSQP
_BARRED = 0.3  # of the way: constraints that leave less of it open bar the way
_STILL = 1e-9  # of the box: a shorter step counts as none
_EXACT = 2e-6  # of the wanted feasibility: how exactly constraints are restored; by default to rounding


def best_of_model(
    constraints: Constraints, point: Array, gradient: Array, hessian: Array, radius: float
) -> tuple[Array, float] | None:
    """The feasible point within the radius at which g s + s H s / 2 is least, and that value; None if it is not found.

    The constraints are the true ones, not their linearisation. The point itself is feasible.
    """
    box = constraints.box
    lower, upper = np.maximum(point - radius, box.lower_unit), np.minimum(point + radius, box.upper_unit)
    size = float(np.abs(gradient).sum() * radius + np.abs(hessian).sum() * radius**2) + TINY
    sides = np.stack([lower - point, upper - point]) / radius
    model = Model(gradient * radius / size, hessian * radius**2 / size, sides)
    u = _solved(constraints, model, point, radius, np.zeros_like(point))
    if u is None:
        return None
    found = restored(constraints, np.clip(point + radius * u, lower, upper))
    if found is None:
        return None
    s = found - point
    if np.abs(s).max() <= _STILL:
        return point, 0.0
    value = float(gradient @ s + 0.5 * s @ hessian @ s)
    return (found, value) if value < 0.0 else None


def nearest_feasible(constraints: Constraints, start: Array) -> Array | None:
    """The feasible point next to a start, as far as a local search can tell; None if there is none near."""
    box = constraints.box
    begin = np.clip(start, box.lower_unit, box.upper_unit)
    if constraints.is_feasible(begin[None])[0]:
        return begin

    sides = np.stack([box.lower_unit, box.upper_unit]) - begin
    distance = Model(begin - start, np.eye(len(start)), sides)
    for origin in (begin, least_violated(constraints, begin)):
        u = _solved(constraints, distance, begin, 1.0, origin - begin)
        if u is not None:
            found = restored(constraints, box.project(begin + u))
            if found is not None:
                return found
        found = restored(constraints, origin)
        if found is not None:
            return found
    return None


def extreme(constraints: Constraints, point: Array, way: Array) -> Array:
    """The feasible point that is farthest in a direction, as far as a local search from a feasible point can tell."""
    found = best_of_model(constraints, point, -way, np.zeros((len(way),) * 2), 1.0)
    return point if found is None else found[0]


def reachable(constraints: Constraints, point: Array, steps: Array) -> Array:
    """Feasible points (n, d) that steps (N, d) from a point lead to, where constraints do not bar the way."""
    kept = []
    for step in steps:
        found = nearest_feasible(constraints, point + step)
        if found is not None and np.abs(found - point).max() > _BARRED * float(np.abs(step).max()):
            kept.append(found)
    return np.array(kept).reshape(-1, len(point))


def least_violated(constraints: Constraints, start: Array) -> Array:
    """Where the sum of squared violations is smallest, as far as a local search can tell."""
    from scipy.optimize import least_squares  # late: importing it takes a while

    box, margin = constraints.box, constraints.margin
    inside = np.clip(start, box.lower_unit, box.upper_unit)

    def violations(z: Array) -> Array:
        rows = constraints.rows(z) - margin
        return np.where(constraints.is_equality, rows, np.minimum(rows, 0.0))

    def slopes(z: Array) -> Array:
        is_violated = constraints.is_equality | (constraints.rows(z) < margin)
        return np.where(is_violated[:, None], constraints.jacobian(z), 0.0)

    bounds = box.lower_unit, box.upper_unit
    for method in ("trf", "dogbox"):  # it raises now and then because of rounding
        try:
            return np.asarray(least_squares(violations, inside, slopes, bounds, method, max_nfev=100).x)
        except ValueError:
            continue
    return inside


def restored(constraints: Constraints, point: Array, held: NDArray[np.bool_] | None = None) -> Array | None:
    """A feasible point beside a point that nearly is: the shortest steps of Gauss and Newton; None if they fail.

    Args:
        held: (r,), rows that are to be 0, like equalities; the others are left alone then. None for all constraints.
    """
    box, exact = constraints.box, _EXACT * constraints.feasibility
    z, best, before = point, point, np.inf
    for _ in range(TUNING.restorations):
        rows = constraints.rows(z) - constraints.margin
        is_exact = constraints.is_equality if held is None else held
        wanted = np.where(is_exact, rows, np.minimum(rows, 0.0) if held is None else 0.0)
        worst = float(np.abs(wanted).max(initial=0.0))
        if worst >= before:
            z = best
            break
        best, before = z, worst
        if worst <= exact:
            break
        counted = np.flatnonzero(wanted) if held is None else np.flatnonzero(held)
        if held is None:  # those about to be violated stay where they are
            counted = np.union1d(counted, np.flatnonzero(rows < 10.0 * worst))
            wanted = np.where(wanted != 0.0, rows, np.minimum(0.0, rows))
        z = _step_back(constraints, z, counted, wanted)
    z = box.project(z) if not box.periodic_unit.size else np.clip(z, box.lower_unit, box.upper_unit)
    if held is not None:
        return z
    return z if constraints.is_feasible(z[None])[0] else None


def _step_back(constraints: Constraints, z: Array, counted: NDArray[np.intp], wanted: Array) -> Array:
    """The shortest step that takes the counted rows to where they are wanted, within the bounds."""
    box, A, off = constraints.box, constraints.jacobian(z)[counted], wanted[counted]
    free, moved = np.ones(len(z), bool), z
    for _ in range(len(z)):
        step = np.linalg.lstsq(A[:, free], -(off + A @ (moved - z)), rcond=1e-12)[0]
        tried = moved.copy()
        tried[free] += step
        out = free & ((tried < box.lower_unit) | (tried > box.upper_unit))
        moved = np.clip(tried, box.lower_unit, box.upper_unit)
        if not out.any():
            break
        free &= ~out
        if not free.any():
            break
    return moved


def _solved(constraints: Constraints, model: Model, point: Array, radius: float, begin: Array) -> Array | None:
    """The minimum u of a model under the constraints at point + radius u, begun at u; None if it is not found."""

    def look(u: Array) -> tuple[Array, Array]:
        z = point + radius * u
        return constraints.rows(z) - constraints.margin, radius * constraints.jacobian(z)

    found = best_within(model, look, constraints.is_equality, begin, _STILL / radius)
    return _slsqp(constraints, model, point, radius, begin) if found is None else found


def _slsqp(constraints: Constraints, model: Model, point: Array, radius: float, begin: Array) -> Array | None:
    """The same by SciPy, from anywhere and for any model; None if it fails."""
    from scipy.optimize import minimize  # late: importing it takes a while

    J = constraints.jacobian(point + radius * begin)
    sizes = np.maximum(np.linalg.norm(J, axis=1) * radius, 1e-12)
    sizes = np.maximum(sizes, 1e-3 * sizes.max(initial=0.0))
    conditions: list[dict[str, Any]] = []
    for kind, chosen in (("eq", constraints.is_equality), ("ineq", ~constraints.is_equality)):
        if chosen.any():
            conditions.append(_condition(constraints, kind, chosen, point, radius, sizes))

    def fun(u: Array) -> tuple[float, Array]:
        bent = model.hessian @ u
        return float(model.gradient @ u + 0.5 * u @ bent), model.gradient + bent

    try:
        found = minimize(  # type: ignore[call-overload]
            fun, begin, jac=True, method="SLSQP", bounds=model.sides.T, constraints=conditions,
            options={"ftol": _ACCURACY, "maxiter": _ITERATIONS},
        )  # fmt: skip
    except ValueError:  # of numbers that are not finite
        return None
    return np.asarray(found.x) if np.isfinite(found.x).all() else None


def _condition(
    constraints: Constraints, kind: str, chosen: NDArray[np.bool_], point: Array, radius: float, sizes: Array
) -> dict[str, Any]:
    """The chosen rows for SLSQP, in units in which a whole radius changes them by about 1."""
    divided, margin = sizes[chosen], constraints.margin[chosen]
    return {
        "type": kind,
        "fun": lambda u: (constraints.rows(point + radius * u)[chosen] - margin) / divided,
        "jac": lambda u: constraints.jacobian(point + radius * u)[chosen] * (radius / divided)[:, None],
    }
