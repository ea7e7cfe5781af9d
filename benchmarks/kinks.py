"""Functions that are not smooth, from values alone: evaluations until every minimum is found.

    python benchmarks/kinks.py --runs 5 --first-seed 100

Beside allmodes: multistart with Nelder and Mead's method and with L-BFGS-B (differences), from random starts, without
any stopping or clustering of their own. A minimum is found when a local search ends, or a mode is listed, within a
thousandth of the bounds of it. Medians; ">" where the budget was not enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from allmodes import find_minima
from results import Cell, Results, arguments, reached, seeds_of

BUDGET = 30_000
NEAR = 1e-3  # of the bounds
NOTE = (
    f"Medians of the evaluations until every minimum was found, from values alone, budget {BUDGET}; where that was not "
    "enough, the mean share of the minima that were found, in %. allmodes counts a minimum when it is verified: two or "
    "three local searches from its sides have come back to it; the others count where a local search happens to end."
)

Floats = NDArray[np.float64]


class Kinked(NamedTuple):
    """A function (..., d) -> (...), its bounds in every coordinate, and its minima (n, d)."""

    name: str
    fun: Callable[[Floats], Floats]
    bounds: tuple[float, float]
    minima: Floats


def _grid(places: list[float], d: int) -> Floats:
    return np.stack(np.meshgrid(*[places] * d), axis=-1).reshape(-1, d)


def _alpine(x: Floats) -> Floats:
    return np.abs(x * np.sin(x) + 0.1 * x).sum(axis=-1)


def _wells(x: Floats) -> Floats:
    return (np.abs(x[..., None, :] - WELLS).sum(axis=-1) + 0.1 * np.arange(len(WELLS))).min(axis=-1)


def _squares(x: Floats) -> Floats:
    return ((x**2 - 1.0) ** 2).sum(axis=-1) + 0.2 * x.sum(axis=-1) + 3.0 * np.abs(x[..., 0] + x[..., 1])


def _lasso(x: Floats) -> Floats:
    A, b = np.array([[1.0, 0.5, 0.2], [0.3, 1.0, 0.4], [0.1, 0.2, 1.0]]), np.array([1.0, 0.2, -0.5])
    return ((x @ A.T - b) ** 2).sum(axis=-1) + 0.6 * np.abs(x).sum(axis=-1)


def _wall(x: Floats) -> Floats:
    a, b = x[..., 0], x[..., 1]
    return (a * a + b - 11.0) ** 2 + (a + b * b - 7.0) ** 2 + 60.0 * np.maximum(0.0, a + b - 1.0)


def _lowest(function: Callable[[Floats], Any], start: list[float]) -> Floats:
    given: dict[str, Any] = {"method": "BFGS", "tol": 1e-12}
    return np.asarray(minimize(function, np.array(start), **given).x)


WELLS = np.array([[-2.0, -2.0], [2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [0.0, 0.0], [3.5, 0.0]])


def problems() -> list[Kinked]:
    """Those with minima that are known, by hand or by their equations."""
    roots = [0.0, *(brentq(lambda x: np.sin(x) + 0.1, k * np.pi - 0.5, k * np.pi + 0.5) for k in range(-3, 4))]
    half = 0.5 * np.pi
    smooth = [brentq(lambda x: 4.0 * x * (x * x - 1.0) + 0.2, *ends) for ends in ((-1.2, -0.9), (0.8, 1.1))]
    squares = np.array([[s, -s, *rest] for s in (-1.0, 1.0) for rest in _grid(smooth, 3)])
    active = _lowest(lambda u: _lasso(np.array([u[0], 0.0, u[1]])), [0.7, -0.2])
    along = _lowest(lambda u: _wall(np.array([u[0], 1.0 - u[0]])), [3.4])[0]
    wall = np.array([[-2.805118, 3.131313], [-3.779310, -3.283186], [along, 1.0 - along]])
    return [
        Kinked("cone", lambda x: np.sqrt(((x - 0.3) ** 2).sum(axis=-1)), (-2, 2), np.full((1, 2), 0.3)),
        Kinked("absolute values d=2", _wells, (-5, 5), WELLS),
        Kinked("abs(sin) d=2", lambda x: np.abs(np.sin(2.0 * x)).sum(axis=-1), (-2, 2), _grid([-half, 0, half], 2)),
        Kinked("lasso d=3", _lasso, (-3, 3), np.array([[active[0], 0.0, active[1]]])),
        Kinked("wall through Himmelblau", _wall, (-5, 5), wall),
        Kinked("double wells, penalty d=5", _squares, (-2, 2), squares),
        Kinked("Alpine 1 d=2", _alpine, (-10, 10), _grid(roots, 2)),
    ]  # fmt: skip


class Search:
    """Counts evaluations, and notes when each minimum was first found."""

    def __init__(self, problem: Kinked) -> None:
        self.problem, self.evaluations = problem, 0
        self.found_at = np.full(len(problem.minima), np.inf)

    def fun(self, x: Floats) -> float:
        self.evaluations += 1
        return float(self.problem.fun(np.asarray(x)))

    def note(self, x: Any, evaluations: int) -> None:
        lower, upper = self.problem.bounds
        is_near = np.abs(self.problem.minima - x).max(axis=1) < NEAR * (upper - lower)
        self.found_at[is_near] = np.minimum(self.found_at[is_near], evaluations)


def ours(problem: Kinked, seed: int) -> Search:
    """Until all are found."""
    search, d = Search(problem), problem.minima.shape[1]
    result = find_minima(problem.fun, [problem.bounds] * d, vectorized=True, rng=seed, maxfev=BUDGET)
    for mode in result.modes:
        search.note(mode.x, mode.found_at)
    return search


def multistart(method: str) -> Callable[[Kinked, int], Search]:
    """Local searches from random starts, until all are found."""

    def run(problem: Kinked, seed: int) -> Search:
        search, d = Search(problem), problem.minima.shape[1]
        rng = np.random.default_rng(seed)
        given: dict[str, Any] = {"method": method, "bounds": [problem.bounds] * d}
        if method == "Nelder-Mead":
            given["options"] = {"xatol": 1e-6, "fatol": 1e-9}
        while search.evaluations < BUDGET and not np.isfinite(search.found_at).all():
            start = np.asarray(rng.uniform(*problem.bounds, size=d))
            end = minimize(search.fun, start, **given)
            if search.evaluations <= BUDGET:
                search.note(end.x, search.evaluations)
        return search

    return run


def cells(searches: list[Search]) -> list[Cell]:
    """The median, and where it is beyond the budget the share that was found."""
    last = float(np.median([search.found_at.max() for search in searches]))
    share = float(np.mean([np.isfinite(search.found_at).mean() for search in searches]))
    return [reached(last), None if np.isfinite(last) else round(100 * share)]


def main() -> None:
    given = arguments(__doc__, runs=5).parse_args()
    peers = {"allmodes": ours, "Nelder-Mead": multistart("Nelder-Mead"), "L-BFGS-B": multistart("L-BFGS-B")}
    results = Results("Functions with kinks", given, NOTE)
    results.table(["function", "minima", *(column for name in peers for column in (name, f"{name} found, %"))])
    for problem in problems():
        row = [cell for run in peers.values() for cell in cells([run(problem, seed) for seed in seeds_of(given)])]
        results.row(problem.name, len(problem.minima), *row)
    results.write()


if __name__ == "__main__":
    main()
