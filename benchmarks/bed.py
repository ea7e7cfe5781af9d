"""A bed of many kinds of functions with known modes: does a change of the search find as much, as soon, as cleanly?

    python benchmarks/bed.py --runs 5 --first-seed 1000 --out before.json     # all of it; about three minutes
    python benchmarks/bed.py --cases "kinked|noisy" --out some.json
    python benchmarks/bed.py --compare before.json after.json
    python benchmarks/bed.py --check                                          # are the known modes what they should be?

Only public functions are called, so that the same bed judges any version. A mode is found when one is listed within
5e-3 of the bounds of it in every coordinate (3e-2 with noise). Of those that are listed and not known, a local search
tells the true ones (`extra`) from the `false`; for other shapes than functions in a box (bed_shapes.py) all of them are
false. `doubles` are listed beside another of the same mode.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import allmodes
from allmodes import find_fits, find_maxima, find_minima, find_roots
from bed_cases import TOLERANCE, Case, cases
from bed_compare import compare
from bed_known import Floats, Known
from constants import set_constants
from results import commit

_SIMPLEX = 1e-3  # of the bounds: size of the simplex that looks for something better around a listed point
_STEPS = 400  # evaluations of that local search, per coordinate
_NEARLY_ALL = 0.9
FINDERS: dict[str, Any] = {"roots": find_roots, "fits": find_fits}  # of groups; the others are for find_minima


@dataclass(frozen=True)
class Run:
    """The outcome of one search.

    Attributes:
        known, found: modes there are, and modes found.
        false, doubles, extra: of the modes listed; extra ones are true, and not among those known.
        to90, to100: evaluations until 90 % and all of the known modes were found; None if they were not.
        nfev: evaluations used; `counted`, points the function was really called with.
        tail: evaluations used after the last known mode was found.
        error: largest distance of a found mode from the true one, as a share of the bounds.
        seconds: of the processor, for the search alone.
    """

    case: str
    seed: int
    known: int
    found: int
    false: int
    doubles: int
    extra: int
    to90: int | None
    to100: int | None
    nfev: int
    counted: int
    tail: int
    error: float
    seconds: float
    status: str


class Counted:
    """A function of points (N, d), with noise if wanted, that counts its points."""

    def __init__(self, fun: Any, noise: float, seed: int) -> None:
        self.fun, self.noise, self.points = fun, noise, 0
        self.rng = np.random.default_rng([seed, 1])

    def __call__(self, x: Floats) -> Floats:
        self.points += len(x)
        values = np.asarray(self.fun(x))
        return values + self.noise * self.rng.standard_normal(len(x)) if self.noise else values


def run(name: str, seed: int) -> Run:
    """One search, counted and judged."""
    case = cases()[name]
    known = case.make()
    fun = Counted(known.fun, case.noise, seed)
    given: dict[str, Any] = dict(zip(("jac", "hess"), (known.jac, known.hess)[: case.order], strict=False))
    find = FINDERS.get(case.group, find_maxima if known.maximise else find_minima)
    began = time.process_time()
    result = find(
        fun, known.bounds, vectorized=True, rng=seed, maxfev=case.cap, **given, **case.settings, **known.settings
    )
    seconds = time.process_time() - began
    points = np.array([mode.x for mode in result.modes]).reshape(-1, len(known.bounds))
    listed = judge(case, known, points, np.array([mode.found_at for mode in result.modes]))
    return Run(
        name, seed, known.count, nfev=int(result.nfev), counted=fun.points, tail=int(result.nfev) - listed.pop("last"),
        seconds=seconds, status=result.status.name, **listed,
    )  # fmt: skip


def judge(case: Case, known: Known, points: Floats, found_at: Any) -> dict[str, Any]:
    """Which known modes are among the points, and what else is."""
    at = np.full(known.count, np.inf)
    apart = known.apart(points) if len(points) else np.zeros((0, known.count))
    mode, nearest = apart.argmin(axis=1), apart.min(axis=1, initial=np.inf)
    is_near = nearest <= case.tolerance
    np.minimum.at(at, mode[is_near], found_at[is_near])
    is_found = np.isfinite(at)
    others = points[~is_near]
    is_true = np.array([not case.is_closed and is_optimum(known, x) for x in others], dtype=bool)
    extra = distinct(known, others[is_true])
    ordered = np.sort(at)
    share = ordered[int(np.ceil(_NEARLY_ALL * known.count)) - 1]
    return {
        "found": int(is_found.sum()),
        "false": int((~is_true).sum()),
        "doubles": int(is_near.sum() - is_found.sum() + is_true.sum() - extra),
        "extra": extra,
        "to90": int(share) if np.isfinite(share) else None,
        "to100": int(ordered[-1]) if np.isfinite(ordered[-1]) else None,
        "last": int(at[is_found].max(initial=0)),
        "error": float(nearest[is_near].max(initial=0.0)),
    }


def distinct(known: Known, points: Floats) -> int:
    """How many of the points are not within the tolerance of an earlier one."""
    width, kept = np.ptp(known.bounds, axis=1), np.zeros((0, len(known.bounds)))
    for x in points:
        if not (np.abs(kept - x) / width <= TOLERANCE).all(axis=1).any():
            kept = np.vstack([kept, x])
    return len(kept)


def is_optimum(known: Known, x: Floats) -> bool:
    """Whether a local search from the point, on the function without noise, stays where it is."""
    lower, width = known.bounds[:, 0], np.ptp(known.bounds, axis=1)
    sign, start = -1.0 if known.maximise else 1.0, (x - lower) / width
    inward = np.where(start < 0.5, _SIMPLEX, -_SIMPLEX)
    simplex = np.vstack([start, start + np.diag(inward)])
    options = {"initial_simplex": simplex, "maxfev": _STEPS * len(x), "xatol": 1e-7, "fatol": 0.0}
    given: dict[str, Any] = {"method": "Nelder-Mead", "bounds": [(0.0, 1.0)] * len(x), "options": options}

    def at(z: Floats) -> float:
        return sign * float(known.fun((lower + width * z)[None])[0])

    end = minimize(at, start, **given)
    return bool(np.abs(end.x - start).max() <= TOLERANCE)


# ---- the whole bed


def run_all(names: Sequence[str], seeds: Sequence[int], processes: int, settings: Sequence[str]) -> Iterator[Run]:
    """All cases with all seeds, in this process or in several."""
    jobs = [(name, seed) for name in names for seed in seeds]
    if processes == 1:
        set_constants(settings)
        for job in jobs:
            yield run(*job)
        return
    with ProcessPoolExecutor(processes, initializer=set_constants, initargs=(settings,)) as pool:
        yield from pool.map(run, *zip(*jobs, strict=True))


def chosen(pattern: str) -> list[str]:
    """Names of the cases that match."""
    return [name for name in cases() if re.search(pattern, name)]


def show(runs: list[Run]) -> None:
    """One case in one line: medians over its runs, and what was listed wrongly in all of them."""
    middle = {key: np.median([getattr(each, key) or np.inf for each in runs]) for key in ("to90", "to100", "nfev")}
    counts = {key: sum(getattr(each, key) for each in runs) for key in ("found", "known", "false", "doubles", "extra")}
    seconds = np.mean([each.seconds for each in runs])
    print(
        f"{runs[0].case:52s} {counts['found']:4d} of {counts['known']:4d}, false {counts['false']:2d}, "
        f"doubles {counts['doubles']:2d}, extra {counts['extra']:2d}, to 90 % {middle['to90']:6.0f}, to all "
        f"{middle['to100']:6.0f}, used {middle['nfev']:6.0f}, {seconds:5.2f} s",
        flush=True,
    )


def check() -> None:
    """Known modes that are points and that a local search leaves: there should be none."""
    for name, case in cases().items():
        if case.is_closed:  # what they are is more than a local search can see
            continue
        known = case.make()
        gone = [x for x in known.places if not is_optimum(known, x)]
        if gone:
            print(f"{name}: {len(gone)} of {known.count} are not optima: {gone[:3]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--cases", default="", help="a regular expression that names of cases match")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", help="file for the runs (JSON)")
    parser.add_argument("--set", action="append", default=[], metavar="MODULE.FIELD=VALUE", help="another constant")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="two such files, in tables")
    parser.add_argument("--check", action="store_true", help="check the known modes, and search for nothing")
    given = parser.parse_args()
    if given.compare:
        compare(*given.compare)
        return
    if given.check:
        check()
        return
    names, began, runs = chosen(given.cases), time.time(), []
    for each in run_all(names, range(given.first_seed, given.first_seed + given.runs), given.processes, given.set):
        runs.append(each)
        if len(runs) % given.runs == 0:
            show(runs[-given.runs :])
    print(f"{len(names)} cases, {len(runs)} runs, {time.time() - began:.0f} s")
    if given.out:
        meta = {
            "commit": commit(), "source": str(Path(allmodes.__file__).parent), "set": given.set,
            "runs": given.runs, "first_seed": given.first_seed, "numpy": np.__version__,
        }  # fmt: skip
        Path(given.out).write_text(json.dumps({"meta": meta, "runs": [asdict(each) for each in runs]}, indent=1))


if __name__ == "__main__":
    main()
