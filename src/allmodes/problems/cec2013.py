"""The 20 niching functions of the CEC2013 competition, through the package `ioh`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.objective import Objective
from allmodes.problems.himmelblau import himmelblau
from allmodes.problems.problem import Problem
from allmodes.problems.six_hump_camel import six_hump_camel

Floats = NDArray[np.float64]

_COUNT = 20
_IOH_OFFSET = 1100  # ioh numbers F1 to F20 from 1101 on
# The competition's niche radius (Li, Engelbrecht and Epitropakis 2013) where it is not 0.01; ioh has 0.19 for F7, F9.
_RADII = {5: 0.5, 6: 0.5, 7: 0.2, 8: 0.5, 9: 0.2}
_COMMON_RADIUS = 0.01
_CAMEL_BOUNDS = np.array([[-1.9, 1.9], [-1.1, 1.1]])  # of F5; in ioh both coordinates have the first


@dataclass(frozen=True)
class NichingProblem(Problem):
    """A function of the suite. `modes` lists its global maxima, also those on the boundary, and no others.

    Attributes:
        number: 1 to 20.
        height: value of the global maxima.
        radius: niche radius; the global maxima are farther apart than this.
        budget: evaluations that the competition allows.
    """

    number: int
    height: float
    radius: float
    budget: int

    def peaks(self, points: Floats, values: Floats, accuracy: float) -> int:
        """How many global maxima the points (N, d) with these values have found, as the competition counts.

        Points whose value is within `accuracy` of the height are taken best first; each one farther than the niche
        radius from all that were taken before is another maximum.
        """
        order = np.argsort(-values, kind="stable")
        points = points[order][np.abs(values[order] - self.height) <= accuracy]
        count = 0
        while len(points) and count < len(self.modes):
            count += 1
            points = points[np.linalg.norm(points - points[0], axis=1) > self.radius]
        return count


def cec2013(number: int) -> NichingProblem:
    """F1 to F20, from values alone, to be maximised. Needs the package `ioh` (extra [reproduce]).

    Two slips of ioh are corrected: F5 has [-1.1, 1.1] as its second interval, F7 and F9 have the niche radius 0.2.

    Paper: app:cec_benchmark (F1 to F6)
    """
    if whole_number("number", number, 1) > _COUNT:
        raise ValueError(f"number is {number}; the suite has F1 to F{_COUNT}, wanted one of these.")
    number = int(number)
    problem = _ioh_problem(number)
    bounds = np.stack([problem.bounds.lb, problem.bounds.ub], axis=1)
    if number == 5:
        bounds = _CAMEL_BOUNDS.copy()
    modes = _global_maxima(number)
    objective = Objective(partial(_values, number), vectorized=True)
    return NichingProblem(
        name=f"CEC2013 F{number}",
        objective=objective,
        bounds=bounds,
        modes=modes,
        is_global=np.full(len(modes), True),
        number=number,
        height=float(_values(number, modes).max()),
        radius=_RADII.get(number, _COMMON_RADIUS),
        budget=50_000 if number <= 5 else 200_000 if number in (6, 7, 10, 11, 12, 13) else 400_000,
    )


@cache
def _ioh_problem(number: int) -> Any:
    try:
        import ioh
    except ImportError as error:
        raise ImportError("the CEC2013 functions need ioh: pip install 'allmodes[reproduce]'.") from error
    return ioh.get_problem(_IOH_OFFSET + number, 1)


def _values(number: int, points: Floats) -> Floats:
    """A function of the module with a number, not a method of ioh's object: it can be sent to workers."""
    return np.array(_ioh_problem(number)(points.tolist()))


def _global_maxima(number: int) -> Floats:
    """Positions (n, d); ioh lists none for F4, and only one for F5."""
    if number == 4:
        return himmelblau().modes
    if number == 5:
        camel = six_hump_camel()
        return camel.modes[camel.is_global]
    return np.array([solution.x for solution in _ioh_problem(number).optima])
