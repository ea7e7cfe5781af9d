"""Search by values alone: populations that evolve, begun where nothing is known yet and stopped where something is.

A round asks for the next generation of every component, and for single points that decide about starts and about
components that may be on a known hill. Components that have converged wait for a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import POPULATION, Candidate
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, KnownMode, NewMode, Recognised
from allmodes.search.scheduling.bandit import Bandit
from allmodes.search.scheduling.tuning import TUNING as SCHEDULING
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.population.components import ARMS, HOP, MIX, POOL, RAY, REHEAT, Components, nearest
from allmodes.search.searchers.population.hops import Hops
from allmodes.search.searchers.population.pool import Pool
from allmodes.search.searchers.population.probes import Probes
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts import between_modes
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Population(Searcher):
    """Components begun at space-filling points, at rays from modes and mixes of them, and at local optima."""

    name = POPULATION

    context: Context
    bandit: Bandit = field(init=False)  # which kind of start pays
    pool: Pool = field(init=False)
    probes: Probes = field(init=False)
    hops: Hops = field(init=False)
    components: Components = field(init=False)
    large: Components = field(init=False)  # one at a time that has a larger population
    asked: Array = field(init=False)  # the points in flight, and how many are for pool, components and probes
    parts: list[int] = field(default_factory=list)
    last_success: int = 0  # the pool's round in which the last mode was found

    def __post_init__(self) -> None:
        context, box = self.context, self.context.box
        self.bandit = Bandit(SCHEDULING.first_mode_cost * (box.d + 1))
        self.pool, self.hops = Pool(box), Hops(box)
        self.probes, self.components = Probes(context), Components(context)
        self.large = Components(context, TUNING.large_size)
        self.asked = np.zeros((0, box.d))

    @property
    def ending(self) -> str:
        cycle = self.pool.cycle
        is_waiting = self.components.labels.is_waiting.any() or self.large.labels.is_waiting.any()
        if is_waiting or self.pool.round - self.last_success <= cycle:
            return ""
        return f"no new mode in a whole cycle of {cycle} rounds of population starts at ever closer distances"

    @property
    def account(self) -> str:
        found = ", ".join(f"{arm} {self.bandit.found[arm]}" for arm in ARMS if arm in self.bandit.found)
        begun = self.components.begun + self.large.begun
        return f"{begun} population components" + (f" (new modes by start: {found})" if found else "")

    def add_points(self, points: Array, values: Array) -> None:
        """More points to choose starts from."""
        self.pool.queue.add(points, values)

    def add_stuck(self, point: Array, value: float) -> None:
        """A component may go on from there, unless a mode is nearby."""
        if np.isfinite(value) and nearest(self.context, point[None])[1][0] > TUNING.widest:
            self.hops.add(point, value, step=0.0)

    def narrow(self, widest: float) -> list[Candidate]:
        """Components on their way that are narrower than this share of the box: what is left when time is up."""
        return self.components.narrow(widest)

    def ask(self, is_settled: bool) -> Request:
        """Points for the pool, generations, points between components and modes, and those of probes."""
        groups = [self._fill(), self.components.ask(), self.large.ask(), self.probes.ask()]
        self.parts, self.asked = [len(points) for points in groups], np.concatenate(groups)
        return Request(self.asked)

    def tell(self, evaluation: Evaluation) -> list[Event]:
        """Move everything by what came of the points last asked for."""
        ends = np.cumsum(self.parts)[:-1]
        points, values = np.split(self.asked, ends), np.split(np.asarray(evaluation.value), ends)
        if self.parts[0]:
            self.context.observe_level(values[0])
            self.pool.queue.add(points[0], values[0])
            self.pool.begin_round(self.context.archive.means[self.context.counted])
            self.bandit.charge(POOL, self.parts[0])
        events = self._move(self.components, points[1], values[1]) + self._move(self.large, points[2], values[2])
        for probe in self.probes.pending:
            self.bandit.charge(probe.arm, 1)
        for start in self.probes.tell(points[3], values[3]):
            self.components.add(start)
        return events

    def _fill(self) -> Array:
        """Begin components in the free slots; returns new points for the pool, if it has run out of starts."""
        context, archive, counted = self.context, self.context.archive, self.context.counted
        arms = [POOL, RAY, MIX] if len(counted) >= between_modes.FEWEST else [POOL]
        arms += [HOP] if self.hops.funnels else []
        if not len(self.large) and self._is_due(REHEAT, [*arms, REHEAT]):
            start = self.hops.reheat()
            if start is not None:
                self.large.add(start)
        while len(self.components) + len(self.probes.pending) < TUNING.slots:
            arm = self._choose(arms)
            if arm in (RAY, MIX) and self.probes.begin(arm, archive.means[counted]):
                continue
            start = self.hops.take(context.rng, archive.best) if arm == HOP else self.pool.take()
            if start is None:
                return context.scatter(self.pool.wanted)
            self.components.add(start)
        return np.zeros((0, context.box.d))

    def _choose(self, arms: list[str]) -> str:
        """The kind of start that has the fewest slots of those it should have.

        Kinds get slots as often as they may be the best, not starts: some take ten times as long as others.
        """
        drawn = self.bandit.draw(self.context.rng, arms, TUNING.slots)
        pending = [probe.arm for probe in self.probes.pending]
        lacking = [drawn.count(arm) - self.components.running(arm) - pending.count(arm) for arm in arms]
        return arms[int(np.argmax(lacking))]

    def _is_due(self, arm: str, arms: list[str]) -> bool:
        """Whether an arm had less of the evaluations than it should have, as often as it may be the best."""
        share, spent = (
            self.bandit.draw(self.context.rng, arms, TUNING.slots).count(arm) / TUNING.slots,
            self.bandit.spent,
        )
        return spent.get(arm, 0) < share * sum(spent.values())

    def _move(self, components: Components, points: Array, values: Array) -> list[Event]:
        """Components move, and some end: at a local optimum worth hopping from, unless a mode is there."""
        context = self.context
        events, ends, costs = components.tell(points, values, self.pool.radius)
        for arm, cost in zip(ARMS, costs, strict=True):
            self.bandit.charge(arm, cost)
        for end in ends:
            self.pool.exclude(end.point[None])
            if nearest(context, end.point[None])[1][0] <= TUNING.widest:
                continue
            if end.hop < 0:
                self.hops.add(end.point, end.value)
            else:
                self.hops.land(end.hop, end.point, end.value)
        return events

    def judged(self, event: Event) -> None:
        """A verdict on a component that waits, and what it cost."""
        if isinstance(event, Arrived | Continue):
            return
        origin = event.origin
        self.bandit.charge(origin.start, origin.cost)
        components = self.large if origin.start == REHEAT else self.components
        point = components.judged(origin.number)
        if point is not None and isinstance(event, NewMode | KnownMode | Recognised):
            self.pool.exclude(point[None])
        if isinstance(event, NewMode):
            self.bandit.succeed(origin.start)
            self.last_success = self.pool.round
            self.hops.exclude(self.context.archive.means[event.mode])
