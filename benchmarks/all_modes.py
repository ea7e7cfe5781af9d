"""Evaluations until 90 % and 100 % of all modes are found: allmodes beside its peers, on the test bed.

    python benchmarks/all_modes.py                     # derivatives; about 20 minutes
    python benchmarks/all_modes.py --values            # without derivatives, the cheap problems
    python benchmarks/all_modes.py --runs 3 --problems Himmelblau banana
    python benchmarks/all_modes.py --alone             # the column of allmodes; those of its peers do not change

Medians over runs; ">" means that most runs did not get there within the cap. Tolerance: 5e-3 of the box in every
coordinate (2e-2 where a mode is degenerate).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import find_maxima
from allmodes.problems import Problem, benchmark_problems, himmelblau, shubert, six_hump_camel, styblinski_tang
from peers import Finds, multistart_lbfgsb, multistart_newton, shgo
from results import Cell, Results, arguments, digits, reached, seeds_of

Array = NDArray[np.float64]

CAP = 8_000
PEER_CAP = 60_000
CHEAP: list[tuple[Problem, int, dict[str, Any]]] = [  # problem, wanted evaluations, settings
    (himmelblau(), 400, {}),
    (six_hump_camel(), 800, {}),
    (styblinski_tang(4), 2_500, {}),
    (shubert(), 10_000, {"target": "global"}),
]
FEWER = 3  # runs of L-BFGS-B, or a quarter of all
NOTE = (
    "Medians of the evaluations until 90 % and until all of the modes are found. One point is one evaluation: value, "
    "gradient and Hessian for allmodes and for multistart Newton, value and gradient for multistart L-BFGS-B "
    f"({FEWER} runs, or a quarter), values for SHGO (no randomness). Caps: {CAP}, Newton {PEER_CAP}. The ratio to "
    "Newton is that of all modes, or of 90 % where allmodes did not reach all within its cap."
)
VALUES_NOTE = "Medians of the evaluations until all modes are found, values alone, differences counted."
_WITHOUT_END = 10**9  # local searches without a new mode: the benchmark stops by number of modes or by the cap


def first_found(problem: Problem, seed: int, cap: int, **settings: Any) -> Array:
    """Evaluations at which allmodes found each mode of the problem, inf for those it did not find."""
    objective = problem.objective
    result = find_maxima(
        objective.fun, problem.bounds, vectorized=True, rng=seed, maxfev=cap, options={"patience": _WITHOUT_END},
        **settings,
    )  # fmt: skip
    finds = Finds(problem, cap)
    for mode in sorted(result.modes, key=lambda mode: mode.found_at):
        finds.add(mode.x, mode.found_at)
    return finds.counts


def shares(runs: list[Array]) -> tuple[float, float]:
    """Median evaluations to 90 % and to 100 % of the modes."""
    nine, all_of_them = [], []
    for found in runs:
        ordered = np.sort(found)
        nine.append(ordered[int(np.ceil(0.9 * len(ordered))) - 1])
        all_of_them.append(ordered[-1])
    return float(np.median(nine)), float(np.median(all_of_them))


def cells(runs: list[Array]) -> list[Cell]:
    return [reached(number) for number in shares(runs)]


def given_all(problem: Problem) -> dict[str, Any]:
    """Derivatives and the number of modes."""
    return {"jac": problem.objective.jac, "hess": problem.objective.hess, "n_modes": len(problem.modes)}


def with_derivatives(problems: list[Problem], seeds: range, results: Results) -> None:
    pair = [f"{{}}, {share} %" for share in (90, 100)]
    names = [[column.format(name) for column in pair] for name in ("allmodes", "Newton", "L-BFGS-B", "SHGO")]
    results.table(["problem", "modes", *names[0], *names[1], "ratio", *names[2], *names[3]])
    halves, worse = 0, []
    for problem in problems:
        ours = [first_found(problem, seed, CAP, **given_all(problem)) for seed in seeds]
        newton = [multistart_newton(problem, np.random.default_rng(seed), PEER_CAP) for seed in seeds]
        few = seeds[: max(FEWER, len(seeds) // 4)]
        lbfgsb = [multistart_lbfgsb(problem, np.random.default_rng(seed), CAP) for seed in few]
        ratio = compared(shares(ours), shares(newton))  # NaN when neither got anywhere
        halves += ratio <= 0.5
        worse += [problem.name] if ratio > 1.1 else []
        results.row(
            problem.name, len(problem.modes), *cells(ours), *cells(newton), digits(ratio, 2), *cells(lbfgsb),
            *cells([shgo(problem, CAP)]),
        )  # fmt: skip
    above = ", ".join(worse) or "none"
    results.say(f"At most half of multistart Newton's on {halves} of {len(problems)}; above 1.1 times on {above}.")


def alone(problems: list[Problem], seeds: range, results: Results) -> None:
    """The column of allmodes, with derivatives and from values."""
    results.table(["problem", "modes", "allmodes, 90 %", "allmodes, 100 %"])
    for problem in problems:
        found = [first_found(problem, seed, CAP, **given_all(problem)) for seed in seeds]
        results.row(problem.name, len(problem.modes), *cells(found))
    results.table(["problem", "modes", "allmodes"], "Values alone")
    for problem, wanted, settings in CHEAP:
        name, number, chosen = chosen_modes(problem, settings)
        results.row(name, number, reached(median_from_values(problem, seeds, wanted, settings, chosen)))


def compared(ours: tuple[float, float], theirs: tuple[float, float]) -> float:
    """Ratio of evaluations to all modes; where we did not get there, the ratio of the 90 %, or NaN."""
    if np.isfinite(ours[1]):
        return ours[1] / theirs[1] if np.isfinite(theirs[1]) else 0.0
    if np.isfinite(ours[0]) and theirs[1] > CAP:
        return ours[0] / theirs[0]
    if np.isinf(theirs[0]):
        return np.nan
    return np.inf


def chosen_modes(problem: Problem, settings: dict[str, Any]) -> tuple[str, int, NDArray[np.bool_]]:
    """The problem's name, how many modes are wanted, and which: all, or the global ones."""
    chosen = problem.is_global if settings else np.ones(len(problem.modes), bool)
    return f"{problem.name}{', global' if settings else ''}", int(chosen.sum()), chosen


def median_from_values(
    problem: Problem, seeds: range, wanted: int, settings: dict[str, Any], chosen: NDArray[np.bool_]
) -> float:
    """Median evaluations of allmodes until the chosen modes are found, from values alone."""
    number = int(chosen.sum())
    found = [first_found(problem, seed, 4 * wanted, n_modes=number, **settings)[chosen].max() for seed in seeds]
    return float(np.median(found))


def without_derivatives(seeds: range, results: Results) -> None:
    """Median evaluations of the function until all modes are found, from values alone."""
    results.table(["problem", "modes", "allmodes", "wanted", "multistart L-BFGS-B"])
    for problem, wanted, settings in CHEAP:
        name, number, chosen = chosen_modes(problem, settings)
        theirs = [
            multistart_lbfgsb(problem, np.random.default_rng(seed), 6 * wanted, derivatives=False)[chosen].max()
            for seed in seeds
        ]
        ours = median_from_values(problem, seeds, wanted, settings, chosen)
        results.row(name, number, reached(ours), wanted, reached(float(np.median(theirs))))


def main() -> None:
    parser = arguments(__doc__, runs=11)
    parser.add_argument("--values", action="store_true", help="without derivatives, the cheap problems")
    parser.add_argument("--problems", nargs="*", help="parts of names")
    parser.add_argument("--alone", action="store_true", help="only allmodes, not its peers")
    given = parser.parse_args()
    seeds = seeds_of(given)
    if given.values:
        results = Results("Evaluations until all modes are found, from values alone", given, VALUES_NOTE)
        without_derivatives(seeds, results)
    else:
        chosen = [p for p in benchmark_problems() if not given.problems or any(n in p.name for n in given.problems)]
        results = Results("Evaluations until all modes are found", given, NOTE)
        (alone if given.alone else with_derivatives)(chosen, seeds, results)
    results.write()


if __name__ == "__main__":
    main()
