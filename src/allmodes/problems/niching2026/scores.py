"""How the competition scores what was reported: robust peak ratio, F1 and their mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.problems.niching2026.suite import CompositeProblem

_ALL, _NOTHING = 1e-5, 1.0  # differences to the best value that count fully, and not at all


def credit(problem: CompositeProblem, points: Any, values: Any) -> NDArray[np.float64]:
    """What was reported of each maximum (K,), from 0 to 1.

    A point belongs to the maximum that is nearest to it. The best value g below the height that belongs to a maximum
    counts log(1 / g) / log(1 / 1e-5), so that one within 1e-5 counts fully and one off by 1 not at all.
    """
    points = np.asarray(points, np.float64).reshape(-1, problem.dimension)
    gaps = problem.height - np.asarray(values, np.float64)
    best = np.full(len(problem.modes), np.inf)
    if len(points):
        nearest = np.linalg.norm(points[:, None] - problem.modes, axis=2).argmin(axis=1)
        np.minimum.at(best, nearest, gaps)
    return np.log(np.clip(best, _ALL, _NOTHING) / _NOTHING) / np.log(_ALL / _NOTHING)


def robust_peak_ratio(problem: CompositeProblem, points: Any, values: Any) -> float:
    """The mean credit of the maxima, of points (n, d) with values (n,)."""
    return float(credit(problem, points, values).mean())


def f1_score(problem: CompositeProblem, points: Any, values: Any) -> float:
    """The harmonic mean of the robust peak ratio and of the precision: the credit for each point that was reported."""
    total = float(credit(problem, points, values).sum())
    return 2.0 * total / (len(problem.modes) + len(np.atleast_1d(values)))


def final_score(problem: CompositeProblem, points: Any, values: Any) -> float:
    """Half the robust peak ratio and half F1."""
    return 0.5 * (robust_peak_ratio(problem, points, values) + f1_score(problem, points, values))
