"""The composite functions, from values alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.objective import Objective
from allmodes.problems.niching2026 import numbers
from allmodes.problems.niching2026.basic import FUNCTIONS
from allmodes.problems.niching2026.layout import INSTANCES, Stream, places, rotations
from allmodes.problems.problem import Problem

Floats = NDArray[np.float64]

PROBLEMS = 16
DIMENSIONS = (2, 5, 10, 20)  # of the competition
_BUDGET = 20_000  # evaluations, for each dimension
_WIDTH = 0.5  # of a niche: how far a basic function reaches
_SCALES = (0.5, 0.2, 0.1, 0.5, 0.2, 0.5, 5.0, 0.005)  # by which coordinates are divided
_FALLS_OFF = 10  # the power of the nearest function's weight, at which the others vanish


@dataclass(frozen=True)
class CompositeProblem(Problem):
    """A function of the suite, turned upside down: `modes` lists its global maxima, and no others.

    Attributes:
        number: 1 to 16.
        instance: 1 to 15.
        height: value of the global maxima.
        radii: (K,), half the way from each to the nearest other.
        budget: evaluations that the competition allows.
    """

    number: int
    instance: int
    height: float
    radii: Floats
    budget: int


@dataclass(frozen=True)
class _Composite:
    """The function to minimise: basic functions at K places, weighted by how near they are."""

    kind: int
    places: Floats
    turned: Floats
    hard: Floats
    radii: Floats
    lowest: float

    def __call__(self, x: Floats) -> Floats:
        """Values (N,), upside down, at points (N, d)."""
        away = x - self.places[:, None]
        values = FUNCTIONS[self.kind](away @ self.turned / _SCALES[self.kind], self.hard[:, None])
        squares = (away**2).sum(axis=-1) / (_WIDTH * self.radii[:, None]) ** 2
        nearest = squares.min(axis=0)
        weights = np.exp(-squares - np.where(nearest <= 1.0, 0.0, 1.0 - nearest))
        most = weights.max(axis=0)
        weights *= np.where(np.abs(weights - most) < 1e-14, 1.0, 1.0 - most**_FALLS_OFF)
        return -((weights * values).sum(axis=0) / weights.sum(axis=0)) - self.lowest


def niching2026(number: int, instance: int, d: int) -> CompositeProblem:
    """Problem 1 to 16, instance 1 to 15, in d dimensions (the competition has 2, 5, 10 and 20), to be maximised.

    Problems 1 to 8 have 20 maxima, unevenly placed; 9 to 16 have 10 that differ more in how hard they are.
    """
    for name, given, most in (("number", number, PROBLEMS), ("instance", instance, INSTANCES)):
        if whole_number(name, given, 1) > most:
            raise ValueError(f"{name} is {given}; wanted at most {most}: the suite has no more.")
    d = whole_number("d", d, 2)
    kind, is_first = (number - 1) % 8, number <= 8
    K = 20 if is_first else 10
    stream = Stream(INSTANCES * (number - 1) + instance - 1)
    at = places(stream, K, d, unevenness=1.0 if is_first else 0.5)
    hard = np.argsort(stream.uniform(K), kind="stable") / (K - 1) * (0.4 if is_first else 0.8)
    apart = np.linalg.norm(at[:, None] - at, axis=2)
    radii = (apart + apart.max() * np.eye(K)).min(axis=0) / 2.0
    lowest = float(numbers.lowest()[kind])
    fun = _Composite(kind, at, rotations(stream, K, d, instance), hard, radii, lowest)
    return CompositeProblem(
        name=f"niching 2026 P{number} instance {instance} d={d}",
        objective=Objective(fun, vectorized=True),
        bounds=np.array([[-5.0, 5.0]] * d),
        modes=at,
        is_global=np.full(K, True),
        number=int(number),
        instance=int(instance),
        height=-lowest,
        radii=radii,
        budget=_BUDGET * d,
    )
