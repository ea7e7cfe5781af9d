"""What the solver itself costs: microseconds per evaluation, and its share when an evaluation takes a millisecond.

    python benchmarks/overhead.py
    python benchmarks/overhead.py --slow 50000

Time inside the user's functions is measured and taken out. Timings are noisy: the best of several runs is printed.
SciPy's local optimisers from random starts, in the same run, tell what such a share is worth on this machine.
"""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from allmodes import find_maxima
from allmodes.problems import Problem, himmelblau, random_mixture, rastrigin_funnels, styblinski_tang
from results import Results, arguments, digits

BUDGET = 50_000
SLOW_BUDGETS = (2_000, 10_000)
REPEATS = 3
SCIPY_STARTS = 50
NOTE = (
    f"What the solver itself costs, best of {REPEATS}: time in the user's functions is taken out. Shares are in % of "
    "the time of a search of a function that takes a millisecond. Timings differ by a third between runs."
)
SLOW_NOTE = "The share of the solver when an evaluation takes a millisecond, in %; one run each."
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


def overhead(
    problem: Problem, order: int, budget: int, least: float, seed: int, **settings: Any
) -> tuple[float, float, int]:
    """Seconds of the solver, seconds in all, evaluations."""
    objective = problem.objective
    functions = [Timed(f, t) for f, t in ((objective.fun, least), (objective.jac, 0.0), (objective.hess, 0.0))]
    given: dict[str, Any] = dict(zip(("jac", "hess")[:order], functions[1 : 1 + order], strict=True))
    began = time.perf_counter()
    result = find_maxima(
        functions[0], problem.bounds, vectorized=True, maxfev=budget, rng=seed, options={"patience": _WITHOUT_END},
        **given, **settings,
    )  # fmt: skip
    total = time.perf_counter() - began
    return total - sum(function.seconds for function in functions), total, result.nfev


def scipy_overhead(problem: Problem, method: str, order: int, least: float, seed: int) -> tuple[float, float, int]:
    """Seconds of a local optimiser of SciPy, seconds in all, evaluations."""
    objective: Any = problem.objective
    rng = np.random.default_rng(seed)
    lower, upper = np.array(problem.bounds, dtype=float).T
    functions = [
        Timed(lambda x: -float(objective.fun(x[None])[0]), least),
        Timed(lambda x: -objective.jac(x[None])[0]),
        Timed(lambda x: -objective.hess(x[None])[0]),
    ]
    given: dict[str, Any] = dict(zip(("jac", "hess")[:order], functions[1 : 1 + order], strict=True))
    given |= {"method": method} | ({"bounds": problem.bounds} if method == "L-BFGS-B" else {})
    evaluations, began = 0, time.perf_counter()
    for _ in range(SCIPY_STARTS):
        evaluations += minimize(functions[0], rng.uniform(lower, upper), **given).nfev
    total = time.perf_counter() - began
    return total - sum(function.seconds for function in functions), total, evaluations


def cases() -> list[tuple[str, Problem, int, dict[str, Any]]]:
    """Names, problems, orders of derivatives and settings."""
    mixture, black_box = random_mixture(5, 20, 0.7), {"method": "black-box"}
    plain = [(himmelblau(), 0), (himmelblau(), 2), (rastrigin_funnels(2), 0), (rastrigin_funnels(2), 2),
             (styblinski_tang(4), 0), (mixture, 0), (mixture, 1), (mixture, 2)]  # fmt: skip
    rough = [(f"{problem.name}, black-box", problem, 0, black_box) for problem in (rastrigin_funnels(2), mixture)]
    return [(problem.name, problem, order, {}) for problem, order in plain] + rough


def long_searches(budgets: list[int], seed: int, results: Results) -> None:
    results.table(["problem", "derivatives", "evaluations", "% at 1 ms", "seconds"])
    for (name, problem, order, settings), budget in product(cases(), budgets):
        own, total, n = overhead(problem, order, budget, 1e-3, seed, **settings)
        results.row(name, order, n, digits(100 * own / total, 1), digits(total, 1))


def short_searches(seed: int, results: Results) -> None:
    shares = [f"% at 1 ms ({budget})" for budget in SLOW_BUDGETS]
    results.table(["problem", "derivatives", f"us per evaluation ({BUDGET})", *shares])
    for name, problem, order, settings in cases():
        runs = [overhead(problem, order, BUDGET, 0.0, seed, **settings) for _ in range(REPEATS)]
        quick = min(own / n for own, _, n in runs)
        slow = [overhead(problem, order, budget, 1e-3, seed, **settings) for budget in SLOW_BUDGETS]
        results.row(name, order, digits(1e6 * quick, 1), *(digits(100 * own / total, 1) for own, total, _ in slow))
    title = f"SciPy's local optimisers, Himmelblau, from {SCIPY_STARTS} random starts"
    results.table(["method", "derivatives", "us per evaluation", "% at 1 ms"], title)
    for method, order in (("L-BFGS-B", 0), ("L-BFGS-B", 1), ("trust-exact", 2)):
        runs = [scipy_overhead(himmelblau(), method, order, 0.0, seed) for _ in range(REPEATS)]
        own, total, _ = scipy_overhead(himmelblau(), method, order, 1e-3, seed)
        quick = min(seconds / n for seconds, _, n in runs)
        results.row(method, order, digits(1e6 * quick, 1), digits(100 * own / total, 1))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--slow", type=int, nargs="*", help="evaluations of a millisecond each; nothing else is measured"
    )
    given = parser.parse_args()
    if given.slow:
        results = Results("Overhead over long searches", given, SLOW_NOTE)
        long_searches(given.slow, given.first_seed, results)
    else:
        results = Results("Overhead", given, NOTE)
        short_searches(given.first_seed, results)
    results.write()


if __name__ == "__main__":
    main()
