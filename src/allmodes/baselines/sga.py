"""Parallel stochastic gradient ascent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.baselines.counted import Counted, as_objective
from allmodes.baselines.parallel_run import ParallelRun
from allmodes.baselines.steps import Averages, as_starts, move
from allmodes.objective import Objective

_NAME = "pSGA"


def parallel_sga(
    objective: Callable[..., Any] | Objective,
    x0: Any,
    *,
    learning_rate: Any,
    steps: int = 1000,
    num_samples: int = 1,
    smoothing: float = 0.0,
    rng: Any = None,
    jac: Callable[..., Any] | None = None,
    vectorized: bool = False,
    tolerance: float = 0.0,
    end_values: bool = True,
    trace_every: int | None = None,
) -> ParallelRun:
    """K independent instances of x <- x + rho_t g_t, g_t being a mean of num_samples gradients; maximises.

    Where the gradient is exact, one sample is enough, and this is plain gradient ascent, as in the paper's
    experiments, whose targets are deterministic and whose running times are those of one gradient per instance and step
    (the text speaks of a mini-batch, without saying what would differ within it). A gradient that is itself noisy is
    averaged over num_samples calls at the same point. With a smoothing width sigma the gradients are taken at points
    drawn from N(x, sigma^2 I): their mean estimates the gradient of the objective smoothed by that Gaussian.

    Args:
        objective: of one point (d,) -> number, or with `vectorized` of a batch (N, d) -> (N,), or an Objective.
        x0: starts (K, d), or (H, K, d) for H replicates.
        learning_rate: rho_t: a number, a schedule such as schedules.power(1.0, 0.55), or a function of t = 1, 2, ...
        steps: how many steps to do.
        num_samples: gradients in one mean.
        smoothing: sigma.
        rng: seed or numpy.random.Generator; used with smoothing only.
        jac: the gradient. A function written in JAX needs none.
        vectorized: whether objective and jac take a batch of points.
        tolerance: an instance stops when a step is not longer than this; 0 never stops it.
        end_values: whether to evaluate the objective where the instances end; nothing else here does.
        trace_every: keep every so many steps in the trace; by default at most 1000 are kept.

    >>> from allmodes.nva import schedules
    >>> run = parallel_sga(lambda x: -(x**4 - x**2).sum(), [[-1.0], [1.0]], jac=lambda x: 2 * x - 4 * x**3,
    ...                    learning_rate=schedules.power(0.2, 0.55))
    >>> run.points.round(4).tolist()
    [[-0.7071], [0.7071]]

    Paper: sec:computational_cost
    """
    starts = as_starts(x0)
    target = as_objective(objective, jac, None, vectorized)
    d = starts.shape[-1]
    averages = Averages([Counted("jac", target, d, _NAME)], num_samples, smoothing, rng)
    return move(
        _NAME, starts, averages, _ascent, Counted("fun", target, d, _NAME), learning_rate=learning_rate, steps=steps,
        tolerance=tolerance, end_values=end_values, trace_every=trace_every,
    )  # fmt: skip


def _ascent(gradient: NDArray[np.float64]) -> NDArray[np.float64]:
    return gradient
