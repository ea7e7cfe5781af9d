"""How many of the known optima of real problems are found: allmodes beside multistart L-BFGS-B, at equal evaluations.

    python benchmarks/applications.py --json benchmarks/results/applications.json
    python benchmarks/applications.py --names propane heptane --runs 1

The problems are those of `allmodes.problems.applications`. An evaluation is a value or, with gradients, a value with
its gradient; of gradients by differences every value counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from allmodes import find_maxima
from allmodes.problems import Problem
from allmodes.problems.applications import APPLICATIONS
from local_cases import of_problem
from results import Cell, Results, arguments, digits, seeds_of

FEW, SMALL_BUDGET, LARGE_BUDGET = 10, 20_000, 50_000  # values up to so many coordinates, and above
CHEAPER = 10  # with gradients the budget is smaller by this factor
TOLERANCE, APART = 0.01, 0.3  # of the box, and of the way to the nearest other optimum: the smaller one counts
SAME = 1e-3  # of the box: ends of L-BFGS-B that are closer are one
DIFFERENCE = 1.5e-8  # of the box, of forward differences: as SciPy has it
ORDERS = "values", "gradients"
NOTE = (
    f"Known optima found with {SMALL_BUDGET} values ({LARGE_BUDGET} in more than {FEW} dimensions), or with a tenth as "
    "many values with gradients. An optimum is found if an entry of the result lies within 1 % of the box in every "
    "coordinate, or within 0.3 of the way to the next optimum if that is less. At half: found by half of that budget. "
    "New: entries where no optimum was known and there is one. False: entries from which Newton's method leads away "
    "by more than 0.1 % of the box, or to no strict optimum. Multistart: SciPy's L-BFGS-B from Sobol points, in units "
    f"of the box, its ends listed once if they are within {100 * SAME:g} % of the box; a search that the budget cuts "
    "is not listed. All figures are means over runs."
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Spent(Exception):  # noqa: N818  # no error: it ends a search that would go on
    """The budget is used up."""


class Listed(NamedTuple):
    """What a method has found: points (n, d) in units of the box, when each was found, and evaluations in all."""

    points: Floats
    at: Floats
    nfev: int


class Verdict(NamedTuple):
    """Shares of the known optima, of them by half of the budget, and of the global ones; numbers of entries."""

    share: float
    half: float
    global_: float
    entries: int
    new: int
    false: int
    nfev: int


def budget(problem: Problem, order: int) -> int:
    """Evaluations that are allowed."""
    values = SMALL_BUDGET if problem.dimension <= FEW else LARGE_BUDGET
    return values // CHEAPER if order else values


def ours(problem: Problem, order: int, seed: int) -> Listed:
    """allmodes, with everything as it is by default but the budget."""
    objective = problem.objective
    given: dict[str, Any] = {"jac": objective.jac} if order else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = find_maxima(
            objective.fun, problem.bounds, vectorized=True, periodic=problem.periodic or None, rng=seed,
            maxfev=budget(problem, order), **given,
        )  # fmt: skip
    x = np.array([mode.x for mode in result.modes]).reshape(-1, problem.dimension)
    low, high = problem.bounds.T
    return Listed((x - low) / (high - low), np.array([mode.found_at for mode in result.modes], float), result.nfev)


def multistart(problem: Problem, order: int, seed: int) -> Listed:
    """L-BFGS-B from Sobol points until the budget is used up."""
    case, counted = of_problem(problem), Counted(problem, order)
    bounds = [(None, None) if wraps else (0.0, 1.0) for wraps in case.is_periodic]
    options: dict[str, Any] = {"maxiter": 1000, "maxfun": 10**6}
    if order:
        options |= {"ftol": 1e-12, "gtol": 1e-8}
    search: Any = minimize
    sobol, ends, values, at = qmc.Sobol(problem.dimension, seed=seed), [], [], []
    try:
        while True:
            start = sobol.random(1)[0]
            end = search(counted, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
            ends.append(np.where(case.is_periodic, end.x % 1.0, end.x))
            values.append(float(end.fun))
            at.append(counted.nfev)
    except Spent:
        pass
    kept: list[int] = []
    first = np.array(at, dtype=float)
    for k in np.argsort(values, kind="stable"):
        same = [j for j in kept if case.apart(ends[j], ends[k]) <= SAME]
        if same:
            first[same[0]] = min(first[same[0]], first[k])
        else:
            kept.append(int(k))
    return Listed(np.array([ends[k] for k in kept]).reshape(-1, problem.dimension), first[kept], counted.nfev)


class Counted:
    """Value and gradient in units of the box, to be minimised; gradients by forward differences if there are none."""

    def __init__(self, problem: Problem, order: int) -> None:
        self.case, self.order = of_problem(problem), order
        self.budget, self.nfev = budget(problem, order), 0

    def __call__(self, z: Floats) -> tuple[float, Floats]:
        points = z[None] if self.order else self._around(z)
        if self.nfev + len(points) > self.budget:
            raise Spent
        self.nfev += len(points)
        values = self.case.value(points)
        if self.order:
            return float(values[0]), self.case.gradient(points)[0]
        return float(values[0]), (values[1:] - values[0]) / np.diagonal(points[1:] - z)

    def _around(self, z: Floats) -> Floats:
        """The point, and one beside it in each coordinate, inside the box."""
        step = DIFFERENCE * np.maximum(1.0, np.abs(z))
        step = np.where(~self.case.is_periodic & (z + step > 1.0), -step, step)
        return np.concatenate([z[None], z + np.diag(step)])


def judged(problem: Problem, order: int, listed: Listed) -> Verdict:
    """What of it is known, new or false."""
    case = of_problem(problem)
    places = (problem.modes - case.lower) / case.width
    between = case.apart(places[:, None], places) + np.diag(np.full(len(places), np.inf))
    tolerance = np.minimum(TOLERANCE, APART * between.min(axis=1))
    is_at = case.apart(listed.points[:, None], places) <= tolerance  # (entries, optima)
    is_early = listed.at <= 0.5 * budget(problem, order)
    strangers = listed.points[~is_at.any(axis=1)]
    new = sum(case.is_minimum(point) for point in strangers)
    return Verdict(
        float(is_at.any(axis=0).mean()), float(is_at[is_early].any(axis=0).mean()),
        float(is_at[:, problem.is_global].any(axis=0).mean()), len(listed.points), new, len(strangers) - new,
        listed.nfev,
    )  # fmt: skip


METHODS = {"allmodes": ours, "multistart": multistart}
COLUMNS = "found", "at half", "global", "entries", "new", "false", "evaluations"  # those of Verdict


def cells(verdicts: Floats) -> list[Cell]:
    """Means of verdicts (n, 7)."""
    mean = verdicts.mean(axis=0)
    return [*(digits(share, 3) for share in mean[:3]), *(digits(count, 1) for count in mean[3:6]), round(mean[6])]


def measure(results: Results, problems: Sequence[Problem], seeds: range, order: int) -> dict[str, Floats]:
    """A table; the mean over runs of every problem and method, (problems, 7)."""
    columns = [f"{method}: {column}" for method in METHODS for column in COLUMNS]
    results.table(["problem", "d", "optima", "global optima", *columns], f"From {ORDERS[order]}")
    all_: dict[str, list[Floats]] = {method: [] for method in METHODS}
    for problem in problems:
        row: list[Cell] = [problem.name, problem.dimension, len(problem.modes), int(problem.is_global.sum())]
        for method, run in METHODS.items():
            verdicts = np.array([judged(problem, order, run(problem, order, seed)) for seed in seeds])
            all_[method].append(verdicts.mean(axis=0))
            row += cells(verdicts)
        results.row(*row)
    results.row("mean", None, None, None, *(cell for method in METHODS for cell in cells(np.array(all_[method]))))
    return {method: np.array(rows) for method, rows in all_.items()}


def told(problems: Sequence[Problem], order: int, all_: dict[str, Floats]) -> str:
    """What came out, in a sentence."""
    share, theirs = all_["allmodes"][:, 0], all_["multistart"][:, 0]
    behind = [p.name for p, a, b in zip(problems, share, theirs, strict=True) if a < b - 0.05]
    ratio, at_half = share.mean() / theirs.mean(), all_["allmodes"][:, 1].mean() / theirs.mean()
    return (
        f"From {ORDERS[order]} allmodes finds {ratio:.2f} times the share that multistart finds, in the mean over "
        f"problems, and with half of the budget {at_half:.2f} times what multistart finds with all of it; more than "
        f"0.05 below multistart: {', '.join(behind) or 'on none'}."
    )


def main() -> None:
    parser = arguments(__doc__, runs=2)
    parser.add_argument("--names", nargs="*", choices=sorted(APPLICATIONS), help="of problems (all)")
    given = parser.parse_args()
    seeds = seeds_of(given)
    problems = [make() for name, make in APPLICATIONS.items() if not given.names or name in given.names]
    results = Results("Problems from applications", given, NOTE)
    for order in (0, 1):
        results.say(told(problems, order, measure(results, problems, seeds, order)))
    results.write()


if __name__ == "__main__":
    main()
