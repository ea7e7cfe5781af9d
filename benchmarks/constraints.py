"""Constraints: the known minima found at equal evaluations, beside multistart SLSQP, SHGO and multistart COBYQA.

    python benchmarks/constraints.py --runs 1 --first-seed 100

Points at which the objective is asked for anything are counted once, for value and gradient together; constraints are
free. Multistart begins at random points of the box; its ends count if they are feasible, and its list of
answers is the ends that are told apart. SHGO samples as much as the evaluations allow (`sobol`, polished by SLSQP).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, shgo

from allmodes import find_minima
from allmodes.problems import ConstrainedProblem, constrained_problems
from results import BEYOND, Cell, Results, arguments, digits, seeds_of

Floats = NDArray[np.float64]

BUDGETS = {False: 100, True: 40}  # evaluations for each coordinate and one more, from values and with gradients
SAME = 1e-3  # of the bounds: two places are one
FEASIBLE = 1e-5  # of the rows, times their size: what SLSQP takes for feasible
MOST_MINIMA = 100  # more would need more evaluations
SLOW = 3  # coordinates: SHGO and COBYQA are left out above
NOTE = (
    "Found: the mean share of the known local minima, in %, after 100 (d + 1) evaluations from values, 40 (d + 1) with "
    "gradients. Half, all: after how many evaluations half and all of them were found, the median of the runs. False: "
    "answers that are no known minimum, the mean. Constraints are not counted."
)


class Spent(Exception):  # noqa: N818  (not an error)
    """No evaluation is left."""


class Told(NamedTuple):
    """What a method found: its answers (n, d), and after how many evaluations each."""

    points: Floats
    at: Floats


class Counted:
    """The objective, evaluated as often as the budget allows; value and gradient at one point are one evaluation."""

    def __init__(self, problem: ConstrainedProblem, most: int) -> None:
        self.problem, self.most, self.spent = problem, most, 0
        self._last = b""

    def _count(self, x: Floats) -> None:
        if x.tobytes() != self._last:
            if self.spent >= self.most:
                raise Spent
            self.spent, self._last = self.spent + 1, x.tobytes()

    def value(self, x: Any) -> float:
        self._count(np.asarray(x))
        found = float(self.problem.value(np.asarray(x)))
        return found if np.isfinite(found) else 1e10

    def gradient(self, x: Any) -> Floats:
        self._count(np.asarray(x))
        return np.nan_to_num(self.problem.gradient(np.asarray(x)))


def ours(problem: ConstrainedProblem, seed: int, has_gradient: bool, most: int) -> Told:
    """find_minima."""
    jac = problem.gradient if has_gradient else None
    result = find_minima(problem.value, problem.bounds, jac=jac, constraints=problem.constraints, rng=seed, maxfev=most)
    return Told(np.array([mode.x for mode in result.modes]), np.array([mode.found_at for mode in result.modes]))


def multistart(method: str) -> Callable[[ConstrainedProblem, int, bool, int], Told]:
    """Local searches of SciPy's from random points."""

    def run(problem: ConstrainedProblem, seed: int, has_gradient: bool, most: int) -> Told:
        rng, (lower, upper), counted = np.random.default_rng(seed), problem.bounds.T, Counted(problem, most)
        ends: list[tuple[Floats, int]] = []
        jac = counted.gradient if has_gradient else None
        try:
            while True:
                start = lower + (upper - lower) * rng.random(problem.dimension)
                try:
                    end = minimize(  # type: ignore[call-overload]
                        counted.value, start, jac=jac, method=method, bounds=problem.bounds,
                        constraints=problem.constraints,
                    ).x  # fmt: skip
                except ValueError:
                    continue
                if is_feasible(problem, end):
                    ends.append((end, counted.spent))
        except Spent:
            return distinct(problem, ends)

    return run


def homology(problem: ConstrainedProblem, seed: int, has_gradient: bool, most: int) -> Told:
    """SHGO with as many samples as the evaluations allow; it makes no use of a seed."""
    found = Told(np.zeros((0, problem.dimension)), np.zeros(0))
    for samples in (16, 32, 64, 128, 256, 512):
        counted = Counted(problem, most)
        sides: Any = [(low, high) for low, high in problem.bounds]
        try:
            with np.errstate(all="ignore"):
                result = shgo(counted.value, sides, constraints=problem.constraints, n=samples, sampling_method="sobol")
        except Spent:
            break
        except (ValueError, IndexError, RuntimeError, AttributeError, TypeError):  # it trips over infeasible samples
            continue
        points = [x for x in np.atleast_2d(getattr(result, "xl", np.zeros((0, problem.dimension)))) if len(x)]
        ends = [(x, counted.spent) for x in points if is_feasible(problem, x)]
        if ends:
            found = distinct(problem, ends)
    return found


def is_feasible(problem: ConstrainedProblem, x: Floats) -> bool:
    middle = problem.bounds.mean(axis=1)
    kinds = [kind for kind in (problem.inequalities, problem.equalities) if kind is not None]
    size = max(1.0, *(float(np.abs(problem.rows(middle, kind)).max()) for kind in kinds))
    return bool(np.isfinite(x).all()) and problem.violation(x) <= FEASIBLE * size


def distinct(problem: ConstrainedProblem, ends: list[tuple[Floats, int]]) -> Told:
    """Ends that are told apart, each when it was found first."""
    width = np.ptp(problem.bounds, axis=1)
    kept: list[tuple[Floats, int]] = []
    for x, at in ends:
        if not any((np.abs(x - other) <= SAME * width).all() for other, _ in kept):
            kept.append((x, at))
    points = np.array([x for x, _ in kept]).reshape(-1, problem.dimension)
    return Told(points, np.array([at for _, at in kept], dtype=np.float64))


def judged(problem: ConstrainedProblem, told: Told) -> tuple[float, float, float, float]:
    """Share found, evaluations until half and all were found (infinite if they were not), false answers."""
    truth, points = problem.minima, told.points.reshape(-1, problem.dimension)
    near = (np.abs(points[:, None] - truth) <= SAME * np.ptp(problem.bounds, axis=1)).all(axis=2)
    at = np.where(near, told.at[:, None], np.inf).min(axis=0, initial=np.inf)
    ordered, n = np.sort(at), len(truth)
    return float(np.isfinite(at).mean()), ordered[(n + 1) // 2 - 1], ordered[-1], float((~near.any(axis=1)).sum())


def measured(
    method: Callable[[ConstrainedProblem, int, bool, int], Told], problem: ConstrainedProblem, seeds: range,
    has_gradient: bool,
) -> list[Cell]:  # fmt: skip
    """Found, half, all, false of one method, over the runs."""
    most = BUDGETS[has_gradient] * (problem.dimension + 1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        runs = np.array([judged(problem, method(problem, seed, has_gradient, most)) for seed in seeds])
    half, whole = (BEYOND if np.isinf(count) else round(count) for count in np.median(runs[:, 1:3], axis=0))
    return [digits(100.0 * runs[:, 0].mean(), 0), half, whole, digits(runs[:, 3].mean(), 1)]


def main() -> None:
    parser = arguments(__doc__ or "", runs=1)
    parser.add_argument("--only", nargs="*", help="names of problems")
    given: argparse.Namespace = parser.parse_args()
    results = Results("Constraints", given, NOTE)
    chosen = [
        each for name, each in constrained_problems().items()
        if (not given.only or name in given.only) and 0 < len(each.minima) <= MOST_MINIMA
    ]  # fmt: skip
    for has_gradient, title in ((False, "From values"), (True, "With gradients")):
        methods = {"allmodes": ours, "SLSQP": multistart("SLSQP")}
        if not has_gradient:
            methods |= {"SHGO": homology, "COBYQA": multistart("COBYQA")}
        words = "found", "half", "all", "false"
        names = [
            f"{name}: {word}" for name in methods for word in words if name in ("allmodes", "SLSQP") or word == "found"
        ]
        results.table(["problem", "d", "minima", *names], title)
        for problem in chosen:
            cells: list[Cell] = []
            for name, method in methods.items():
                is_whole = name in ("allmodes", "SLSQP")
                if not is_whole and problem.dimension > SLOW:
                    cells.append(None)
                    continue
                found = measured(method, problem, seeds_of(given), has_gradient)
                cells += found if is_whole else found[:1]
            results.row(problem.name, problem.dimension, len(problem.minima), *cells)
    results.write()


if __name__ == "__main__":
    main()
