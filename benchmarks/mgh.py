"""The test problems of Moré, Garbow and Hillstrom (1981): sums of squares with standard starts and known minima.

    python benchmarks/mgh.py --check

The value is the sum of the squared residuals. Boxes are ours: about ten times as far as the standard start is from 0,
narrower where exponentials would overflow or denominators vanish, and wide enough for the solution. The three linear
problems are left out. Known values are those of the paper, with more digits; minima at the bounds of our boxes are not
listed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import qmc

import mgh_residuals as formulas

Floats = NDArray[np.float64]

_INTO_THE_PLANE = 1e-30  # of the unit of coordinates: as short as one likes
_APART = (
    1e-4  # step between Jacobians, as a share of the coordinate: errors of 1e-11, in the part that residuals weight
)
_LEAST = 1e-2  # of the width: a coordinate closer to 0 than this counts as so large

# Of the check.
_BESIDE = 1e-6  # of the width: step of differences, and distance of starts from the bounds
_ROUNDING = 1e-7  # relative error that differences explain
_DIGITS, _NOTHING = 3e-7, 1e-15  # relative error of the known values, and a value that is none


@dataclass(frozen=True)
class Problem:
    """A sum of squares.

    Attributes:
        name: as in the paper.
        residuals: (..., d) -> (..., m), for complex points, too.
        start: the standard one, (d,).
        bounds: (d, 2).
        minima: known values of the minima, the least first; others may exist.
    """

    name: str
    residuals: Callable[[NDArray[Any]], NDArray[Any]]
    start: Floats
    bounds: Floats
    minima: tuple[float, ...]

    @property
    def d(self) -> int:
        return len(self.start)

    def value(self, x: Floats) -> Floats:
        """(..., d) -> (...)."""
        with np.errstate(all="ignore"):
            return np.asarray((self.residuals(x) ** 2).sum(axis=-1))

    def jacobian(self, x: Floats) -> Floats:
        """(..., d) -> (..., m, d), exact to rounding: a step into the complex plane subtracts nothing."""
        with np.errstate(all="ignore"):
            beside = self.residuals(x[..., None, :] + _INTO_THE_PLANE * 1j * np.eye(self.d))
        return np.asarray(np.swapaxes(beside.imag / _INTO_THE_PLANE, -1, -2))

    def gradient(self, x: Floats) -> Floats:
        """(..., d) -> (..., d)."""
        with np.errstate(all="ignore"):
            return 2.0 * np.einsum("...m,...md->...d", self.residuals(x), self.jacobian(x))

    def hessian(self, x: Floats) -> Floats:
        """(..., d) -> (..., d, d); the part that vanishes with the residuals is by differences of fourth order."""
        with np.errstate(all="ignore"):
            r, J = self.residuals(x), self.jacobian(x)
            h = _APART * np.maximum(np.abs(x), _LEAST * (self.bounds[:, 1] - self.bounds[:, 0]))
            steps = h[..., None] * np.eye(self.d)
            curved = np.zeros((*x.shape, self.d))
            for times, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
                beside = self.jacobian(x[..., None, :] + times * steps)
                curved += weight / 12.0 * np.einsum("...m,...imd->...id", r, beside)
            curved /= h[..., None]
            return 2.0 * np.einsum("...mi,...mj->...ij", J, J) + curved + np.swapaxes(curved, -1, -2)


def _problem(
    name: str, residuals: Callable[[Any], Any], start: Any, low: Any, high: Any, *minima: float, d: int = 0
) -> Problem:
    """One with the same bounds in all coordinates, or with their own."""
    first = np.array(start, dtype=float) * np.ones(d or len(np.atleast_1d(start)))
    bounds = np.stack([np.array(side, dtype=float) * np.ones(len(first)) for side in (low, high)], axis=-1)
    return Problem(name, residuals, first, bounds, minima or (0.0,))


def problems() -> list[Problem]:
    """In the order of the paper."""
    ten = np.arange(1.0, 11.0)
    grid = ten / 11.0
    f = formulas
    return [
        _problem("Rosenbrock", f.rosenbrock, [-1.2, 1.0], -12, 12),
        _problem("Freudenstein-Roth", f.freudenstein_roth, [0.5, -2.0], -20, 20, 0.0, 48.98425),
        _problem("Powell badly scaled", f.powell_badly_scaled, [0.0, 1.0], [-1, -1], [1, 20]),
        _problem("Brown badly scaled", f.brown_badly_scaled, [1.0, 1.0], [-2e6, -10], [2e6, 10]),
        _problem("Beale", f.beale, [1.0, 1.0], -4.5, 4.5),
        _problem("Jennrich-Sampson", f.jennrich_sampson, [0.3, 0.4], -1, 1, 124.36218),
        _problem("helical valley", f.helical_valley, [-1.0, 0.0, 0.0], -10, 10),
        _problem("Bard", f.bard, [1.0] * 3, [-10, 0.1, 0.1], 10, 8.214877e-3),
        _problem("Gaussian", f.gaussian, [0.4, 1.0, 0.0], [-4, 0, -3], [4, 10, 3], 1.127933e-8),
        _problem("Meyer", f.meyer, [0.02, 4000.0, 250.0], [0, 2000, 200], [0.1, 9000, 500], 87.94586),
        _problem("Gulf", f.gulf, [5.0, 2.5, 0.15], [0.1, 0, 0], [100, 25.6, 5]),
        _problem("Box", f.box, [0.0, 10.0, 20.0], [0, 0, -20], 20),
        _problem("Powell singular", f.powell_singular, [3.0, -1.0, 0.0, 1.0], -10, 10),
        _problem("Wood", f.wood, [-3.0, -1.0, -3.0, -1.0], -10, 10),
        _problem("Kowalik-Osborne", f.kowalik_osborne, [0.25, 0.39, 0.415, 0.39], 0, 4, 3.075056e-4),
        _problem("Brown-Dennis", f.brown_dennis, [25.0, 5.0, -5.0, -1.0], -50, 50, 85822.2016),
        _problem("Osborne 1", f.osborne_1, [0.5, 1.5, -1.0, 0.01, 0.02], [0, -5, -5, 0, 0], [5, 5, 5, 0.2, 0.2],
                 5.464895e-5),
        _problem("Biggs EXP6", f.biggs, [1.0, 2.0, 1.0, 1.0, 1.0, 1.0], 0, 20, 0.0, 5.655650e-3),
        _problem("Osborne 2", f.osborne_2, [1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5], 0,
                 [5] * 4 + [10] * 4 + [6.5] * 3, 4.013774e-2),
        _problem("Watson", f.watson, 0.0, -10, 10, 2.287670e-3, d=6),
        _problem("extended Rosenbrock", f.rosenbrock, [-1.2, 1.0] * 5, -12, 12),
        _problem("extended Powell", f.powell_singular, [3.0, -1.0, 0.0, 1.0] * 3, -10, 10),
        _problem("penalty I", f.penalty_1, ten, -20, 20, 7.087651e-5),
        _problem("penalty II", f.penalty_2, 0.5, -5, 5, 2.936605e-4, d=10),
        _problem("variably dimensioned", f.variably_dimensioned, 1.0 - ten / 10.0, -10, 10),
        _problem("trigonometric", f.trigonometric, 0.1, -1, 1, 0.0, 2.795057e-5, d=10),
        _problem("Brown almost linear", f.brown_almost_linear, 0.5, -5, 5, d=10),
        _problem("boundary value", f.boundary_value, grid * (grid - 1.0), -2.5, 2.5),
        _problem("integral equation", f.integral_equation, grid * (grid - 1.0), -2.5, 2.5),
        _problem("Broyden tridiagonal", f.broyden_tridiagonal, -1.0, -10, 10, d=10),
        _problem("Broyden banded", f.broyden_banded, -1.0, -10, 10, d=10),
        _problem("Chebyquad", f.chebyquad, np.arange(1, 9) / 9.0, 0, 1, 3.516874e-3),
    ]  # fmt: skip


# ---- are they right?


def slips(problem: Problem, starts: int = 16) -> tuple[float, float, float]:
    """Relative errors of gradient and Hessian, beside central differences; the least value that SciPy finds."""
    low, high = problem.bounds.T
    width = high - low
    x = low + width * qmc.Sobol(problem.d, seed=0).random(starts)
    h = _BESIDE * width
    sides = [x[:, None] + sign * h[:, None] * np.eye(problem.d) for sign in (1.0, -1.0)]
    values, gradients = ([f(side) for side in sides] for f in (problem.value, problem.gradient))
    of_gradient = _relative(problem.gradient(x) * h, (values[0] - values[1]) / 2.0)
    of_hessian = _relative(problem.hessian(x) * np.outer(h, h), (gradients[0] - gradients[1]) / 2.0 * h)
    tight: dict[str, Any] = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-14)
    ends = [
        least_squares(problem.residuals, np.clip(start, low + _BESIDE * width, high - _BESIDE * width),
                      problem.jacobian, (low, high), x_scale=width, max_nfev=1000, **tight)
        for start in (problem.start, *x)
    ]  # fmt: skip
    return of_gradient, of_hessian, float(2.0 * min(end.cost for end in ends))


def _relative(exact: Floats, other: Floats) -> float:
    """The median over points of the largest difference, as a share of the largest entry."""
    axes = tuple(range(1, exact.ndim))
    with np.errstate(invalid="ignore"):  # where the function is level both are 0
        return float(np.nanmedian(np.abs(exact - other).max(axis=axes) / np.abs(exact).max(axis=axes)))


def is_right(problem: Problem, found: tuple[float, float, float]) -> bool:
    """Whether what `slips` found is rounding."""
    of_gradient, of_hessian, least = found
    known = problem.minima[0]
    return max(of_gradient, of_hessian) < _ROUNDING and abs(least - known) <= _DIGITS * known + _NOTHING


def main() -> int:
    """Check all problems; how many are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", required=True, help="compare with differences and with SciPy")
    parser.parse_args()
    wrong = 0
    for problem in problems():
        found = slips(problem)
        told = "gradient {:.0e}, Hessian {:.0e}, least {:.7e}".format(*found)
        verdict = "right" if is_right(problem, found) else "WRONG"
        wrong += verdict != "right"
        print(f"{problem.name:22s} d={problem.d:2d}  {told}, known {problem.minima[0]:.7e}: {verdict}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
