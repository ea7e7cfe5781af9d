"""Components of one population size: who moves, who is tested, who is stopped, who has converged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.arms import HOP, NAMES
from allmodes.strategy.claims import Claims
from allmodes.strategy.evolution import Evolution
from allmodes.strategy.optimality import check_points, counted, judge
from allmodes.strategy.search import Search

_STOP_SHARE = 0.6  # of the pool's radius: a component that comes this close to a mode is stopped
_HOP_STOP = 0.02  # the same for components that hop, as a share of the box
_FIRST_STOP = 2  # generations before that
_BETWEEN = 3  # points between a component and a mode that say whether they share a hill
_FIRST_TEST = 3  # generations, plus one per dimension, before the first of those tests
_TEST_EVERY = 5  # generations
_TEST_SHARE = 0.5  # of the distance to the mode: wider components are not tested
_TOUCHING = 1e-5  # distance at which a component is tested in any case
_CUT = 10.0  # a component is given up when its gap to the best exceeds this many times its last gain
_HOP_CUT = 2.0  # the same for a component that hops, against the value it hopped from
_CUT_EVERY = 3  # generations
_SAME = 1e-4  # root mean square distance below which a converged component is a known mode
_NOISY_SAME = 2.0  # the same in standard deviations, for noisy functions
_CONVERGED = 1e-8  # range of a window's best values, as a share of the function's scale
_ROUNDING = 1e-14  # the same as a share of the value
_POINT_LIKE = 1e-15  # components smaller than this cannot move any more
_MOST_CHECKS = 5  # of a component that is taken for converged and is not
_WIDEN = 3.0  # its standard deviation after a failed check

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_NONE: Indices = np.zeros(0, np.intp)


class Cool(NamedTuple):
    """A local optimum that a component ended in, and the funnel it hopped from (-1 for none)."""

    point: Floats
    value: float
    arm: int
    origin: int


class Outcome(NamedTuple):
    """What a round has brought.

    Attributes:
        costs: evaluations used per arm.
        successes: the arms of new modes.
        ends: points where components ended, but for those stopped near a mode.
        cool: those of them that are local optima worse than the best.
        known: the funnels from which a hop ended in a known mode.
    """

    costs: Floats
    successes: list[int]
    ends: list[Floats]
    cool: list[Cool]
    known: list[int]


@stored
@dataclass
class Band:
    """Components that evolve with the same population size.

    Attributes:
        evolution: the components.
        tested, tested_modes: components that wait for a test against a mode each, and the modes.
        checked, checked_modes: components that wait to be verified, and the nearest mode of each (-1 without any).
        claims: optima that may be parts of a known mode.
    """

    search: Search
    d: int
    size: int
    evolution: Evolution = field(init=False)
    tested: Indices = field(default_factory=_NONE.copy)
    tested_modes: Indices = field(default_factory=_NONE.copy)
    checked: Indices = field(default_factory=_NONE.copy)
    checked_modes: Indices = field(default_factory=_NONE.copy)
    claims: Claims = field(init=False)
    parts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evolution, self.claims = Evolution(self.d, self.size), Claims(self.search)

    def __len__(self) -> int:
        return len(self.evolution)

    def ask(self) -> Floats:
        """Points (N, d): generations, tests, checks."""
        evolution, search = self.evolution, self.search
        is_moving = np.ones(len(evolution), np.bool_)
        is_moving[self.tested] = False
        is_moving[self.checked] = False
        groups = [search.box.reflect(evolution.sample(search.rng, np.flatnonzero(is_moving)))]
        if len(self.tested):
            start = evolution.best_point[self.tested]
            way = search.box.difference(search.archive.means[self.tested_modes], start)
            shares = np.arange(1, _BETWEEN + 1)[:, None] / (_BETWEEN + 1)
            groups.append(search.box.reflect((start[:, None] + shares * way[:, None]).reshape(-1, self.d)))
        for k, mode in zip(self.checked.tolist(), self.checked_modes.tolist(), strict=True):
            groups.append(check_points(search, evolution, k, search.archive.means[mode] if mode >= 0 else None))
        self.parts = [len(points) for points in groups]
        return np.concatenate(groups)

    def tell(self, points: Floats, values: Floats, radius: float) -> Outcome:
        """Move, test and verify; `radius` is the pool's."""
        evolution = self.evolution
        outcome = Outcome(np.zeros(len(NAMES)), [], [], [], [])
        if not len(evolution):
            return outcome
        is_over = np.zeros(len(evolution), np.bool_)
        groups = np.split(values, np.cumsum(self.parts)[:-1])
        evolution.update(points[: self.parts[0]], groups[0])
        np.add.at(outcome.costs, evolution.arm[evolution.moving], self.size)
        if len(self.tested):
            np.add.at(outcome.costs, evolution.arm[self.tested], _BETWEEN)
            self._finish_tests(groups[1], is_over)
        again = self._finish_checks(groups[len(groups) - len(self.checked) :], is_over, outcome)
        moved = self._stop(evolution.moving, is_over, radius)
        self._mark_checks(moved, again, is_over, outcome)
        self._cut(moved, is_over, outcome)
        if is_over.any():
            landed = {end.origin for end in outcome.cool}
            hopped = is_over & (evolution.arm == HOP)
            outcome.known.extend(origin for origin in evolution.origin[hopped].tolist() if origin not in landed)
            self._let_go(is_over)
        return outcome

    def _finish_tests(self, values: Floats, is_over: NDArray[np.bool_]) -> None:
        """Stop the components with no lower point between them and a mode."""
        archive = self.search.archive
        lower = np.minimum(self.evolution.best_value[self.tested], archive.values[self.tested_modes])
        rounding = _ROUNDING * np.abs(archive.best)
        is_same = (values.reshape(-1, _BETWEEN) >= lower[:, None] - rounding).all(axis=1)
        is_over[self.tested[is_same]] = True
        for mode in self.tested_modes[is_same]:
            archive.hit(int(mode), False)

    def _finish_checks(self, groups: list[Floats], is_over: NDArray[np.bool_], outcome: Outcome) -> list[int]:
        """Archive what was verified; returns the components to be checked once more, against a newer mode."""
        evolution, archive, again = self.evolution, self.search.archive, []
        for k, mode, values in zip(self.checked.tolist(), self.checked_modes.tolist(), groups, strict=True):
            outcome.costs[evolution.arm[k]] += len(values)
            if self._nearest(evolution.best_point[[k]])[0][0] != mode:
                again.append(k)  # another component has just become a mode, perhaps the same one
                continue
            height = float(archive.values[mode]) if mode >= 0 else -np.inf
            verdict = judge(self.search, evolution, k, height, values)
            if verdict.is_optimum:
                is_over[k] = True
                outcome.ends.append(verdict.point)
                factor = evolution.covariance_factor(k)
                if not verdict.is_known and self.claims.is_doubtful(verdict, factor):
                    self.claims.add(verdict, factor, int(evolution.arm[k]))
                    continue
                if not verdict.is_known:
                    mode = archive.add(verdict.point, verdict.value, verdict.found)
                    outcome.successes.append(int(evolution.arm[k]))
                archive.hit(mode, False)
            else:
                is_over[k] = evolution.checks[k] >= _MOST_CHECKS
                evolution.go_on(k, _WIDEN)
        return again

    def ask_claims(self) -> Floats:
        """Points (N, d) that settle claims: those have rounds of their own, for they take many."""
        groups = self.claims.ask()
        self.parts = [len(points) for points in groups]
        return np.concatenate([np.zeros((0, self.d)), *groups])

    def tell_claims(self, values: Floats) -> Outcome:
        """Settle claims."""
        outcome = Outcome(np.zeros(len(NAMES)), [], [], [], [])
        if not self.parts:
            return outcome
        groups = np.split(values, np.cumsum(self.parts)[:-1])
        for claim, told in zip(self.claims.waiting, groups, strict=True):
            outcome.costs[claim.arm] += len(told)
        new, known = self.claims.tell(groups)
        outcome.successes.extend(claim.arm for claim in new)
        outcome.ends.extend(claim.point for claim in known)
        return outcome

    def _stop(self, moved: Indices, is_over: NDArray[np.bool_], radius: float) -> Indices:
        """Stop components close to a mode, unless launched close to one; mark tests. Returns those that remain."""
        evolution, search = self.evolution, self.search
        self.tested, self.tested_modes = _NONE, _NONE
        if not len(moved) or not len(counted(search)):
            return moved
        modes, distance = self._nearest(search.box.reflect(evolution.mean[moved]))
        arm, age = evolution.arm[moved], evolution.age[moved]
        limit = np.array([_STOP_SHARE * radius, 0.0, 0.0, _STOP_SHARE * radius, _HOP_STOP, 0.0])  # per arm
        is_stopped = (distance < limit[arm]) & (age >= _FIRST_STOP)
        is_over[moved[is_stopped]] = True
        for mode in modes[is_stopped]:
            search.archive.hit(int(mode), False)
        if search.noise > 0:
            return moved[~is_stopped]
        old = age - (_FIRST_TEST + self.d)
        is_due = (old >= 0) & (old % _TEST_EVERY == 0) & (evolution.deviation()[moved] < _TEST_SHARE * distance)
        is_tested = ~is_stopped & (is_due | (distance < _TOUCHING))
        if is_tested.any():
            self.tested = moved[is_tested]
            self.tested_modes, _ = self._nearest(evolution.best_point[self.tested])
        return moved[~is_stopped & ~is_tested]

    def _mark_checks(self, moved: Indices, again: list[int], is_over: NDArray[np.bool_], outcome: Outcome) -> None:
        """Find the components that have converged: to a worse optimum, to a known one, or to be checked."""
        evolution, search = self.evolution, self.search
        deviation = evolution.deviation()
        ready = [*again, *moved[self._has_converged(moved, deviation[moved])].tolist()]
        checked, nearest = [], []
        for k in ready:
            point, value = evolution.best_point[k], float(evolution.best_value[k])
            if search.is_global and value < search.archive.best - search.tie:
                self._give_up(k, is_over, outcome)
                continue
            modes, distance = self._nearest(point[None])
            same = max(_SAME, _NOISY_SAME * deviation[k]) if search.noise > 0 else _SAME
            if distance[0] < same:
                is_over[k] = True
                outcome.ends.append(point)
                search.archive.hit(int(modes[0]), False)
                continue
            checked.append(k)
            nearest.append(int(modes[0]))
        self.checked, self.checked_modes = np.array(checked, np.intp), np.array(nearest, np.intp)

    def _has_converged(self, moved: Indices, deviation: Floats) -> NDArray[np.bool_]:
        search = self.search
        span, gain = (measure[moved] for measure in self.evolution.progress())
        if search.noise > 0:
            is_old = self.evolution.age[moved] > 2 * self.evolution.window
            return is_old & (gain <= search.noise)  # the last window is no better than luck
        best = self.evolution.best_value[moved]
        limit = _CONVERGED * search.scale + _ROUNDING * np.where(np.isfinite(best), np.abs(best), 0.0)
        return (span <= limit) | (deviation < _POINT_LIKE)

    def _cut(self, moved: Indices, is_over: NDArray[np.bool_], outcome: Outcome) -> None:
        """Give up components that would take too long to become as good as the best."""
        evolution, search = self.evolution, self.search
        if not search.is_global or search.noise > 0 or not len(search.archive):
            return
        is_hop = evolution.arm == HOP
        age = evolution.age - np.where(is_hop, 0, evolution.window)  # hops are many: they are judged a window earlier
        moved = moved[(age[moved] > evolution.window) & (age[moved] % _CUT_EVERY == 0) & ~is_over[moved]]
        value, target = evolution.best_value[moved], evolution.target[moved]
        gap = np.where(value < target, np.minimum(target, search.archive.best), search.archive.best) - value
        gain = np.maximum(evolution.progress()[1][moved], 0.0)
        is_cut = (gap > search.tie) & (gap > np.where(is_hop[moved] & (value < target), _HOP_CUT, _CUT) * gain)
        is_cut[np.isin(moved, self.checked)] = False
        for k in moved[is_cut]:
            self._give_up(int(k), is_over, outcome)

    def _give_up(self, k: int, is_over: NDArray[np.bool_], outcome: Outcome) -> None:
        """A component ended in a local optimum."""
        evolution = self.evolution
        is_over[k] = True
        end = Cool(
            evolution.best_point[k], float(evolution.best_value[k]), int(evolution.arm[k]), int(evolution.origin[k])
        )
        outcome.ends.append(end.point)
        outcome.cool.append(end)

    def _let_go(self, is_over: NDArray[np.bool_]) -> None:
        place = np.cumsum(~is_over) - 1
        self.evolution.keep(~is_over)
        self.tested, self.checked = place[self.tested], place[self.checked]

    def _nearest(self, points: Floats) -> tuple[Indices, Floats]:
        """The nearest mode that counts to each point, and its root mean square distance; (-1, inf) without any."""
        search = self.search
        good = counted(search)
        if not len(good):
            return np.full(len(points), -1, np.intp), np.full(len(points), np.inf)
        apart = search.box.difference(points[:, None], search.archive.means[good])
        squared = np.einsum("njd,njd->nj", apart, apart)
        which = squared.argmin(axis=1)
        return good[which], np.sqrt(squared[np.arange(len(points)), which] / self.d)
