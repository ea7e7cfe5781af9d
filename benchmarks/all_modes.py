"""Evaluations until 90 % and 100 % of all modes are found: allmodes beside its peers, on the test bed.

    python benchmarks/all_modes.py                     # derivatives; about 20 minutes
    python benchmarks/all_modes.py --values            # without derivatives, the cheap problems
    python benchmarks/all_modes.py --runs 3 --problems Himmelblau banana
    python benchmarks/all_modes.py --alone             # the column of allmodes; those of its peers do not change

One evaluation is one point: value, gradient and Hessian for allmodes and multistart Newton, value and gradient for
L-BFGS-B and SHGO. Medians over runs with seeds 0, 1, ...; ">" means that most runs did not get there within the cap.
Tolerance: 5e-3 of the box in every coordinate (2e-2 where a mode is degenerate).
"""

from __future__ import annotations

import argparse
import subprocess
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import find_maxima
from allmodes.problems import Problem, benchmark_problems, himmelblau, shubert, six_hump_camel, styblinski_tang
from peers import Finds, multistart_lbfgsb, multistart_newton, shgo

Array = NDArray[np.float64]

CAP = 8_000
PEER_CAP = 60_000
CHEAP: list[tuple[Problem, int, dict[str, Any]]] = [  # problem, wanted evaluations, settings
    (himmelblau(), 400, {}),
    (six_hump_camel(), 800, {}),
    (styblinski_tang(4), 2_500, {}),
    (shubert(), 10_000, {"target": "global"}),
]
_WITHOUT_END = 10**9  # launches without a new mode: the benchmark stops by number of modes or by the cap


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


def cell(pair: tuple[float, float]) -> str:
    return "/".join(">" if np.isinf(number) else f"{number:.0f}" for number in pair)


def commit() -> str:
    try:
        shown = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
        return shown.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def with_derivatives(problems: list[Problem], runs: int) -> None:
    print(f"commit {commit()}, {runs} runs each, cap {CAP} (peers {PEER_CAP})\n")
    print("| problem (modes) | allmodes | multistart Newton | ratio | L-BFGS-B | SHGO |")
    print("| --- | --- | --- | --- | --- | --- |")
    halves, worse = 0, []
    for problem in problems:
        ours = [
            first_found(
                problem, seed, CAP, jac=problem.objective.jac, hess=problem.objective.hess, n_modes=len(problem.modes)
            )
            for seed in range(runs)
        ]
        newton = [multistart_newton(problem, np.random.default_rng(seed), PEER_CAP) for seed in range(runs)]
        few = max(3, runs // 4)
        lbfgsb = [multistart_lbfgsb(problem, np.random.default_rng(seed), CAP) for seed in range(few)]
        pairs = [shares(ours), shares(newton), shares(lbfgsb), shares([shgo(problem, CAP)])]
        ratio = compared(pairs[0], pairs[1])  # NaN when neither got anywhere
        halves += ratio <= 0.5
        worse += [problem.name] if ratio > 1.1 else []
        cells = [cell(pair) for pair in pairs]
        start = f"| {problem.name} ({len(problem.modes)}) | "
        print(start + " | ".join([*cells[:2], f"{ratio:.2f}", *cells[2:]]) + " |",
              flush=True)  # fmt: skip
    print(f"\nat most half of multistart Newton's on {halves} of {len(problems)}; above 1.1 times on {worse or 'none'}")


def alone(problems: list[Problem], runs: int) -> None:
    """The column of allmodes, with derivatives and from values."""
    print(f"commit {commit()}, {runs} runs each, cap {CAP}, allmodes alone\n")
    print("| problem (modes) | allmodes |\n| --- | --- |")
    for problem in problems:
        given = {"jac": problem.objective.jac, "hess": problem.objective.hess, "n_modes": len(problem.modes)}
        found = [first_found(problem, seed, CAP, **given) for seed in range(runs)]
        print(f"| {problem.name} ({len(problem.modes)}) | {cell(shares(found))} |", flush=True)
    print("\n| problem, values alone | allmodes |\n| --- | --- |")
    for problem, wanted, settings in CHEAP:
        chosen = problem.is_global if settings else np.ones(len(problem.modes), bool)
        number = int(chosen.sum())
        found = [
            first_found(problem, seed, 4 * wanted, n_modes=number, **settings)[chosen].max() for seed in range(runs)
        ]
        print(f"| {problem.name} ({number}) | {np.median(found):.0f} |", flush=True)


def compared(ours: tuple[float, float], theirs: tuple[float, float]) -> float:
    """Ratio of evaluations to all modes; where we did not get there, the ratio of the 90 %, or NaN."""
    if np.isfinite(ours[1]):
        return ours[1] / theirs[1] if np.isfinite(theirs[1]) else 0.0
    if np.isfinite(ours[0]) and theirs[1] > CAP:
        return ours[0] / theirs[0]
    if np.isinf(theirs[0]):
        return np.nan
    return np.inf


def without_derivatives(runs: int) -> None:
    """Median evaluations of the function until all modes are found, from values alone."""
    print(f"commit {commit()}, {runs} runs each, values alone\n")
    print("| problem | allmodes | wanted | multistart L-BFGS-B |")
    print("| --- | --- | --- | --- |")
    for problem, wanted, settings in CHEAP:
        chosen = problem.is_global if settings else np.ones(len(problem.modes), bool)
        ours = [
            first_found(problem, seed, 4 * wanted, n_modes=int(chosen.sum()), **settings)[chosen].max()
            for seed in range(runs)
        ]
        theirs = [
            multistart_lbfgsb(problem, np.random.default_rng(seed), 6 * wanted, derivatives=False)[chosen].max()
            for seed in range(runs)
        ]
        shown = cell((float(np.median(ours)), float(np.median(theirs)))).split("/")
        name = f"{problem.name} ({int(chosen.sum())}{' global' if settings else ''})"
        print(f"| {name} | {shown[0]} | {wanted} | {shown[1]} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--values", action="store_true", help="without derivatives, the cheap problems")
    parser.add_argument("--problems", nargs="*", help="parts of names")
    parser.add_argument("--alone", action="store_true", help="allmodes without its peers")
    given = parser.parse_args()
    began = time.time()
    if given.values:
        without_derivatives(given.runs)
    else:
        chosen = [p for p in benchmark_problems() if not given.problems or any(n in p.name for n in given.problems)]
        (alone if given.alone else with_derivatives)(chosen, given.runs)
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
