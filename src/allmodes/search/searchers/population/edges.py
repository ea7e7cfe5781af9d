"""Small populations that go on where local searches end because the function is not defined beyond.

A step across an edge fails, and what is known of the slope does not say how to go along it. A population ranks points
that failed below all others: it comes to rest at the best point of the edge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import EDGES, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, NewMode
from allmodes.search.geometry import clip
from allmodes.search.scheduling.tuning import TUNING as SCHEDULING
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.population.components import POOL, Components, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_SHARES = np.array([1.0, 0.5])  # of the distance at which an edge is looked for: beyond it all points fail


@stored
@dataclass
class Edges(Searcher):
    """One component at a time, begun at the best place where a local search ended in vain and points nearby fail.

    Attributes:
        waiting: such places (n, d); `heights`, their values (n,).
        components: the one in flight, or waiting for a verdict.
        points: those in flight; `looks`, whether they tell if the best place is at an edge.
        spent: evaluations so far.
        in_vain: components since the last new mode.
    """

    name = EDGES

    context: Context
    waiting: Array = field(init=False)
    heights: Array = field(default_factory=lambda: np.zeros(0))
    components: Components = field(init=False)
    points: Array = field(init=False)
    looks: bool = False
    spent: int = 0
    in_vain: int = 0

    def __post_init__(self) -> None:
        self.waiting = self.points = np.zeros((0, self.context.box.d))
        self.components = Components(self.context, member=EDGES)

    @property
    def ending(self) -> str:
        """It takes at most half of the evaluations, and gives up after components that end in known modes."""
        if len(self.components):
            return ""
        is_over = not len(self.waiting) or 2 * self.spent > self.context.nfev or self.in_vain >= SCHEDULING.barren
        return "no other place is known where the function ends" if is_over else ""

    @property
    def account(self) -> str:
        return f"{self.components.begun} populations where the function ends"

    def add_stuck(self, point: Array, value: float) -> None:
        """A local search ended in vain."""
        if self.context.has_failed and np.isfinite(value):
            order = np.argsort(-np.append(self.heights, value), kind="stable")[: TUNING.slots]
            self.waiting = np.concatenate([self.waiting, point[None]])[order]
            self.heights = np.append(self.heights, value)[order]

    def ask(self, is_settled: bool) -> Request:
        """The next generation; or points around the best place that is not next to a mode."""
        if not len(self.components):
            known = [self.context.archive.closest(point)[1] < TUNING.first_step for point in self.waiting]
            self.waiting, self.heights = self.waiting[~np.array(known, bool)], self.heights[~np.array(known, bool)]
            self.looks = len(self.waiting) > 0
            self.points = self._around(self.waiting[0]) if self.looks else np.zeros((0, self.context.box.d))
        else:
            self.points, self.looks = self.components.ask(), False
        return Request(self.points)

    def _around(self, place: Array) -> Array:
        """Points (4 d, d) on both sides along every coordinate, at two distances."""
        box, near = self.context.box, self.context.tolerances.near
        sides = np.concatenate([np.eye(box.d), -np.eye(box.d)])
        return clip(box, place + near * (_SHARES[:, None, None] * sides).reshape(-1, box.d))

    def tell(self, evaluation: Evaluation) -> list[Event]:
        """What came of them."""
        values = np.asarray(evaluation.value)
        self.spent += len(values)
        if not self.looks:
            return self.components.tell(self.points, values, radius=0.0)[0]
        place, value = self.waiting[0], float(self.heights[0])
        self.waiting, self.heights = self.waiting[1:], self.heights[1:]
        if not (values.reshape(2, -1) == -np.inf).all(axis=0).any():  # a single one may fail for other reasons
            return []
        if self.context.box.d == 1:  # there is nothing along it
            factor = self.context.xtol * np.eye(1)
            flat = np.zeros(1), np.zeros((1, 1))
            return [Arrived(Candidate(place, value, *flat, "component", Origin(EDGES, POOL, -1), factor=factor))]
        self.components.add(ComponentStart(place, TUNING.first_step, POOL))
        return []

    def judged(self, event: Event) -> None:
        """A verdict, or another search that has ended in a known mode."""
        if isinstance(event, Arrived | Continue):
            return
        self.in_vain = 0 if isinstance(event, NewMode) else self.in_vain + 1
        self.components.judged(event.origin.number)
