"""A user's function, its derivatives, and how often each was called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.evaluation import Evaluation, Needs

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Objective:
    """A function to maximise, with optional derivatives.

    Args:
        fun: value at one point (d,) -> number, or with `vectorized` at a batch (N, d) -> (N,).
        jac: gradient, (d,) -> (d,) or (N, d) -> (N, d).
        hess: Hessian, (d,) -> (d, d) or (N, d) -> (N, d, d).
        vectorized: whether the functions take a batch of points.

    A function written in JAX needs neither `jac` nor `hess`: they are derived, in float64.

    >>> objective = Objective(lambda x: -(x**2).sum(), jac=lambda x: -2 * x)
    >>> objective.evaluate(np.ones((1, 2)), frozenset({"gradient"})).gradient
    array([[-2., -2.]])
    """

    fun: Function
    jac: Function | None = None
    hess: Function | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        for name in ("fun", "jac", "hess"):
            function = getattr(self, name)
            if not callable(function) and (name == "fun" or function is not None):
                wanted = "a function" if name == "fun" else "a function or None"
                raise TypeError(f"{name} is {function!r} ({type(function).__name__}); {wanted} was wanted.")

    def missing(self, needs: Needs) -> list[str]:
        """The argument names of the derivatives that are needed and were not given."""
        given = {"gradient": ("jac", self.jac), "hessian": ("hess", self.hess)}
        return [given[need][0] for need in sorted(needs) if given[need][1] is None]

    def evaluate(self, points: NDArray[np.float64], needs: Needs) -> Evaluation:
        """Values and the needed derivatives at points (N, d)."""
        N, d = points.shape
        gradient = self._call("jac", self.jac, points, (N, d)) if "gradient" in needs else None
        hessian = self._call("hess", self.hess, points, (N, d, d)) if "hessian" in needs else None
        return Evaluation(self._call("fun", self.fun, points, (N,)), gradient, hessian)

    def _call(self, name: str, function: Any, points: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[Any]:
        points = points.copy()  # the user may write into what they are given
        if self.vectorized:
            return checked(name, function(points), shape, f"a batch of {shape[0]} points")
        result = np.empty(shape)
        for n, point in enumerate(points):
            try:
                result[n] = checked(name, function(point), shape[1:], "one point")
            except Exception as error:
                error.add_note(
                    f"while calling {name} at x = {point!r}; a function of a batch (N, d) needs vectorized=True"
                )
                raise
        return result


class BadReturnError(ValueError, TypeError):
    """A user's function returned something other than real numbers of the right shape."""


def checked(name: str, given: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """What the function `name` returned for `what`, as float64 of this shape; BadReturnError where that cannot be."""
    if given is None:
        raise BadReturnError(f"{name} returned None for {what}; real numbers were wanted. Is a return missing?")
    try:
        array = np.asarray(given)
    except ValueError as error:  # rows of different lengths
        hint = " If it returns the gradient, too, pass jac=True." if name == "fun" and isinstance(given, tuple) else ""
        raise BadReturnError(f"{name} returned no array of numbers for {what} ({error}).{hint}") from error
    if array.dtype.kind not in "buif":
        raise BadReturnError(f"{name} returned dtype {array.dtype} for {what}; real numbers were wanted.")
    if array.shape != shape and not (shape == () and array.size == 1):
        hint = " With vectorized=True it must take all points at once." if what != "one point" else ""
        raise BadReturnError(f"{name} returned shape {array.shape} for {what}; {shape} was wanted.{hint}")
    return np.asarray(array.reshape(shape), dtype=np.float64)
