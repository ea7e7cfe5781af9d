"""Launches: many local ascents, each stopped as soon as it is seen to fall into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.storage import stored
from allmodes.strategy.ascents import Ascents
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.ends import FAILED, LOST, End
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search
from allmodes.strategy.settling import Settling
from allmodes.strategy.starts import BRIDGE, EVEN, GIVEN, SCREENED, Record, Sobol, Start, choose_starts, make_records
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_NEEDS: tuple[Needs, ...] = (VALUE, GRADIENT, GRADIENT | HESSIAN)
_WIDTH = (2, 256)  # launches under way at once: at first, and at most
_LAUNCHES_PER_WIDTH = 8  # another one under way for so many launches done: few see the archive later than they could
_FIRST_RADIUS = 0.15  # of the trust region, in units of the box
_BRIDGE_RADIUS = 0.05
_PATIENCE = 100  # launches without a new mode before a search ends: most of them cost little more than one point
_MODES = 3  # and at least so many for each mode found
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
        ascents, settling: the launches under way, and what decides where they have arrived.
        records: what each kind of start has brought.
        launches: how many have ended, `since_new` how many since the last new mode, `nowhere` how many in no mode,
            `lost` how many of these from evenly spread starts, `runaways` how many left for infinity.
        screen: points to choose starts from when only the best modes count; `barren`, screenings without a new mode.
    """

    search: Search
    given: list[Start] = field(default_factory=list)
    is_plain: bool = False
    is_passive: bool = False
    width: tuple[int, int] = _WIDTH
    patience: int = _PATIENCE
    persistence: int = 0
    last_new: int = 0
    ascents: Ascents = field(init=False)
    settling: Settling = field(init=False)
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
    asked: Array = field(init=False)
    blocks: list[tuple[int, NDArray[np.intp], Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        d = self.search.box.d
        nothing = np.zeros(0, np.int64)
        batch = Batch.at(np.zeros((0, d)), np.zeros(0), nothing, nothing)
        self.ascents = Ascents(self.search, batch, is_early=not self.is_plain)
        self.settling = Settling(self.search, batch)
        self.sobol = Sobol(d, int(self.search.rng.integers(2**31)))
        self.screen, self.asked = Screen(np.zeros((0, d))), np.zeros((0, d))

    @property
    def batch(self) -> Batch:
        """The launches under way."""
        return self.ascents.batch

    # ---- asking

    def ask(self) -> Request:
        d = self.search.box.d
        self._launch()
        if self.is_screening:
            self.asked = np.stack([self.sobol.next() for _ in range(self.screen.wanted(self.search))])
            return Request(self.asked)
        phases = self.batch.phase
        self.blocks = []
        for number in np.unique(phases):
            phase, rows = Phase(number), np.flatnonzero(phases == number)
            part = self.ascents if phase <= Phase.FINAL else self.settling
            groups = np.split(rows, len(rows)) if phase in (Phase.FLAT, Phase.FAR) else [rows]
            self.blocks += [(int(number), group, part.points(phase, group)) for group in groups]
        if not self.blocks:
            return Request(np.zeros((0, d)))
        points = np.concatenate([points.reshape(-1, d) for _, _, points in self.blocks])
        return Request(points, _NEEDS[self.search.order])

    def _launch(self) -> None:
        """Fill up with new launches."""
        starts = [Start(point, _BRIDGE_RADIUS, BRIDGE, number) for point, number in self.settling.bridges]
        self.settling.bridges = []
        low, high = self.width
        missing = min(high, max(low, self.launches // _LAUNCHES_PER_WIDTH)) - len(self.batch)
        if missing > len(starts):
            starts += choose_starts(self, missing - len(starts))
        if starts:
            radius = np.array([start.radius or _FIRST_RADIUS for start in starts])
            arms, picked = (np.array([getattr(start, name) for start in starts]) for name in ("arm", "picked"))
            new = Batch.at(np.array([start.point for start in starts]), radius, arms, picked)
            new.is_bridge[:] = arms == BRIDGE
            new.number[:] = self.search.paths.begin(len(new))
            self.batch.join(new)

    # ---- telling

    def tell(self, evaluation: Evaluation) -> None:
        if self.is_screening:
            self._told_screening(evaluation.value)
            return
        first, ready, lost = 0, [], []
        for number, rows, points in self.blocks:
            phase, (n, each, _) = Phase(number), points.shape
            part = slice(first, first + n * each)
            first += n * each
            self.batch.cost[rows] += each
            told = Evaluation(*(None if a is None else a[part].reshape(n, each, *a.shape[1:]) for a in evaluation))
            if phase == Phase.START:
                self.search.add_levels(told.value[:, 0][self.batch.arm[rows] == EVEN])
            if phase < Phase.FINAL:
                able, unable = self.ascents.told(phase, rows, points, told)
                ready.append(able)
                lost += unable.tolist()
            else:
                self.settling.told(phase, rows, points, told.value)
        rows = np.sort(np.concatenate(ready)) if ready else np.zeros(0, np.intp)
        if len(rows):
            lost += self._advance(rows)
        batch = self.batch
        self._count(
            [End(k, int(batch.arm[k]), int(batch.cost[k]), LOST if batch.iterations[k] else FAILED) for k in lost]
        )

    def _told_screening(self, values: Array) -> None:
        self.is_screening = False
        self.barren += 1
        self.search.add_levels(values)
        self.screen.add(self.asked, values, self.search)
        self.records[SCREENED].add(False, len(values), is_launch=False)

    def _advance(self, rows: NDArray[np.intp]) -> list[int]:
        """Move launches on; returns those that got lost."""
        progress = self.ascents.advance(rows)
        batch = self.batch
        for k, mode in progress.recognised:
            self.settling.ends.append(End(k, int(batch.arm[k]), int(batch.cost[k]), mode))
        for k, top, far in progress.arrived:
            self.settling.arrive(k, top, far)
        return progress.lost

    def _count(self, lost: list[End]) -> None:
        """Launches that are over leave the batch."""
        settling, batch = self.settling, self.batch
        gone = np.zeros(len(batch), bool)
        if lost:
            self.runaways += int(self.ascents.has_run_away(np.array([end.row for end in lost])).sum())
        for end in lost:
            if end.arm == BRIDGE:
                settling.build(end.row)
            else:
                settling.ends.append(end)
        for end in settling.ends:
            if end.row >= 0:
                gone[end.row] = True
            self._over(end)
        gone[settling.parked] = True
        settling.ends, settling.parked = [], []
        if gone.any():
            batch.keep(~gone)

    def _over(self, end: End) -> None:
        """Count a launch that found a new mode, fell into a known one, or got lost."""
        archive, is_even = self.search.archive, end.arm in (EVEN, SCREENED)
        self.launches += 1
        if end.is_new:
            self.since_new, self.last_new = 0, self.search.nfev
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
        return f"{self.launches} launches"

    @property
    def ending(self) -> str:
        archive = self.search.archive
        if self.runaways >= _RUNAWAYS and self.runaways > 0.5 * self.launches and not len(archive):
            return f"{self.runaways} of {self.launches} launches ran away without end"
        if self.search.is_global:
            if self.barren <= _BARREN or self.search.nfev - self.last_new < self.persistence:
                return ""
            return f"{self.barren} screenings in a row found no new mode"
        if self.launches < self.patience or (archive.hits == 1).sum() >= _RARE * self.launches:
            return ""
        if self.since_new < max(self.patience, _MODES * len(archive)):
            return ""
        if self.search.nfev - self.last_new < self.persistence:
            return ""
        return f"the last {self.since_new} of {self.launches} launches found no new mode"
