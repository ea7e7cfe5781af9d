"""Problems for single local searches, in unit coordinates: those of `mgh`, and those of a folder with a `bank.py`.

A folder has a module `bank` with `PROBLEMS`, by name; each has `d`, `bounds` (d, 2), `periodic` (d,), the functions
`fun`, `jac` and `hess` of points (n, d), and, if `is_least_squares`, `residuals` and `residuals_jac`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

import mgh
from allmodes.problems import Problem

Floats = NDArray[np.float64]
Function = Callable[[Floats], Any]

CLOSE = 1e-3  # of the box: Newton's method leads no farther from a search that has arrived
_POLISH = 20  # Newton steps at most
_CONVERGED = 1e-9  # of the box: a Newton step that is shorter is the last
_AT_BOUND = 1e-6  # of the box: searches that stay inside end no closer to a bound that holds them
_SINGULAR = 1e-13  # of the largest eigenvalue: smaller ones are 0
_DIFFERENCE = 1e-5  # of the box, of exact gradients: Hessians have ten digits
_SHARE, _LEAST = 1e-6, 1e-9  # of a known value, and of the unit of values: how close to it is at it


@dataclass(frozen=True, eq=False)
class Case:
    """A function to be minimised in a unit box. Functions take points (n, d) of the user's coordinates.

    Attributes:
        lower, width: of the user's bounds, (d,).
        known: values of minima, which count when they are reached though the minimum is not strict.
        residuals, jacobian: None where the function is no sum of squares.
        standard: a start that is always used, in unit coordinates.
        group: which set it belongs to.
    """

    name: str
    lower: Floats
    width: Floats
    fun: Function
    jac: Function
    hess: Function
    residuals: Function | None = None
    jacobian: Function | None = None
    periodic: NDArray[np.bool_] | None = None
    known: tuple[float, ...] = ()
    standard: Floats | None = None
    group: str = "bank"
    is_periodic: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        periodic = np.zeros(self.d, bool) if self.periodic is None else self.periodic
        object.__setattr__(self, "is_periodic", periodic)

    @property
    def d(self) -> int:
        return len(self.lower)

    def value(self, z: Floats) -> Floats:
        """(n, d) -> (n,)."""
        return np.asarray(self.fun(self.lower + self.width * z), dtype=float)

    def gradient(self, z: Floats) -> Floats:
        """(n, d) -> (n, d), by unit coordinates."""
        return np.asarray(self.jac(self.lower + self.width * z)) * self.width

    def hessian(self, z: Floats) -> Floats:
        """(n, d) -> (n, d, d), by unit coordinates."""
        return np.asarray(self.hess(self.lower + self.width * z)) * np.outer(self.width, self.width)

    def starts(self, n: int, seed: int) -> Floats:
        """So many Sobol points, and the standard start."""
        drawn = qmc.Sobol(self.d, seed=seed).random_base2(int(np.ceil(np.log2(max(n, 1)))))[:n]
        return drawn if self.standard is None else np.concatenate([self.standard[None], drawn])

    def residual(self, z: Floats) -> Floats:
        """(n, d) -> (n, m), of a sum of squares."""
        assert self.residuals is not None
        return np.asarray(self.residuals(self.lower + self.width * z))

    def slopes(self, z: Floats) -> Floats:
        """(n, d) -> (n, m, d), the Jacobian of the residuals by unit coordinates."""
        assert self.jacobian is not None
        return np.asarray(self.jacobian(self.lower + self.width * z)) * self.width

    # ---- where a search has ended

    def apart(self, a: Floats, b: Floats) -> Floats:
        """Max-norm between points (..., d), around periodic coordinates."""
        gap = a - b
        gap = np.where(self.is_periodic, gap - np.round(gap), gap)
        return np.asarray(np.abs(gap).max(axis=-1))

    def is_minimum(self, z: Floats) -> bool:
        """Whether a point (d,) is in the box and at a strict minimum, or has the value of a known one."""
        inside = ((z >= -1e-12) & (z <= 1.0 + 1e-12)) | self.is_periodic
        if not inside.all() or not np.isfinite(z).all():
            return False
        z = np.where(self.is_periodic, z, np.clip(z, 0.0, 1.0))
        value = float(self.value(z[None])[0])
        is_known = any(abs(value - f) <= _SHARE * abs(f) + _LEAST for f in self.known)
        return is_known or self.polished(z) is not None

    def polished(self, z: Floats) -> Floats | None:
        """Where Newton's method ends if it stays close to z (d,), and curves up in all free directions there."""
        bound, outward = np.round(z), -self.gradient(z[None])[0]
        is_at_bound = (np.abs(z - bound) <= _AT_BOUND) & ((bound - 0.5) * outward > 0.0) & ~self.is_periodic
        at = np.where(is_at_bound, bound, z)
        for _ in range(_POLISH):
            g, H = self.gradient(at[None])[0], self.hessian(at[None])[0]
            free = self.is_periodic | ~(((at <= 0.0) & (g > 0.0)) | ((at >= 1.0) & (g < 0.0)))
            if not np.isfinite(H).all() or not np.isfinite(g).all():
                return None
            if not free.any():
                return at
            eigenvalues, vectors = np.linalg.eigh(H[np.ix_(free, free)])
            if eigenvalues[0] <= _SINGULAR * abs(eigenvalues[-1]):
                return None
            step = np.zeros(self.d)
            step[free] = -vectors @ ((vectors.T @ g[free]) / eigenvalues)
            to = at + step
            to = np.where(self.is_periodic, to, np.clip(to, 0.0, 1.0))
            if self.apart(to, z) > CLOSE:
                return None
            moved, at = float(self.apart(to, at)), to
            if moved < _CONVERGED:
                return at
        return at if moved < CLOSE else None


def of_mgh(problem: mgh.Problem) -> Case:
    """A problem of Moré, Garbow and Hillstrom."""
    lower, upper = problem.bounds.T
    return Case(
        problem.name, lower, upper - lower, problem.value, problem.gradient, problem.hessian, problem.residuals,
        problem.jacobian, known=problem.minima, standard=(problem.start - lower) / (upper - lower),
        group="MGH",
    )  # fmt: skip


def of_bank(problem: Any) -> Case:
    """A problem of a folder."""
    lower, upper = problem.bounds.T
    fun = problem.compiled_fun if problem.family == "ODE fit" else problem.fun
    is_sum = problem.is_least_squares
    return Case(
        problem.name, lower, upper - lower, fun, problem.jac, problem.hess, problem.residuals if is_sum else None,
        problem.residuals_jac if is_sum else None, problem.periodic,
    )  # fmt: skip


def of_problem(problem: Problem) -> Case:
    """A problem of the package with a gradient, turned upside down; Hessians are differences of gradients."""
    f, (lower, upper) = problem.objective, problem.bounds.T
    gradient = f.jac
    assert callable(gradient)
    steps = _DIFFERENCE * np.diag(upper - lower)

    def hess(x: Floats) -> Floats:
        rows = [(gradient(x - step) - gradient(x + step)) / (2.0 * step.max()) for step in steps]
        return 0.5 * (np.stack(rows, axis=1) + np.stack(rows, axis=2))

    is_periodic = np.isin(np.arange(problem.dimension), problem.periodic)
    return Case(
        problem.name, lower, upper - lower, lambda x: -f.fun(x), lambda x: -gradient(x), hess, periodic=is_periodic,
        group="applications",
    )  # fmt: skip


def bank(folder: Path) -> list[Case]:
    """The problems of a folder."""
    spec = importlib.util.spec_from_file_location("bank", folder / "bank.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{folder} has no bank.py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["bank"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return [of_bank(problem) for problem in module.PROBLEMS.values()]


def cases(folder: Path | None, names: list[str] | None) -> list[Case]:
    """Those of the paper, and those of the folder if there is one; some of them by names or parts of names."""
    found = [of_mgh(problem) for problem in mgh.problems()] + ([] if folder is None else bank(folder))
    return found if not names else [case for case in found if any(name in case.name for name in names)]
