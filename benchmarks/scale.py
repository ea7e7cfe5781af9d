"""How a search behaves on many workers, simulated: the real search and scheduler, simulated workers, a fake clock.

    python benchmarks/scale.py                         # 1,000 workers, ten minutes per evaluation
    python benchmarks/scale.py --workers 100 --seconds 1

The clock goes on by the processor time that the search itself takes, and jumps when it waits for workers. Evaluations
take a random time (log-normal, `--spread` is the standard deviation of its logarithm) with the given median.

For each problem and width (local searches in flight): evaluations and time until all modes are found, how much of
the workers' time was spent on evaluations until then, and what the parent does: its processor time for each evaluation,
and how many evaluations per second it could keep up with.
"""

from __future__ import annotations

import argparse
import heapq
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

from allmodes import find_maxima, problems
from allmodes.objective import VALUE
from allmodes.objective.workers.foreign import Foreign
from allmodes.problems import Problem
from results import Cell, Results, arguments, digits, reached

MESSAGE = 1e-3  # seconds that a task spends on its way
BUDGET = 40_000
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "Himmelblau": problems.himmelblau,
    "Styblinski-Tang, d=4": lambda: problems.styblinski_tang(4),
    "Styblinski-Tang, d=6": lambda: problems.styblinski_tang(6),
    "posterior-like, d=4": problems.posterior_mixture,
    "Vincent, d=2": lambda: problems.vincent(2),
}


class Simulated(Foreign):
    """Workers that need no time of this machine: a task is done at once, and its answer comes when it would have come.

    Args:
        workers: how many.
        seconds: median time of an evaluation.
        spread: standard deviation of its logarithm.
        rng: draws the times.
    """

    def __init__(self, workers: int, seconds: float, spread: float, rng: np.random.Generator) -> None:
        self._jumped = 0.0
        self._begun = time.process_time()
        self._seconds, self._spread, self._rng = seconds, spread, rng
        self._free = [0.0] * workers  # when each worker is done with what it has
        self._due: list[tuple[float, int, Future[Any], Any]] = []
        self.work: list[tuple[float, float, int]] = []  # when tasks came back, seconds in them, evaluations
        super().__init__(self._take, lambda: workers)

    def clock(self) -> float:
        """Processor time of this process, and what it waited."""
        return time.process_time() - self._begun + self._jumped

    def _take(self, function: Any, task: Any) -> Future[Any]:
        outside = time.process_time()
        reply, future = function(task), Future[Any]()
        self._begun += time.process_time() - outside  # the workers' time is not this process's
        points = len(task.points)
        seconds = float(np.sum(self._seconds * np.exp(self._spread * self._rng.standard_normal(points))))
        done = max(heapq.heappop(self._free), self.clock()) + MESSAGE + seconds
        heapq.heappush(self._free, done)
        heapq.heappush(self._due, (done, len(self.work) + len(self._due), future, reply._replace(seconds=seconds)))
        self.work.append((done, seconds, points))
        return future

    def tend(self) -> None:
        """Answers that are due; if none is, the time of the next."""
        if self._due and self._due[0][0] > self.clock():
            self._jumped += self._due[0][0] - self.clock()
        while self._due and self._due[0][0] <= self.clock():
            _, _, future, reply = heapq.heappop(self._due)
            future.set_result(reply)


def row(name: str, width: int | None, order: str, given: argparse.Namespace) -> list[Cell]:
    """One search."""
    problem = PROBLEMS[name]()
    engine = Simulated(given.workers, given.seconds, given.spread, np.random.default_rng(given.first_seed))
    options: dict[str, Any] = ({} if order == "fixed" else {"order": order}) | (
        {} if width is None else {"width": width}
    )
    wanted = len(problem.modes)

    def fun(x: Any) -> float:
        return float(problem.objective.evaluate(x[None], VALUE).value[0])

    result = find_maxima(
        fun, problem.bounds, workers=engine, n_modes=wanted, maxfev=BUDGET, rng=given.first_seed, options=options
    )
    ends = np.array([end for end, _, _ in engine.work])
    hours = ends.max() / 3600.0
    busy = sum(seconds for _, seconds, _ in engine.work) / (given.workers * ends.max())
    parent = (time.process_time() - engine._begun) / result.nfev
    counts: list[Cell] = [len(result.modes), wanted, result.nfev]
    times = [digits(hours, 2), reached(100 * busy), digits(1e3 * parent, 2), reached(1.0 / parent)]
    return [name, "default" if width is None else width, order, *counts, *times]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--spread", type=float, default=0.5)
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 250, 1000])
    parser.add_argument("--orders", nargs="+", default=["fixed", "completion"])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    given = parser.parse_args()
    serial = given.seconds * np.exp(given.spread**2 / 2) / 3600
    results = Results(
        "Many workers, simulated", given,
        f"{given.workers} simulated workers, median {given.seconds:g} s per evaluation (spread {given.spread:g}), "
        f"values alone, one run each; serial hours are evaluations times {serial:.3f}. Busy is in % of the workers' "
        "time; parent is the processor time of the search itself for an evaluation.",
    )  # fmt: skip
    measured = ["evaluations", "hours", "busy, %", "parent, ms", "evaluations/s"]
    results.table(["problem", "width", "order", "found", "modes", *measured])
    for name in given.problems:
        for order in given.orders:
            for width in [None, *given.widths]:
                results.row(*row(name, width, order, given))
    results.write()


if __name__ == "__main__":
    main()
