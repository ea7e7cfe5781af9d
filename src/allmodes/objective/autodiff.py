"""Derivatives of functions written in JAX, in float64, without touching anybody's global flag."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array
from allmodes.objective.evaluation import Evaluation, Needs
from allmodes.objective.objective import Objective


def traced(objective: Objective, needs: Needs) -> Callable[[Array], Evaluation]:
    """Points (N, d) -> Evaluation as a function that JAX can trace; given derivatives are used, others derived."""
    import jax

    fun = objective.fun

    def scalar(x: Array) -> Array:
        return jax.numpy.reshape(fun(x[None])[0] if objective.vectorized else fun(x), ())

    def batched(given: Any, derived: Any) -> Any:
        if given is None:
            return jax.vmap(derived(scalar))
        return given if objective.vectorized else jax.vmap(given)

    value = objective.fun if objective.vectorized else jax.vmap(scalar)
    jac = batched(objective.jac, jax.grad)
    hess = batched(objective.hess, jax.hessian)
    both = jax.vmap(jax.value_and_grad(scalar))  # one pass for the usual pair

    def evaluate(points: Array) -> Evaluation:
        if "gradient" in needs and objective.jac is None:
            values, gradient = both(points)
        else:
            values, gradient = value(points), (jac(points) if "gradient" in needs else None)
        return Evaluation(values, gradient, hess(points) if "hessian" in needs else None)

    return evaluate


def traceable(objective: Objective, d: int, needs: Needs) -> Exception | None:
    """None when JAX can trace the objective and what is needed of it at points (d,), otherwise what went wrong."""
    try:
        import jax
    except ImportError as error:
        return error
    try:
        with jax.enable_x64(True):
            points = jax.ShapeDtypeStruct((1, d), np.float64)
            jax.eval_shape(traced(objective, needs), points)
    except Exception as error:  # whatever the user's function raises under tracing is the answer
        return error
    return None


def compiled(objective: Objective, needs: Needs) -> Callable[[NDArray[np.float64]], Evaluation]:
    """NumPy points -> Evaluation in NumPy arrays, compiled once for as long as the returned function lives.

    Compiled code is not kept between runs: it has baked in whatever globals the user's function read.
    """
    import jax

    function = jax.jit(traced(objective, needs))

    def evaluate(points: NDArray[np.float64]) -> Evaluation:
        with jax.enable_x64(True):
            result = function(points)
            return Evaluation(*(None if part is None else np.asarray(part, dtype=np.float64) for part in result))

    return evaluate


def compiled_if_jax(objective: Objective, needs: Needs) -> Callable[[NDArray[np.float64]], Evaluation]:
    """NumPy points -> Evaluation; compiled, and in float64, from the moment the objective is seen to return JAX arrays.

    Called as it is, a JAX function would compute in float32 and take a millisecond per point.
    """
    returned: list[Any] = []

    def watched(x: Any) -> Any:
        returned[:] = [objective.fun(x)]
        return returned[0]

    first = replace(objective, fun=watched)
    chosen: list[Callable[[NDArray[np.float64]], Evaluation]] = []

    def evaluate(points: NDArray[np.float64]) -> Evaluation:
        if chosen:
            return chosen[0](points)
        result = first.evaluate(points, needs)
        if _is_jax(returned[0]) and traceable(objective, points.shape[1], needs) is None:
            chosen.append(compiled(objective, needs))
            return chosen[0](points)
        chosen.append(partial(objective.evaluate, needs=needs))
        return result

    return evaluate


def _is_jax(array: Any) -> bool:
    jax = sys.modules.get("jax")  # whoever returns a JAX array has imported it
    return jax is not None and isinstance(array, jax.Array)
