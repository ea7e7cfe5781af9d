"""Derivatives of functions written in JAX, in float64, without touching JAX's global flags."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array
from allmodes.objective.evaluation import Evaluation, Needs
from allmodes.objective.objective import Objective

_TRIAL = 3  # points in a trial trace: a number unlikely to be taken for a dimension


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
    """None if JAX can trace the objective and the derivatives needed at points (d,), otherwise the error.

    Raises ValueError or TypeError if it can but the results have the wrong shapes or types.
    """
    try:
        import jax
    except ImportError as error:
        return error
    try:
        with jax.enable_x64(True):
            points = jax.ShapeDtypeStruct((_TRIAL, d), np.float64)
            shapes = jax.eval_shape(traced(objective, needs), points)
    except Exception as error:  # whatever the user's function raises under tracing is the answer
        return error
    wanted = {"fun": (_TRIAL,), "jac": (_TRIAL, d), "hess": (_TRIAL, d, d)}
    for (name, shape), result in zip(wanted.items(), shapes, strict=True):
        if name == "fun" or ("gradient" if name == "jac" else "hessian") in needs:
            _check_result(name, result, shape)
    return None


def _check_result(name: str, result: Any, shape: tuple[int, ...]) -> None:
    what = f"a batch of {_TRIAL} points"
    if not hasattr(result, "dtype") or result.dtype.kind not in "buif":
        raise TypeError(f"{name} returned {getattr(result, 'dtype', result)} for {what}; real numbers were wanted.")
    if result.shape != shape:
        raise ValueError(f"{name} returned shape {result.shape} for {what}; {shape} was wanted.")


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
    seen: list[bool] = []

    def watched(function: Any) -> Any:
        def call(x: Any) -> Any:
            result = function(x)
            seen.append(is_jax(result))
            return result

        return function and call

    first = replace(objective, fun=watched(objective.fun), jac=watched(objective.jac), hess=watched(objective.hess))
    chosen: list[Callable[[NDArray[np.float64]], Evaluation]] = []

    def evaluate(points: NDArray[np.float64]) -> Evaluation:
        if chosen:
            return chosen[0](points)
        with in_float64():
            result = first.evaluate(points, needs)
        check_symmetric(result.hessian)
        if not any(seen):
            chosen.append(partial(objective.evaluate, needs=needs))
        elif traceable(objective, points.shape[1], needs) is None:
            chosen.append(compiled(objective, needs))
        else:  # some of the functions are JAX's, some are not
            chosen.append(partial(_evaluate_in_float64, objective, needs))
        return result

    return evaluate


def check_symmetric(hessian: Any) -> None:
    """Refuse the user's Hessians (N, d, d) if they are not symmetric: their formula is wrong."""
    if hessian is None or not np.isfinite(hessian).all():
        return
    skew = np.abs(hessian - hessian.mT).max(axis=(-2, -1))
    if (skew > 1e-6 * np.abs(hessian).max(axis=(-2, -1))).any():
        raise ValueError(
            f"hess returned a matrix that is not symmetric: {hessian[int(np.argmax(skew))].tolist()}. Check its "
            "formula, or return (H + H.T) / 2."
        )


def _evaluate_in_float64(objective: Objective, needs: Needs, points: NDArray[np.float64]) -> Evaluation:
    with in_float64():
        return objective.evaluate(points, needs)


def in_float64() -> Any:
    """JAX's 64-bit mode for this thread and this block, if JAX has been imported at all."""
    jax = sys.modules.get("jax")
    return nullcontext() if jax is None else jax.enable_x64(True)


def is_jax(array: Any) -> bool:
    """Whether this is a JAX array; JAX is not imported to find out."""
    jax = sys.modules.get("jax")  # whoever returns a JAX array has imported it
    return jax is not None and isinstance(array, jax.Array)
