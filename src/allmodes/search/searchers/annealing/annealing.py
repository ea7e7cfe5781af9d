"""The paper's annealing with nothing to tune: runs of a mixture, one after the other.

One run anneals K components; where their means end are candidates. The next run has more components if this one found
much that was new, starts away from what is known, and is repelled by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.objective import Evaluation
from allmodes.search.candidate import ANNEALING, POLISH, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.annealing.parts import choose
from allmodes.search.searchers.annealing.run import Ends, Run
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.search.starts.drawn import Drawn
from allmodes.search.starts.space_filling import SpaceFilling, places
from allmodes.search.starts.tuning import TUNING as STARTS
from allmodes.storage import stored

Array = NDArray[np.float64]

_ORIGIN = Origin(ANNEALING, POLISH, -1)


@stored
@dataclass
class Annealing(Searcher):
    """Annealing runs, one after the other.

    Args:
        context: what all parts of a search share.
        algorithm: what to anneal with; chosen if left out. Where only the best modes are wanted that uses values alone:
            derivatives lead into the nearest trap.
        is_polished: whether local searches begin where components end; without, the ends are candidates themselves.

    Attributes:
        running: the algorithm of the runs.
        repels: whether archived modes repel the components of a run: where all modes are wanted and ends are polished.
            Otherwise poor modes would repel components from better ones nearby, and move ends off modes.
        K: components of the next run.
        space_filling: where components start; before the first run some of its points tell the scale of the function.
        asked: space-filling points that wait for their values; None without any.
        run: the current one, or the one whose ends wait for their values; `runs`, those that are over.
        known, best: modes that counted and the best value when the run began; `is_judged`, whether its yield is.
        since_new: components that have ended since something new was found.
    """

    context: Context
    algorithm: Algorithm | None = None
    is_polished: bool = True
    running: Algorithm = field(init=False)
    repels: bool = field(init=False)
    K: int = field(init=False)
    space_filling: SpaceFilling | Drawn = field(init=False)
    asked: Array | None = None
    run: Run | None = None
    runs: int = 0
    is_judged: bool = True
    known: int = 0
    best: float = -np.inf
    since_new: int = 0
    reason: str = ""

    name = ANNEALING

    def __post_init__(self) -> None:
        context, d = self.context, self.context.box.d
        self.running = choose(self.algorithm, context.order, d, context.is_global)
        self.K = TUNING.first_components * (1 if self.running.needs else 2)
        self.repels = self.is_polished and not context.is_global
        self.space_filling = places(context)

    # ---- the protocol

    def ask(self, is_settled: bool) -> Request:
        if self.asked is None and self.run is None and is_settled:
            self._plan()
        if self.asked is not None:
            return Request(self.asked)
        if self.run is None:
            return Request(np.zeros((0, self.context.box.d)))
        return Request(self.run.ends.points) if self.run.is_over else self.run.ask()

    def tell(self, evaluation: Evaluation) -> list[Event]:
        run, values = self.run, np.asarray(evaluation.value)
        if run is None:
            self._tell_level(values)
            return []
        if run.is_over:
            return self._arrive(run.ends, values)
        run.tell(evaluation)
        return self._polish(run.ends) if run.is_over and self.is_polished else []

    @property
    def temperature(self) -> float | None:
        """That of the current run; None between runs."""
        return None if self.run is None else self.run.temperature

    @property
    def ending(self) -> str:
        return self.reason

    @property
    def account(self) -> str:
        return f"{self.running.name}, annealed {self.runs} times, at last with {self.K} components"

    # ---- before a run

    def _plan(self) -> None:
        """What to do next, now that all candidates are judged: points or a run; neither at the end."""
        if not self.is_judged:
            self._judge()
        if self.reason:
            return
        if self.context.is_sampled:
            self._begin()
        else:
            wanted = 2 * TUNING.sample * (self.context.box.d + 2)
            allowed = max(1, int((1.0 - TUNING.run_share) * self.context.left))
            powers = min(wanted, allowed).bit_length() - 1  # Sobol points fill space in twos
            self.asked = self.space_filling.draw(1 << powers)

    def _tell_level(self, values: Array) -> None:
        self.asked = None
        self.context.observe_level(values)
        failed = 0 if self.context.is_sampled else self.space_filling.drawn
        if failed >= 3.0 / TUNING.rare:  # rule of three: values are rare
            self.reason = f"the function failed at all of {failed} space-filling points"

    def _begin(self) -> None:
        """A new run, as large as the budget allows."""
        context, K, B = self.context, self.K, self.running.num_samples
        left, num_points = int(TUNING.run_share * context.left), self.running.proposal.num_points
        while K > 1 and num_points(K, B) * TUNING.steps > left:
            K //= 2
        steps = min(TUNING.steps, left // num_points(K, B))
        if 2 * steps < TUNING.steps:  # a shorter run anneals nothing
            self.reason = "what is left of the budget is too little for another annealing run"
            return
        self.known, self.best = len(context.counted), context.archive.best
        self.run = Run(context, self.running, self.runs, steps, self._starts(K), self.repels)

    def _starts(self, K: int) -> Array:
        """K space-filling points far from the known modes and from each other."""
        box, pool = self.context.box, self.space_filling.draw(TUNING.sample * K)
        known, chosen = self.context.archive.means[self.context.counted], np.zeros((0, box.d))
        nearest = np.full(len(pool), np.inf)
        for point in known:
            nearest = np.minimum(nearest, (box.difference(pool, point) ** 2).sum(axis=1))
        while len(chosen) < K:  # each start depends on those before it
            chosen = np.vstack([chosen, pool[nearest.argmax()]])
            nearest = np.minimum(nearest, (box.difference(pool, chosen[-1]) ** 2).sum(axis=1))
        return chosen

    # ---- after a run

    def _finish(self) -> None:
        self.runs, self.run, self.is_judged = self.runs + 1, None, False

    def _polish(self, ends: Ends) -> list[Event]:
        """Local searches are to begin where the components ended, one for each basin."""
        self._finish()
        return [Continue(_ORIGIN, point, STARTS.given_radius) for point in ends.points]

    def _arrive(self, ends: Ends, values: Array) -> list[Event]:
        """Ends with values there, as candidates. A settled component has the covariance omega (-Hessian)^-1.

        A component that still lags behind the temperature is wider: its curvature is too small, but of the right shape.

        Paper: eq:convergence_sigma_one_gaussian
        """
        self._finish()
        d = self.context.box.d
        events: list[Event] = []
        for point, covariance, value in zip(ends.points, ends.covariances, values.tolist(), strict=True):
            if np.isfinite(value):
                hessian = -ends.temperature * np.linalg.inv(covariance)
                radius = float(np.sqrt(np.trace(covariance) / d))
                events.append(Arrived(Candidate(point, value, np.zeros(d), hessian, "component", _ORIGIN, radius)))
        return events

    def _judge(self) -> None:
        """What follows from the last run: more components, or the end."""
        self.is_judged = True
        context, modes = self.context, len(self.context.counted)
        new = modes - self.known
        is_new = new > 0 or context.archive.best > self.best + context.tolerances.tie
        self.since_new = 0 if is_new else self.since_new + self.K
        if 2 * new >= self.K:
            self.K *= 2
        if self.since_new >= max(1.0 / TUNING.rare, 2 * modes):
            self.reason = f"the last {self.since_new} annealed components found no new mode"
