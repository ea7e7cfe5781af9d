"""How busy workers are when evaluations take different times: the real scheduler, and a clock that is not real.

    python benchmarks/overlap.py

Evaluations take log-normal times (sigma 1) and go to whichever worker is free, in the order of asking. Printed is the
share of the workers' time in which they evaluate, and the modes found by the same number of evaluations.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from allmodes import ModeFinder
from allmodes.driver import Driver
from allmodes.problems import Problem, shubert
from results import Cell, Results, arguments, reached, seeds_of

BUDGET = 1_200
CASES = ((4, 8), (4, 16), (4, 32), (8, 8), (8, 16), (8, 32))  # workers, and local searches in flight
WAYS = ("one round", "overlapping", "completion")
_WITHOUT_END = 10**9


def a_driver(problem: Problem, way: str, width: int, seed: int) -> Driver:
    options = {"width": width, "patience": _WITHOUT_END, "order": "completion" if way == "completion" else "fixed"}
    finder = ModeFinder(problem.bounds, jac=True, maximise=True, rng=seed, maxfev=BUDGET, options=options)
    scheduler: Any = finder._driver.state.search
    scheduler.multistart.width = (width, width)
    if way == "one round":
        scheduler.overlap = "none"
    return finder._driver


def run(driver: Driver, problem: Problem, workers: int, seed: int) -> tuple[float, int]:
    """The share of time in which workers are busy, and how many modes were found."""
    rng, objective = np.random.default_rng(seed), problem.objective
    waiting: list[tuple[int, int, Any]] = []
    running: list[tuple[float, int, tuple[int, int, Any]]] = []
    clock, busy, begun = 0.0, 0.0, 0
    while driver.is_in_round or not driver.stop():
        for number, points, _ in driver.hand_out():
            waiting += [(number, row, points[row : row + 1]) for row in range(len(points))]
        while waiting and len(running) < workers:
            duration = rng.lognormal()
            busy, begun = busy + duration, begun + 1
            heapq.heappush(running, (clock + duration, begun, waiting.pop(0)))
        clock, _, (number, row, x) = heapq.heappop(running)
        driver.tell_rows(number, [row], objective.fun(x), objective.jac(x))  # type: ignore[misc]
    return busy / (clock * workers), len(driver.result.modes)


def main() -> None:
    problem, given = shubert(), arguments(__doc__, runs=3).parse_args()
    note = f"{problem.name}, {BUDGET} evaluations with gradients; means, of the workers' time busy in %, and of modes."
    results = Results("Workers whose evaluations take different times", given, note)
    columns = (f"{way}: {what}" for way in WAYS for what in ("busy, %", "modes"))
    results.table(["workers", "local searches at once", *columns])
    for workers, width in CASES:
        cells: list[Cell] = []
        for way in WAYS:
            runs = [run(a_driver(problem, way, width, seed), problem, workers, seed) for seed in seeds_of(given)]
            share, modes = np.mean(runs, axis=0)
            cells += [reached(100 * share), reached(modes)]
        results.row(workers, width, *cells)
    results.write()


if __name__ == "__main__":
    main()
