"""Large populations that begin as wide as the box: they follow the slope under ripples and end in a good mode.

Where a function has more modes than can be found, or ripples and steps that local searches end at, such a population
tells where to look. Each is twice as large as the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import OVERVIEW
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, KnownMode, NewMode, Recognised
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.population.components import POOL, Components, ComponentStart
from allmodes.search.searchers.population.evolution import population_size
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import stored


def usual_cost(d: int) -> int:
    """Evaluations that the first population takes, about."""
    return TUNING.generations * d * TUNING.large_size * population_size(d)


@stored
@dataclass
class Overview(Searcher):
    """One large component at a time; only one in all where every mode counts.

    Attributes:
        components: the one in flight.
        begun: how many there have been.
        points: those in flight.
        last: the mode that the last one ended in, or -1; `is_back`, whether that was known before.
    """

    name = OVERVIEW

    context: Context
    components: Components = field(init=False)
    begun: int = 0
    points: NDArray[np.float64] = field(init=False)
    last: int = -1
    is_back: bool = False

    def __post_init__(self) -> None:
        self.points = np.zeros((0, self.context.box.d))
        self._begin()

    def _begin(self) -> None:
        context = self.context
        self.components = Components(context, TUNING.large_size * 2**self.begun, OVERVIEW)
        self.components.add(ComponentStart(context.scatter(1)[0], TUNING.whole, POOL))
        self.begun += 1

    @property
    def ending(self) -> str:
        is_over = not len(self.components) and not self.context.is_global
        return "a population as wide as the box has ended" if is_over else ""

    @property
    def account(self) -> str:
        return f"{self.begun} populations as wide as the box"

    def ask(self, is_settled: bool) -> Request:
        if not len(self.components):
            self._begin()
        self.points = self.components.ask()
        return Request(self.points)

    def tell(self, evaluation: Evaluation) -> list[Event]:
        events = self.components.tell(self.points, np.asarray(evaluation.value), radius=0.0)[0]
        for event in events:
            if isinstance(event, Recognised):
                self.last, self.is_back = event.mode, True
        return events

    def judged(self, event: Event) -> None:
        if isinstance(event, KnownMode | NewMode):
            self.last, self.is_back = event.mode, isinstance(event, KnownMode)
        if not isinstance(event, Arrived | Continue):
            self.components.judged(event.origin.number)
