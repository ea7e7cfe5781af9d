"""All constrained problems, with their minima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from allmodes.problems.constrained import ConstrainedProblem, Floats
from allmodes.problems.constrained_cec import cec_problems
from allmodes.problems.constrained_classics import classic_problems
from allmodes.problems.constrained_minima import MINIMA


def constrained_problems() -> dict[str, ConstrainedProblem]:
    """By name: 28 classical ones, most with several minima, and 15 of the CEC2006 collection."""
    problems = [*classic_problems(), *cec_problems()]
    return {each.name: replace(each, minima=_minima(each)) for each in problems}


def _minima(problem: ConstrainedProblem) -> Floats:
    """All that are known, (J, d), best first."""
    if problem.name == "g12":
        return _spheres()
    found = MINIMA.get(problem.name, [])
    return np.array(found, dtype=np.float64).reshape(-1, problem.dimension)


def _spheres() -> Floats:
    """g12 has a minimum in each of 729 small spheres: where it is closest to the middle of the box."""
    centres = np.stack(np.meshgrid(*[np.arange(1.0, 10.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    ways = 5.0 - centres
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    points = centres + 0.25 * ways / np.maximum(lengths, 1e-300)
    return np.asarray(points[np.argsort(lengths[:, 0], kind="stable")])
