"""How well runs found the known modes of a problem: GPR, APR, GSR, collapse rate.

Every metric takes the final points of H runs, (H, K, d), and gives its value for each run and their mean. A run that
diverged has NaN for its points, and has found nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number
from allmodes.problems.problem import Problem

NEAR = 0.1  # the tolerance of the paper's experiments
ARRIVED = 1e-2  # the stricter one of its collapse rate

Floats = NDArray[np.float64]


class Metric(NamedTuple):
    """The mean over runs, and the value of every run (H,)."""

    mean: float
    per_run: Floats


def found_modes(problem: Problem, points: Any, tolerance: float = NEAR) -> NDArray[np.bool_]:
    """Which modes each run found, (H, J): those with a point within the tolerance in every coordinate."""
    number("tolerance", tolerance, above=0.0)
    return np.array([problem.found(run, tolerance) for run in _as_runs(problem, points)])


def global_peak_ratio(problem: Problem, points: Any, tolerance: float = NEAR) -> Metric:
    """GPR: the share of the global modes that was found.

    Paper: eq:gpr_metric
    """
    return _metric(found_modes(problem, points, tolerance)[:, problem.is_global].mean(axis=1))


def all_peak_ratio(problem: Problem, points: Any, tolerance: float = NEAR) -> Metric:
    """APR: the share of all modes, global and local, that was found.

    Paper: eq:gpr_metric
    """
    return _metric(found_modes(problem, points, tolerance).mean(axis=1))


def global_success_rate(problem: Problem, points: Any, tolerance: float = NEAR) -> Metric:
    """GSR: 1 for a run that found every global mode, otherwise 0.

    Paper: app:cec_benchmark
    """
    return _metric(np.asarray(found_modes(problem, points, tolerance)[:, problem.is_global].all(axis=1)))


def collapse_rate(problem: Problem, points: Any, tolerance: float = ARRIVED) -> Metric:
    """How many points ended on a mode that another point has: points on modes, less the modes they are on.

    A point belongs to the mode nearest to it (in its worst coordinate), so that it counts once also where the tolerance
    reaches from one mode to the next.

    Paper: app:annealing_sensitivity
    """
    number("tolerance", tolerance, above=0.0)
    return _metric(np.array([_collapsed(problem, run, tolerance) for run in _as_runs(problem, points)]))


def _collapsed(problem: Problem, points: Floats, tolerance: float) -> int:
    finite = points[np.isfinite(points).all(axis=1)]
    apart = problem.apart(finite).max(axis=2)
    taken = apart.argmin(axis=1)[apart.min(axis=1) <= tolerance]
    return len(taken) - len(np.unique(taken))


def _as_runs(problem: Problem, points: Any) -> Floats:
    """Points as (H, K, d); NaN and infinity are allowed."""
    runs = np.asarray(points, dtype=np.float64)
    if runs.ndim != 3 or not len(runs) or runs.shape[2] != problem.dimension:
        raise ValueError(
            f"points has shape {runs.shape}; wanted (H, K, {problem.dimension}): H runs of K points each. "
            "For a single run pass points[None]."
        )
    return runs


def _metric(per_run: NDArray[Any]) -> Metric:
    per_run = per_run.astype(np.float64)
    return Metric(float(per_run.mean()), per_run)
