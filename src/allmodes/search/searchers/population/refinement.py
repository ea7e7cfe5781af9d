"""A closer look at the best mode where the function has a kink: a small population that begins right there.

At a smooth optimum a position that is known to xtol gives the value to xtol^2; at a kink only to xtol, so that it
has to be known to xtol^2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import REFINEMENT, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Event
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.population.evolution import Evolution, population_size
from allmodes.storage import stored

_FIRST = np.zeros(1, np.intp)  # there is one component


@stored
@dataclass
class Refinement(Searcher):
    """Refines the best mode; another one when that is better.

    Attributes:
        mode: the one that is being refined, or was last; -1 before any.
        evolution: of the component that does it.
        points: those in flight.
        is_over: whether that has ended.
    """

    name = REFINEMENT

    context: Context
    mode: int = -1
    evolution: Evolution = field(init=False)
    points: NDArray[np.float64] = field(init=False)
    is_over: bool = True

    def __post_init__(self) -> None:
        d = self.context.box.d
        self.evolution, self.points = Evolution(d, population_size(d)), np.zeros((0, d))

    @property
    def ending(self) -> str:
        archive = self.context.archive
        if not self.is_over:
            return ""
        best = int(archive.values.argmax()) if len(archive) else -1
        is_known = best < 0 or best == self.mode or archive.records[best].source != "component"
        return "the best mode is known as well as it can be" if is_known else ""

    @property
    def account(self) -> str:
        return "the best mode, which is on a kink, was refined"

    def ask(self, is_settled: bool) -> Request:
        context, evolution = self.context, self.evolution
        if self.is_over:
            self.mode, self.is_over = int(context.archive.values.argmax()), False
            evolution.keep(np.zeros(len(evolution.state.age), bool))
            evolution.add(context.archive.means[self.mode], context.tolerances.same)
        self.points = context.box.reflect(evolution.sample(context.rng, _FIRST))
        return Request(self.points)

    def tell(self, evaluation: Evaluation) -> list[Event]:
        context, evolution = self.context, self.evolution
        evolution.update(self.points, np.asarray(evaluation.value))
        (deviation,), ((span,), _) = evolution.deviation(), evolution.progress()
        value = float(evolution.state.best_value[0])
        is_exact = deviation < context.xtol**2 or span <= context.tolerances.error_of(value)
        self.is_over = bool(is_exact or deviation > context.tolerances.near or not np.isfinite(value))
        is_better = value > context.archive.values[self.mode]
        return [Arrived(self._candidate(value, deviation))] if is_exact and is_better else []

    def _candidate(self, value: float, deviation: float) -> Candidate:
        state, record = self.evolution.state, self.context.archive.records[self.mode]
        return Candidate(
            state.best_point[0].copy(), value, record.gradient, record.hessian, "component",
            Origin(REFINEMENT, REFINEMENT, 0), deviation, factor=state.spread[0] * state.factor[0],
        )  # fmt: skip
