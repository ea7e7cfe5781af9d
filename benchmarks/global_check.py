"""Whether the minima of the test functions of global optimisation are what they are said to be.

Every function is searched without regard to what is known: SciPy's differential evolution with several seeds, and
L-BFGS-B from random starts and from the best of many random points; the best point is polished with Nelder and Mead's
method. Nothing lower than the known minimum may turn up; where the minimum is not reached, that is said too, and the
known place is all the evidence.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, differential_evolution, minimize

from global_problem import Floats, Known

EQUAL = 1e-7  # of 1 + |minimum|: two values are the same; at a cusp rounding of the place makes 4e-8
EVOLUTIONS, GENERATIONS, MEMBERS = 3, 400, 25  # members for each coordinate
STARTS, DRAWN = 60, 20_000  # local searches from half as many uniform points, and from the best of those drawn


class Check(NamedTuple):
    """The value at the known place, and the lowest that was found elsewhere, with its place."""

    at_place: float
    lowest: float
    found: Floats

    def verdict(self, known: Known) -> str:
        """Empty where all is well."""
        slack = EQUAL * (1 + abs(known.minimum))
        if not abs(self.at_place - known.minimum) <= slack:
            return f"WRONG: {self.at_place!r} at the place"
        if self.lowest < known.minimum - slack:
            return f"WRONG: {self.lowest!r} at {self.found.tolist()}"
        return "" if self.lowest <= known.minimum + slack else f"not reached: {self.lowest!r}"


def polished(known: Known, x: Floats) -> Floats:
    """A local minimum below x, as exact as values allow."""
    options = {"xatol": 1e-14, "fatol": 0.0, "maxfev": 2000 * len(x)}
    given: dict[str, Any] = {"method": "Nelder-Mead", "bounds": known.bounds, "options": options}
    for _ in range(3):
        end = minimize(known.values, x, **given)
        if not end.fun < known.values(x):
            break
        x = np.asarray(end.x)
    return x


def candidates(known: Known, seed: int) -> list[Floats]:
    """Where independent searches end."""

    def in_columns(x: Any) -> Any:
        return known.values(x.T)

    lower, upper = known.box()
    rng = np.random.default_rng(seed)
    ends: list[Floats] = []
    given: dict[str, Any] = {
        "popsize": MEMBERS,
        "maxiter": GENERATIONS,
        "tol": 1e-12,
        "polish": False,
        "updating": "deferred",
    }
    for k in range(EVOLUTIONS):
        end = differential_evolution(in_columns, Bounds(lower, upper), vectorized=True, rng=seed + k, **given)
        ends.append(np.asarray(end.x))
    drawn = rng.uniform(lower, upper, (DRAWN, len(lower)))
    best = drawn[np.argsort(known.values(drawn))[: STARTS // 2]]
    for start in [*drawn[: STARTS // 2], *best]:
        local = minimize(known.values, start, method="L-BFGS-B", bounds=known.bounds, options={"maxiter": 200})
        ends.append(np.clip(local.x, lower, upper))
    return ends


def checked(known: Known, seed: int) -> Check:
    """Search a function anew."""
    with np.errstate(all="ignore"):
        ends = np.array(candidates(known, seed))
        values = known.values(ends)
        few = ends[np.argsort(values)[:3]]
        few = np.array([polished(known, x) for x in few])
    found = few[np.argmin(known.values(few))]
    return Check(float(known.values(known.place)), float(known.values(found)), found)


def check_all(functions: list[Known], seed: int) -> int:
    """Print what is wrong or was not reached; the number of those that are wrong."""
    n_wrong = 0
    for i, known in enumerate(functions):
        print(f"\r{i + 1} of {len(functions)}: {known.name:<30}", end="", file=sys.stderr, flush=True)
        verdict = checked(known, seed).verdict(known)
        n_wrong += verdict.startswith("WRONG")
        if verdict:
            print(f"{known.name}: {float(known.minimum)!r}, {verdict}", flush=True)
    print(f"{len(functions)} functions, {n_wrong} wrong")
    return n_wrong
