"""Constraints as users give them, in SciPy's ways, made into parts of one shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import real_array

Floats = NDArray[np.float64]

_WANTED = (
    "wanted a scipy.optimize.LinearConstraint or NonlinearConstraint, a dict such as "
    '{"type": "ineq", "fun": f} (f(x) >= 0), or a list of these'
)
_KEYS = {"type", "fun", "jac", "hess", "args"}


@dataclass(frozen=True)
class Part:
    """One constraint of the user: lower <= fun(x) <= upper, in m rows.

    Args:
        name: what messages call it.
        fun: x (D,) -> (m,) or a number; of many points (N, D) -> (N, m) if `is_vectorized`.
        jac: x (D,) -> (m, D), or None for differences.
        hess: x (D,), weights (m,) -> (D, D), or None for differences of the Jacobian.
        lower, upper: numbers or (m,).
        keep: whether the objective is never evaluated where it is violated, one or (m,).
    """

    name: str
    fun: Callable[[Any], Any]
    jac: Callable[[Any], Any] | None
    hess: Callable[[Any, Any], Any] | None
    lower: Floats
    upper: Floats
    keep: NDArray[np.bool_]
    is_vectorized: bool = False


def parts_of(constraints: Any, vectorized: bool, D: int) -> list[Part]:
    """What the user gave, as a list of parts; errors name what is wrong."""
    is_one = isinstance(constraints, dict) or hasattr(constraints, "lb") or callable(constraints)
    if not is_one and not isinstance(constraints, list | tuple):
        raise TypeError(f"constraints is {constraints!r} ({type(constraints).__name__}); {_WANTED}.")
    given = [constraints] if is_one else list(constraints)
    return [
        _part(each, f"constraints[{i}]" if not is_one else "constraints", vectorized, D) for i, each in enumerate(given)
    ]


def _part(given: Any, name: str, vectorized: bool, D: int) -> Part:
    if isinstance(given, dict):
        return _old(given, name, vectorized)
    if hasattr(given, "A") and hasattr(given, "lb"):
        return _linear(given, name, D)
    if hasattr(given, "fun") and hasattr(given, "lb"):
        jac, hess = getattr(given, "jac", None), getattr(given, "hess", None)
        return Part(
            name, _function(name, given.fun), jac if callable(jac) else None, hess if callable(hess) else None,
            *_sides(name, given), vectorized,
        )  # fmt: skip
    if hasattr(given, "lb"):
        raise TypeError(f"{name} is {given!r}, bounds of the coordinates; pass them as bounds, beside constraints.")
    raise TypeError(f"{name} is {given!r} ({type(given).__name__}); {_WANTED}.")


def _function(name: str, fun: Any) -> Callable[[Any], Any]:
    if not callable(fun):
        raise TypeError(f"the fun of {name} is {fun!r} ({type(fun).__name__}); wanted a function of a point (D,).")
    return fun


def _sides(name: str, given: Any) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    sides = []
    for side, numbers in (("lb", given.lb), ("ub", given.ub)):
        try:
            array = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
        except (TypeError, ValueError):
            raise TypeError(f"the {side} of {name} is {numbers!r}; wanted a number or (m,).") from None
        if array.ndim != 1 or np.isnan(array).any():
            raise ValueError(f"the {side} of {name} is {numbers!r}; wanted a number or (m,), inf for an open side.")
        sides.append(array)
    return sides[0], sides[1], np.atleast_1d(np.asarray(getattr(given, "keep_feasible", False), dtype=bool))


def _linear(given: Any, name: str, D: int) -> Part:
    A = given.A.toarray() if hasattr(given.A, "toarray") else given.A
    A = np.atleast_2d(real_array(f"A of {name}", A, "a matrix (m, D)"))
    if A.ndim != 2 or A.shape[1] != D:
        raise ValueError(f"the A of {name} has shape {A.shape} for {D} coordinates; wanted (m, {D}).")
    if not np.isfinite(A).all():
        raise ValueError(f"the A of {name} is not finite.")
    nothing = np.zeros((D, D))
    lower, upper, keep = _sides(name, given)
    return Part(name, lambda x: x @ A.T, lambda x: A, lambda x, weights: nothing, lower, upper, keep, True)


def _old(given: dict[str, Any], name: str, vectorized: bool) -> Part:
    """A dict: "eq" means fun(x) = 0, "ineq" fun(x) >= 0."""
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise ValueError(f'{name} has the key {unknown[0]!r}; wanted "type", "fun", and "jac" or "args" if need be.')
    kind = str(given.get("type", "")).lower()
    if kind not in ("eq", "ineq"):
        raise ValueError(f'the type of {name} is {given.get("type")!r}; wanted "eq" (fun = 0) or "ineq" (fun >= 0).')
    fun, jac, args = _function(name, given.get("fun")), given.get("jac"), given.get("args", ())
    args = args if isinstance(args, tuple) else (args,)
    upper = 0.0 if kind == "eq" else np.inf
    return Part(
        name, lambda x: fun(x, *args), (lambda x: jac(x, *args)) if callable(jac) else None, None,
        np.zeros(1), np.array([upper]), np.zeros(1, bool), vectorized,
    )  # fmt: skip
