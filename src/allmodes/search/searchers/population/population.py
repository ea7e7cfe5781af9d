"""Search by values alone: populations that evolve, begun where nothing is known yet and stopped where something is.

One round asks for the next generation of every component, and for whatever single points decide about starts and about
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
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.population.arms import (
    ARMS,
    HOP,
    MIX,
    POOL,
    RAY,
    REHEAT,
    STUCK,
    ComponentStart,
    LocalOptimum,
)
from allmodes.search.searchers.population.components import Components
from allmodes.search.searchers.population.evolution import population_size
from allmodes.search.searchers.population.hops import Hops
from allmodes.search.searchers.population.pool import Pool
from allmodes.search.searchers.population.probes import FEWEST_MODES, Probes
from allmodes.search.searchers.population.stuck import StuckPoints
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts.queue import Queue
from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@stored
@dataclass
class Population(Searcher):
    """Components begun at space-filling points, at rays from modes and mixes of them, and at local optima.

    Attributes:
        bandit: which kind of start pays.
        pool, probes, hops, stuck: where starts come from; `cold`, local optima worth a larger population.
        components, hot: those of the usual population size, and of a large one.
        asked, parts: the points in flight, and how many are for the pool, components, hot components and probes.
        begun: components so far.
        last_success: the pool's round in which the last mode was found.
    """

    name = POPULATION

    context: Context
    bandit: Bandit = field(init=False)
    pool: Pool = field(init=False)
    probes: Probes = field(init=False)
    hops: Hops = field(init=False)
    stuck: StuckPoints = field(init=False)
    cold: Queue = field(init=False)
    components: Components = field(init=False)
    hot: Components = field(init=False)
    asked: Array = field(init=False)
    parts: list[int] = field(default_factory=list)
    begun: int = 0
    last_success: int = 0

    def __post_init__(self) -> None:
        context = self.context
        box, size = context.box, population_size(context.box.d)
        self.bandit = Bandit(TUNING.first_cost, TUNING.memory * context.maxfev)
        self.pool, self.hops, self.stuck, self.cold = Pool(box), Hops(box), StuckPoints(box), Queue(box)
        self.probes = Probes(context)
        self.components, self.hot = Components(context, size), Components(context, TUNING.hot_size * size)
        self.asked = np.zeros((0, box.d))

    @property
    def ending(self) -> str:
        cycle = self.pool.cycle
        is_waiting = self.components.labels.is_waiting.any() or self.hot.labels.is_waiting.any()
        if is_waiting or self.pool.round - self.last_success <= cycle:
            return ""
        return f"no new mode in a whole cycle of {cycle} rounds of population starts at ever closer distances"

    @property
    def account(self) -> str:
        found = ", ".join(f"{arm} {self.bandit.found[arm]}" for arm in ARMS if arm in self.bandit.found)
        return f"{self.begun} population components" + (f" (new modes by start: {found})" if found else "")

    def add_points(self, points: Array, values: Array) -> None:
        """More points to choose starts from."""
        self.pool.add(points, values)

    def add_stuck(self, point: Array, value: float) -> None:
        """A component may go on from there."""
        self.stuck.add(point, value)

    def narrow(self, widest: float) -> list[Candidate]:
        """Components on their way that are narrower than this share of the box: what is left when time is up."""
        return self.components.narrow(widest) + self.hot.narrow(widest)

    def ask(self, is_settled: bool) -> Request:
        """Points for the pool, generations, points between components and modes, and those of probes."""
        groups = [self._fill(), self.components.ask(), self.hot.ask(), self.probes.ask()]
        self.parts, self.asked = [len(points) for points in groups], np.concatenate(groups)
        return Request(self.asked)

    def tell(self, evaluation: Evaluation) -> list[Event]:
        """Move everything by what came of the points last asked for."""
        ends = np.cumsum(self.parts)[:-1]
        points, values = np.split(self.asked, ends), np.split(np.asarray(evaluation.value), ends)
        if self.parts[0]:
            self._grow(points[0], values[0])
        events = self._move(self.components, points[1], values[1]) + self._move(self.hot, points[2], values[2])
        for probe in self.probes.pending:
            self.bandit.charge(probe.arm, 1)
        for start in self.probes.tell(points[3], values[3]):
            self._begin(start)
        return events

    # ---- starts

    def _fill(self) -> Array:
        """Begin components in the free slots; returns new points for the pool, if it has run out of starts."""
        context = self.context
        counted = context.counted
        while len(self.components) + len(self.probes) < TUNING.slots:
            arm = self.bandit.choose(context.rng, self._open_arms(len(counted)))
            if arm in (RAY, MIX) and self.probes.begin(arm, counted):
                continue
            if arm in (REHEAT, HOP, STUCK):
                start = self._take(arm, counted)
                if start is not None:
                    self._begin(start)
                continue
            start = self.pool.take()
            if start is None:
                return self.pool.draw(context.rng, int(TUNING.pool_share * context.nfev))
            self._begin(start)
        return np.zeros((0, context.box.d))

    def _open_arms(self, modes: int) -> list[str]:
        is_open = {
            RAY: modes >= FEWEST_MODES,
            MIX: modes >= FEWEST_MODES,
            REHEAT: len(self.hot) < max(1, TUNING.slots // 8) and not bool(self.cold.is_used.all()),
            HOP: len(self.hops) > 0,
            STUCK: self.stuck.is_open,
        }
        return [arm for arm in ARMS if is_open.get(arm, True)]

    def _take(self, arm: str, counted: Indices) -> ComponentStart | None:
        """A start that needs no evaluation, if it turns out to be one."""
        context, archive = self.context, self.context.archive
        if arm == HOP:
            return self.hops.take(context.rng, archive.best)
        if arm == STUCK:
            return self.stuck.take(archive.means[counted], archive.values[counted])
        best = int(np.where(self.cold.is_used, -np.inf, self.cold.values).argmax())
        self.cold.use(best)
        point = self.cold.points[best]
        is_apart = self._distance(point, counted) > TUNING.stop_share * self.pool.radius
        return ComponentStart(point, TUNING.widest, REHEAT) if is_apart else None

    def _begin(self, start: ComponentStart) -> None:
        (self.hot if start.arm == REHEAT else self.components).add(start, self.begun)
        self.begun += 1

    def _distance(self, point: Array, counted: Indices) -> float:
        """Root mean square distance to the nearest mode that counts."""
        apart = self.context.box.difference(self.context.archive.means[counted], point)
        return float(np.sqrt((apart**2).mean(axis=1)).min(initial=np.inf))

    # ---- what came of them

    def _grow(self, points: Array, values: Array) -> None:
        """Another round of the pool."""
        context = self.context
        context.observe_level(values)
        self.pool.add(points, values)
        self.pool.begin_round(context.archive.means[context.counted])
        self.bandit.charge(POOL, len(values))

    def _move(self, components: Components, points: Array, values: Array) -> list[Event]:
        """Components move, and some of them end."""
        outcome = components.tell(points, values, self.pool.radius)
        for arm, cost in zip(ARMS, outcome.costs.tolist(), strict=True):
            if cost:
                self.bandit.charge(arm, cost)
        for ticket in outcome.lost_hops:
            self.hops.doubt(ticket)
        for end in outcome.given_up:
            self._keep(end)
        return [*outcome.events]

    def _keep(self, end: LocalOptimum) -> None:
        """A local optimum: worth hopping from, and worth a larger population."""
        self.pool.exclude(end.point[None])
        is_apart = self._distance(end.point, self.context.counted) > TUNING.funnel
        if end.arm == HOP and is_apart:
            self.hops.land(end.hop, end.point, end.value, self.context.archive.best)
        elif end.arm == HOP:
            self.hops.doubt(end.hop)
        elif is_apart:
            self.hops.add(end.point, end.value)
        if end.arm not in (REHEAT, HOP):
            self.cold.add(end.point[None], np.array([end.value]))

    def judged(self, event: Event) -> None:
        """A verdict on a component that waits, and what it cost."""
        if isinstance(event, Arrived | Continue):
            return
        origin, is_optimum = event.origin, isinstance(event, NewMode | KnownMode | Recognised)
        self.bandit.charge(origin.start, origin.cost)
        group = self.hot if origin.start == REHEAT else self.components
        end = group.judged(origin.number, is_optimum)
        if isinstance(event, NewMode):
            self.bandit.succeed(origin.start)
            self.last_success = self.pool.round
        if end is None:
            return
        if is_optimum:
            self.pool.exclude(end.point[None])
        if isinstance(event, NewMode):
            self.hops.exclude(end.point)
        if end.hop >= 0:
            self.hops.doubt(end.hop)
