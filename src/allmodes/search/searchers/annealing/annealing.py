"""The paper's annealing with nothing to tune: runs of a mixture, one after the other.

One run anneals K components; where their means end are candidates. The next run has more components if this one found
much that was new, starts away from what is known, and is repelled by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.objective import Evaluation
from allmodes.search.candidate import ANNEALING, POLISH, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.annealing.parts import choose
from allmodes.search.searchers.annealing.run import Ends, Run
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.search.starts.space_filling import SpaceFilling
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Annealing(Searcher):
    """Annealing runs, one after the other.

    Args:
        context: what all parts of a search share.
        algorithm: what to anneal with; chosen by the derivatives there are if left out.
        num_components, steps: of the first run, and of every run.
        is_polished: whether local searches begin where components end; without, the ends are candidates themselves.
        repels: whether archived modes repel the components of a run. If left out they do where all modes are wanted
            and ends are polished: poor modes would repel from better ones beside them, and move ends off modes.

    Attributes:
        running: the algorithm of the runs now.
        run: the one that is on; `runs`, those that are over.
        sample, sample_values: space-filling points, and those of others: the first run starts among them.
        asked: points of this class's own questions, the sample or the ends of a run; None while a run asks.
        arriving: the ends that `asked` is about.
        ends: where all components of all runs ended, (n, d).
        known, best: modes that counted and the best value when the run began; `is_judged`, whether what came of it is.
        since_new: components that have ended since something new was found.
    """

    context: Context
    algorithm: Algorithm | None = None
    num_components: int | None = None
    steps: int | None = None
    is_polished: bool = True
    repels: bool | None = None
    running: Algorithm = field(init=False)
    K: int = field(init=False)
    space_filling: SpaceFilling = field(init=False)
    sample: Array = field(init=False)
    sample_values: Array = field(default_factory=lambda: np.zeros(0))
    failed_rounds: int = 0
    asked: Array | None = None
    arriving: Ends | None = None
    run: Run | None = None
    runs: int = 0
    ends: Array = field(init=False)
    is_judged: bool = True
    known: int = 0
    best: float = -np.inf
    since_new: int = 0
    is_rugged: bool = False
    reason: str = ""

    name = ANNEALING

    def __post_init__(self) -> None:
        d = self.context.box.d
        self.running, first = choose(self.algorithm, self.context.order, d)
        self.K = first if self.num_components is None else whole_number("num_components", self.num_components, 1)
        if self.repels is None:
            self.repels = self.is_polished and not self.context.is_global
        if self.steps is not None:
            whole_number("steps", self.steps, 1)
        self.space_filling = SpaceFilling(d, int(self.context.rng.integers(2**31)))
        self.sample, self.ends = np.zeros((0, d)), np.zeros((0, d))

    # ---- the protocol

    def ask(self, is_settled: bool) -> Request:
        if self.asked is None and self.run is None and is_settled:
            self._plan()
        if self.asked is not None:
            return Request(self.asked)
        return Request(np.zeros((0, self.context.box.d))) if self.run is None else self.run.ask()

    def tell(self, evaluation: Evaluation) -> list[Event]:
        values = np.asarray(evaluation.value)
        if self.arriving is not None:
            return self._arrive(self.arriving, values)
        if self.asked is not None:
            self._tell_sample(self.asked, values)
            return []
        assert self.run is not None
        self.run.tell(evaluation)
        return self._finish(self.run) if self.run.is_over else []

    def add_points(self, points: Array, values: Array) -> None:
        if not self.runs:  # later runs start at fresh points
            self.sample, self.sample_values = (
                np.concatenate([self.sample, points]), np.append(self.sample_values, values),
            )  # fmt: skip

    @property
    def temperature(self) -> float | None:
        """Of the run that is on; None between runs."""
        return None if self.run is None else self.run.temperature

    @property
    def ending(self) -> str:
        return self.reason

    @property
    def account(self) -> str:
        switch = "; the landscape is rugged, so values alone were used in the end" if self.is_rugged else ""
        return f"{self.running.name}, annealed {self.runs} times, at last with {self.K} components{switch}"

    # ---- before a run

    def _plan(self) -> None:
        """The next thing to do, now that all candidates are judged: a sample, or a run; neither at the end."""
        if not self.is_judged:
            self._judge()
        if self.reason:
            return
        if self.context.is_sampled:
            self._begin()
        else:
            wanted = TUNING.sample * (self.context.box.d + 2)
            allowed = max(1, int((1.0 - TUNING.run_share) * self.context.left))
            self.asked = self.space_filling.draw(
                1 << (min(wanted, allowed).bit_length() - 1)
            )  # Sobol points fill space in twos

    def _tell_sample(self, points: Array, values: Array) -> None:
        self.asked = None
        self.context.observe_level(values)
        self.add_points(points, values)
        self.failed_rounds += not np.isfinite(values).any()
        if self.failed_rounds >= TUNING.failed_rounds:
            self.reason = f"the function failed at all of {len(self.sample)} space-filling points"

    def _begin(self) -> None:
        """A new run, as large as the budget allows."""
        context, B = self.context, self.running.num_samples
        left, num_points = int(TUNING.run_share * context.left), self.running.proposal.num_points
        K, wanted = self.K, self.steps or TUNING.steps
        while K > 1 and num_points(K, B) * wanted > left:
            K //= 2
        steps = min(wanted, left // num_points(K, B))
        if steps < (2 * wanted + 4) // 5:  # a shorter run anneals nothing
            self.reason = "what is left of the budget is too little for another annealing run"
            return
        self.known, self.best = len(context.counted), context.archive.best
        self.run = Run.begin(context, self.running, self.runs, steps, self._starts(K), bool(self.repels))

    def _starts(self, K: int) -> Array:
        """K points far from the known modes and from each other; in the first run among the better half."""
        box, known = self.context.box, self.context.archive.means[self.context.counted]
        if self.runs == 0 and len(self.sample) >= K:
            order = np.argsort(-self.sample_values, kind="stable")
            pool = self.sample[order[: max(K, len(order) // 2)]]
        else:
            pool = self.space_filling.draw(TUNING.draws * K)
        apart = box.difference(pool[:, None], known[None] if len(known) else pool[None, :1])
        nearest = np.einsum("njd,njd->nj", apart, apart).min(axis=1)
        if not len(known):
            nearest[0] = np.inf  # the best point, or any, comes first
        chosen = np.zeros(K, np.intp)
        for k in range(K):  # each start depends on those before it
            chosen[k] = nearest.argmax()
            apart = box.difference(pool, pool[chosen[k]])
            nearest = np.minimum(nearest, np.einsum("nd,nd->n", apart, apart))
        return pool[chosen]

    # ---- after a run

    def _finish(self, run: Run) -> list[Event]:
        """Hand over where the components ended, one for each basin."""
        ends = run.ends
        self.ends = np.concatenate([self.ends, ends.points])
        self.runs, self.run, self.is_judged = self.runs + 1, None, False
        if not self.is_polished:
            self.arriving, self.asked = ends, ends.points[ends.is_distinct]
            return []
        origin = Origin(ANNEALING, POLISH, -1)
        return [Continue(origin, point, TUNING.polish_radius) for point in ends.points[ends.is_distinct]]

    def _arrive(self, ends: Ends, values: Array) -> list[Event]:
        """Ends with values there, as candidates. A settled component has the covariance omega (-Hessian)^-1.

        Those that still lag behind the temperature are wider: the curvature is then too small, and its shape right.

        Paper: eq:convergence_sigma_one_gaussian
        """
        self.arriving = self.asked = None
        origin, d = Origin(ANNEALING, POLISH, -1), self.context.box.d
        events: list[Event] = []
        for k, value in zip(np.flatnonzero(ends.is_distinct), values.tolist(), strict=True):
            if np.isfinite(value):
                covariance = ends.covariances[k]
                hessian = -ends.temperature * np.linalg.inv(covariance)
                radius = float(np.sqrt(np.trace(covariance) / d))
                events.append(
                    Arrived(Candidate(ends.points[k], value, np.zeros(d), hessian, "component", origin, radius))
                )
        return events

    def _judge(self) -> None:
        """What the last run was worth: more components, an end, or the next run with values alone."""
        self.is_judged = True
        context, archive, modes = self.context, self.context.archive, self.context.counted
        new, ended = len(modes) - self.known, len(self.ends)
        is_new = new > 0 or archive.best > self.best + context.tolerances.tie
        self.since_new = 0 if is_new else self.since_new + self.K
        if 2 * new >= self.K:
            self.K = min(2 * self.K, TUNING.most_components)
        hits = np.zeros(len(archive), np.int64)
        if len(archive):
            hits = np.bincount(archive.nearest(self.ends)[0], minlength=len(archive))
        unseen = int((hits[modes] == 1).sum()) / ended  # the chance of something new (Good and Turing)
        if unseen < TUNING.rare and self.since_new >= max(1.0 / TUNING.rare, 2 * len(modes)):
            self.reason = f"the last {self.since_new} annealed components found no new mode"
        is_rough = ended >= 4 * TUNING.first_components and (hits == 1).sum() > TUNING.rugged * ended
        if context.is_global and is_rough and not self.is_rugged and self.algorithm is None and context.order:
            self.is_rugged = True
            self.running, self.K = choose(None, 0, context.box.d)
