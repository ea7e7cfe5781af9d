"""The value, gradient and Hessian of an objective, called and counted separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Objective
from allmodes.objective.autodiff import check_symmetric, in_float64, is_jax, traceable, traced
from allmodes.objective.objective import checked
from allmodes.objective.parts import shape_of

Floats = NDArray[np.float64]

_NEEDS = {"fun": VALUE, "jac": GRADIENT, "hess": HESSIAN}
_PLACES = {"fun": "value", "jac": "gradient", "hess": "hessian"}


def as_objective(given: Any, jac: Any, hess: Any, vectorized: bool) -> Objective:
    """What the user passed, as an Objective."""
    if isinstance(given, Objective):
        if jac is not None or hess is not None or vectorized:
            raise ValueError("objective is an Objective, which has its own jac, hess and vectorized; leave these out.")
        return given
    if not callable(given):
        raise TypeError(f"objective is {given!r} ({type(given).__name__}); wanted a function or an Objective.")
    return Objective(given, jac, hess, vectorized)


class Counted:
    """One of fun, jac and hess at points (N, d); `count` is the number of points so far.

    What the objective lacks is derived if it is written in JAX, and compiled.
    """

    def __init__(self, name: str, objective: Objective, d: int, method: str) -> None:
        self.name = name
        self.count = 0
        self._objective = objective
        self._function = getattr(objective, name)
        self._call: Callable[[Floats], Floats] = self._first
        if self._function is None:
            problem = traceable(objective, d, _NEEDS[name])
            if problem is not None:
                raise ValueError(
                    f"{method} needs {name}, which the objective lacks. Pass {name}=, or write the objective with "
                    f"jax.numpy, so that JAX can derive it (now it says: {type(problem).__name__}: {problem})."
                ) from problem
            self._call = self._compiled()

    def __call__(self, points: Floats) -> Floats:
        self.count += len(points)
        return self._call(points)

    def _first(self, points: Floats) -> Floats:
        """The first call shows whether the function is JAX's; it is compiled then, and computes in float64."""
        seen: list[bool] = []
        with in_float64():
            result = self._plain(points, seen)
        if self.name == "hess":
            check_symmetric(result)
        self._call = self._plain
        if any(seen):
            can_trace = traceable(self._objective, points.shape[1], _NEEDS[self.name]) is None
            self._call = self._compiled() if can_trace else self._plain_in_float64
        return result

    def _plain(self, points: Floats, seen: list[bool] | None = None) -> Floats:
        shape = shape_of(_PLACES[self.name], points.shape)
        if self._objective.vectorized:
            raw = self._function(points.copy())  # the user may write into what they are given
            if seen is not None:
                seen.append(is_jax(raw))
            return checked(self.name, raw, shape, f"a batch of {len(points)} points")
        result = np.empty(shape)
        for n, point in enumerate(points.copy()):
            raw = self._function(point)
            if seen is not None:
                seen.append(is_jax(raw))
            result[n] = checked(self.name, raw, shape[1:], "one point")
        return result

    def _plain_in_float64(self, points: Floats) -> Floats:
        with in_float64():
            return self._plain(points)

    def _compiled(self) -> Callable[[Floats], Floats]:
        import jax

        evaluate = traced(self._objective, _NEEDS[self.name])
        function = jax.jit(lambda points: getattr(evaluate(points), _PLACES[self.name]))

        def call(points: Floats) -> Floats:
            # Instances end one by one: padded to powers of two, few sizes are compiled.
            size = 1 << (len(points) - 1).bit_length()
            padded = np.concatenate([points, np.repeat(points[-1:], size - len(points), axis=0)])
            with jax.enable_x64(True):
                return np.asarray(function(padded), dtype=np.float64)[: len(points)]

        return call
