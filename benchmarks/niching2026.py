"""The suite of the niching competition of CEC 2026 with its budgets and its score, for a few instances of each problem.

    python benchmarks/niching2026.py --first-seed 2600 --instances 9
    python benchmarks/niching2026.py --instances 2 9 14 --dimensions 2 5 --beside S-CARD-CMSA

All of it, `--instances` 1 to 15, is 960 runs of up to 400,000 evaluations. `--beside` takes a folder of results in the
competition's format, a file "pid01 pin01 dim2.csv" for each run with coordinates and the value in every row, and scores
the same instances of it. The author of S-CARD-CMSA has published such files with its source.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes import find_minima
from allmodes.problems.niching2026 import (
    DIMENSIONS,
    INSTANCES,
    PROBLEMS,
    CompositeProblem,
    f1_score,
    final_score,
    niching2026,
    robust_peak_ratio,
)
from results import Cell, Results, arguments, digits

Floats = NDArray[np.float64]

NOTE = (
    "Official budgets of 20,000 d values, one run for each instance, means over problems and instances. RPR is the "
    "robust peak ratio, from 0 to 1 for each minimum by the logarithm of the error from 1 to 1e-5; the score is the "
    'mean of RPR and F1. Of allmodes all modes that are listed count, with target="global"; S-CARD-CMSA, the best '
    "entrant known, is scored here from the files its author submitted, for the same instances."
)
# What the authors of S-CARD-CMSA, the best known entrant, published: RPR, F1 and score of 768 runs of 256 cases.
PUBLISHED = 0.805, 0.831, 0.818
# And the most that its reporting could have reached by the minima its searches came upon.
CEILINGS = {2: 0.990, 5: 0.958, 10: 0.841, 20: 0.566}
MEASURES = "RPR", "F1", "score", "reported"


class Score(NamedTuple):
    """Of what one run reported."""

    ratio: float
    f1: float
    score: float
    reported: int
    seconds: float = 0.0


def scored(problem: CompositeProblem, points: Floats, heights: Floats, seconds: float = 0.0) -> Score:
    """The competition's score of points (n, d) with values (n,), to be maximised."""
    ratio, f1, score = (of(problem, points, heights) for of in (robust_peak_ratio, f1_score, final_score))
    return Score(ratio, f1, score, len(points), seconds)


def solve(problem: CompositeProblem, seed: int, method: str) -> Score:
    """One run as a user would call it."""
    begin = time.perf_counter()
    result = find_minima(
        lambda x: -problem.objective.fun(x), problem.bounds, vectorized=True, target="global", method=method,
        maxfev=problem.budget, rng=seed,
    )  # fmt: skip
    points = np.array([mode.x for mode in result.modes]).reshape(-1, problem.dimension)
    heights = np.array([-mode.fun for mode in result.modes])
    return scored(problem, points, heights, time.perf_counter() - begin)


def run(number: int, instance: int, d: int, seed: int, method: str) -> Score:
    """The same in any process."""
    return solve(niching2026(number, instance, d), seed, method)


def submitted(number: int, instance: int, d: int, folder: Path) -> Score:
    """Somebody's file of the same problem; values are computed again."""
    problem = niching2026(number, instance, d)
    points = np.loadtxt(folder / f"pid{number:02d} pin{instance:02d} dim{d}.csv", delimiter=",", ndmin=2)[:, :d]
    return scored(problem, points, np.asarray(problem.objective.fun(points)))


def means(scores: list[Score]) -> list[Cell]:
    """RPR, F1, score and how many points were reported."""
    ratio, f1, score, reported, _ = np.mean(scores, axis=0)
    return [digits(ratio, 3), digits(f1, 3), digits(score, 3), digits(reported, 1)]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--problems", type=int, nargs="+", default=list(range(1, PROBLEMS + 1)))
    parser.add_argument("--instances", type=int, nargs="+", default=[8], help=f"of 1 to {INSTANCES} (8)")
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    parser.add_argument("--method", default="auto")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--beside", type=Path, help="folder of results in the competition's format")
    given = parser.parse_args()
    other = given.beside.name if given.beside else ""
    how = {"auto": "", "black-box": ", by populations"}.get(given.method, f", {given.method}")
    results = Results(f"The niching suite of 2026{how}", given, NOTE)
    every: list[tuple[int, list[Score], list[Score]]] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for d in given.dimensions:
            columns = [f"{name}: {measure}" for name in ("allmodes", other) if name for measure in MEASURES]
            spoken = ", ".join(map(str, given.instances))
            results.table(["problem", "optima", *columns, "seconds"], f"d = {d}, instances {spoken}")
            cases = [[(number, instance, d) for instance in given.instances] for number in given.problems]
            running = [[pool.submit(run, *case, given.first_seed, given.method) for case in row] for row in cases]
            ours: list[Score] = []
            theirs: list[Score] = []
            for row, futures in zip(cases, running, strict=True):
                found = [future.result() for future in futures]
                beside = [submitted(*case, given.beside) for case in row] if other else []
                ours, theirs = ours + found, theirs + beside
                seconds = digits(float(np.mean([one.seconds for one in found])), 1)
                cells = [cell for scores in (found, beside) if scores for cell in means(scores)]
                results.row(f"P{row[0][0]}", 20 if row[0][0] <= 8 else 10, *cells, seconds)
            every.append((d, ours, theirs))
    summary(results, every, other)
    results.write()


def summary(results: Results, every: list[tuple[int, list[Score], list[Score]]], other: str) -> None:
    """Means over problems and instances for each dimension, and over dimensions."""
    results.table(["d", "runs", "program", *MEASURES], "Means")
    for d, ours, theirs in every:
        for name, scores in (("allmodes", ours), (other, theirs)):
            if scores:
                results.row(d, len(scores), name, *means(scores))
        if d in CEILINGS:
            results.row(d, 192, "S-CARD-CMSA, its ceiling as published", CEILINGS[d], None, None, None)
    for name, both in (("allmodes", [row[1] for row in every]), (other, [row[2] for row in every])):
        together = [score for scores in both for score in scores]
        if together:
            results.row("all", len(together), name, *means(together))
    results.row("all", 768, "S-CARD-CMSA, as published", *PUBLISHED, None)


if __name__ == "__main__":
    main()
