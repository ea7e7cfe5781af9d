"""Which components move, which are tested against a known mode, which are stopped, which have converged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import POPULATION, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Event, Recognised
from allmodes.search.searchers.population.captures import CHECKED, Captures
from allmodes.search.searchers.population.evolution import Evolution, population_size
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.tolerances import EPSILON
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

POOL, RAY, MIX, HOP, REHEAT = ARMS = ("pool", "ray", "mix", "hop", "reheat")  # kinds of starts

_DRAWN_IN = (ARMS.index(POOL), ARMS.index(REHEAT))  # starts that are to end far from known modes
_TESTED = (0, 2, 4)  # which of the points between a component and a mode are evaluated: tests are frequent
_ROUNDED = 50.0 * EPSILON  # of a value: smaller differences may be rounding

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@stored
class ComponentStart(NamedTuple):
    """Where a component begins."""

    point: Array  # its mean (d,)
    spread: float  # its standard deviation
    arm: str  # the kind of start
    target: float = np.inf  # the value that a hop is to beat
    hop: int = -1  # the funnel that it hops from, if it does


@stored
class Labels(NamedTuple):
    """What is known of K components besides their shapes, (K,) each."""

    number: Integers  # never changes, for verdicts
    arm: Integers  # the place of the kind of start in `ARMS`
    hop: Integers  # the funnel that it hops from, or -1
    target: Array  # the value that a hop is to beat
    rival: Integers  # the mode on whose hill it may be, or -1: then points between are wanted, not a generation
    is_waiting: Booleans  # it has arrived, and waits for the verdict
    is_over: Booleans  # it has ended, and leaves when the next points are asked for
    closest: Array  # how close it has come to a mode
    passed: Integers  # which that was, or -1


class End(NamedTuple):
    """Where a component ended at no known mode, and the funnel that it had hopped from, or -1."""

    point: Array
    value: float
    hop: int


@stored
@dataclass
class Components:
    """Components in flight, all of one population size."""

    context: Context
    factor: int = 1  # population size over the usual one
    member: str = POPULATION  # whose they are
    evolution: Evolution = field(init=False)  # their shapes and how they move
    labels: Labels = field(init=False)
    begun: int = 0  # components so far, which is the next one's number
    captures: Captures = field(default_factory=Captures)  # from how far modes draw those of the pool in

    def __post_init__(self) -> None:
        d = self.context.box.d
        self.evolution = Evolution(d, self.factor * population_size(d))
        whole, fact = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        self.labels = Labels(whole, whole, whole, np.zeros(0), whole, fact, fact, np.zeros(0), whole)

    def __len__(self) -> int:
        return int(np.count_nonzero(~self.labels.is_over))

    def add(self, start: ComponentStart) -> None:
        """Another component."""
        self.evolution.add(start.point, start.spread)
        new = (self.begun, ARMS.index(start.arm), start.hop, start.target, -1, False, False, np.inf, -1)
        self.labels = Labels._make(np.append(column, value) for column, value in zip(self.labels, new, strict=True))
        self.begun += 1

    def running(self, arm: str) -> int:
        """How many have begun by this kind of start and not ended."""
        return int(np.count_nonzero(~self.labels.is_over & (self.labels.arm == ARMS.index(arm))))

    def ask(self) -> Array:
        """Points (N, d): generations, then those between components and modes."""
        kept = ~self.labels.is_over
        if not kept.all():
            self.evolution.keep(kept)
            self.labels = Labels._make(column[kept] for column in self.labels)
        context, rival = self.context, self.labels.rival
        moving, tested = self._free(np.arange(len(rival))), np.flatnonzero(rival >= 0)
        points = context.box.reflect(self.evolution.sample(context.rng, moving))
        modes = context.archive.means[rival[tested]]
        between = points_between(context.box, self.evolution.state.best_point[tested], modes)[:, _TESTED]
        return np.concatenate([points, between.reshape(-1, context.box.d)])

    def tell(self, points: Array, values: Array, radius: float) -> tuple[list[Event], list[End], list[int]]:
        """Values at the points asked for, with the pool's radius.

        Returns what is to be said, where components were given up, and the evaluations by arm.
        """
        evolution, labels = self.evolution, self.labels
        moving, tested = evolution.moving, np.flatnonzero(labels.rival >= 0)
        costs = evolution.size * np.bincount(labels.arm[moving], minlength=len(ARMS))
        costs += len(_TESTED) * np.bincount(labels.arm[tested], minlength=len(ARMS))
        told = len(moving) * evolution.size
        evolution.update(points[:told], values[:told])
        events = self._finish_tests(tested, values[told:].reshape(-1, len(_TESTED)))
        events += self._stop(moving, radius)
        arrivals, ends = self._arrive(self._free(moving))
        return events + arrivals, ends + self._cut(self._free(moving)), costs.tolist()

    def judged(self, number: int) -> Array | None:
        """There is a verdict on a component that had arrived, which ends it; returns where it was."""
        rows = np.flatnonzero((self.labels.number == number) & self.labels.is_waiting)
        if not len(rows):
            return None
        self.labels.is_waiting[rows], self.labels.is_over[rows] = False, True
        return self.evolution.state.best_point[rows[0]]

    def narrow(self, widest: float) -> list[Candidate]:
        """Components on their way that are narrower than this, as candidates."""
        rows = self._free(np.flatnonzero(self.evolution.deviation() < widest))
        return [self._candidate(k) for k in rows.tolist()]

    # ---- what ends a component

    def _free(self, rows: Indices) -> Indices:
        """Those of the rows that may move."""
        labels = self.labels
        return rows[~(labels.is_over | labels.is_waiting | (labels.rival >= 0))[rows]]

    def _finish_tests(self, tested: Indices, values: Array) -> list[Event]:
        """Stop the components on the hill of a known mode, by values (n, 3) between."""
        archive, rivals = self.context.archive, self.labels.rival[tested]
        self.labels.rival[tested] = -1
        lower = np.minimum(self.evolution.state.best_value[tested], archive.values[rivals])
        is_one = is_one_hill(lower, values, self.context.tolerances.rounding())
        return self._recognise(tested[is_one], rivals[is_one])

    def _stop(self, moved: Indices, radius: float) -> list[Event]:
        """Stop components that come close to a mode, and choose those to be tested.

        Those that start from modes, or next to one, may come as close to it as they like.
        """
        state, context = self.evolution.state, self.context
        if not len(context.counted):
            return []
        modes, distance = nearest(context, context.box.reflect(state.mean[moved]))
        limit = {POOL: TUNING.apart * radius, REHEAT: TUNING.apart * radius, HOP: TUNING.first_step}
        reach = np.array([limit.get(arm, 0.0) for arm in ARMS])[self.labels.arm[moved]]
        is_stopped = distance < np.maximum(reach, self._captured(moved, modes, distance))
        if context.noise == 0:
            age = state.age[moved]
            is_due = (age > context.box.d) & (age % TUNING.test_every == 0)
            is_due &= self.evolution.deviation()[moved] < TUNING.apart * distance
            tested = moved[~is_stopped & (is_due | (distance < context.tolerances.same))]
            self.labels.rival[tested], _ = nearest(context, state.best_point[tested])
        return self._recognise(moved[is_stopped], modes[is_stopped])

    def _captured(self, moved: Indices, modes: Indices, distance: Array) -> Array:
        """How close these may come to modes, as others ended there; one in four runs on, to learn from."""
        labels = self.labels
        is_closer = distance < labels.closest[moved]
        labels.closest[moved[is_closer]], labels.passed[moved[is_closer]] = distance[is_closer], modes[is_closer]
        is_usual = np.isin(labels.arm[moved], _DRAWN_IN) & (labels.number[moved] % CHECKED != 0)
        return np.where(is_usual, self.captures.of(modes), 0.0)

    def _learn(self, rows: Indices, modes: Indices) -> None:
        """Components end in these modes, or in none that was known (-1)."""
        labels = self.labels
        for k, mode in zip(rows.tolist(), modes.tolist(), strict=True):
            if labels.arm[k] in _DRAWN_IN and labels.number[k] % CHECKED == 0:
                self.captures.end(mode, int(labels.passed[k]), float(labels.closest[k]))

    def _arrive(self, moved: Indices) -> tuple[list[Event], list[End]]:
        """Components that have converged end, or wait for a verdict."""
        context, state = self.context, self.evolution.state
        deviation = self.evolution.deviation()
        arrived = moved[self._has_converged(moved, deviation[moved])]
        value, (modes, distance) = state.best_value[arrived], nearest(context, state.best_point[arrived])
        same = deviation[arrived] / TUNING.apart if context.noise > 0 else np.sqrt(TUNING.converged)
        is_failed = value == -np.inf  # nothing but failures
        is_worse = ~is_failed & context.is_global & (value < context.archive.best - context.tolerances.tie)
        is_known = ~is_failed & ~is_worse & (distance < same)
        waiting = arrived[~(is_failed | is_worse | is_known)]
        self.labels.is_over[arrived[is_failed]], self.labels.is_waiting[waiting] = True, True
        self._learn(waiting, np.full(len(waiting), -1))
        events = self._recognise(arrived[is_known], modes[is_known])
        events += [Arrived(self._candidate(k)) for k in waiting.tolist()]
        return events, self._end(arrived[is_worse])

    def _has_converged(self, moved: Indices, deviation: Array) -> Booleans:
        context, state = self.context, self.evolution.state
        span, gain = (measure[moved] for measure in self.evolution.progress())
        if context.noise > 0:
            is_old = state.age[moved] > 2 * self.evolution.window
            return is_old & (gain <= context.noise)  # the gain of the last window may be chance
        best, age = state.best_value[moved], state.age[moved]
        is_failed = best == -np.inf
        limit = TUNING.converged * context.scale + _ROUNDED * np.abs(np.where(is_failed, 0.0, best))
        return (span <= limit) | (deviation < 10.0 * EPSILON) | (is_failed & (age > self.evolution.window))

    def _cut(self, moved: Indices) -> list[End]:
        """Give up components that would take too long to become as good as the best, or as where they hopped from.

        Large ones are only when they are narrow: over ripples their best values rise late.
        """
        context, state, every = self.context, self.evolution.state, TUNING.test_every
        if not context.is_global or context.noise > 0 or not len(context.archive):
            return []
        is_due = state.age[moved] % every == every // 2  # between two tests, which come first
        moved = moved[is_due & (state.age[moved] > self.evolution.window)]
        if self.factor > 1:
            moved = moved[self.evolution.deviation()[moved] < TUNING.first_step]
        gap = np.minimum(self.labels.target[moved], context.archive.best) - state.best_value[moved]
        needed = TUNING.cut * self.evolution.progress()[1][moved]
        return self._end(moved[gap > np.maximum(context.tolerances.tie, needed)])

    def _recognise(self, rows: Indices, modes: Indices) -> list[Event]:
        """Components ended in known modes."""
        self._learn(rows, modes)
        self.labels.is_over[rows] = True
        return [Recognised(self._origin(k), j) for k, j in zip(rows.tolist(), modes.tolist(), strict=True)]

    def _end(self, rows: Indices) -> list[End]:
        """Components ended elsewhere."""
        self._learn(rows, np.full(len(rows), -1))
        state, labels = self.evolution.state, self.labels
        labels.is_over[rows] = True
        return [End(state.best_point[k].copy(), float(state.best_value[k]), int(labels.hop[k])) for k in rows.tolist()]

    # ---- what is known of them

    def _origin(self, k: int) -> Origin:
        return Origin(self.member, ARMS[self.labels.arm[k]], int(self.labels.number[k]))

    def _candidate(self, k: int) -> Candidate:
        """A component as a candidate. For a noisy function the mean is a better guess than a lucky point.

        A noisy component stops where the function changes by the noise within it: that is its curvature.
        """
        context, state, d = self.context, self.evolution.state, self.context.box.d
        factor, hessian, point = state.spread[k] * state.factor[k], np.zeros((d, d)), state.best_point[k].copy()
        if context.noise > 0:
            inverse = np.linalg.pinv(factor)
            hessian, point = -context.noise * inverse.T @ inverse, context.box.reflect(state.mean[k])
        return Candidate(
            point, float(state.best_value[k]), np.zeros(d), hessian, "component", self._origin(k),
            radius=float(self.evolution.deviation()[k]), factor=factor,
        )  # fmt: skip


def nearest(context: Context, points: Array) -> tuple[Indices, Array]:
    """The nearest mode that counts to each point, and its root mean square distance; (-1, inf) without any."""
    archive, box, counted = context.archive, context.box, context.counted
    if not len(counted):
        return np.full(len(points), -1, np.intp), np.full(len(points), np.inf)
    if len(counted) == len(archive):
        return archive.nearest(points)
    apart = box.difference(points[:, None], archive.means[counted])
    squared = np.einsum("njd,njd->nj", apart, apart)
    which = squared.argmin(axis=1)
    return counted[which], np.sqrt(squared[np.arange(len(points)), which] / box.d)
