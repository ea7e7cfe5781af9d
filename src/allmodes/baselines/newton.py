"""Parallel Newton-Raphson."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.baselines.counted import Counted, as_objective
from allmodes.baselines.parallel_run import ParallelRun
from allmodes.baselines.steps import Averages, as_starts, move
from allmodes.objective import Objective

_NAME = "pNewton"

Floats = NDArray[np.float64]


def parallel_newton(
    objective: Callable[..., Any] | Objective,
    x0: Any,
    *,
    learning_rate: Any = 1.0,
    steps: int = 50,
    num_samples: int = 1,
    smoothing: float = 0.0,
    rng: Any = None,
    jac: Callable[..., Any] | None = None,
    hess: Callable[..., Any] | None = None,
    vectorized: bool = False,
    tolerance: float = 0.0,
    end_values: bool = True,
    trace_every: int | None = None,
) -> ParallelRun:
    """K independent instances of x <- x - rho_t H^-1 g; goes to any stationary point, not only to maxima.

    g and H are means of num_samples gradients and Hessians, as in `parallel_sga`; one sample is exact. An instance
    that meets a singular Hessian has diverged.

    Args:
        objective: of one point (d,) -> number, or with `vectorized` of a batch (N, d) -> (N,), or an Objective.
        x0: starts (K, d), or (H, K, d) for H replicates.
        learning_rate: rho_t: a number, a schedule or a function of t = 1, 2, ...; 1 is Newton's own.
        steps: how many steps to do.
        num_samples: gradients and Hessians in one mean.
        smoothing: width of the Gaussian from which the samples are drawn around x.
        rng: seed or numpy.random.Generator; used with smoothing only.
        jac, hess: gradient and Hessian. A function written in JAX needs neither.
        vectorized: whether objective, jac and hess take a batch of points.
        tolerance: an instance stops when a step is not longer than this; 0 never stops it.
        end_values: whether to evaluate the objective where the instances end; nothing else here does.
        trace_every: keep every so many steps in the trace; by default at most 1000 are kept.

    >>> run = parallel_newton(lambda x: -(x**4 - x**2).sum(), [[-1.0], [0.1]], jac=lambda x: 2 * x - 4 * x**3,
    ...                       hess=lambda x: (2 - 12 * x**2)[None])
    >>> abs(run.points.round(4)).tolist()  # the second instance went to the minimum
    [[0.7071], [0.0]]

    Paper: sec:computational_cost
    """
    starts = as_starts(x0)
    target = as_objective(objective, jac, hess, vectorized)
    d = starts.shape[-1]
    functions = [Counted(name, target, d, _NAME) for name in ("jac", "hess")]
    return move(
        _NAME, starts, Averages(functions, num_samples, smoothing, rng), _newton, Counted("fun", target, d, _NAME),
        learning_rate=learning_rate, steps=steps, tolerance=tolerance, end_values=end_values, trace_every=trace_every,
    )  # fmt: skip


def _newton(gradient: Floats, hessian: Floats) -> Floats:
    """-H^-1 g for every row; NaN where H is singular or not finite."""
    try:
        return np.asarray(-np.linalg.solve(hessian, gradient[..., None])[..., 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        step = np.full_like(gradient, np.nan)
        for n in range(len(gradient)):  # the rare path: find the ones that fail
            try:
                step[n] = -np.linalg.solve(hessian[n], gradient[n])
            except np.linalg.LinAlgError:
                continue
        return step
