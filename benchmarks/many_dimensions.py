"""Ten to a hundred dimensions, with gradients: modes for the same evaluations beside multistart L-BFGS-B.

    python benchmarks/many_dimensions.py
    python benchmarks/many_dimensions.py --dimensions 50 --families mixture network --evaluations 2000

A value with its gradient is one evaluation. A mode counts where L-BFGS-B with tight tolerances, which is not counted,
stays within a thousandth of the box, and where the Hessian by differences of gradients has no negative eigenvalue;
modes that are that close to each other are one. L-BFGS-B has SciPy's own tolerances; what it spends on starts that end
nowhere counts. Every search runs in a process of its own: its time is processor time
without that in the function, and memory is by how much the peak of the process grows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from allmodes import find_minima
from many_cases import CASES, Case, in_dimensions
from results import BEYOND, Cell, Results, arguments, digits, seeds_of

Floats = NDArray[np.float64]
minimize: Any = scipy.optimize.minimize  # its types are stricter than it is
CLOSE = 1e-3  # of the box
FALLING = -1e-6  # smallest eigenvalue of a minimum, as a share of the largest
OTHER = ("multistart L-BFGS-B", "allmodes")


class Timed:
    """A case that knows how often it was evaluated, and for how long."""

    def __init__(self, case: Case) -> None:
        self.case, self.seconds, self.evaluations = case, 0.0, 0
        self._last: tuple[bytes, Floats] | None = None

    def fun(self, x: Floats) -> Floats:
        began = time.process_time()
        values, slopes = self.case.both(x)
        self._last, self.evaluations = (x.tobytes(), slopes), self.evaluations + len(x)
        self.seconds += time.process_time() - began
        return values

    def jac(self, x: Floats) -> Floats:
        """The gradients, which are known where the values were asked for last."""
        if self._last is not None and self._last[0] == x.tobytes():
            return self._last[1]
        began = time.process_time()
        slopes = self.case.both(x)[1]
        self.seconds += time.process_time() - began
        return slopes

    def one(self, x: Floats) -> tuple[float, Floats]:
        """Value and gradient at a point, for SciPy."""
        value = float(self.fun(x[None])[0])
        assert self._last is not None
        return value, self._last[1][0].copy()


def own_ends(timed: Timed, evaluations: int, seed: int) -> tuple[Floats, int]:
    """What allmodes lists as minima, and how many of its modes it does not."""
    result = find_minima(
        timed.fun, timed.case.bounds, jac=timed.jac, vectorized=True, maxfev=evaluations, rng=seed,
        options={"patience": evaluations},
    )  # fmt: skip
    chosen = [mode.x for mode in result.modes if mode.kind in ("minimum", "boundary")]
    return np.array(chosen).reshape(len(chosen), len(timed.case.bounds)), len(result.modes) - len(chosen)


def scipy_ends(timed: Timed, evaluations: int, seed: int) -> tuple[Floats, int]:
    """Where L-BFGS-B from random starts ends by its own word."""
    rng, (lower, upper) = np.random.default_rng(seed), timed.case.bounds.T
    ends, lost = [], 0
    while timed.evaluations < evaluations:
        found = minimize(timed.one, rng.uniform(lower, upper), jac=True, method="L-BFGS-B", bounds=timed.case.bounds)
        if timed.evaluations <= evaluations:
            ends.append(found.x)
            lost += not found.success
    return np.array(ends).reshape(len(ends), len(lower)), lost


def true_modes(case: Case, ends: Floats) -> int:
    """How many different minima these points are."""
    lower, upper = case.bounds.T
    kept: list[Floats] = []
    timed = Timed(case)
    tight: dict[str, Any] = {"ftol": 0.0, "gtol": 1e-9, "maxcor": 30, "maxiter": 2000, "maxfun": 4000}
    for end in ends:
        x = minimize(timed.one, end, jac=True, method="L-BFGS-B", bounds=case.bounds, options=tight).x
        is_there = (np.abs(x - end) < CLOSE * (upper - lower)).all()
        if is_there and not any((np.abs(x - other) < CLOSE * (upper - lower)).all() for other in kept):
            kept.append(x)
    return sum(is_minimum(case, x) for x in kept)


def is_minimum(case: Case, x: Floats) -> bool:
    """Whether nothing falls from here, by the Hessian in the coordinates that no bound holds."""
    lower, upper = case.bounds.T
    rounding = 1e-9 * (upper - lower)
    free = np.flatnonzero((x > lower + rounding) & (x < upper - rounding))
    h = 1e-5 * (upper - lower)[free]
    moves = np.zeros((len(free), len(x)))
    moves[range(len(free)), free] = h
    H = ((case.both(x + moves)[1] - case.both(x - moves)[1])[:, free] / (2.0 * h)[:, None]) * (upper - lower)[free]
    H = H * (upper - lower)[free][:, None]
    eigenvalues = np.linalg.eigvalsh(0.5 * (H + H.T))
    return not len(free) or bool(eigenvalues[0] > FALLING * eigenvalues[-1])


def measured(name: str, d: int, who: str, evaluations: int, seed: int) -> dict[str, Any]:
    """One search, in this process."""
    case = CASES[name](d)
    own_ends(Timed(CASES["double wells"](10)), 50, 0)  # imports
    timed, search = Timed(case), own_ends if who == OTHER[1] else scipy_ends
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    ends, others = search(timed, evaluations, seed)
    spent = time.process_time() - began - timed.seconds
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    used = timed.evaluations
    return {
        "ends": len(ends), "others": others, "modes": true_modes(case, ends), "evaluations": used,
        "ms": 1e3 * spent / used, "MB": grown,
    }  # fmt: skip


def apart(name: str, d: int, who: str, evaluations: int, seed: int) -> dict[str, Any]:
    """The same in a process of its own."""
    words = ["--one", name, str(d), who, str(evaluations), str(seed)]
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(name: str, d: int, given: argparse.Namespace) -> list[Cell]:
    """Both, with the same number of evaluations; medians over the seeds."""
    d = in_dimensions(name, d)
    found = {who: [apart(name, d, who, given.evaluations, seed) for seed in seeds_of(given)] for who in OTHER}
    theirs, own = ({key: float(np.median([run[key] for run in found[who]])) for key in found[who][0]} for who in OTHER)
    false = int(own["ends"] - own["modes"])
    cells: list[Cell] = [name, d, round(theirs["modes"]), round(own["modes"]), round(own["others"]), false]
    ratio = own["modes"] / own["evaluations"] * theirs["evaluations"] / (theirs["modes"] or np.nan)
    cells += [
        digits(ratio, 2) if theirs["modes"] else BEYOND,
        digits(theirs["ms"], 3),
        digits(own["ms"], 3),
        digits(theirs["MB"], 1),
    ]
    return [*cells, digits(own["MB"], 1)]


def late(d: int, limit: float = 2.0) -> float:
    """Seconds beyond `maxtime` of a search of a function that takes a millisecond."""

    def fun(x: Floats) -> tuple[float, Floats]:
        began = time.perf_counter()
        while time.perf_counter() - began < 1e-3:
            pass
        values, slopes = case.both(x[None])
        return float(values[0]), slopes[0]

    case = CASES["double wells"](d)
    began = time.perf_counter()
    find_minima(fun, case.bounds, jac=True, maxfev=10**6, maxtime=limit, rng=0, options={"patience": 10**6})
    return time.perf_counter() - began - limit


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        name, d, who, evaluations, seed = sys.argv[2:]
        print(json.dumps(measured(name, int(d), who, int(evaluations), int(seed))))
        return
    parser = arguments(__doc__, runs=1, first_seed=500)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--families", nargs="+", default=list(CASES))
    parser.add_argument("--evaluations", type=int, default=10_000)
    given = parser.parse_args()
    results = Results(
        "Ten to a hundred dimensions", given,
        f"Functions with gradients, {given.evaluations} evaluations. Modes are true and different ones; not listed "
        "are those that allmodes itself does not call minima, false those that it lists and that are no other minima. "
        "The ratio is of modes per evaluation, allmodes over multistart L-BFGS-B; it has no number where that found "
        "none. Time is the solver's own for an evaluation, in ms; memory is by how much the peak "
        "of the process grew, in MB.",
    )  # fmt: skip
    of_both = ["ms, L-BFGS-B", "ms, allmodes", "MB, L-BFGS-B", "MB, allmodes"]
    results.table(["family", "d", "modes, L-BFGS-B", "modes, allmodes", "not listed", "false", "ratio", *of_both])
    for d in given.dimensions:
        for name in given.families:
            results.row(*row(name, d, given))
        results.write()  # what there is, for the rest takes long
    results.table(["d", "seconds beyond maxtime"], "Double wells, a millisecond for each evaluation, maxtime=2")
    for d in given.dimensions:
        results.row(d, digits(late(d), 2))
    results.write()


if __name__ == "__main__":
    main()
