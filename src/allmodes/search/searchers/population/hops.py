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
    """The best local optimum of its surroundings.

    Attributes:
        name: a number that never changes.
        step: of the next hop, per coordinate.
        hint: (d,), where the next hop goes, relative to the point; None for anywhere.
        failures: hops since the last success, those in flight included.
    """

    name: int
    point: Array
    value: float
    step: float
    hint: Array | None = None
    failures: int = 0


@stored
@dataclass
class Hops:
    """The funnels, and how many there have been."""

    box: Box
    funnels: list[Funnel] = field(default_factory=list)
    named: int = 0

    def __len__(self) -> int:
        return len(self.funnels)

    def take(self, rng: np.random.Generator, best: float) -> ComponentStart:
        """The hop that promises most; its ticket tells the funnel, and whether there was a hint."""

        def promise(funnel: Funnel) -> float:  # in logarithms, for failures may be thousands
            return math.log(max(best - funnel.value, TINY)) + math.log(TUNING.impatience) * funnel.failures

        funnel = min(self.funnels, key=promise)
        funnel.failures += 1
        ticket, moved, funnel.hint = 2 * funnel.name + (funnel.hint is not None), funnel.hint, None
        if moved is None:
            moved, spread = funnel.step * rng.standard_normal(self.box.d), TUNING.hop_spread * funnel.step
        else:  # there is a reason to go just there
            spread = TUNING.hop_spread**2 * _size(moved)
        return ComponentStart(self.box.reflect(funnel.point + moved), spread, HOP, funnel.value, ticket)

    def land(self, ticket: int, point: Array, value: float, best: float) -> None:
        """A hop has ended at a local optimum; `best` is the best value of all."""
        funnel = self._of(ticket)
        if funnel is None:
            return
        gain, moved = value - funnel.value, self.box.difference(point, funnel.point)
        if _size(moved) < TUNING.hop_nothing * funnel.step:  # the step was too short to get away
            if funnel.step >= TUNING.widest:  # nor can a longer one
                funnel.failures += TUNING.hop_doubt
            funnel.step = min(TUNING.widest, TUNING.hop_growth * funnel.step)
        elif gain > 0:
            funnel.hint = moved  # the same way once more
        elif ticket % 2 == 0:
            funnel.hint = -moved  # where one side is worse, the other is often better
            funnel.step *= TUNING.hop_growth**-0.25
        if gain > TUNING.hop_nothing * (best - funnel.value):
            funnel.failures = 0
        if gain > 0:
            funnel.point, funnel.value = point, value

    def doubt(self, ticket: int) -> None:
        """A hop has ended in a known mode: perhaps its funnel is that mode's."""
        funnel = self._of(ticket)
        if funnel is not None:
            funnel.failures += TUNING.hop_doubt

    def add(self, point: Array, value: float) -> None:
        """A component has ended at a local optimum: a new funnel, or a better end of a known one."""
        distances = self._distances(point)
        if distances.min(initial=np.inf) < TUNING.funnel:
            funnel = self.funnels[int(distances.argmin())]
            if value > funnel.value:
                funnel.point, funnel.value, funnel.failures = point, value, 0
            return
        self.funnels.append(Funnel(self.named, point, value, TUNING.first_step))
        self.named += 1
        if len(self) > _MOST_FUNNELS:
            del self.funnels[int(np.argmin([funnel.value for funnel in self.funnels]))]

    def exclude(self, mode: Array) -> None:
        """Forget the funnels around a mode (d,)."""
        apart = self._distances(mode)
        self.funnels = [funnel for funnel, each in zip(self.funnels, apart, strict=True) if each >= TUNING.funnel]

    def _of(self, ticket: int) -> Funnel | None:
        return next((funnel for funnel in self.funnels if funnel.name == ticket // 2), None)

    def _distances(self, point: Array) -> Array:
        """Root mean square distances (n,) of all funnels from a point."""
        points = np.array([funnel.point for funnel in self.funnels]).reshape(-1, self.box.d)
        apart = self.box.difference(points, point)
        return np.sqrt(np.einsum("nd,nd->n", apart, apart) / self.box.d)


def _size(moved: Array) -> float:
    return float(np.sqrt((moved**2).mean()))
