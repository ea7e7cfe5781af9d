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
from allmodes.search.searchers.population.arms import HOP, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored

_MOST_FUNNELS = 100  # kept, the best

Array = NDArray[np.float64]


@stored
@dataclass
class Funnel:
    """The best local optimum of its surroundings."""

    name: int  # never changes
    point: Array
    value: float
    step: float  # of the next hop, per coordinate
    hint: Array | None = None  # where the next hop goes, relative to the point; None for anywhere
    failures: int = 0  # hops since the last success, those in flight included


@stored
@dataclass
class Hops:
    """The funnels, and how many there have been."""

    box: Box
    funnels: list[Funnel] = field(default_factory=list)
    named: int = 0

    def take(self, rng: np.random.Generator, best: float) -> ComponentStart:
        """The hop that promises most; its number tells the funnel, and whether there was a hint."""

        def promise(funnel: Funnel) -> float:  # in logarithms, for failures may be thousands
            return math.log(max(best - funnel.value, TINY)) + math.log(TUNING.impatience) * funnel.failures

        funnel = min(self.funnels, key=promise)
        funnel.failures += 1
        number, moved, funnel.hint = 2 * funnel.name + (funnel.hint is not None), funnel.hint, None
        if moved is None:
            moved, spread = funnel.step * rng.standard_normal(self.box.d), TUNING.apart * funnel.step
        else:  # there is a reason to go just there
            spread = TUNING.apart**2 * float(np.sqrt((moved**2).mean()))
        return ComponentStart(self.box.reflect(funnel.point + moved), spread, HOP, funnel.value, number)

    def land(self, number: int, point: Array, value: float) -> None:
        """A hop has ended at a local optimum."""
        funnel = next((each for each in self.funnels if each.name == number // 2), None)
        if funnel is None:
            return
        moved = self.box.difference(point, funnel.point)
        if (moved**2).mean() < TUNING.converged:  # back where it began: the step was too short to get away
            funnel.step = min(TUNING.widest, TUNING.hop_growth * funnel.step)
        elif value > funnel.value:
            funnel.hint = moved  # the same once more
        elif number % 2 == 0:
            funnel.hint = -moved  # where one side is worse, the other is often better
            funnel.step *= TUNING.hop_growth**-0.25
        if value > funnel.value:
            funnel.point, funnel.value, funnel.failures = point, value, 0

    def add(self, point: Array, value: float) -> None:
        """A component has ended at a local optimum: a new funnel, or a better end of a known one."""
        distances = self._distances(point)
        if distances.min(initial=np.inf) < TUNING.widest:
            funnel = self.funnels[int(distances.argmin())]
            if value > funnel.value:
                funnel.point, funnel.value, funnel.failures = point, value, 0
            return
        self.funnels.append(Funnel(self.named, point, value, TUNING.first_step))
        self.named += 1
        if len(self.funnels) > _MOST_FUNNELS:
            self.funnels.remove(min(self.funnels, key=lambda funnel: funnel.value))

    def exclude(self, mode: Array) -> None:
        """Forget the funnels around a mode (d,)."""
        apart = self._distances(mode)
        self.funnels = [funnel for funnel, each in zip(self.funnels, apart, strict=True) if each >= TUNING.widest]

    def _distances(self, point: Array) -> Array:
        """Root mean square distances (n,) of all funnels from a point."""
        points = np.array([funnel.point for funnel in self.funnels]).reshape(-1, self.box.d)
        return np.sqrt((self.box.difference(points, point) ** 2).mean(axis=1))
