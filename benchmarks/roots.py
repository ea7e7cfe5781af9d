"""Roots: every real root in a box, beside Newton and scipy.optimize.root from random starts at equal evaluations.

    python benchmarks/roots.py --runs 5 --first-seed 100
    python benchmarks/roots.py --verify        count the roots by dense multistart Newton

A unit is a vector F, and another one a Jacobian that is given. root: scipy.optimize.root, hybr (lm if there are more
equations than unknowns). Newton: full steps as long as they stay within three widths of the box, at most 50.
Known roots are those that 3,000 damped Newton searches from random points find.
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
NEWTON = 50  # steps
NOTE = (
    f"At most {UNITS} (d + 1) units: a vector F is one, a Jacobian that is given another. The mean share of the known "
    "roots, in %, by find_roots after the units spent, proofs included, and by multistarts of Newton's method and of "
    "scipy.optimize.root after all of them. Certified: the share of the roots found with a proof that their box has no "
    "other; there is none for more equations than unknowns. With differences all know F alone."
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


def ours(system: System, truth: Floats, seed: int, has_jac: bool) -> tuple[float, int, float]:
    """find_roots: share found, units, share certified."""
    units = UNITS * (system.dimension + 1)
    result = find_roots(
        system.values, system.bounds, jac=system.jacobian if has_jac else None, vectorized=True, rng=seed,
        maxfev=units // 2 if has_jac else units, periodic=True if system.periodic else None,
    )  # fmt: skip
    proved = float(np.mean([mode.root.certified for mode in result.modes if mode.root])) if result.modes else 0.0
    spent = result.nfev + result.njev * has_jac
    return share(system, truth, [mode.x for mode in result.modes]), spent, proved


def multistart(system: System, truth: Floats, seed: int, has_jac: bool, is_newton: bool) -> float:
    """Newton's method or scipy.optimize.root from random points, as long as units are left: share found."""
    rng, (lower, upper), spent, ends = np.random.default_rng(seed), system.bounds.T, 0, []
    is_square = len(system(lower)) == system.dimension

    def counted(values: Any, cost: int = 1) -> Any:
        def call(x: Floats) -> Any:
            nonlocal spent
            spent += cost
            if spent > UNITS * (system.dimension + 1):
                raise Spent
            return np.nan_to_num(values(x[None])[0], nan=1e10, posinf=1e10, neginf=-1e10)

        return call

    F, jacobian = counted(system.values), counted(system.jacobian, 1 if has_jac else system.dimension)
    method: Any = "hybr" if is_square else "lm"
    given = jacobian if has_jac else None
    try:
        while True:
            x = lower + (upper - lower) * rng.random(system.dimension)
            if is_newton:
                x, left = newton(F, jacobian, x, lower, upper)
            else:
                end = root(F, x, jac=given, method=method, tol=1e-12)
                x, left = end.x, end.fun
            if np.abs(left).max() < ZERO:
                ends.append(lower + (x - lower) % (upper - lower) if system.periodic else x)
    except Spent:
        return share(system, truth, ends)


def newton(F: Any, jacobian: Any, x: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Newton's method, of Gauss where there are more equations: where it ends, and F there."""
    value = F(x)
    for _ in range(NEWTON):
        if np.abs(value).max() < 0.01 * ZERO:
            break
        x = x + np.linalg.lstsq(jacobian(x), -value, rcond=None)[0]
        value = F(x)
        if (np.abs(x - 0.5 * (lower + upper)) > 3.0 * (upper - lower)).any():
            break
    return x, value


def main() -> None:
    parser = arguments(__doc__ or "", runs=3)
    parser.add_argument("--verify", action="store_true", help="compare the numbers of roots that the systems state")
    parser.add_argument("--only", nargs="*", help="names of systems")
    given: argparse.Namespace = parser.parse_args()
    results = Results("Roots", given, NOTE)
    truths = {}
    for system in systems():
        if given.only and system.name not in given.only:
            continue
        truths[system.name] = known(system)
        if len(truths[system.name]) != system.roots:
            raise SystemExit(f"{system.name} has {len(truths[system.name])} roots, and states {system.roots}")
    for has_jac in (True, False) if not given.verify else ():
        side_by_side(results, given, truths, has_jac)
    if not given.verify:
        results.write()


def side_by_side(results: Results, given: argparse.Namespace, truths: dict[str, Floats], has_jac: bool) -> None:
    """A table of all systems."""
    results.table(
        ["system", "d", "roots", "find_roots", "units", "certified", "Newton", "root"],
        "the Jacobian given" if has_jac else "with differences",
    )
    for system in systems():
        truth = truths.get(system.name)
        if truth is None:
            continue
        with np.errstate(all="ignore"):
            mine = np.mean([ours(system, truth, seed, has_jac) for seed in seeds_of(given)], axis=0)
            theirs = [
                np.mean([multistart(system, truth, seed, has_jac, is_newton) for seed in seeds_of(given)])
                for is_newton in (True, False)
            ]
        is_square = len(system(system.bounds[:, 0])) == system.dimension
        results.row(
            system.name, system.dimension, len(truth), digits(100.0 * mine[0], 0), round(mine[1]),
            digits(100.0 * mine[2], 0) if is_square else "",
            *(digits(100.0 * float(each), 0) for each in theirs),
        )  # fmt: skip


if __name__ == "__main__":
    main()
