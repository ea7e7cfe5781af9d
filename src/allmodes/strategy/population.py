"""Search by values alone: populations that evolve, launched where nothing is known yet and stopped where something is.

One round asks for the next generation of every component, and for whatever single points decide about starts, about
components that may be on a known hill, and about those that have converged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy import probes
from allmodes.strategy.arms import BUD, DIFF, HOP, HOT, POOL, STRAND, Arms
from allmodes.strategy.band import Band, Cool
from allmodes.strategy.evolution import population_size
from allmodes.strategy.funnels import APART, Funnels
from allmodes.strategy.optimality import counted
from allmodes.strategy.pool import CYCLE, Pool
from allmodes.strategy.search import Search
from allmodes.strategy.strands import Strands
from allmodes.strategy.strategy import Request, Strategy

_HORIZON = 0.05  # share of the budget over which the bandit forgets
_FIRST_RAY = 0.02  # first step of a ray, before the mode has taught a better one
_LEARNT_RAY = 0.3  # the next ray begins at this share of the length at which the last one rose again
_TRIES = 20  # of a probe that leaves the bounds at once, before the pool is asked instead
_FEWEST_MODES = 3  # for probes between modes
_HOT_FACTOR = 10  # population size of reheated components, in ordinary ones
_HOT_SPREAD = 0.1
_MOST_HOT = 2  # at once
_MOST_KEPT = 50  # local optima that wait to be reheated
_HOT_APART = 0.3  # of the pool's radius, between a reheated component and every mode

Floats = NDArray[np.float64]


@stored
@dataclass
class Population(Strategy):
    """Components launched from a pool of even points, from rays and mixes of known modes, and from local optima.

    Args:
        search: what all ways of searching share.
        slots: components and probes alive at once.
        pool_share: of all evaluations, spent on evenly spread points at least; more of them only take from hops.
        is_endless: go on until the budget is used, also when nothing new turns up.
    """

    search: Search
    slots: int = 16
    pool_share: float = 0.1
    is_endless: bool = False
    pool: Pool = field(init=False)
    arms: Arms = field(init=False)
    bands: list[Band] = field(init=False)
    funnels: Funnels = field(init=False)
    strands: Strands = field(init=False)
    pending: list[probes.Probe] = field(default_factory=list)
    rays: Floats = field(default_factory=lambda: np.zeros(0))
    buds: Floats = field(default_factory=lambda: np.zeros(0))
    cool_points: Floats = field(init=False)
    cool_values: Floats = field(default_factory=lambda: np.zeros(0))
    asked: Floats = field(init=False)
    parts: list[int] = field(default_factory=list)
    last_success: int = 0
    is_claiming: bool = False
    is_reviewed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        d = self.search.box.d
        size = population_size(d)
        self.pool, self.funnels = Pool(self.search.box), Funnels(self.search.box)
        self.strands = Strands(self.search.box)
        self.arms = Arms(_HORIZON * self.search.maxfev)
        self.bands = [Band(self.search, d, size), Band(self.search, d, _HOT_FACTOR * size)]
        self.cool_points, self.asked = np.zeros((0, d)), np.zeros((0, d))

    @property
    def ending(self) -> str:
        """Why the search is over; empty while it goes on."""
        if self.is_endless or self.pool.round - self.last_success <= CYCLE:
            return ""
        return f"no new mode in a whole cycle of {CYCLE} rounds of population launches at ever closer distances"

    @property
    def successes(self) -> float:
        """New modes found lately: discounted, to be divided by `evaluations`."""
        return float(self.arms.successes.sum())

    @property
    def evaluations(self) -> float:
        """Evaluations made lately, discounted."""
        return float(self.arms.evaluations.sum())

    def add_points(self, points: Floats, values: Floats) -> None:
        """Points (n, d) in unit coordinates that were evaluated by others: more to choose starts from."""
        self.pool.add(points, values)

    def ask(self) -> Request:
        """The points of the next round."""
        self._review()
        self.is_claiming = any(len(band.claims) for band in self.bands)
        if self.is_claiming:
            groups = [np.zeros((0, self.search.box.d)), *(band.ask_claims() for band in self.bands)]
        else:
            new = self._fill()
            self._reheat()
            groups = [new, *(band.ask() for band in self.bands)]
        if self.pending and not self.is_claiming:
            groups.append(np.stack([probe.wanted(self.search.box) for probe in self.pending]))
        self.parts = [len(points) for points in groups]
        self.asked = np.concatenate(groups)
        return Request(self.asked)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        """Move everything by what came of the points last asked for."""
        values = np.asarray(evaluation.value)
        ends = np.cumsum(self.parts)
        groups = np.split(values, ends[:-1])
        points = np.split(self.asked, ends[:-1])
        if self.parts[0]:
            self._grow(points[0], groups[0])
        for i, band in enumerate(self.bands):
            self._tell_band(band, points[1 + i], groups[1 + i])
        if self.pending and not self.is_claiming:
            self._tell_probes(groups[-1])

    def _review(self) -> None:
        """Modes that launches found or moved are compared with those of their height."""
        archive = self.search.archive
        self.is_reviewed = np.append(self.is_reviewed, np.zeros(len(archive) - len(self.is_reviewed), np.bool_))
        for mode in np.flatnonzero(~self.is_reviewed).tolist():
            if archive.found[mode].source != "component":
                self.is_reviewed[mode] = True
                self.bands[0].claims.review(mode, POOL)

    # ---- launches

    def _fill(self) -> Floats:
        """Launch into the free slots; returns new points for the pool, if it has run out of starts."""
        band = self.bands[0]
        good = self.search_modes()
        while len(band) + len(self.pending) < self.slots:
            arm = self.arms.choose(self.search.rng, self._open_arms(len(good)))
            if arm == HOP:
                point, spread, target, funnel = self.funnels.hop(self.search.rng, self.search.archive.best)
                band.evolution.add(point, spread, HOP, target, funnel)
                continue
            if arm == STRAND:
                self._launch_strand(good)
                continue
            probe = self._probe(arm, good) if arm != POOL else None
            if probe is not None:
                self.pending.append(probe)
                continue
            start = self.pool.take()
            if start is None:
                return self.pool.draw(self.search.rng, int(self.pool_share * self.search.nfev))
            band.evolution.add(start[0], start[1], POOL)
        return np.zeros((0, self.search.box.d))

    def _launch_strand(self, good: NDArray[np.intp]) -> None:
        """Launch where a launch with slopes got stuck."""
        archive = self.search.archive
        start = self.strands.take(archive.means[good], archive.values[good])
        if start is not None:
            self.bands[0].evolution.add(start[0], start[1], STRAND)

    def _open_arms(self, modes: int) -> list[int]:
        arms = [POOL]
        if modes >= _FEWEST_MODES:
            arms += [BUD, DIFF]
        if len(self.funnels):
            arms.append(HOP)
        if self.strands.is_open:
            arms.append(STRAND)
        return arms

    def _probe(self, arm: int, good: NDArray[np.intp]) -> probes.Probe | None:
        rng, box, archive = self.search.rng, self.search.box, self.search.archive
        for _ in range(_TRIES):
            if arm == DIFF:
                probe = probes.mix(rng, box, archive.means[good])
            else:
                mode = int(good[np.argmin(self.buds[good] + 0.9 * rng.random(len(good)))])  # the least tried, at random
                self.buds[mode] += 1
                probe = probes.ray(rng, box, mode, archive.means[mode], float(archive.values[mode]), self.rays[mode])
            if probe is not None:
                return probe
            self.arms.charge(arm, 1)
        return None

    def _reheat(self) -> None:
        """Launch the best local optimum again with a larger population, where that pays better than the pool."""
        band, search = self.bands[1], self.search
        if not len(self.cool_values) or len(band) >= _MOST_HOT:
            return
        if len(search.archive) and self.arms.rates[HOT] <= self.arms.rates[POOL]:
            return
        best = int(self.cool_values.argmax())
        point = self.cool_points[best]
        self.cool_values = np.delete(self.cool_values, best)
        self.cool_points = np.delete(self.cool_points, best, axis=0)
        good = self.search_modes()
        if not len(good) or search.archive.nearest(point[None])[1][0] > _HOT_APART * self.pool.radius:
            band.evolution.add(point, _HOT_SPREAD, HOT)

    def search_modes(self) -> NDArray[np.intp]:
        """Numbers of the modes that count: all, or those as good as the best."""
        search = self.search
        new = len(search.archive) - len(self.rays)
        if new > 0:
            self.rays = np.append(self.rays, np.full(new, _FIRST_RAY))
            self.buds = np.append(self.buds, np.zeros(new))
        return counted(search)

    # ---- what came of them

    def _grow(self, points: Floats, values: Floats) -> None:
        self.search.add_levels(values)
        self.pool.add(points, values)
        self.pool.begin_round(self.search.archive.means[self.search_modes()])
        self.arms.charge(POOL, len(values))

    def _tell_band(self, band: Band, points: Floats, values: Floats) -> None:
        known = len(self.search.archive)
        outcome = band.tell_claims(values) if self.is_claiming else band.tell(points, values, self.pool.radius)
        for arm, evaluations in enumerate(outcome.costs):
            if evaluations:
                self.arms.charge(arm, evaluations)
        for arm in outcome.successes:
            self.arms.succeed(arm)
            self.last_success = self.pool.round
        self.pool.exclude(self.search.archive.means[known:])
        if outcome.ends:
            self.pool.exclude(np.stack(outcome.ends))
        for mode in self.search.archive.means[known:]:
            self.funnels.exclude(mode)
        for end in outcome.cool:
            self._keep_cool(end)
        for funnel in outcome.known:
            self.funnels.doubt(funnel)

    def _keep_cool(self, end: Cool) -> None:
        """A local optimum: worth hopping from, and worth a larger population."""
        good = self.search_modes()
        apart = self.search.box.difference(self.search.archive.means[good], end.point)
        is_apart = not len(good) or bool(np.sqrt((apart**2).mean(axis=1)).min() > APART)
        if end.arm == HOP and is_apart:
            self.funnels.land(end.origin, end.point, end.value, self.search.archive.best)
        elif end.arm == HOP:
            self.funnels.doubt(end.origin)
        elif is_apart:
            self.funnels.add(end.point, end.value)
        if end.arm not in (HOT, HOP):
            values = np.append(self.cool_values, end.value)
            points = np.concatenate([self.cool_points, end.point[None]])
            order = np.argsort(-values, kind="stable")[:_MOST_KEPT]
            self.cool_values, self.cool_points = values[order], points[order]

    def _tell_probes(self, values: Floats) -> None:
        search = self.search
        good = self.search_modes()
        modes, heights = search.archive.means[good], search.archive.values[good]
        for probe, value in zip(self.pending, values, strict=True):
            was_ray = probe.stage == probes.RAY
            probe.go_on(float(value), search.box, modes, heights)
            self.arms.charge(probe.arm, 2 if probe.stage == probes.FAILED else 1)
            if was_ray and probe.stage == probes.VALLEY:
                self.rays[probe.mode] = 0.5 * (self.rays[probe.mode] + _LEARNT_RAY * probe.length)
            if probe.stage == probes.READY or (probe.stage == probes.VALLEY and search.noise > 0):
                self.bands[0].evolution.add(probe.point, probe.spread, probe.arm)
                probe.stage = probes.FAILED
        self.pending = [probe for probe in self.pending if probe.stage != probes.FAILED]
