"""Few evaluations: how many of the known optima are found with 100 and 200 values, beside others.

    python benchmarks/few.py --runs 10 --first-seed 200 --json benchmarks/results/few.json

Problems are those of `allmodes.problems` in two to six dimensions. GP-EI is global optimisation by expected improvement
with Gaussian-process regression, as packages for dear functions do it, here with the model of `method="surrogate"`;
what it lists are the points evaluated that are better than all within a tenth of the box.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import qmc

from allmodes import find_maxima, problems
from allmodes.objective.bounds import Box
from allmodes.problems import Problem
from allmodes.problems.applications import APPLICATIONS
from allmodes.search.searchers.surrogate.knowledge import Knowledge
from applications import Counted, Spent
from local_cases import Case, of_problem
from results import Results, arguments, digits, seeds_of

BUDGETS = 100, 200
TOLERANCE, APART = 0.01, 0.3  # of the box, and of the way to the nearest other optimum: the smaller one counts
NEAR = 0.1  # of the box: of the points of global optimisation that are closer the best is listed
NOTE = (
    "Means over runs. An optimum is found if an entry of the result lies within 1 % of the box in every coordinate, or "
    "within 0.3 of the way to the next optimum if that is less; entries of allmodes count whether they are verified or "
    "not. Others: entries that are at no known optimum, verified ones in brackets. Multistart: SciPy's L-BFGS-B from "
    "Sobol points with differences, all of its ends, and where it is when the budget ends."
)

Floats = NDArray[np.float64]


def cases() -> list[Problem]:
    """Ten functions and more."""
    made = [
        problems.himmelblau(), problems.six_hump_camel(), problems.banana(), problems.random_mixture(2, 10, 0.8),
        problems.styblinski_tang(3), problems.random_mixture(4, 8, 1.2), problems.styblinski_tang(4),
    ]  # fmt: skip
    return made + [
        APPLICATIONS[name]() for name in ("cyclohexane", "stack_loss", "heptane", "propane", "antenna_array")
    ]


def ours(problem: Problem, budget: int, seed: int, method: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Points in units of the box, and which are verified."""
    result = find_maxima(
        problem.objective.fun, problem.bounds, vectorized=True, periodic=problem.periodic or None, rng=seed,
        maxfev=budget, method=method,
    )  # fmt: skip
    low, high = problem.bounds.T
    x = np.array([mode.x for mode in result.modes]).reshape(-1, problem.dimension)
    return (x - low) / (high - low), np.array([mode.kind != "unverified" for mode in result.modes], np.bool_)


def multistart(problem: Problem, budget: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Ends of L-BFGS-B from Sobol points, listed once."""
    case, counted = of_problem(problem), Counted(problem, 0)
    counted.budget = budget
    bounds = [(None, None) if wraps else (0.0, 1.0) for wraps in case.is_periodic]
    search: Any = minimize
    sobol, ends = qmc.Sobol(problem.dimension, seed=seed), []
    last: list[Floats] = []

    def followed(z: Floats) -> Any:
        told = counted(z)
        last[:] = [z.copy()]
        return told

    try:
        while True:
            end = search(followed, sobol.random(1)[0], jac=True, bounds=bounds, method="L-BFGS-B")
            ends.append(end.x)
    except Spent:
        ends += last
    points = [np.where(case.is_periodic, end % 1.0, end) for end in ends]
    return np.array(points).reshape(-1, case.d), np.zeros(len(points), np.bool_)


def improvement(problem: Problem, budget: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Expected improvement, one point at a time, and the best points of their surroundings."""
    case, rng = of_problem(problem), np.random.default_rng(seed)
    box = Box.make([(0.0, 1.0)] * case.d, periodic=case.is_periodic if case.is_periodic.any() else None)
    known = Knowledge(box)
    first = qmc.Sobol(case.d, seed=seed).random(32)[: 4 * (case.d + 1)]
    known.add(first, -case.value(first))
    while len(known) < budget:
        point = _most_promising(known, case, rng)
        before = len(known)
        known.add(point[None], -case.value(point[None]))
        if len(known) == before:  # it proposes what is known: anywhere else
            point = rng.random((1, case.d))
            known.add(point, -case.value(point))
    apart = np.array([case.apart(known.points, point) for point in known.points])
    is_best = np.array([known.values[i] >= known.values[apart[i] < NEAR].max() for i in range(len(known))])
    return known.points[is_best], np.zeros(int(is_best.sum()), np.bool_)


def _most_promising(known: Knowledge, case: Case, rng: np.random.Generator) -> Floats:
    model, even = known.model(), known.even
    best = known.points[int(np.argmax(even))]
    near = best + rng.normal(size=(500, case.d)) * 10.0 ** rng.uniform(-4, -1, (500, 1))
    tried = np.concatenate(
        [rng.random((1500, case.d)), np.where(case.is_periodic, near % 1.0, np.clip(near, 0.0, 1.0))]
    )
    unsure = np.maximum(model.size * model.deviation(tried), 1e-300)
    gain = model.expected(tried)[0] - even.max()
    score = gain / unsure
    density = np.exp(-0.5 * score**2) / math.sqrt(2.0 * math.pi)
    return np.asarray(tried[int(np.argmax(gain * ndtr(score) + unsure * density))])


METHODS: dict[str, Callable[[Problem, int, int], tuple[Floats, NDArray[np.bool_]]]] = {
    "surrogate": lambda problem, budget, seed: ours(problem, budget, seed, "surrogate"),
    "local": lambda problem, budget, seed: ours(problem, budget, seed, "local"),
    "multistart": multistart,
    "GP-EI": improvement,
}


def judged(problem: Problem, points: Floats, is_sure: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Optima found, entries elsewhere, and those of them that are said to be verified."""
    case = of_problem(problem)
    places = (problem.modes - case.lower) / case.width
    if not len(points):
        return 0, 0, 0
    between = case.apart(places[:, None], places) + np.diag(np.full(len(places), np.inf))
    is_at = case.apart(points[:, None], places) <= np.minimum(TOLERANCE, APART * between.min(axis=1))
    is_other = ~is_at.any(axis=1)
    return int(is_at.any(axis=0).sum()), int(is_other.sum()), int((is_other & is_sure).sum())


def main() -> None:
    parser = arguments(__doc__ or "", runs=10)
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    parser.add_argument("--names", nargs="*", help="of problems (all)")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    results = Results(f"Few evaluations: {' and '.join(map(str, given.budgets))}", given, NOTE)
    for budget in given.budgets:
        columns = [f"{name}{said}" for name in given.methods for said in ("", ": others")]
        results.table(["problem", "d", "optima", *columns], f"{budget} values")
        shares: dict[str, list[float]] = {name: [] for name in given.methods}
        for problem in cases():
            if given.names and problem.name not in given.names:
                continue
            row: list[Any] = []
            for name in given.methods:
                seen = np.array([judged(problem, *METHODS[name](problem, budget, seed)) for seed in seeds_of(given)])
                found, others, wrong = seen.mean(axis=0)
                shares[name].append(found / len(problem.modes))
                row += [digits(found, 1), f"{others:.1f} ({wrong:.1f})"]
            results.row(problem.name, problem.dimension, len(problem.modes), *row)
        means = [cell for name in given.methods for cell in (digits(float(np.mean(shares[name])), 3), None)]
        results.row("mean share", None, None, *means)
    results.write()


if __name__ == "__main__":
    main()
