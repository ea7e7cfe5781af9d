"""How busy workers are when evaluations take different times: the real scheduler, and a clock that is not real.

    python benchmarks/overlap.py

Evaluations take log-normal times (sigma 1) and go to whichever worker is free, in the order of asking. Printed is the
share of the workers' time in which they evaluate, and the modes found by the same number of evaluations.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from all_modes import commit
from allmodes import ModeFinder
from allmodes.driver import Driver
from allmodes.problems import Problem, shubert

BUDGET = 1_200
SEEDS = range(3)
CASES = ((4, 8), (4, 16), (4, 32), (8, 8), (8, 16), (8, 32))  # workers, and launches under way at once
WAYS = ("one round", "overlapping", "completion")
_WITHOUT_END = 10**9


def a_driver(problem: Problem, way: str, width: int, seed: int) -> Driver:
    options = {"width": width, "patience": _WITHOUT_END, "order": "completion" if way == "completion" else "fixed"}
    finder = ModeFinder(problem.bounds, jac=True, maximise=True, rng=seed, maxfev=BUDGET, options=options)
    launches: Any = finder._driver.state.strategy.launches  # type: ignore[attr-defined]
    launches.width = (width, width)
    if way == "one round":
        launches.overlap = "none"
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
    problem = shubert()
    print(f"commit {commit()}, {problem.name}, {BUDGET} evaluations with gradients, mean of {len(SEEDS)} seeds\n")
    print("| workers | launches at once | " + " | ".join(f"{way}: busy, modes" for way in WAYS) + " |")
    print("| --- " * (2 + len(WAYS)) + "|")
    for workers, width in CASES:
        cells = []
        for way in WAYS:
            runs = [run(a_driver(problem, way, width, seed), problem, workers, seed) for seed in SEEDS]
            share, modes = np.mean(runs, axis=0)
            cells.append(f"{100 * share:.0f} %, {modes:.0f}")
        print(f"| {workers} | {width} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
