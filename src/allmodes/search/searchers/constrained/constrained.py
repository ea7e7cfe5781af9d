"""The search under constraints: local searches from feasible starts, each verified on its active set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import AT_BOUNDS, BETWEEN_MODES, GIVEN, SPACE_FILLING
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.bandit import Bandit
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.scheduling.tuning import TUNING as SCHEDULING
from allmodes.search.searcher import Request, Strategy
from allmodes.search.searchers.constrained.arrival import DONE, KNOWN, NEW, ON, Arrival
from allmodes.search.searchers.constrained.descent import Descent
from allmodes.search.searchers.constrained.launch import ARRIVED, LOOK, LOST, Launch
from allmodes.search.searchers.constrained.recognition import recognised
from allmodes.search.searchers.constrained.record import frozen_of
from allmodes.search.searchers.constrained.subproblem import extreme, least_violated, nearest_feasible
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.searchers.multistart import Counts
from allmodes.search.starts import between_modes
from allmodes.search.starts.drawn import Drawn
from allmodes.search.starts.space_filling import SpaceFilling, places
from allmodes.search.starts.told import Told
from allmodes.search.starts.tuning import TUNING as STARTS
from allmodes.storage import stored

Array = NDArray[np.float64]

_STUCK = 16  # stuck searches that wait for a population: the best of them
NO_FEASIBLE = "no feasible point"


@stored
@dataclass
class Constrained(Strategy):
    """Local searches in flight, and those that have arrived and are being verified.

    Attributes:
        context: what is shared, with the constraints.
        stopping: when it is enough.
        given: points (n, d) to start from first; `told`, those that others evaluated, some of which are starts.
        width: local searches in flight, at least.
        launches, arrivals: in flight.
        stuck: local searches that ended nowhere, the best; `descents`, the population that goes on from one of them.
        descended: evaluations of these.
        counts: what came of the local searches; `bandit`, what each kind of start has brought.
        closed: starts in a row without a feasible point nearby.
        closest_yet, violation: the least violated point, and by how much, while none is feasible.
        said: why it is over.
    """

    context: Context
    stopping: Stopping
    given: Array
    width: int = STARTS.narrowest
    launches: list[Launch] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    stuck: list[Launch] = field(default_factory=list)
    descents: list[Descent] = field(default_factory=list)
    descended: int = 0
    counts: Counts = field(default_factory=Counts)
    bandit: Bandit = field(default_factory=lambda: Bandit(STARTS.first_cost))
    space_filling: SpaceFilling | Drawn = field(init=False)
    told: Told = field(init=False)
    begun: int = 0
    feasible: int = 0
    closed: int = 0
    closest_yet: Array | None = None
    violation: float = np.inf
    said: str = ""

    def __post_init__(self) -> None:
        self.told = Told(self.context.box.d)
        self.space_filling = places(self.context)

    # ---- rounds

    def ask(self) -> Request:
        while not self.said:
            self._begin_launches()
            self._begin_descent()
            points = [*(each.ask(self.context) for each in self.launches), *(each.asked for each in self.arrivals)]
            points += [each.ask(self.context) for each in self.descents]
            if sum(map(len, points)):
                self.context.count_constraints()
                return Request(np.concatenate(points), self.context.needs)
            self._settle()
        self.context.count_constraints()
        return Request(np.zeros((0, self.context.box.d)))

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = -np.asarray(evaluation.value)
        gradients = None if evaluation.gradient is None else -np.asarray(evaluation.gradient)
        hessians = None if evaluation.hessian is None else -np.asarray(evaluation.hessian)
        place = 0
        asking: list[Launch | Arrival] = [*self.launches, *self.arrivals]
        for each in asking:
            rows = slice(place, place + len(each.asked))
            place = rows.stop
            if isinstance(each, Launch) and each.stage == LOOK and each.is_fresh and not each.restarts:
                self.context.observe_level(-values[rows][:1])
            each.tell(
                self.context, values[rows], None if gradients is None else gradients[rows],
                None if hessians is None else hessians[rows],
            )  # fmt: skip
        for descent in self.descents:
            descent.tell(self.context, values[place:])
            self.descended += len(values) - place
        self._settle()
        self.context.count_constraints()

    # ---- beginning

    def _begin_launches(self) -> None:
        wide = min(max(self.width, self.counts.searches // STARTS.searches_per_width), STARTS.widest)
        while len(self.launches) + len(self.arrivals) < wide and not (self.said or self.stopping.waits):
            start, kind = self._start()
            point = nearest_feasible(self.context.constraints, start)  # type: ignore[arg-type]
            if point is None:
                self._note_closed(start)
                continue
            self.feasible, self.closed = self.feasible + 1, 0
            if kind == AT_BOUNDS:
                way = self.context.rng.standard_normal(len(point))
                point = extreme(self.context.constraints, point, way)  # type: ignore[arg-type]
            radius = STARTS.given_radius if kind == GIVEN else TUNING.first_radius
            self.launches.append(Launch(self.begun, point, kind, radius=radius))
            self.begun += 1

    def _begin_descent(self) -> None:
        """A population goes on from the best place where a local search got stuck, for half of the evaluations."""
        if self.descents or 2 * self.descended > self.context.nfev:
            return
        archive, close = self.context.archive, self.context.tolerances.close
        self.stuck = [each for each in self.stuck if archive.closest(each.point)[1] > close]
        if self.stuck:
            best = min(self.stuck, key=lambda each: each.value)
            self.stuck = [each for each in self.stuck if each is not best]
            self.descents = [Descent(best)]

    def _start(self) -> tuple[Array, str]:
        """Where the next one begins, and the kind of start: the kinds compete by what they bring."""
        if len(self.given):
            start, self.given = self.given[0], self.given[1:]
            return start, GIVEN
        if len(told := self.told.take(1)):
            return told[0], GIVEN
        kind = self.bandit.choose(self.context.rng, self._kinds())
        if kind == BETWEEN_MODES:
            if made := between_modes.draw(self.context, 1):
                return made[0].point, kind
            kind = SPACE_FILLING
        return self.space_filling.draw(1)[0], kind

    def _kinds(self) -> list[str]:
        """Kinds of starts: in extreme places where a mode is held by constraints or bounds."""
        records = self.context.archive.records
        kinds = [SPACE_FILLING]
        if self.counts.searches >= SCHEDULING.few:
            kinds += [BETWEEN_MODES] * (len(self.context.counted) >= between_modes.FEWEST)
            kinds += [AT_BOUNDS] * any(each.kind in ("constrained", "boundary") for each in records)
        return kinds

    def _note_closed(self, start: Array) -> None:
        """There was no feasible point near a start."""
        constraints = self.context.constraints
        assert constraints is not None
        self.closed += 1
        if not self.feasible:
            point = least_violated(constraints, start)
            violation = float(constraints.violation(point[None])[0])
            if violation < self.violation:
                self.closest_yet, self.violation = point, violation
            if self.closed >= TUNING.hopeless:
                self.said = f"{NO_FEASIBLE} was found near {self.closed} starts"

    # ---- ending

    def _settle(self) -> None:
        """Recognise, verify and count what has ended; see whether it is enough."""
        going: list[Launch] = []
        for launch in self.launches:
            if launch.stage == ARRIVED:
                arrival = Arrival(launch)
                arrival.begin(self.context)
                self.arrivals.append(arrival)
            elif launch.stage == LOST:
                self._ended(launch, -1)
            elif (mode := recognised(self.context, launch)) >= 0:
                self.context.archive.hit(mode)
                self._ended(launch, mode)
            else:
                going.append(launch)
        for descent in self.descents:
            if descent.is_over:
                arrival = Arrival(descent.launch)
                arrival.settle(self.context)
                self.arrivals.append(arrival)
        self.descents = [each for each in self.descents if not each.is_over]
        self.launches, waiting = going, self.arrivals
        self.arrivals = []
        for arrival in waiting:
            if arrival.stage == DONE:
                self._close(arrival)
            else:
                self.arrivals.append(arrival)
        if self.descents:
            return
        running = [each.number for each in self.launches] + [each.launch.number for each in self.arrivals]
        self.counts.barren = self.counts.since_new // (STARTS.searches_per_width * (self.context.box.d + 1))
        self.said = self.said or self.stopping.ending(self.context, self.counts, running)

    def _close(self, arrival: Arrival) -> None:
        launch, archive = arrival.launch, self.context.archive
        if arrival.verdict == ON:
            self.launches.append(launch)
        elif arrival.verdict == NEW:
            if not self._is_unknown(launch):  # found by two in one round
                self._ended(launch, archive.closest(launch.point)[0])
                return
            mode = archive.add(launch.point, -launch.value, frozen_of(self.context, arrival))
            self.counts.found(self.context.nfev, self.begun - 1)
            archive.hit(mode)
            self.bandit.succeed(launch.kind)
            self._ended(launch, mode)
        elif arrival.verdict == KNOWN:
            archive.hit(arrival.rival)
            self._ended(launch, arrival.rival)
        else:
            if np.isfinite(launch.value):
                self.stuck = sorted([*self.stuck, launch], key=lambda each: each.value)[:_STUCK]
            self._ended(launch, -1)

    def _is_unknown(self, launch: Launch) -> bool:
        return self.context.archive.closest(launch.point)[1] >= self.context.tolerances.same

    def _ended(self, launch: Launch, mode: int) -> None:
        counts = self.counts
        counts.searches += 1
        counts.since_new += 1
        counts.nowhere += mode < 0
        self.bandit.charge(launch.kind, launch.cost)
        if launch.is_fresh:
            counts.fresh.end(mode, self.context.nfev)

    # ---- how it stands

    def add_points(self, points: Array, values: Array) -> None:
        self.told.add(points, values)

    @property
    def violated(self) -> Array | None:
        return self.closest_yet if self.said.startswith(NO_FEASIBLE) else None

    @property
    def noted(self) -> dict[str, Any]:
        assert self.context.constraints is not None
        return {"constraints": self.context.constraints.m, "ncev": self.context.ncev}

    @property
    def fresh(self) -> Fresh:
        return self.counts.fresh

    @property
    def searched(self) -> tuple[int, int]:
        return self.counts.searches, self.stopping.least

    @property
    def account(self) -> str:
        counts = self.counts
        said = f"{counts.searches} local searches under constraints, which were evaluated {self.context.ncev} times"
        return said if counts.searches else ""

    @property
    def ending(self) -> str:
        return self.said
