"""The 20 niching functions of CEC2013 with their official budgets: how many of the global optima are found.

    python benchmarks/cec2013.py --runs 10 --first-seed 400 --processes 2
    python benchmarks/cec2013.py --functions 6 8 12 --runs 3 --output results/

Needs the package `ioh`, which has the functions.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.problems import NichingProblem, cec2013
from results import Cell, Results, arguments, digits, reached, seeds_of

ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
POSITION_SHARE = 0.1  # of the niche radius: how near a true optimum a point must be to count by position
# Mean peak ratios of other programs, from the competition's published results.
OTHERS = {
    "HillVallEA19": [1] * 7 + [0.975, 0.972, 1, 1, 1, 1, 0.923, 0.750, 0.723, 0.750, 0.667, 0.593, 0.480],
    "RS-CMSA-ESII": [1] * 6 + [0.999, 0.996, 0.989, 1, 1, 1, 0.997, 0.853, 0.750, 0.830, 0.750, 0.667, 0.718, 0.612],
}

NOTE = (
    "Official budgets; means over the runs (the last find: medians). PR: peak ratio at an accuracy; placed: the same "
    "by true positions, at 1e-5; F1 at the end and over the run. The columns of the others are the mean peak ratios "
    "their authors published."
)

Floats = NDArray[np.float64]


class Report(NamedTuple):
    """What a run reported: points (n, d), values, and after how many evaluations each was found and for how long kept.

    A point is dropped (`dropped_at`) when one is found that is better; it is infinite for the final set.
    """

    points: Floats
    values: Floats
    found_at: Floats
    dropped_at: Floats
    used: int
    seconds: float


class Score(NamedTuple):
    """Peak ratios per accuracy by niche radius and by true position, F1 at the end and over the run, at 1e-5."""

    by_radius: Floats
    by_position: Floats
    static_f1: float
    dynamic_f1: float
    used: int
    last_found: float
    seconds: float


# ---- solving


def solve(problem: NichingProblem, budget: int, seed: int, method: str, options: dict[str, Any]) -> Report:
    """One run: what allmodes.find_maxima does, also noting what was dropped when something better was found."""
    from allmodes import ModeFinder

    begin = time.perf_counter()
    finder = ModeFinder(
        problem.bounds, maximise=True, target="global", method=method,
        maxfev=budget, rng=seed, options=options,
    )  # fmt: skip
    while not finder.stop():
        points = finder.ask()
        if len(points):  # none when the search ends on being asked
            finder._driver.tell_round(problem.objective.fun(points))
    context, frame = finder._driver.state.context, finder._driver.state.frame
    archive, tie = context.archive, context.tolerances.tie
    found_at = np.array([record.found_at for record in archive.records], dtype=float)
    dropped_at = np.full(len(archive), np.inf)
    for i, value in enumerate(archive.values):
        better = found_at[(archive.values > value + tie) & (found_at >= found_at[i])]
        dropped_at[i] = better.min(initial=np.inf)
        if (archive.values > value + tie)[found_at < found_at[i]].any():
            dropped_at[i] = found_at[i]  # never was as good as the best
    points = frame.box.to_user(archive.means)
    values = np.array([frame.value(value) for value in archive.values])
    return Report(points, values, found_at, dropped_at, context.nfev, time.perf_counter() - begin)


# ---- counting


def peaks_by_position(problem: NichingProblem, points: Floats, values: Floats, accuracy: float) -> int:
    """How many of the true optima have a good point next to them."""
    good = points[np.abs(values - problem.height) <= accuracy]
    if not len(good):
        return 0
    distance = np.linalg.norm(problem.modes[:, None] - good, axis=2).min(axis=1)
    return int((distance <= POSITION_SHARE * problem.radius).sum())


def f1(problem: NichingProblem, points: Floats, values: Floats, accuracy: float) -> float:
    """Harmonic mean of the share of optima found and the share of reported points that are one each."""
    peaks = problem.peaks(points, values, accuracy)
    return 2 * peaks / (len(problem.modes) + len(points)) if peaks else 0.0


def score(problem: NichingProblem, report: Report, budget: int) -> Score:
    """All measures of one run."""
    is_final = np.isinf(report.dropped_at)
    points, values = report.points[is_final], report.values[is_final]
    total = len(problem.modes)
    by_radius = np.array([problem.peaks(points, values, a) for a in ACCURACIES]) / total
    by_position = np.array([peaks_by_position(problem, points, values, a) for a in ACCURACIES]) / total
    finest = ACCURACIES[-1]
    times = np.unique(np.minimum(np.append(report.found_at, [0, budget]), budget))
    dynamic = 0.0
    for begin, end in pairwise(times):
        is_held = (report.found_at <= begin) & (report.dropped_at > begin)
        dynamic += (end - begin) * f1(problem, report.points[is_held], report.values[is_held], finest)
    last = float(report.found_at[is_final].max(initial=0.0))
    static = f1(problem, points, values, finest)
    return Score(by_radius, by_position, static, dynamic / budget, report.used, last, report.seconds)


def write(problem: NichingProblem, report: Report, path: Path) -> None:
    """The competition's file: "x1 x2 ... = value @ evaluations milliseconds action" for each point of the final set."""
    lines = []
    order = np.argsort(report.found_at, kind="stable")
    for i in order[np.isinf(report.dropped_at[order])]:
        place = " ".join(f"{x:.17g}" for x in report.points[i])
        milliseconds = 1000 * report.seconds * report.found_at[i] / max(1, report.used)
        lines.append(f"{place} = {report.values[i]:.17g} @ {int(report.found_at[i])} {milliseconds:.0f} 1\n")
    path.write_text("".join(lines))


def run(number: int, seed: int, factor: float, method: str, options: dict[str, Any], output: str) -> Score:
    """Solve and score one run, in any process."""
    problem = cec2013(number)
    budget = int(factor * problem.budget)
    report = solve(problem, budget, seed, method, options)
    if output:
        Path(output).mkdir(parents=True, exist_ok=True)
        write(problem, report, Path(output) / f"problem{number:03d}run{seed + 1:03d}.dat")
    return score(problem, report, budget)


# ---- the table


def table_row(number: int, scores: list[Score]) -> list[Cell]:
    """Means over the runs of one function."""
    by_radius = np.mean([s.by_radius for s in scores], axis=0)
    by_position = np.mean([s.by_position for s in scores], axis=0)
    f1s = np.mean([(s.static_f1, s.dynamic_f1) for s in scores], axis=0)
    ratios = [by_radius[0], by_radius[-1], by_position[-1], *f1s]
    last, used = np.median([s.last_found for s in scores]), np.mean([s.used for s in scores])
    seconds = digits(float(np.mean([s.seconds for s in scores])), 1)
    others = [digits(OTHERS[name][number - 1], 3) for name in OTHERS]
    return [
        f"F{number}",
        *(digits(ratio, 3) for ratio in ratios),
        reached(last),
        reached(float(used)),
        seconds,
        *others,
    ]


def summary(scores: dict[int, list[Score]], results: Results) -> None:
    """Means over the functions."""
    ratios = np.array([[s.by_radius[-1] for s in runs] for runs in scores.values()])
    runs = ratios.shape[1]
    error = np.sqrt((ratios.var(axis=1, ddof=1) / runs).sum()) / len(ratios) if runs > 1 else np.nan
    every = [s for part in scores.values() for s in part]
    f1s = np.mean([(s.static_f1, s.dynamic_f1) for s in every], axis=0)
    results.table(["program", "peak ratio at 1e-5", "standard error", "F1", "F1(t)"], "Means over these functions")
    results.row("allmodes", *(digits(number, 4) for number in (ratios.mean(), error, *f1s)))
    for name, others in OTHERS.items():
        mean = digits(float(np.mean([others[number - 1] for number in scores])), 4)
        results.row(name, mean, None, None, None)


def main() -> None:
    parser = arguments(__doc__, runs=10)
    parser.add_argument("--functions", type=int, nargs="+", default=list(range(1, 21)))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--budget-factor", type=float, default=1.0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--option", nargs=2, action="append", default=[], metavar=("NAME", "NUMBER"))
    parser.add_argument("--output", default="", help="directory for files in the competition's format")
    given = parser.parse_args()
    options = {name: float(number) for name, number in given.option}
    results = Results("CEC2013 niching functions", given, NOTE)
    measures = ["PR 1e-1", "PR 1e-5", "placed", "F1", "F1(t)"]
    results.table(["function", *measures, "last at", "used", "seconds", *OTHERS])
    jobs = [(number, seed) for number in given.functions for seed in seeds_of(given)]
    scores: dict[int, list[Score]] = {number: [] for number in given.functions}
    with ProcessPoolExecutor(given.processes) as pool:
        running = [
            pool.submit(run, number, seed, given.budget_factor, given.method, options, given.output)
            for number, seed in jobs
        ]
        for (number, _), future in zip(jobs, running, strict=True):
            scores[number].append(future.result())
            if len(scores[number]) == given.runs:
                results.row(*table_row(number, scores[number]))
    summary(scores, results)
    results.write()


if __name__ == "__main__":
    main()
