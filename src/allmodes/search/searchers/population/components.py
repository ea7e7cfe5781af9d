"""Which components move, which are tested against a known mode, which are stopped, which have converged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import POPULATION, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Event, Recognised
from allmodes.search.searchers.population.arms import ARMS, HOP, POOL, REHEAT, ComponentStart
from allmodes.search.searchers.population.evolution import Evolution, population_size
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.tolerances import EPSILON
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

_LOOKS = (0, 2, 4)  # which of the points between: components are looked at again and again
_ROUNDED = 50.0 * EPSILON  # of a value: differences that mean nothing

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@stored
class Labels(NamedTuple):
    """What is known of K components beside their shape, (K,) each.

    Attributes:
        number: which never changes, for verdicts.
        arm: the place of the kind of start in `ARMS`; `hop`, the ticket of a hop, or -1; `target`, the value to beat.
        checks: verdicts so far that it is no optimum.
        rival: the mode on whose hill it may be, or -1: points between are asked for instead of a generation.
        is_waiting: whether it has arrived, and is paused until that is judged.
        is_over: whether it has ended. It leaves when the next points are asked for.
    """

    number: Integers
    arm: Integers
    hop: Integers
    target: Array
    checks: Integers
    rival: Integers
    is_waiting: Booleans
    is_over: Booleans


class End(NamedTuple):
    """Where a component ended, the ticket of the hop that it was, or -1, and whether that is a known mode."""

    point: Array
    value: float
    hop: int
    is_known: bool = False


@stored
@dataclass
class Components:
    """Components in flight, all of one population size.

    Attributes:
        factor: population size over the usual one.
        evolution: their shapes and how they move.
        labels: what else is known of each.
        begun: components so far; the next one's number is twice that, and one more in larger populations.
    """

    context: Context
    factor: int = 1
    evolution: Evolution = field(init=False)
    labels: Labels = field(init=False)
    begun: int = 0

    def __post_init__(self) -> None:
        d = self.context.box.d
        self.evolution = Evolution(d, self.factor * population_size(d))
        whole, fact = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        self.labels = Labels(whole, whole, whole, np.zeros(0), whole, whole, fact, fact)

    def __len__(self) -> int:
        return len(self.labels.is_over) - int(np.count_nonzero(self.labels.is_over))

    def add(self, start: ComponentStart) -> None:
        """Another component."""
        self.evolution.add(start.point, start.spread)
        new = (2 * self.begun + (self.factor > 1), ARMS.index(start.arm), start.hop, start.target, 0, -1, False, False)
        self.labels = Labels._make(np.append(column, value) for column, value in zip(self.labels, new, strict=True))
        self.begun += 1

    def ask(self) -> Array:
        """Points (N, d): generations, then those between components and modes."""
        if self.labels.is_over.any():
            kept = ~self.labels.is_over
            self.evolution.keep(kept)
            self.labels = Labels._make(column[kept] for column in self.labels)
        labels, context = self.labels, self.context
        moving, tested = np.flatnonzero(~labels.is_waiting & (labels.rival < 0)), np.flatnonzero(labels.rival >= 0)
        points = context.box.reflect(self.evolution.sample(context.rng, moving))
        if not len(tested):
            return points
        modes = context.archive.means[labels.rival[tested]]
        between = points_between(context.box, self.evolution.state.best_point[tested], modes)[:, _LOOKS]
        return np.concatenate([points, between.reshape(-1, context.box.d)])

    def tell(self, points: Array, values: Array, radius: float) -> tuple[list[Event], list[End], list[int]]:
        """Values at the points asked for, with the pool's radius.

        Returns what is to be said, where components were given up, and the evaluations by arm.
        """
        evolution, labels = self.evolution, self.labels
        moving, tested = evolution.moving, np.flatnonzero(labels.rival >= 0)
        costs = evolution.size * np.bincount(labels.arm[moving], minlength=len(ARMS))
        costs += len(_LOOKS) * np.bincount(labels.arm[tested], minlength=len(ARMS))
        told = len(moving) * evolution.size
        evolution.update(points[:told], values[:told])
        events: list[Event] = []
        ends: list[End] = []
        if len(tested):
            self._finish_tests(tested, values[told:].reshape(-1, len(_LOOKS)), events, ends)
        if len(moving):
            counted = self.context.counted
            moved = self._stop(moving, counted, radius, events, ends) if len(counted) else moving
            moved = self._arrive(moved, counted, events, ends)
            self._cut(moved, ends)
        return events, ends, costs.tolist()

    def judged(self, number: int, is_optimum: bool) -> End | None:
        """A verdict on a component that had arrived: if it is over, where it ended; else it goes on, wider."""
        labels = self.labels
        rows = np.flatnonzero((labels.number == number) & labels.is_waiting)
        if not len(rows):
            return None
        k = int(rows[0])
        labels.is_waiting[k] = False
        if is_optimum or labels.checks[k] >= TUNING.most_checks:
            return self._end(k)
        labels.checks[k] += 1
        self.evolution.go_on(k, TUNING.widen)
        return None

    def narrow(self, widest: float) -> list[Candidate]:
        """Components on their way that are narrower than this, as candidates."""
        is_wanted = (self.evolution.deviation() < widest) & ~self.labels.is_over & ~self.labels.is_waiting
        return [self._candidate(int(k)) for k in np.flatnonzero(is_wanted)]

    # ---- what ends a component

    def _finish_tests(self, tested: Indices, values: Array, events: list[Event], ends: list[End]) -> None:
        """Stop the components on the hill of a known mode, by values (n, 3) between."""
        archive, rivals = self.context.archive, self.labels.rival[tested]
        self.labels.rival[tested] = -1
        lower = np.minimum(self.evolution.state.best_value[tested], archive.values[rivals])
        is_one = is_one_hill(lower, values, self.context.tolerances.rounding())
        self._recognise(tested[is_one], rivals[is_one], events, ends)

    def _stop(self, moved: Indices, counted: Indices, radius: float, events: list[Event], ends: list[End]) -> Indices:
        """Stop components that come close to a mode, and choose those to be tested; returns the others.

        Those that start from modes, or next to one, may come as close to it as they like.
        """
        evolution, labels, context = self.evolution, self.labels, self.context
        modes, distance = nearest(context, context.box.reflect(evolution.state.mean[moved]), counted)
        limits = np.zeros(len(ARMS))
        limits[[ARMS.index(POOL), ARMS.index(REHEAT)]], limits[ARMS.index(HOP)] = (
            TUNING.stop_share * radius,
            TUNING.first_step,
        )
        is_stopped = distance < limits[labels.arm[moved]]
        self._recognise(moved[is_stopped], modes[is_stopped], events, ends)
        if context.noise > 0:
            return moved[~is_stopped]
        age = evolution.state.age[moved]
        is_due = (age > context.box.d) & (age % TUNING.look_every == 0)
        is_due &= evolution.deviation()[moved] < TUNING.apart * distance
        is_tested = ~is_stopped & (is_due | (distance < context.tolerances.same))
        if is_tested.any():
            tested = moved[is_tested]
            labels.rival[tested], _ = nearest(context, evolution.state.best_point[tested], counted)
        return moved[~is_stopped & ~is_tested]

    def _arrive(self, moved: Indices, counted: Indices, events: list[Event], ends: list[End]) -> Indices:
        """Components that have converged end, or wait for a verdict; returns the others."""
        context, value = self.context, self.evolution.state.best_value
        deviation = self.evolution.deviation()
        is_converged = self._has_converged(moved, deviation[moved])
        arrived = moved[is_converged]
        if not len(arrived):
            return moved
        modes, distance = nearest(context, self.evolution.state.best_point[arrived], counted)
        same = np.sqrt(TUNING.converged)
        if context.noise > 0:
            same = np.maximum(same, deviation[arrived] / TUNING.apart)
        is_known = distance < same
        least = context.archive.best - context.tolerances.tie if context.is_global else -np.inf
        for i, k in enumerate(arrived.tolist()):
            if value[k] == -np.inf:  # nothing but failures
                self.labels.is_over[k] = True
            elif value[k] < least:
                ends.append(self._end(k))
            elif is_known[i]:
                self._recognise(arrived[i : i + 1], modes[i : i + 1], events, ends)
            else:
                self.labels.is_waiting[k] = True
                events.append(Arrived(self._candidate(k)))
        return moved[~is_converged]

    def _has_converged(self, moved: Indices, deviation: Array) -> Booleans:
        context, state = self.context, self.evolution.state
        span, gain = (measure[moved] for measure in self.evolution.progress())
        if context.noise > 0:
            is_old = state.age[moved] > 2 * self.evolution.window
            return is_old & (gain <= context.noise)  # the last window is no better than luck
        best, age = state.best_value[moved], state.age[moved]
        is_failed = best == -np.inf
        limit = TUNING.converged * context.scale + _ROUNDED * np.abs(np.where(is_failed, 0.0, best))
        return (span <= limit) | (deviation < 10.0 * EPSILON) | (is_failed & (age > self.evolution.window))

    def _cut(self, moved: Indices, ends: list[End]) -> None:
        """Give up components that would take too long to become as good as the best."""
        context, labels, evolution = self.context, self.labels, self.evolution
        if not context.is_global or context.noise > 0 or not len(context.archive):
            return
        state, is_hop = evolution.state, labels.hop >= 0
        is_old = state.age > evolution.window * np.where(
            is_hop, 1, 2
        )  # hops are many: they are judged a window earlier
        every = TUNING.look_every
        moved = moved[is_old[moved] & (state.age[moved] % every == every // 2)]  # between two tests, which come first
        value, target, best = state.best_value[moved], labels.target[moved], context.archive.best
        is_below = is_hop[moved] & (value < target)
        gap = np.where(is_below, np.minimum(target, best), best) - value
        gain = np.maximum(evolution.progress()[1][moved], 0.0)
        is_cut = (gap > context.tolerances.tie) & (gap > np.where(is_below, TUNING.hop_cut, TUNING.cut) * gain)
        ends.extend(self._end(k) for k in moved[is_cut].tolist())

    def _recognise(self, rows: Indices, modes: Indices, events: list[Event], ends: list[End]) -> None:
        """Components ended in known modes."""
        self.labels.is_over[rows] = True
        ends.extend(self._end(k)._replace(is_known=True) for k in rows[self.labels.hop[rows] >= 0].tolist())
        events.extend(Recognised(self._origin(k), j) for k, j in zip(rows.tolist(), modes.tolist(), strict=True))

    def _end(self, k: int) -> End:
        state, labels = self.evolution.state, self.labels
        labels.is_over[k] = True
        return End(state.best_point[k].copy(), float(state.best_value[k]), int(labels.hop[k]))

    # ---- what is known of them

    def _origin(self, k: int) -> Origin:
        return Origin(POPULATION, ARMS[self.labels.arm[k]], int(self.labels.number[k]))

    def _candidate(self, k: int) -> Candidate:
        """A component as a candidate. Of a noisy function the mean is a better guess than a lucky point.

        A noisy component stops where the function changes by the noise within it: that is its curvature.
        """
        context, state, d = self.context, self.evolution.state, self.context.box.d
        factor, hessian, point = self.evolution.covariance_factor(k), np.zeros((d, d)), state.best_point[k].copy()
        if context.noise > 0:
            inverse = np.linalg.pinv(factor)
            hessian, point = -context.noise * inverse.T @ inverse, context.box.reflect(state.mean[k])
        return Candidate(
            point, float(state.best_value[k]), np.zeros(d), hessian, "component", self._origin(k),
            radius=float(self.evolution.deviation()[k]), factor=factor,
        )  # fmt: skip


def nearest(context: Context, points: Array, counted: Indices) -> tuple[Indices, Array]:
    """The nearest mode that counts to each point, and its root mean square distance; (-1, inf) without any."""
    archive, box = context.archive, context.box
    if not len(counted):
        return np.full(len(points), -1, np.intp), np.full(len(points), np.inf)
    if len(counted) == len(archive):
        return archive.nearest(points)
    apart = box.difference(points[:, None], archive.means[counted])
    squared = np.einsum("njd,njd->nj", apart, apart)
    which = squared.argmin(axis=1)
    return counted[which], np.sqrt(squared[np.arange(len(points)), which] / box.d)
