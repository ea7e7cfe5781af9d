"""How right an audit is: multistarts of SciPy's optimisers on functions whose minima are known, with and without fun.

python benchmarks/audit.py --json benchmarks/results/audit.json
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import allmodes
from audit_problems import METHODS, Problem, multistart, problems
from results import Cell, Results, arguments, digits

RUNS = (100, 1000)
NEAR = 0.01  # of the box: an end this close to a minimum reached it, and a mode is that minimum
LARGE, WIDE, PLACES = 100_000, 20, 50
NOTE = (
    "Reached: known minima with an end within 1 % of the box. Listed: modes of the audit; right, those within 1 % of "
    "different known minima; doubles, further ones there; false, all others; lost, reached and not listed. Of a valley "
    "any point is right once. Not there: ends that the audit says had not converged or are no optimum. Range: of "
    "missing minima (90 %), beside how many known ones are not listed. Every tenth run of Nelder-Mead is cut off after "
    "30 iterations; least_squares has tolerances of 1e-4. Evaluations are those of the checks, from values alone."
)
COLUMNS = ("problem", "optimiser", "runs", "fun", "known", "reached", "listed", "right", "doubles", "false", "lost",
           "not there", "missing", "range", "holds", "evaluations", "seconds")  # fmt: skip

Floats = NDArray[np.float64]


class Score(NamedTuple):
    """How a list of modes compares with the known minima."""

    right: int
    doubles: int
    false: int
    lost: int


def which(problem: Problem, minima: Floats, points: Floats) -> NDArray[np.intp]:
    """For each point the known minimum that it is at, -1 for none."""
    if problem.is_valley:
        return np.where(np.abs(np.hypot(*points.T) - 1.0) < NEAR * 4.0, 0, -1)
    width = problem.bounds[:, 1] - problem.bounds[:, 0]
    apart = np.abs((points[:, None] - minima[None]) / width).max(axis=2)
    return np.where(apart.min(axis=1) < NEAR, apart.argmin(axis=1), -1)


def score(listed: NDArray[np.intp], reached: set[int]) -> Score:
    """Counts of modes by the minima that they are at."""
    found = set(listed[listed >= 0].tolist())
    return Score(len(found), int((listed >= 0).sum()) - len(found), int((listed < 0).sum()), len(reached - found))


def case(problem: Problem, minima: Floats, ends: list[Any], method: str, with_fun: bool) -> list[Cell]:
    """One row."""
    begun = time.perf_counter()
    fun = problem.one if with_fun else None
    result = allmodes.audit(ends, fun=fun, bounds=problem.bounds, rng=0)
    seconds = time.perf_counter() - begun
    reached = set(which(problem, minima, np.array([end.x for end in ends])).tolist()) - {-1}
    points = np.array([mode.x for mode in result.modes]).reshape(-1, len(problem.bounds))
    seen = score(which(problem, minima, points), reached)
    missing = len(minima) - seen.right
    low, high = result.coverage.missing_range
    is_judged = result.coverage.is_judged
    states = result.audit.codes if result.audit is not None else np.zeros(0)
    said = "yes" if with_fun else "no"
    return [
        problem.name, method, len(ends), said, len(minima), len(reached), len(result.modes), *seen,
        int((states >= 2).sum()), missing, f"{low} to {high}" if is_judged else None,
        ("yes" if low <= missing <= high else "no") if is_judged else None, result.nfev, digits(seconds, 2),
    ]  # fmt: skip


def large(rng: np.random.Generator) -> tuple[int, float, int, float]:
    """Modes and seconds for many ends in many coordinates: without fun, and with."""
    centres = rng.random((PLACES, WIDE))
    label = rng.integers(PLACES, size=LARGE)
    ends = centres[label] + 1e-5 * rng.standard_normal((LARGE, WIDE))
    ends[: LARGE // 20] = rng.random((LARGE // 20, WIDE))

    def fun(x: Floats) -> Floats:
        squares = ((x[:, None] - centres) ** 2).sum(axis=2)
        return np.asarray((squares + 0.01 * np.arange(PLACES)).min(axis=1))

    values, bounds, told = fun(ends), [(0.0, 1.0)] * WIDE, []
    for f in (None, fun):
        begun = time.perf_counter()
        result = allmodes.audit(ends, values, fun=f, vectorized=f is not None, bounds=bounds, maxfev=20_000, rng=0)
        told += [len(result.modes), time.perf_counter() - begun]
    return int(told[0]), told[1], int(told[2]), told[3]


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    results = Results("Audits of multistarts", given, NOTE)
    results.table(COLUMNS)
    for problem in problems():
        minima = problem.minima
        for method in METHODS:
            if method.startswith("least") and problem.residuals is None:
                continue
            for runs in RUNS:
                ends = multistart(problem, method, runs, np.random.default_rng(given.first_seed))
                for with_fun in (False, True):
                    results.row(*case(problem, minima, ends, method, with_fun))
    results.table(("ends", "coordinates", "modes without fun", "seconds", "modes with fun", "seconds with fun"),
                  f"{PLACES} minima, a twentieth of the ends elsewhere, 20,000 evaluations at most")  # fmt: skip
    few, quick, many, slow = large(np.random.default_rng(given.first_seed))
    results.row(LARGE, WIDE, few, digits(quick, 1), many, digits(slow, 1))
    results.write()


if __name__ == "__main__":
    main()
