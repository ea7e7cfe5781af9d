"""Local minima of the constrained problems: multistart SLSQP with exact derivatives, and what allmodes finds.

    python benchmarks/constrained_truth.py --write      find them, and write src/allmodes/problems/constrained_minima.py
    python benchmarks/constrained_truth.py --only g24   print those of a problem

What is kept is feasible, satisfies the first-order conditions, is no higher than the feasible points around it, and is
where SLSQP comes back to from these.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from allmodes import find_minima
from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.problems import constrained_problems
from allmodes.problems.constrained import ConstrainedProblem
from allmodes.search.searchers.constrained.subproblem import nearest_feasible, restored

Floats = NDArray[np.float64]

FILE = Path(__file__).parents[1] / "src" / "allmodes" / "problems" / "constrained_minima.py"
FEASIBLE = 1e-7  # in units of the rows
STATIONARY = 1e-5  # of the largest slope
APART = 1e-3  # of the bounds: two minima
ASIDE = 1e-3  # of the bounds: where it has to be no lower
AROUND = 60  # points there
RETURNS = 8  # searches from there
HEAD = '''"""Local minima of constrained problems, found by benchmarks/constrained_truth.py; best first."""
# ruff: noqa: E501
# fmt: off

MINIMA: dict[str, list[list[float]]] = {
'''


def polished(problem: ConstrainedProblem, start: Floats, size: float = 1.0) -> Floats | None:
    """Where SLSQP ends from a start, if that is feasible; its first steps are as short as the size is small."""
    conditions: list[dict[str, Any]] = []
    for kind, rows in (("ineq", problem.inequalities), ("eq", problem.equalities)):
        if rows is not None:
            conditions.append(
                {
                    "type": kind,
                    "fun": lambda x, r=rows: problem.rows(x, r),
                    "jac": lambda x, r=rows: problem.jacobian(x, r),
                }
            )
    x = start
    for _ in range(2):
        try:
            x = minimize(  # type: ignore[call-overload]
                lambda z: size * problem.value(z), x, jac=lambda z: size * problem.gradient(z), method="SLSQP",
                bounds=problem.bounds, constraints=conditions, options={"ftol": 1e-15, "maxiter": 300},
            ).x  # fmt: skip
        except ValueError:
            return None
    lower, upper = problem.bounds.T
    x = np.clip(x, lower, upper)
    return x if np.isfinite(x).all() and problem.violation(x) <= FEASIBLE * size_of(problem) else None


def exact(constraints: Constraints, x: Floats | None) -> Floats | None:
    """The same point, feasible to rounding."""
    found = None if x is None else restored(constraints, constraints.box.to_unit(x[None])[0])
    return None if found is None else constraints.box.to_user(found[None])[0]


def size_of(problem: ConstrainedProblem) -> float:
    """Of the rows: 1, or more for those of chemical plants."""
    middle = problem.bounds.mean(axis=1)
    rows = [problem.rows(middle, kind) for kind in (problem.inequalities, problem.equalities) if kind is not None]
    return max(1.0, float(np.abs(np.concatenate(rows)).max()))


def unexplained(problem: ConstrainedProblem, x: Floats) -> float:
    """What of the gradient no multipliers explain, as a share of it, in coordinates scaled by the bounds."""
    width = np.ptp(problem.bounds, axis=1)
    gradient, columns = problem.gradient(x) * width, []
    if problem.inequalities is not None:
        rows, J = problem.rows(x, problem.inequalities), problem.jacobian(x, problem.inequalities) * width
        columns.append(J[rows <= 1e-5 * np.maximum(1.0, np.linalg.norm(J, axis=1))])
    if problem.equalities is not None:
        J = problem.jacobian(x, problem.equalities) * width
        columns += [J, -J]
    lower, upper = problem.bounds.T
    eye = np.eye(len(x))
    columns += [eye[x <= lower + 1e-7 * width], -eye[x >= upper - 1e-7 * width]]
    A = np.concatenate(columns)
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    size = max(float(np.abs(gradient).max()), 1e-3)
    return float(np.abs(gradient - (A.T @ nnls(A.T, gradient)[0] if len(A) else 0.0)).max()) / size


def is_lowest(problem: ConstrainedProblem, constraints: Constraints, x: Floats) -> bool:
    """Whether no feasible point around is lower, and some are higher."""
    box, rng = constraints.box, np.random.default_rng(7)
    z = box.to_unit(x[None])[0]
    value, highest = problem.value(x), -np.inf
    for direction in rng.standard_normal((AROUND, len(x))):
        found = nearest_feasible(constraints, z + ASIDE * direction / np.abs(direction).max())
        if found is None or np.abs(found - z).max() < 0.1 * ASIDE:
            continue
        beside = problem.value(box.to_user(found[None])[0])
        highest = max(highest, beside)
        if beside < value - 1e-9 * max(1.0, abs(value)):
            return False
    return bool(highest > value + 1e-9 * max(1.0, abs(value))) or highest == -np.inf


def stays(problem: ConstrainedProblem, constraints: Constraints, x: Floats) -> bool:
    """Whether SLSQP comes back from places around: it leaves saddles that few directions show."""
    box, rng = constraints.box, np.random.default_rng(8)
    z, width = box.to_unit(x[None])[0], np.ptp(problem.bounds, axis=1)
    slopes = [problem.gradient(np.clip(x + ASIDE * width * side, *problem.bounds.T)) for side in (1.0, -1.0)]
    size = ASIDE * float(width.min()) / max(1.0, *(float(np.abs(slope).max()) for slope in slopes))
    for direction in rng.standard_normal((RETURNS, len(x))):
        begin = nearest_feasible(constraints, z + 3.0 * ASIDE * direction / np.abs(direction).max())
        end = None if begin is None else polished(problem, box.to_user(begin[None])[0], size)
        has_left = end is not None and bool((np.abs(end - x) > 10.0 * ASIDE * width).any())
        if has_left and problem.value(end) < problem.value(x) - 1e-7 * max(1.0, abs(problem.value(x))):
            return False
    return True


def minima(problem: ConstrainedProblem, starts: int, is_searched: bool = True) -> Floats:
    """All of them, best first."""
    box = Box.make(problem.bounds)
    constraints = Constraints.make(problem.constraints, box)
    assert constraints is not None
    lower, upper = problem.bounds.T
    found = list(lower + (upper - lower) * np.random.default_rng(11).random((starts, problem.dimension)))
    if is_searched:
        with np.errstate(all="ignore"):
            mine = find_minima(
                problem.value, problem.bounds, jac=problem.gradient, constraints=problem.constraints, rng=12345,
                maxfev=300 * (problem.dimension + 1),
            )  # fmt: skip
        found += [mode.x for mode in mine.modes]
    ends = [x for start in found if (x := exact(constraints, polished(problem, start))) is not None]
    ends.sort(key=problem.value)
    kept: list[Floats] = []
    for x in ends:
        if any((np.abs(x - other) <= APART * (upper - lower)).all() for other in kept):
            continue
        if (
            unexplained(problem, x) <= STATIONARY
            and is_lowest(problem, constraints, x)
            and stays(problem, constraints, x)
        ):
            kept.append(x)
    return np.array(kept).reshape(-1, problem.dimension)


def written(found: dict[str, Floats]) -> str:
    """The module that holds them."""
    lines = [HEAD]
    for name, points in found.items():
        lines.append(f'    "{name}": [\n')
        lines += [f"        [{', '.join(f'{a:.12g}' for a in point)}],\n" for point in points]
        lines.append("    ],\n")
    return "".join([*lines, "}\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=300, help="of SLSQP (300)")
    parser.add_argument("--only", nargs="*", help="names of problems")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = {}
    for name, problem in constrained_problems().items():
        if given.only and name not in given.only:
            found[name] = problem.minima
            continue
        with np.errstate(all="ignore"):
            found[name] = minima(problem, given.starts)
        values = [problem.value(x) for x in found[name]]
        print(f"{name}: {len(values)} minima, {np.round(values[:6], 8).tolist()}, published {problem.best}", flush=True)
        if given.write:
            FILE.write_text(written(found), encoding="utf-8")


if __name__ == "__main__":
    main()
