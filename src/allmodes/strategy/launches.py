"""Launches: many local ascents, each stopped as soon as it is seen to fall into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.storage import stored
from allmodes.strategy.ascents import Ascents
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.ends import FAILED, LOST, End
from allmodes.strategy.kinks import Kinks
from allmodes.strategy.lanes import Block, Flight, lanes
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search
from allmodes.strategy.settling import Settling
from allmodes.strategy.starts import BRIDGE, EVEN, GIVEN, SCREENED, Record, Sobol, Start, choose_starts, make_records
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_NEEDS: tuple[Needs, ...] = (VALUE, GRADIENT, GRADIENT | HESSIAN)
_WIDTH = (2, 256)  # launches under way at once: at first, and at most
_LAUNCHES_PER_WIDTH = 8  # another one under way for so many launches done: few see the archive later than they could
_FIRST_RADIUS = (0.02, 0.15)  # of the trust region, in units of the box
_SPACING = 0.5  # first radius over the spacing of modes: a longer step may leave the basin it begins in
_PATIENCE = 100  # launches without a new mode before a search ends: most of them cost little more than one point
_MODES = 5  # and at least so many for each mode found
_MOST_GIVEN = 20  # points evaluated by others that become starts
_RARE = 0.02  # chance of something new at which a search ends
_RUNAWAYS = 5  # launches that leave for infinity before a search gives up
_BARREN = 4  # screenings without a new mode before a search for global modes ends


@stored
@dataclass
class Launches(Strategy):
    """Trust-region ascents from evenly spread points, from shells around known modes, and from mixtures of modes.

    Attributes:
        search: what is shared.
        given: starts to be used first.
        is_plain: multistart without archive: no launch is stopped early, all start at random.
        is_passive: launch from given starts only.
        width: launches under way at once, at first and at most.
        patience: launches without a new mode before the search ends, and `persistence` evaluations, at least.
        awaited: number of the last launch that was under way when a mode was new: the search does not end before it is
            over, and all before it.
        ascents, settling: the launches under way, and what decides where they have arrived; `kinks`, how they go on
            where the function is not smooth.
        records: what each kind of start has brought.
        launches: how many have ended, `since_new` how many since the last new mode, `nowhere` how many in no mode,
            `lost` how many of these from evenly spread starts, `runaways` how many left for infinity; `stranded`, rows
            of those that ended nowhere in the round last told.
        screen: points to choose starts from when only the best modes count; `barren`, screenings without a new mode.
        overlap: how rounds may overlap: "none", "lanes", or "each" launch in a round of its own.
        flights: rounds that are not told, in the order of asking; `asked`, how many were asked for.
    """

    search: Search
    given: list[Start] = field(default_factory=list)
    is_plain: bool = False
    is_passive: bool = False
    width: tuple[int, int] = _WIDTH
    patience: int = _PATIENCE
    persistence: int = 0
    last_new: int = 0
    awaited: int = -1
    ascents: Ascents = field(init=False)
    settling: Settling = field(init=False)
    kinks: Kinks = field(init=False)
    sobol: Sobol = field(init=False)
    screen: Screen = field(init=False)
    records: list[Record] = field(default_factory=make_records)
    launches: int = 0
    since_new: int = 0
    nowhere: int = 0
    lost: int = 0
    runaways: int = 0
    barren: int = 0
    is_screening: bool = False
    overlap: str = "none"
    flights: list[Flight] = field(default_factory=list)
    asked: int = 0
    stranded: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        d = self.search.box.d
        batch = Batch.empty(d)
        self.ascents = Ascents(self.search, batch, is_early=not self.is_plain)
        self.settling = Settling(self.search, batch)
        self.kinks = Kinks(self.search, batch, self.settling)
        self.sobol = Sobol(d, int(self.search.rng.integers(2**31)))
        self.screen = Screen(np.zeros((0, d)))

    @property
    def batch(self) -> Batch:
        """The launches under way."""
        return self.ascents.batch

    # ---- asking

    @property
    def _lanes(self) -> int:
        """How many rounds may be under way."""
        if self.overlap == "none":
            return 1
        wanted, under_way = self._wanted, len(self.batch)
        if self.is_passive:
            wanted = min(wanted, under_way + len(self.given))
        width = max(wanted, under_way)
        return lanes(width) if self.overlap == "lanes" else max(1, width)

    @property
    def _wanted(self) -> int:
        """How many launches should be under way."""
        low, high = self.width
        return min(high, max(low, self.launches // _LAUNCHES_PER_WIDTH))

    @property
    def is_ready(self) -> bool:
        return not self.flights or len(self.flights) < self._lanes

    def ask(self) -> Request:
        d = self.search.box.d
        self._launch()
        if self.is_screening and all(flight.screened is None for flight in self.flights):
            points = np.stack([self.sobol.next() for _ in range(self.screen.wanted(self.search))])
            return Request(points, ticket=self._take_off([], points))
        rows_of: dict[int, list[int]] = {}
        rows = self._idle()
        for k, number in zip(rows, self.batch.phase[rows].tolist(), strict=True):
            rows_of.setdefault(number, []).append(k)
        blocks: list[Block] = []
        for number in sorted(rows_of):
            phase, group = Phase(number), np.array(rows_of[number])
            part = self.ascents if phase <= Phase.FINAL else self.settling if phase < Phase.LINE else self.kinks
            groups = np.split(group, len(group)) if phase in (Phase.FLAT, Phase.FAR, Phase.CHECK) else [group]
            blocks += [(number, group, part.points(phase, group)) for group in groups]
        if not blocks:
            return Request(np.zeros((0, d)), ticket=-1)
        points = np.concatenate([points.reshape(-1, d) for _, _, points in blocks])
        return Request(points, _NEEDS[self.search.order], self._take_off(blocks))

    def _take_off(self, blocks: list[Block], screened: Array | None = None) -> int:
        """Another round is under way; its ticket."""
        self.asked += 1
        self.flights.append(Flight(self.asked, blocks, screened))
        return self.asked

    def _idle(self) -> list[int]:
        """Launches that wait for nothing, the oldest first; no more than go into one of the rounds under way."""
        if not self.flights and self._lanes == 1:
            return self.batch.rows
        busy = {k for flight in self.flights for k in flight.rows}
        return [k for k in self.batch.rows if k not in busy][: -(-len(self.batch) // self._lanes)]

    def _launch(self) -> None:
        """Fill up with new launches."""
        bridges, self.settling.bridges = self.settling.bridges, []
        starts = [Start(point, radius, BRIDGE, number) for point, _, radius, number in bridges]
        missing = self._wanted - len(self.batch) - len(starts)
        if missing > 0:
            starts += choose_starts(self, missing)
        if starts:
            low, high = _FIRST_RADIUS
            usual = min(high, max(low, _SPACING * self.search.archive.spacing))
            radius = np.array([start.radius or usual for start in starts])
            arms, picked = np.array([start.arm for start in starts]), np.array([start.picked for start in starts])
            rows = self.batch.open(np.array([start.point for start in starts]), radius, arms, picked)
            self.batch.is_bridge[rows] = arms == BRIDGE
            if bridges:
                self.batch.along[rows[: len(bridges)]] = [along for _, along, _, _ in bridges]
            self.batch.number[rows] = self.search.paths.begin(len(rows))

    # ---- telling

    def screened(self, ticket: int) -> Array | None:
        """The points (n, d) of a round that are screened; None if it is about launches."""
        return next((flight.screened for flight in self.flights if flight.ticket == ticket), None)

    def withdraw(self, ticket: int) -> None:
        self.flights = [flight for flight in self.flights if flight.ticket != ticket]

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        flight = next(flight for flight in self.flights if flight.ticket == ticket)
        self.withdraw(ticket)
        if flight.screened is not None:
            self._told_screening(flight.screened, evaluation.value)
            return
        first, ready = 0, []
        for number, rows, points in flight.blocks:
            phase, (n, each, _) = Phase(number), points.shape
            part = slice(first, first + n * each)
            first += n * each
            self.batch.cost[rows] += each
            told = Evaluation(*[None if a is None else a[part].reshape(n, each, *a.shape[1:]) for a in evaluation])
            if phase == Phase.START:
                self.search.add_levels(told.value[:, 0][self.batch.arm[rows] == EVEN])
            if phase < Phase.FINAL:
                ready.append(self.ascents.told(phase, rows, points, told))
            elif phase < Phase.LINE:
                self.settling.told(phase, rows, points, told.value)
            else:
                self.kinks.told(phase, rows, points, told)
        self._count(self._advance(ready))

    def _told_screening(self, points: Array, values: Array) -> None:
        self.is_screening = False
        self.barren += 1
        self.search.add_levels(values)
        self.screen.add(points, values, self.search)
        self.records[SCREENED].add(False, len(values), is_launch=False)

    def _advance(self, ready: list[Rows]) -> list[int]:
        """Move launches on, in the order of launching; returns those that got lost."""
        rows = np.concatenate(ready) if len(ready) > 1 else ready[0] if ready else np.zeros(0, np.intp)
        if not len(rows):
            return []
        progress = self.ascents.advance(self.batch.in_order(rows) if len(ready) > 1 else rows)
        batch = self.batch
        for k, mode in progress.recognised:
            self.settling.ends.append(End(k, int(batch.arm[k]), int(batch.cost[k]), mode))
        for k, top, far in progress.arrived:
            self.settling.arrive(k, top, far)
        unable = [k for k in rows.tolist() if k in progress.unable] if progress.unable else []
        lost = unable + progress.lost
        kinked = [k for k in lost if self.kinks.can_begin(k)]
        if kinked:
            self.kinks.begin(np.array(kinked))
        return [k for k in lost if k not in kinked]

    def _count(self, lost: list[int]) -> None:
        """Launches that are over leave the batch."""
        settling, batch = self.settling, self.batch
        if lost:
            self.runaways += int(self.ascents.has_run_away(np.array(lost)).sum())
        for k in lost:
            if batch.arm[k] == BRIDGE:
                settling.build(k)
            else:
                mode = LOST if batch.iterations[k] else FAILED
                settling.ends.append(End(k, int(batch.arm[k]), int(batch.cost[k]), mode))
        self.stranded = [end.row for end in settling.ends if end.mode == LOST and end.row >= 0]
        for end in settling.ends:
            self._over(end)
        gone = {end.row for end in settling.ends if end.row >= 0}.union(settling.parked)
        settling.ends, settling.parked = [], []
        if gone:
            batch.close(gone)

    def _over(self, end: End) -> None:
        """Count a launch that found a new mode, fell into a known one, or got lost."""
        archive, is_even = self.search.archive, end.arm in (EVEN, SCREENED)
        self.launches += 1
        if end.is_new:
            self.since_new, self.last_new = 0, self.search.nfev
            self.awaited = int(self.batch.number[self.batch.rows].max(initial=-1))
        else:
            self.since_new += 1
        if end.mode >= 0:
            archive.hit(end.mode, is_even)
        else:
            self.nowhere += end.mode == LOST
            self.lost += is_even
        is_success = end.is_new and (
            not self.search.is_global or bool(archive.values[end.mode] >= archive.best - self.search.tie)
        )
        self.records[end.arm].add(is_success, end.cost)
        self.barren = 0 if is_success else self.barren
        if end.arm == SCREENED:
            self.screen.report(is_success)

    # ---- the rest of the protocol

    def add_points(self, points: Array, values: Array) -> None:
        """Good ones among points that others evaluated become starts."""
        good = np.flatnonzero(values > self.search.level) if len(self.search.levels) else np.arange(len(values))
        best = good[np.argsort(-values[good], kind="stable")][:_MOST_GIVEN]
        self.given += [Start(points[i], 0.0, GIVEN) for i in best if np.isfinite(values[i])]

    @property
    def lost_launches(self) -> int:
        return self.lost

    @property
    def account(self) -> str:
        return counted(self.launches, "launch", "launches")

    @property
    def ending(self) -> str:
        archive, is_early = self.search.archive, self.search.nfev - self.last_new < self.persistence
        if self.runaways >= _RUNAWAYS and self.runaways > 0.5 * self.launches and not len(archive):
            return f"{self.runaways} of {self.launches} launches ran away without end"
        if self.search.is_global:
            if is_early or self.barren <= _BARREN:
                return ""
            return f"{self.barren} screenings in a row found no new mode"
        if self.launches < self.patience or (archive.hits == 1).sum() >= _RARE * self.launches:
            return ""
        if is_early or self.since_new < max(self.patience, _MODES * len(archive)):
            return ""
        if self.batch.rows and self.batch.number[self.batch.rows].min() <= self.awaited:
            return ""  # of many that began together the quick ones say little about the others
        return f"the last {self.since_new} of {self.launches} launches found no new mode"
