"""Automatic annealing beside the paper's hand-tuned settings: modes found and evaluations, on its four problems.

    python benchmarks/anneal.py             20 runs each, two minutes
    python benchmarks/anneal.py --runs 3    a quick check

The published settings run through `nva.anneal` from means drawn evenly in the box; a mode counts as found when a mean
ends within 0.1 of it in every coordinate. Everything is as printed except the learning rate of rank-based runs: on the
symmetric mixture it is bounded, because all runs diverge without a bound, and on Styblinski-Tang's function it is five
times as large, because no mean arrives otherwise (0.00 modes).

The automatic search is `find_maxima(method="anneal")` with the bounds, the derivatives that the published settings use,
their number of evaluations as its budget, and nothing else. All evaluations count: space-filling points, annealing,
polishing. One point with all the derivatives that are used there is one evaluation.

Paper: sub:simu_mode, fig:weight_asym, app:simu_degenerate
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes import find_maxima, problems
from allmodes.nva import Algorithm, anneal, presets, schedules
from allmodes.problems import Problem
from results import Cell, Results, arguments, digits, reached, seeds_of

Floats = NDArray[np.float64]

TOLERANCE = 0.1  # the paper's, in the function's own coordinates
BOUNDED_RATE = 0.05  # of rank-based steps; printed without a bound, which diverges
RAISED_RATE = 5e-4  # of rank-based steps; printed as 1e-4, with which no mean arrives


class Case(NamedTuple):
    """Published settings for one problem."""

    problem: Problem
    K: int
    steps: int
    num_samples: int
    temperature: schedules.Schedule
    rate: schedules.Schedule
    algorithm: Algorithm

    @property
    def evaluations(self) -> int:
        return self.K * self.steps * self.num_samples


def cases() -> list[Case]:
    """Every problem with the paper's K: the number of its modes."""
    power, coupled, hessian = schedules.power, schedules.coupled, presets.nva_gm(order=2)
    symmetric, tang = problems.symmetric_mixture(), problems.styblinski_tang(4)
    asymmetric, degenerate = problems.asymmetric_mixture(), problems.degenerate()
    ranks = presets.fs_nva_gm()
    return [
        Case(symmetric, 4, 5000, 4, power(1.0, 1.0), coupled(0.1, 0.8), hessian),
        Case(tang, 16, 200, 4, power(40_000.0, 2.0), coupled(1e-4, 0.5), hessian),
        Case(asymmetric, 3, 1000, 4, power(100.0, 1.0), coupled(1e-3, 0.8), hessian),
        Case(degenerate, 2, 50, 4, power(0.1, 2.0), coupled(0.1, 0.8), hessian),
        Case(symmetric, 4, 5000, 16, power(1.0, 1.0), coupled(0.1, 0.8, maximum=BOUNDED_RATE), ranks),
        Case(tang, 16, 200, 16, power(40_000.0, 2.0), coupled(RAISED_RATE, 0.5), ranks),
    ]


def published(case: Case, seeds: range) -> list[int]:
    """Modes found by the published settings in each run."""
    lower, upper = case.problem.bounds.T
    means = np.stack([np.random.default_rng(seed).uniform(lower, upper, (case.K, len(lower))) for seed in seeds])
    runs = anneal(
        case.problem.objective, algorithm=case.algorithm, means=means, covariances=1.0, temperature=case.temperature,
        learning_rate=case.rate, num_samples=case.num_samples, steps=case.steps, rng=seeds.start,
        replicates=len(seeds), trace_every=case.steps, driver="jax",
    )  # fmt: skip
    return [int(case.problem.found(run.means, TOLERANCE).sum()) for run in runs]


class Search(NamedTuple):
    """What one automatic search found: evaluations until each known mode, infinite where it was not, and in all."""

    counts: Floats
    evaluations: int


def automatic(case: Case, seed: int) -> Search:
    """One search with the budget of the published settings and the derivatives they use."""
    objective, problem = case.problem.objective, case.problem
    derivatives: dict[str, Any] = {"jac": objective.jac, "hess": objective.hess} if case.algorithm.needs else {}
    result = find_maxima(
        objective.fun, problem.bounds, method="anneal", maxfev=case.evaluations, vectorized=True, rng=seed,
        **derivatives,
    )  # fmt: skip
    counts = np.full(len(problem.modes), np.inf)
    for mode in result.modes:
        is_found = problem.found(mode.x[None], TOLERANCE)
        counts[is_found] = np.minimum(counts[is_found], mode.found_at)
    return Search(counts, int(result.nfev))


def row(case: Case, seeds: range) -> list[Cell]:
    """One line of the table."""
    modes = len(case.problem.modes)
    by_hand = float(np.mean(published(case, seeds)))
    searches = [automatic(case, seed) for seed in seeds]
    found = float(np.mean([np.isfinite(search.counts).sum() for search in searches]))
    as_many = max(1, int(np.ceil(by_hand)))
    until = np.median([np.sort(search.counts)[as_many - 1] for search in searches])
    every = np.median([search.counts.max() for search in searches])
    total = np.median([search.evaluations for search in searches])
    by_hand_cells: list[Cell] = [case.K, case.evaluations, digits(by_hand, 2)]
    automatic_cells = [digits(found, 2), reached(float(until)), reached(float(every)), reached(float(total))]
    return [case.problem.name, case.algorithm.name, modes, *by_hand_cells, *automatic_cells]


def main() -> None:
    given = arguments(__doc__, runs=20, first_seed=5000).parse_args()
    results = Results(
        "Automatic annealing beside settings by hand", given,
        "Means of modes found and medians of evaluations: until as many are found as by hand, until all are, and to "
        "the end. The budget of the automatic search is the number of evaluations by hand.",
    )  # fmt: skip
    by_hand = ["K", "by hand, evaluations", "by hand, found"]
    results.table(["problem", "by hand with", "modes", *by_hand, "found", "until as many", "until all", "to the end"])
    for case in cases():
        results.row(*row(case, seeds_of(given)))
    results.write()


if __name__ == "__main__":
    main()
