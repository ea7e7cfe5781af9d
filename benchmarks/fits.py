"""Fits: every explanation, beside multistart of least_squares at the same number of evaluations.

    python benchmarks/fits.py --runs 5 --first-seed 100
    python benchmarks/fits.py --bank DIR       problems of a folder with bank.py: residuals, residuals_jac, truth()

A unit is a vector of residuals, and another one a Jacobian: all that are called are counted. Multistart: trf with the
exact Jacobian, in units of the bounds, from Sobol points; ends within 1e-3 of the bounds are one. Known optima of the
problems made here are strict minima that 400 local searches of multistart find, located to 1e-8.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import qmc

from allmodes import find_fits
from allmodes.problems import FitProblem, fit_problems
from results import Results, arguments, digits, reached, seeds_of

UNITS = 4000
STARTS = 400  # for the known optima
SAME = 1e-3  # of the bounds: two places are one
HELD = 1e-6  # of the largest curvature: the slope at a bound that holds a coordinate
STRICT = 1e-7  # of the largest curvature: less is a valley, which has no place
NOTE = (
    f"At most {UNITS} units: a vector of residuals is one, a Jacobian another. Found: the mean share of the known "
    "optima, in %. Half, all: medians of the units after which half of the known optima, and all of them, were found."
)

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A problem: residuals and Jacobian at points (N, d), and the known optima (J, d)."""

    name: str
    residuals: Callable[[Floats], Floats]
    jacobian: Callable[[Floats], Floats]
    bounds: Floats
    periodic: NDArray[np.bool_]
    optima: Floats

    def unit(self, x: Floats) -> Floats:
        return np.asarray((x - self.bounds[:, 0]) / np.ptp(self.bounds, axis=1))


class Search:
    """Counts units, and notes when each known optimum was found."""

    def __init__(self, case: Case) -> None:
        self.case, self.units = case, 0
        self.found_at = np.full(len(case.optima), np.inf)

    def note(self, x: Any, units: int) -> None:
        apart = np.abs(self.case.unit(np.asarray(x)) - self.case.unit(self.case.optima))
        apart = np.where(self.case.periodic, np.minimum(apart % 1.0, 1.0 - apart % 1.0), apart).max(axis=1)
        is_near = apart < SAME
        self.found_at[is_near] = np.minimum(self.found_at[is_near], units)


def ours(case: Case, seed: int) -> Search:
    """find_fits."""
    search = Search(case)
    units = [0]  # after so many vectors of residuals, until the next one

    def residuals(x: Floats) -> Floats:
        before = units[-1]
        units.extend(before + np.arange(1, len(x) + 1))
        return case.residuals(x)

    def jacobian(x: Floats) -> Floats:
        units[-1] += len(x)
        return case.jacobian(x)

    result = find_fits(
        residuals, case.bounds, jac=jacobian, vectorized=True, rng=seed, maxfev=UNITS // 2,
        periodic=case.periodic if case.periodic.any() else None,
    )  # fmt: skip
    search.units = int(units[-1])
    for mode in result.modes:
        search.note(mode.x, int(units[mode.found_at]))
    return search


class Spent(Exception):  # noqa: N818  (not an error)
    """No unit is left."""


def multistart(case: Case, seed: int, units: float = UNITS, ends: list[Any] | None = None) -> Search:
    """least_squares from Sobol points, as long as units are left."""
    search, low, width = Search(case), case.bounds[:, 0], np.ptp(case.bounds, axis=1)
    starts = qmc.Sobol(len(low), rng=np.random.default_rng(seed))

    def spent(function: Callable[[Floats], Floats], z: Floats) -> Floats:
        if search.units >= units:
            raise Spent
        search.units += 1
        return np.nan_to_num(function((low + width * z)[None])[0], nan=1e10, posinf=1e10, neginf=-1e10)

    def derived(z: Floats) -> Floats:
        return spent(case.jacobian, z) * width

    sides = np.where(case.periodic, -np.inf, 0.0), np.where(case.periodic, np.inf, 1.0)
    tight: dict[str, Any] = {"ftol": 1e-12, "xtol": 1e-12, "gtol": 1e-12, "max_nfev": 500}
    try:
        for _ in range(STARTS if ends is not None else 10**6):
            start = np.clip(starts.random(1)[0], 1e-9, 1.0 - 1e-9)
            end = least_squares(partial(spent, case.residuals), start, jac=derived, bounds=sides, **tight)
            search.note(low + width * end.x, search.units)
            if ends is not None:
                ends.append(end)
    except Spent:
        pass
    return search


def known(problem: FitProblem) -> Case:
    """A problem made here with the strict minima that many local searches find."""
    periodic = np.zeros(problem.dimension, bool)
    case = Case(
        problem.name, problem.residuals, problem.jacobian, problem.bounds, periodic, np.zeros((0, problem.dimension))
    )
    ends: list[Any] = []
    multistart(case, 0, np.inf, ends)
    found: list[Floats] = []
    for end in sorted(ends, key=lambda end: end.cost):
        if end.success and _is_strict(case, end.x) and all(np.abs(end.x - z).max() >= SAME for z in found):
            found.append(end.x)
    optima = problem.bounds[:, 0] + np.ptp(problem.bounds, axis=1) * np.array(found)
    return case._replace(optima=optima)


def _is_strict(case: Case, z: Floats) -> bool:
    """Whether the Hessian is positive definite, the slope 0, and bounds surely hold the coordinates that sit there."""
    width, is_free = np.ptp(case.bounds, axis=1), (z > 1e-6) & (z < 1.0 - 1e-6)
    free = np.flatnonzero(is_free)

    def slope(z: Floats) -> Floats:
        x = (case.bounds[:, 0] + width * z)[None]
        return np.asarray(case.residuals(x)[0] @ (case.jacobian(x)[0] * width))

    steps = 1e-6 * np.eye(len(z))[free]
    H = np.array([slope(z + step) - slope(z - step) for step in steps]).reshape(-1, len(z))[:, free] / 2e-6
    eigenvalues = np.linalg.eigvalsh(0.5 * (H + H.T)) if len(free) else np.ones(1)
    here = slope(z)
    is_level = np.abs(here[free]).max(initial=0.0) < 1e-6 * eigenvalues[-1]
    is_held = (np.where(z < 0.5, here, -here)[~is_free] > HELD * eigenvalues[-1]).all()
    return bool(eigenvalues[0] > STRICT * eigenvalues[-1] and is_level and is_held)


def bank_cases(folder: Path) -> list[Case]:
    """Sums of squares of a bank, with the optima that it knows."""
    sys.path.insert(0, str(folder))
    problems = importlib.import_module("bank").PROBLEMS.values()
    return [
        Case(p.name, p.residuals, p.residuals_jac, p.bounds, p.periodic, p.truth()["x"])
        for p in problems
        if p.is_least_squares
    ]


def cells(searches: list[Search]) -> list[Any]:
    """The share found, the units for half and for all, and the units spent."""
    times = [np.sort(search.found_at) for search in searches]
    share = np.mean([np.isfinite(each).mean() for each in times])
    half, last = (float(np.median([each[i] for each in times])) for i in ((len(times[0]) - 1) // 2, -1))
    return [digits(100.0 * float(share), 0), reached(half), reached(last), round(np.mean([s.units for s in searches]))]


def main() -> None:
    parser = arguments(__doc__ or "", runs=5)
    parser.add_argument("--bank", type=Path, help="a folder with bank.py, whose sums of squares are measured, too")
    parser.add_argument("--only", nargs="*", help="names of problems")
    given: argparse.Namespace = parser.parse_args()
    peers = {"find_fits": ours, "multistart": multistart}
    results = Results("Fits", given, NOTE)
    results.table(
        ["problem", "d", "optima", *(f"{name} {what}" for name in peers for what in ("found", "half", "all", "units"))]
    )
    for case in [*map(known, fit_problems()), *([] if given.bank is None else bank_cases(given.bank))]:
        if given.only and case.name not in given.only:
            continue
        row = [cell for run in peers.values() for cell in cells([run(case, seed) for seed in seeds_of(given)])]
        results.row(case.name, len(case.bounds), len(case.optima), *row)
    results.write()


if __name__ == "__main__":
    main()
