"""Components of one population size: who moves, who is tested, who is stopped, who has converged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.arms import HOT, NAMES, POOL
from allmodes.strategy.archive import Found
from allmodes.strategy.evolution import Evolution
from allmodes.strategy.optimality import check_points, judge
from allmodes.strategy.search import Search

_STOP_SHARE = 0.6  # of the pool's radius: a component that comes this close to a mode is stopped
_FIRST_STOP = 2  # generations before that
_BETWEEN = 3  # points between a component and a mode that say whether they share a hill
_FIRST_TEST = 3  # generations, plus one per dimension, before the first of those tests
_TEST_EVERY = 5  # generations
_TEST_SHARE = 0.5  # of the distance to the mode: wider components are not tested
_TOUCHING = 1e-5  # distance at which a component is tested in any case
_CUT = 10.0  # a component is given up when its gap to the best exceeds this many times its last gain
_CUT_EVERY = 3  # generations
_SAME = 1e-4  # root mean square distance below which a converged component is a known mode
_CONVERGED = 1e-8  # range of a window's best values, as a share of the function's scale
_ROUNDING = 1e-14  # the same as a share of the value
_POINT_LIKE = 1e-15  # components smaller than this cannot move any more
_MOST_CHECKS = 5  # of a component that is taken for converged and is not
_WIDEN = 3.0  # its standard deviation after a failed check

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Outcome(NamedTuple):
    """What a round has brought: evaluations used per arm, arms that found modes, where components ended.

    `cool_points` and `cool_values` are local optima that are worse than the best.
    """

    costs: Floats
    successes: list[int]
    end_points: Floats
    cool_points: Floats
    cool_values: Floats


@stored
@dataclass
class Band:
    """Components that evolve with the same population size.

    Attributes:
        evolution: the components.
        tested, tested_modes: components that wait for a test against a mode each, and the modes.
        checked, checked_modes: components that wait to be verified, and the nearest mode of each (-1 without any).
    """

    search: Search
    d: int
    size: int
    evolution: Evolution = field(init=False)
    tested: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    tested_modes: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    checked: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    checked_modes: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    parts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evolution = Evolution(self.d, self.size)

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
        for k, mode in zip(self.checked, self.checked_modes, strict=True):
            means = search.archive.means
            best, mean, factor = evolution.best_point[k], evolution.mean[k], evolution.covariance_factor(k)
            groups.append(check_points(search.box, best, mean, factor, means[mode] if mode >= 0 else None))
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
        self._stop(is_over, radius)
        self._mark_tests(is_over)
        self._mark_checks(is_over, again, outcome)
        if is_over.any():
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
        evolution, search, again = self.evolution, self.search, []
        for k, mode, values in zip(self.checked.tolist(), self.checked_modes.tolist(), groups, strict=True):
            outcome.costs[evolution.arm[k]] += len(values)
            if self._nearest_mode(evolution.best_point[k])[0] != mode:
                again.append(k)  # another component has just become a mode, perhaps the same one
                continue
            best, value, factor = evolution.best_point[k], evolution.best_value[k], evolution.covariance_factor(k)
            mode_value = search.archive.values[mode] if mode >= 0 else -np.inf
            verdict = judge(search, best, float(value), evolution.mean[k], factor, float(mode_value), values)
            is_over[k] = verdict.is_optimum or evolution.checks[k] >= _MOST_CHECKS
            if not verdict.is_optimum:
                evolution.checks[k] += 1
                evolution.spread[k] *= _WIDEN
                evolution.restart_window(k)
                continue
            outcome.end_points.append(verdict.point)
            if verdict.is_known:
                search.archive.hit(mode, False)
                continue
            search.archive.hit(search.archive.add(verdict.point, verdict.value, verdict.found), False)
            outcome.successes.append(int(evolution.arm[k]))
        return again

    def _stop(self, is_over: NDArray[np.bool_], radius: float) -> None:
        """Stop the components that have come close to a mode, but for those that were launched close to one."""
        evolution = self.evolution
        self._is_near = np.full(len(evolution), -1)
        which, distance = self._nearest_modes(self.search.box.reflect(evolution.mean))
        is_stopped = (distance < _STOP_SHARE * radius) & (evolution.age >= _FIRST_STOP) & ~is_over
        is_stopped &= (evolution.arm == POOL) | (evolution.arm == HOT)
        is_over |= is_stopped
