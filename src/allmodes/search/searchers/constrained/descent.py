"""Where smooth local searches get stuck: a small population, all of whose points are feasible, by values alone.

Since constraints cost nothing it can keep to feasible points: every point drawn is replaced
by the nearest feasible one, and these are ranked by the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.subproblem import nearest_feasible
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.searchers.population.evolution import Evolution, population_size
from allmodes.storage import stored

Array = NDArray[np.float64]

_GENERATIONS = 40  # for each coordinate and one more, before it is given up
_FIRST = np.zeros(1, np.intp)  # there is one component


@stored
@dataclass
class Descent:
    """One component that begins where a local search ended; values are minimised here.

    Attributes:
        launch: the local search, moved to the best point.
        evolution: of the component.
        asked: points (n, d) in flight.
        generations: told so far.
        is_over: whether it has converged, or takes too long.
    """

    launch: Launch
    evolution: Evolution = field(init=False)
    asked: Array = field(init=False)
    generations: int = 0
    is_over: bool = False

    def __post_init__(self) -> None:
        d = len(self.launch.point)
        self.evolution, self.asked = Evolution(d, population_size(d)), np.zeros((0, d))
        self.evolution.add(self.launch.point, TUNING.descent)

    def ask(self, context: Context) -> Array:
        """The next generation, feasible."""
        constraints = context.constraints
        assert constraints is not None
        drawn = context.box.reflect(self.evolution.sample(context.rng, _FIRST))
        found = [nearest_feasible(constraints, point) for point in drawn]
        points = np.array([self.launch.point if point is None else point for point in found])
        points[~constraints.is_allowed(points)] = self.launch.point
        self.asked = points
        return points

    def tell(self, context: Context, values: Array) -> None:
        """What came of them."""
        launch, best = self.launch, int(values.argmin())
        self.evolution.update(self.asked, -values)
        self.generations += 1
        if values[best] < launch.value:
            launch.point, launch.value = self.asked[best].copy(), float(values[best])
        deviation = float(self.evolution.deviation()[0])
        is_long = self.generations >= _GENERATIONS * (context.box.d + 1)
        self.is_over = deviation < 0.1 * context.xtol or is_long or not np.isfinite(launch.value)
