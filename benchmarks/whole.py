"""Whole numbers: all local optima of small problems, and the best values of larger ones beside SciPy's and Optuna's.

    python benchmarks/whole.py --runs 2 --first-seed 800

Differential evolution has integrality and no polishing; TPE is Optuna's sampler with its defaults (`pip install
optuna`). Catalogues are numbers of sizes for both. All are stopped after the same number of evaluations.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, differential_evolution

from allmodes import find_minima
from allmodes.objective.bounds import Box
from allmodes.problems import whole
from allmodes.search.searchers.discrete.annealed import Annealings
from allmodes.search.searchers.discrete.enumeration import Enumeration
from allmodes.search.searchers.discrete.space import Space
from results import Results, arguments, digits, seeds_of

NOTE = (
    "Small: shares of all local optima (by trying every point) that searches list, and listed points that are none. "
    "Larger: how far the best value is above the best known, in % of it, mean over the seeds, and how often it is "
    "reached; gear train: the median of the best values. Annealing: allmodes with and without annealed bits."
)
TOGETHER = 1 << 16  # points evaluated at once
EQUAL = 1e-6  # of the best known value: reached

Floats = NDArray[np.float64]


class Spent(Exception):  # noqa: N818  (not an error)
    """No evaluation is left."""


class Counted:
    """A problem in whole numbers and numbers of sizes, which may be evaluated so often; the best value seen."""

    def __init__(self, problem: whole.WholeProblem, budget: int) -> None:
        self.problem, self.left, self.best = problem, budget, np.inf

    def __call__(self, x: Any) -> float:
        if not self.left:
            raise Spent
        self.left -= 1
        pairs = zip(self.problem.bounds, x, strict=True)
        value = self.problem([b[round(each)] if isinstance(b, list) else each for b, each in pairs])
        self.best = min(self.best, value)
        return value

    @property
    def sides(self) -> list[tuple[float, float, bool]]:
        """Lower and upper bounds, and whether the coordinate is a whole number."""
        found = zip(self.problem.bounds, self.problem.integrality, strict=True)
        return [(0, len(b) - 1, True) if isinstance(b, list) else (*b, bool(whole)) for b, whole in found]


def evolution(problem: whole.WholeProblem, budget: int, seed: int) -> float:
    """Differential evolution, begun again where it has converged."""
    counted, rng = Counted(problem, budget), np.random.default_rng(seed)
    low, high, whole_ones = zip(*counted.sides, strict=True)
    box = Bounds(np.array(low, dtype=np.float64), np.array(high, dtype=np.float64))
    try:
        while True:
            differential_evolution(counted, box, integrality=whole_ones, rng=rng, polish=False, maxiter=10**6)
    except Spent:
        return counted.best


def tpe(problem: whole.WholeProblem, budget: int, seed: int) -> float:
    """Optuna's tree-structured Parzen estimator."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    counted = Counted(problem, budget)

    def objective(trial: Any) -> float:
        sides = enumerate(counted.sides)
        return counted(
            [
                trial.suggest_int(f"x{i}", int(low), int(high)) if is_whole else trial.suggest_float(f"x{i}", low, high)
                for i, (low, high, is_whole) in sides
            ]
        )

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=budget)
    return counted.best


def ours(problem: whole.WholeProblem, budget: int, seed: int) -> float:
    """find_minima, for the best value."""
    return float(searched(problem, budget, seed, target="global").fun)


def without_annealing(problem: whole.WholeProblem, budget: int, seed: int) -> float:
    """The same with walks alone."""

    def never(self: Any, context: Any, nodes: Any, budget: Any) -> Any:
        return (np.zeros((0, nodes.m), np.int64),) * 2

    with patch.object(Annealings, "ask", never):
        return ours(problem, budget, seed)


def searched(problem: whole.WholeProblem, budget: int, seed: int, **more: Any) -> Any:
    """A result of find_minima."""
    return find_minima(
        problem.values, problem.bounds, integrality=problem.integrality, vectorized=True, maxfev=budget, rng=seed,
        **more,
    )  # fmt: skip


def optima(problem: whole.WholeProblem) -> set[bytes]:
    """All local optima, by trying every point; none of these problems has two that are equally good neighbours."""
    space = Space.of(Box.make(problem.bounds, integrality=problem.integrality))
    every, size = Enumeration(space), space.size
    for begin in range(0, size, TOGETHER):
        points = space.numbered(np.arange(begin, min(size, begin + TOGETHER))).astype(np.float64)
        every.values[begin : begin + TOGETHER] = -problem.values(points)
    found = every.optima(1e-12 * np.abs(every.values))
    return {space.numbered(rows[:1])[0].astype(np.float64).tobytes() for rows in found}


def small(results: Results, seeds: range) -> None:
    """How many of all local optima are found."""
    results.table(["problem", "points", "local optima", "evaluations", "found, %", "false"], "Small problems")
    cases = [(whole.qubo(16), 65_536), (whole.qubo(16), 16_384), (whole.qubo(20), 65_536), (whole.knapsack(16), 65_536)]
    for problem, budget in cases:
        truth, shares, false, made = optima(problem), [], [], []
        for seed in seeds:
            result = searched(problem, budget, seed)
            listed = {mode.x.tobytes() for mode in result.modes}
            shares.append(len(listed & truth) / len(truth))
            false.append(len(listed - truth))
            made.append(result.nfev)
        results.row(
            problem.name, 2**problem.dimension, len(truth), round(float(np.mean(made))),
            digits(100.0 * float(np.mean(shares)), 1), digits(float(np.mean(false)), 1),
        )  # fmt: skip


def larger(results: Results, seeds: range, methods: dict[str, Callable[..., float]], cases: list[Any]) -> None:
    """How good the best values are."""
    for problem, budget in cases:
        cells: list[Any] = []
        for method in methods.values():
            values = np.array([method(problem, budget, seed) for seed in seeds])
            above = (values - problem.best) / abs(problem.best)
            is_tiny = abs(problem.best) < EQUAL
            cells.append(f"{np.median(values):.1e}" if is_tiny else digits(100.0 * float(above.mean()), 3))
            cells.append(int((above < EQUAL).sum()))
        results.row(problem.name, problem.dimension, budget, *cells)


def columns(names: Any) -> list[str]:
    return ["problem", "d", "evaluations", *(f"{name}{part}" for name in names for part in ("", ": reached"))]


def main() -> None:
    given: argparse.Namespace = arguments(__doc__ or "", runs=2, first_seed=800).parse_args()
    seeds = seeds_of(given)
    results = Results("Whole numbers", given, NOTE)
    small(results, seeds)
    bits = [
        (whole.qubo(60), 2000), (whole.qubo(100), 5000), (whole.qubo(200), 20_000),
        (whole.knapsack(60), 5000), (whole.knapsack(100), 10_000),
    ]  # fmt: skip
    methods = {"allmodes": ours, "evolution": evolution}
    results.table(columns(methods), "Larger problems")
    mixed = [(make(), 10_000) for make in (whole.gear_train, whole.pressure_vessel, whole.welded_beam, whole.spring)]
    larger(results, seeds, methods, [*bits, *mixed])
    results.write()  # the rest takes long
    methods = {"allmodes": ours, "evolution": evolution, "TPE": tpe}
    results.table(columns(methods), "With 300 evaluations, as many as TPE makes in a minute")
    few = [whole.qubo(60), whole.knapsack(60), whole.gear_train(), whole.pressure_vessel()]
    larger(results, seeds, methods, [(problem, 300) for problem in few])
    methods = {"with annealing": ours, "walks alone": without_annealing}
    results.table(columns(methods), "Annealing")
    larger(results, seeds, methods, bits)
    results.write()


if __name__ == "__main__":
    main()
