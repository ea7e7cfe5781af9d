"""The search for all roots of a system of as many equations as unknowns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import GRADIENT, VALUE, Evaluation
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, NewMode, SearchEvent
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searcher import Block, Request, Strategy
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.searchers.roots.newton import RootSearches
from allmodes.search.verify.verifier import Verifier
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Roots(Strategy):
    """Local searches by Newton's steps, begun as those for optima are; the verifier judges where they arrive.

    Attributes:
        context: what is shared.
        multistart: where searches begin, and what came of them; `searches` runs them.
        verifier: tells roots from others, and single ones from curves.
        stopping: when it is enough.
        asked: the rows of the searches that are in flight; `blocks`, what the verifier asked instead.
    """

    context: Context
    multistart: Multistart
    searches: RootSearches
    verifier: Verifier
    stopping: Stopping
    asked: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    blocks: list[Block] = field(default_factory=list)

    def ask(self) -> Request:
        d = self.context.box.d
        self.blocks = self.verifier.ask()
        if self.blocks:
            return Request(np.concatenate([block.points.reshape(-1, d) for block in self.blocks]), VALUE)
        if not (self.ending or self.stopping.waits):
            self.searches.open(self.multistart.choose(len(self.searches) + self.verifier.asking))
        self.asked, points, with_jacobian = self.searches.ask()
        return Request(points, self.context.needs if with_jacobian else GRADIENT)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        if not self.blocks:
            with np.errstate(all="ignore"):  # failed points are -inf; what comes of them is looked at
                self._pass_on(self.searches.tell(self.asked, evaluation, 1))
            return
        first = 0
        for block in self.blocks:
            n = block.points.shape[1]
            self._pass_on(self.verifier.tell(block, np.asarray(evaluation.value[first : first + n])[None]))
            first += n

    def _pass_on(self, events: list[Event]) -> None:
        """Pass events on to whom they concern, and then what those have to say about them."""
        for event in events:
            said: list[Event] = self.verifier.judge(event) if isinstance(event, SearchEvent) else [event]
            if not said or said[0] is not event:
                self._pass_on(said)
            elif isinstance(event, Continue):
                self.searches.resume(event)
            elif not isinstance(event, Arrived):
                self.searches.judged(event.origin.number, event.mode if isinstance(event, NewMode) else -1)
                self.multistart.ended(event, self.searches.numbers if isinstance(event, NewMode) else [])

    # ---- the rest of the protocol

    def take_budget(self, other: Strategy) -> None:
        if isinstance(other, Roots):
            self.stopping.persistence = other.stopping.persistence

    def add_points(self, points: Array, values: Array) -> None:
        self.multistart.add_points(points, values)

    @property
    def fresh(self) -> Fresh:
        return self.multistart.counts.fresh

    @property
    def searched(self) -> tuple[int, int]:
        return self.multistart.counts.searches, self.stopping.least

    @property
    def account(self) -> str:
        searches, nowhere = self.multistart.counts.searches, self.multistart.counts.nowhere
        said = f", {nowhere} of which ended at no root" if nowhere else ""
        return counted(searches, "local search", "local searches") + said

    @property
    def ending(self) -> str:
        if self.multistart.waiting:
            return ""
        running = self.searches.numbers + self.verifier.numbers
        return self.stopping.ending(self.context, self.multistart.counts, running)
