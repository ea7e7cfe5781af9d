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
from allmodes.search.searchers.population.arms import ARMS, HOP, MIX, POOL, RAY, REHEAT, STUCK, ComponentStart
from allmodes.search.searchers.population.components import Components, End, nearest
from allmodes.search.searchers.population.hops import Hops
from allmodes.search.searchers.population.pool import Pool
from allmodes.search.searchers.population.probes import FEWEST_MODES, Probes
from allmodes.search.searchers.population.stuck import StuckPoints
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_MOST_COOL = 50  # local optima that wait for a larger population: a bound on memory
_MOST_LARGE = 2  # larger populations at once, each of which costs as much as ten


@stored
@dataclass
class Population(Searcher):
    """Components begun at space-filling points, at rays from modes and mixes of them, and at local optima.

    Attributes:
        bandit: which kind of start pays.
        pool, probes, hops, stuck: where starts come from.
        components: those in flight; `large`, those with a larger population, which sees through ripples.
        cool: local optima, the best first, that a larger population may go on from.
        asked, parts: the points in flight, and how many are for the pool, for both kinds of components, for probes.
        last_success: the pool's round in which the last mode was found.
    """

    name = POPULATION

    context: Context
    bandit: Bandit = field(init=False)
    pool: Pool = field(init=False)
    probes: Probes = field(init=False)
    hops: Hops = field(init=False)
    stuck: StuckPoints = field(init=False)
    components: Components = field(init=False)
    large: Components = field(init=False)
    cool: list[End] = field(default_factory=list)
    asked: Array = field(init=False)
    parts: list[int] = field(default_factory=list)
    last_success: int = 0

    def __post_init__(self) -> None:
        context = self.context
        box = context.box
        credits = {RAY: TUNING.less_credit, MIX: TUNING.less_credit, REHEAT: TUNING.less_credit}
        self.bandit = Bandit(TUNING.first_cost, credits)
        self.pool, self.hops, self.stuck = Pool(box), Hops(box), StuckPoints(box)
        self.probes, self.components = Probes(context), Components(context)
        self.large = Components(context, TUNING.reheat_size)
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
        return f"{self.components.begun + self.large.begun} population components" + (
            f" (new modes by start: {found})" if found else ""
        )

    def add_points(self, points: Array, values: Array) -> None:
        """More points to choose starts from."""
        self.pool.add(points, values)

    def add_stuck(self, point: Array, value: float) -> None:
        """A component may go on from there."""
        self.stuck.add(point, value)

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
            self._grow(points[0], values[0])
        events = self._move(self.components, points[1], values[1]) + self._move(self.large, points[2], values[2])
        for probe in self.probes.pending:
            self.bandit.charge(probe.arm, 1)
        for start in self.probes.tell(points[3], values[3]):
            self.components.add(start)
        return events

    # ---- starts

    def _fill(self) -> Array:
        """Begin components in the free slots; returns new points for the pool, if it has run out of starts."""
        context, archive, counted = self.context, self.context.archive, self.context.counted
        self._reheat(counted)
        while len(self.components) + len(self.probes) < TUNING.slots:
            arm = self.bandit.choose(context.rng, self._open_arms(len(counted)))
            if arm in (RAY, MIX) and self.probes.begin(arm, counted):
                continue
            if arm == HOP:
                start: ComponentStart | None = self.hops.take(context.rng, archive.best)
            elif arm == STUCK:
                start = self.stuck.take(archive.means[counted], archive.values[counted])
            else:
                start = self.pool.take()
                if start is None:
                    return self.pool.draw(context.rng, int(TUNING.pool_share * context.nfev))
            if start is not None:
                self.components.add(start)
        return np.zeros((0, context.box.d))

    def _reheat(self, counted: NDArray[np.intp]) -> None:
        """Go on from the best local optimum with a larger population, where that pays better than the pool."""
        is_better = self.bandit.rate(REHEAT) > self.bandit.rate(POOL) or not len(self.context.archive)
        if not self.cool or len(self.large) >= _MOST_LARGE or not is_better:
            return
        end = self.cool.pop(0)
        if nearest(self.context, end.point[None], counted)[1][0] > 0.5 * TUNING.stop_share * self.pool.radius:
            self.large.add(ComponentStart(end.point, TUNING.widest, REHEAT))

    def _open_arms(self, modes: int) -> list[str]:
        arms = [POOL, RAY, MIX] if modes >= FEWEST_MODES else [POOL]
        if len(self.hops):
            arms.append(HOP)
        return [*arms, STUCK] if self.stuck.is_open else arms

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
        events, ends, costs = components.tell(points, values, self.pool.radius)
        for arm, cost in zip(ARMS, costs, strict=True):
            if cost:
                self.bandit.charge(arm, cost)
        for end in ends:
            if end.is_known:
                self.hops.doubt(end.hop)
            else:
                self._keep(end)
        if components is self.components:
            self.cool = sorted([*self.cool, *(end for end in ends if end.hop < 0)], key=lambda end: -end.value)
            del self.cool[_MOST_COOL:]
        return events

    def _keep(self, end: End) -> None:
        """A local optimum is worth hopping from, unless it belongs to a mode."""
        context = self.context
        self.pool.exclude(end.point[None])
        if nearest(context, end.point[None], context.counted)[1][0] <= TUNING.funnel:
            self.hops.doubt(end.hop)
        elif end.hop < 0:
            self.hops.add(end.point, end.value)
        else:
            self.hops.land(end.hop, end.point, end.value, context.archive.best)

    def judged(self, event: Event) -> None:
        """A verdict on a component that waits, and what it cost."""
        if isinstance(event, Arrived | Continue):
            return
        origin, is_optimum = event.origin, isinstance(event, NewMode | KnownMode | Recognised)
        self.bandit.charge(origin.start, origin.cost)
        components = self.large if origin.number % 2 else self.components
        end = components.judged(origin.number, is_optimum)
        if isinstance(event, NewMode):
            self.bandit.succeed(origin.start)
            self.last_success = self.pool.round
            self.hops.exclude(self.context.archive.means[event.mode])
        if end is not None and is_optimum:
            self.pool.exclude(end.point[None])
