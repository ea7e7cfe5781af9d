"""Local optima that are the best of their surroundings, and hops from one to a better one next to it.

Where a function has ripples inside a funnel, components end in a ripple. Hopping searches among those ends: begin a
small component a step away, keep where it ends if that is better, and adapt the step to how often it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.searchers.population.components import HOP, REHEAT, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored

_MOST_FUNNELS = 100  # kept, the best
_LONGER = 4.0  # failures that a hop back to its funnel makes up for in length, as if one in five should come back

Array = NDArray[np.float64]


@stored
@dataclass
class Funnel:
    """The best local optimum of its surroundings."""

    name: int  # never changes
    point: Array
    value: float
    step: float  # of the next hop, per coordinate
    failures: int = 0  # hops since the last success, those in flight included
    is_reheated: bool = False  # a larger population has begun there


@stored
@dataclass
class Hops:
    """The funnels, and how many there have been."""

    box: Box
    funnels: list[Funnel] = field(default_factory=list)
    named: int = 0

    def take(self, rng: np.random.Generator, best: float) -> ComponentStart:
        """The hop that promises most."""

        def promise(funnel: Funnel) -> float:  # in logarithms, since there may be thousands of failures
            return math.log(max(best - funnel.value, TINY)) + math.log(TUNING.impatience) * funnel.failures

        funnel = min(self.funnels, key=promise)
        funnel.failures += 1
        point = self.box.reflect(funnel.point + funnel.step * rng.standard_normal(self.box.d))
        funnel.step = max(funnel.step, TUNING.first_step)
        return ComponentStart(point, TUNING.apart * funnel.step, HOP, funnel.value, funnel.name)

    def reheat(self) -> ComponentStart | None:
        """The best funnel that no larger population has begun at; it begins wide, for it sees through ripples."""
        cool = [funnel for funnel in self.funnels if not funnel.is_reheated]
        if not cool:
            return None
        funnel = max(cool, key=lambda each: each.value)
        funnel.is_reheated = True
        return ComponentStart(funnel.point, 2.0 * TUNING.widest, REHEAT)

    def land(self, name: int, point: Array, value: float) -> None:
        """A hop from the funnel of this name has ended at a local optimum."""
        for funnel in self.funnels:
            if funnel.name == name:
                if (self.box.difference(point, funnel.point) ** 2).mean() < TUNING.converged:  # it came back
                    funnel.step = min(TUNING.widest, TUNING.impatience**_LONGER * funnel.step)
                elif value <= funnel.value:
                    funnel.step /= TUNING.impatience
                self._improve(funnel, point, value)

    def add(self, point: Array, value: float, step: float = TUNING.first_step) -> None:
        """A new funnel, or a better end of a known one. With a step of zero the first hop begins at the point."""
        distances = self._distances(point)
        if distances.min(initial=np.inf) < TUNING.widest:
            self._improve(self.funnels[int(distances.argmin())], point, value)
            return
        self.funnels.append(Funnel(self.named, point, value, step))
        self.named += 1
        if len(self.funnels) > _MOST_FUNNELS:
            del self.funnels[int(np.argmin([funnel.value for funnel in self.funnels]))]

    def _improve(self, funnel: Funnel, point: Array, value: float) -> None:
        if value > funnel.value:
            funnel.point, funnel.value, funnel.failures = point, value, 0

    def exclude(self, mode: Array) -> None:
        """Forget the funnels around a mode (d,)."""
        apart = self._distances(mode)
        self.funnels = [funnel for funnel, each in zip(self.funnels, apart, strict=True) if each >= TUNING.widest]

    def _distances(self, point: Array) -> Array:
        """Root mean square distances (n,) of all funnels from a point."""
        points = np.array([funnel.point for funnel in self.funnels]).reshape(-1, self.box.d)
        return np.sqrt((self.box.difference(points, point) ** 2).mean(axis=1))
