"""Roots: every real root in a box, beside multistart of scipy.optimize.root at the same number of evaluations.

    python benchmarks/roots.py --runs 3 --first-seed 100
    python benchmarks/roots.py --verify        count the roots by dense multistart Newton

A unit is a vector F, and another one a Jacobian. Multistart: hybr (lm if there are more equations than unknowns) with
the exact Jacobian from random points. Known roots are those that 3,000 damped Newton searches from random points find.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

from allmodes import find_roots
from allmodes.problems.systems import System, systems
from results import Results, arguments, digits, seeds_of

UNITS = 400  # for each dimension and one more
STARTS = 3000  # for the known roots
SAME = 1e-4  # of the bounds: two places are one
ZERO = 1e-8  # of F
NOTE = (
    f"At most {UNITS} (d + 1) units: a vector F is one, a Jacobian another. Found: the mean share of the known roots, "
    "in %, after the units spent. Certified: the share of the roots found with a proof that their box has no other."
)

Floats = NDArray[np.float64]


class Spent(Exception):  # noqa: N818  (not an error)
    """No unit is left."""


def known(system: System) -> Floats:
    """The roots that many damped Newton searches find."""
    lower, upper = system.bounds.T
    width = upper - lower
    x = lower + width * np.random.default_rng(5).random((STARTS, system.dimension))
    damping = np.full(STARTS, 1e-3)
    for _ in range(60):
        F, J = system.values(x), system.jacobian(x) * width
        A, slope = J.mT @ J, np.einsum("nm,nmd->nd", F, J)
        size = damping * np.trace(A, axis1=1, axis2=2) / system.dimension + 1e-13
        step = -(np.linalg.pinv(A + size[:, None, None] * np.eye(system.dimension)) @ slope[..., None])[..., 0]
        step *= np.minimum(1.0, 0.3 / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-300))
        ahead = x + step * width
        ahead = ahead if system.periodic else np.clip(ahead, lower, upper)
        is_better = (system.values(ahead) ** 2).sum(axis=1) < (F**2).sum(axis=1)
        x = np.where(is_better[:, None], ahead, x)
        damping = np.where(is_better, np.maximum(damping / 5.0, 1e-16), np.minimum(damping * 4.0, 1e6))
    x = x[np.abs(system.values(x)).max(axis=1) < ZERO]
    found: list[Floats] = []
    for point in lower + (x - lower) % width if system.periodic else x:
        if not any(_apart(system, point, other[None])[0] < SAME for other in found):
            found.append(point)
    return np.array(found)


def _apart(system: System, point: Floats, others: Floats) -> Floats:
    """Distances of a point (d,) from others (n, d), as shares of the bounds."""
    apart = np.abs(point - others) / np.ptp(system.bounds, axis=1)
    return np.asarray((np.minimum(apart, 1.0 - apart) if system.periodic else apart).max(axis=1))


def share(system: System, truth: Floats, points: list[Any]) -> float:
    """Of the known roots that are among points."""
    return float(np.mean([bool(points) and _apart(system, at, np.array(points)).min() < SAME for at in truth]))


def ours(system: System, truth: Floats, seed: int) -> tuple[float, int, float]:
    """find_roots: share found, units, share certified."""
    units = UNITS * (system.dimension + 1)
    result = find_roots(
        system.values, system.bounds, jac=system.jacobian, vectorized=True, rng=seed, maxfev=units // 2,
        periodic=True if system.periodic else None,
    )  # fmt: skip
    proved = float(np.mean([mode.root.certified for mode in result.modes if mode.root])) if result.modes else 0.0
    return share(system, truth, [mode.x for mode in result.modes]), result.nfev + result.njev, proved


def multistart(system: System, truth: Floats, seed: int) -> tuple[float, int]:
    """scipy.optimize.root from random points, as long as units are left."""
    rng, (lower, upper), spent, ends = np.random.default_rng(seed), system.bounds.T, 0, []
    is_square = len(system(lower)) == system.dimension

    def counted(values: Any) -> Any:
        def call(x: Floats) -> Any:
            nonlocal spent
            if spent >= UNITS * (system.dimension + 1):
                raise Spent
            spent += 1
            return np.nan_to_num(values(x[None])[0], nan=1e10, posinf=1e10, neginf=-1e10)

        return call

    F, jacobian = counted(system.values), counted(system.jacobian)
    try:
        while True:
            start = lower + (upper - lower) * rng.random(system.dimension)
            end = root(F, start, jac=jacobian, method="hybr" if is_square else "lm", tol=1e-12)
            if np.abs(end.fun).max() < ZERO:
                ends.append(lower + (end.x - lower) % (upper - lower) if system.periodic else end.x)
    except Spent:
        return share(system, truth, ends), spent


def main() -> None:
    parser = arguments(__doc__ or "", runs=3)
    parser.add_argument("--verify", action="store_true", help="compare the numbers of roots that the systems state")
    parser.add_argument("--only", nargs="*", help="names of systems")
    given: argparse.Namespace = parser.parse_args()
    results = Results("Roots", given, NOTE)
    results.table(
        ["system", "d", "roots", "find_roots found", "units", "certified", "multistart found", "multistart units"]
    )
    for system in systems():
        if given.only and system.name not in given.only:
            continue
        truth = known(system)
        if len(truth) != system.roots:
            raise SystemExit(f"{system.name} has {len(truth)} roots, and states {system.roots}")
        if given.verify:
            continue
        with np.errstate(all="ignore"):
            mine = np.mean([ours(system, truth, seed) for seed in seeds_of(given)], axis=0)
            theirs = np.mean([multistart(system, truth, seed) for seed in seeds_of(given)], axis=0)
        results.row(
            system.name, system.dimension, len(truth), digits(100.0 * mine[0], 0), round(mine[1]),
            digits(100.0 * mine[2], 0), digits(100.0 * theirs[0], 0), round(theirs[1]),
        )  # fmt: skip
    if not given.verify:
        results.write()


if __name__ == "__main__":
    main()
