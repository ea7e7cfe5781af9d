"""What the solver itself costs: microseconds per evaluation, and its share when an evaluation takes a millisecond.

    python benchmarks/overhead.py
    python benchmarks/overhead.py --slow 50000

Time inside the user's functions is measured and taken out. Timings are noisy: the best of several runs is printed.
SciPy's local optimisers from random starts, in the same run, tell what such a share is worth on this machine.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from all_modes import commit
from allmodes import find_maxima
from allmodes.problems import Problem, himmelblau, random_mixture, rastrigin_funnels, styblinski_tang

BUDGET = 50_000
SLOW_BUDGETS = (2_000, 10_000)
REPEATS = 3
SCIPY_STARTS = 50
_WITHOUT_END = 10**9


class Timed:
    """A function that knows how long it has run; with `least`, every point takes at least that many seconds."""

    def __init__(self, function: Any, least: float = 0.0) -> None:
        self.function, self.least, self.seconds = function, least, 0.0

    def __call__(self, x: Any) -> Any:
        began = time.perf_counter()
        result = self.function(x)
        while time.perf_counter() - began < self.least * len(np.atleast_2d(x)):
            pass
        self.seconds += time.perf_counter() - began
        return result


def overhead(problem: Problem, order: int, budget: int, least: float, **settings: Any) -> tuple[float, float, int]:
    """Seconds of the solver, seconds in all, evaluations."""
    objective = problem.objective
    functions = [Timed(f, t) for f, t in ((objective.fun, least), (objective.jac, 0.0), (objective.hess, 0.0))]
    given: dict[str, Any] = dict(zip(("jac", "hess")[:order], functions[1 : 1 + order], strict=True))
    began = time.perf_counter()
    result = find_maxima(
        functions[0], problem.bounds, vectorized=True, maxfev=budget, rng=0, options={"patience": _WITHOUT_END},
        **given, **settings,
    )  # fmt: skip
    total = time.perf_counter() - began
    return total - sum(function.seconds for function in functions), total, result.nfev


def scipy_overhead(problem: Problem, method: str, order: int, least: float, starts: int) -> tuple[float, float, int]:
    """Seconds of a local optimiser of SciPy, seconds in all, evaluations."""
    objective: Any = problem.objective
    rng = np.random.default_rng(0)
    lower, upper = np.array(problem.bounds, dtype=float).T
    functions = [
        Timed(lambda x: -float(objective.fun(x[None])[0]), least),
        Timed(lambda x: -objective.jac(x[None])[0]),
        Timed(lambda x: -objective.hess(x[None])[0]),
    ]
    given: dict[str, Any] = dict(zip(("jac", "hess")[:order], functions[1 : 1 + order], strict=True))
    given |= {"method": method} | ({"bounds": problem.bounds} if method == "L-BFGS-B" else {})
    evaluations, began = 0, time.perf_counter()
    for _ in range(starts):
        evaluations += minimize(functions[0], rng.uniform(lower, upper), **given).nfev
    total = time.perf_counter() - began
    return total - sum(function.seconds for function in functions), total, evaluations


def main() -> None:
    parser = argparse.ArgumentParser(description="What the solver itself costs.")
    parser.add_argument(
        "--slow", type=int, nargs="*", help="evaluations of a millisecond each; nothing else is measured"
    )
    slow_budgets = parser.parse_args().slow
    cases: list[tuple[Problem, int, dict[str, Any]]] = [
        (himmelblau(), 0, {}),
        (himmelblau(), 2, {}),
        (rastrigin_funnels(2), 0, {}),
        (rastrigin_funnels(2), 2, {}),
        (styblinski_tang(4), 0, {}),
        (random_mixture(5, 20, 0.7), 0, {}),
        (random_mixture(5, 20, 0.7), 1, {}),
        (random_mixture(5, 20, 0.7), 2, {}),
        (rastrigin_funnels(2), 0, {"method": "black-box"}),
        (random_mixture(5, 20, 0.7), 0, {"method": "black-box"}),
    ]
    if slow_budgets:
        print(f"commit {commit()}, one run each\n")
        for (problem, order, settings), budget in product(cases, slow_budgets):
            own, total, n = overhead(problem, order, budget, 1e-3, **settings)
            print(f"{problem.name}, {settings or order}: {100 * own / total:.1f} % of {total:.1f} s, {n}", flush=True)
        return
    print(f"commit {commit()}, best of {REPEATS}\n")
    shares = " | ".join(f"share at 1 ms ({budget})" for budget in SLOW_BUDGETS)
    print(f"| problem | derivatives | us per evaluation ({BUDGET}) | {shares} |")
    print("| --- | --- | --- | --- | --- |")
    for problem, order, settings in cases:
        quick = min(
            (own / n for own, _, n in (overhead(problem, order, BUDGET, 0.0, **settings) for _ in range(REPEATS)))
        )
        slow = [overhead(problem, order, budget, 1e-3, **settings) for budget in SLOW_BUDGETS]
        cells = " | ".join(f"{100 * own / total:.1f} %" for own, total, _ in slow)
        name = f"{problem.name}{', black-box' if settings else ''}"
        print(f"| {name} | {order} | {1e6 * quick:.1f} | {cells} |", flush=True)
    print("\n| SciPy, Himmelblau | derivatives | us per evaluation | share at 1 ms |\n| --- | --- | --- | --- |")
    for method, order in (("L-BFGS-B", 0), ("L-BFGS-B", 1), ("trust-exact", 2)):
        runs = [scipy_overhead(himmelblau(), method, order, 0.0, SCIPY_STARTS) for _ in range(REPEATS)]
        own, total, _ = scipy_overhead(himmelblau(), method, order, 1e-3, SCIPY_STARTS)
        quick = min(seconds / n for seconds, _, n in runs)
        print(f"| {method} | {order} | {1e6 * quick:.1f} | {100 * own / total:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
