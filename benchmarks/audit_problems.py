"""Functions whose minima are all known, and multistarts of SciPy's optimisers on them: what an audit is given."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Floats = NDArray[np.float64]
_minimised: Any = optimize.minimize
_fitted: Any = optimize.least_squares

METHODS = ("L-BFGS-B", "Nelder-Mead", "least_squares, loose")
_LOOSE = 1e-4  # tolerances of least_squares: ends scatter by 0.1 to 1 % of the box
_CUT = 10  # every tenth run of Nelder and Mead is cut off
_SHORT = 30  # iterations, when it is


class Problem(NamedTuple):
    """A function to be minimised.

    Args:
        name: for the table.
        fun: of points (..., d) -> (...).
        bounds: (d, 2).
        residuals: (d,) -> (m,), half whose sum of squares is fun; None without.
        grid: points along each side among which minima are looked for; 0 where `is_valley` or `known` says them.
        known: the minima, if no grid is needed.
        is_valley: whether its minima are one valley.
    """

    name: str
    fun: Callable[[Any], Any]
    bounds: Floats
    residuals: Callable[[Floats], Floats] | None = None
    grid: int = 0
    known: Any = None
    is_valley: bool = False

    def one(self, x: Floats) -> float:
        """Its value at one point."""
        return float(self.fun(np.asarray(x)))

    @property
    def minima(self) -> Floats:
        """All of them, (K, d): the points of a grid that are below their neighbours, polished."""
        if self.known is not None:
            return np.atleast_2d(np.asarray(self.known, dtype=np.float64))
        lower, upper = self.bounds.T
        axes = [np.linspace(a, b, self.grid) for a, b in self.bounds]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        values = self.fun(points)
        padded, d = np.pad(values, 1, constant_values=np.inf), len(axes)
        inner = tuple(slice(1, -1) for _ in axes)
        is_low = np.ones(values.shape, bool)
        for step in itertools.product((-1, 0, 1), repeat=d):
            if any(step):
                is_low &= padded[inner] <= np.roll(padded, step, range(d))[inner]
        found: list[Floats] = []
        cell = (upper - lower) / (self.grid - 1)
        for start in points[is_low]:
            near = np.stack([np.maximum(start - cell, lower), np.minimum(start + cell, upper)], axis=1)
            x = _minimised(self.one, start, method="L-BFGS-B", bounds=near, options={"ftol": 1e-15}).x
            if ((np.abs(x - near.T) < 1e-6 * cell) & ([lower, upper] != near.T)).any():
                continue  # the slope goes on beyond the cells around it
            if not any(np.abs((x - other) / (upper - lower)).max() < 1e-3 for other in found):
                found.append(x)
        return np.array(found)


def _himmelblau(x: Any) -> Any:
    return (x[..., 0] ** 2 + x[..., 1] - 11) ** 2 + (x[..., 0] + x[..., 1] ** 2 - 7) ** 2


def _camel(x: Any) -> Any:
    a, b = x[..., 0], x[..., 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def _rastrigin(x: Any) -> Any:
    return (10.0 + x**2 - 10.0 * np.cos(2.0 * np.pi * x)).sum(axis=-1)


def _ackley(x: Any) -> Any:
    far = np.exp(-0.2 * np.sqrt((x**2).mean(axis=-1)))
    return 20.0 * (1.0 - far) + np.e - np.exp(np.cos(2.0 * np.pi * x).mean(axis=-1))


def _ring(x: Any) -> Any:
    return (x[..., 0] ** 2 + x[..., 1] ** 2 - 1.0) ** 2


def _rosenbrock(x: Any) -> Any:
    return (100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2).sum(axis=-1)


def _cut(x: Any) -> Any:
    return 0.5 * (x**4 - 16.0 * x**2 + 5.0 * x).sum(axis=-1)


_TIMES = np.linspace(0.0, 2.0, 12)
_DATA = 2.0 * np.exp(-0.8 * _TIMES) + 1.0 * np.exp(-3.0 * _TIMES) + 0.01 * np.cos(9.0 * _TIMES)


def _decays(x: Any) -> Any:
    """Two decays, which may swap names: half the sum of squares."""
    x = np.asarray(x)
    curve = x[..., 0, None] * np.exp(-x[..., 1, None] * _TIMES) + x[..., 2, None] * np.exp(-x[..., 3, None] * _TIMES)
    return 0.5 * ((curve - _DATA) ** 2).sum(axis=-1)


def problems() -> tuple[Problem, ...]:
    """Eight of them."""
    square = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    decays = np.array([[0.0, 4.0], [0.1, 6.0], [0.0, 4.0], [0.1, 6.0]])
    best = _minimised(
        _decays, [2.0, 0.8, 1.0, 3.0], method="L-BFGS-B", bounds=decays, options={"ftol": 1e-16, "gtol": 1e-10}
    ).x
    second = _minimised(_rosenbrock, [-0.78, 0.61, 0.38, 0.15], method="BFGS", options={"gtol": 1e-9}).x
    return (
        Problem("Himmelblau", _himmelblau, 6.0 * square,
                lambda x: np.sqrt(2.0) * np.array([x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7]), grid=101),
        Problem("six-hump camel", _camel, square * [[3.0], [2.0]], grid=121),
        Problem("Rastrigin, 3-d", _rastrigin, np.tile([-1.6, 1.7], (3, 1)), grid=61),
        Problem("Ackley", _ackley, 3.4 * square, grid=201),
        Problem("ring, one valley", _ring, 2.0 * square,
                lambda x: np.sqrt(2.0) * np.array([x[0] ** 2 + x[1] ** 2 - 1.0]), known=[[1.0, 0.0]], is_valley=True),
        Problem("Rosenbrock, 4-d", _rosenbrock, np.tile([-2.0, 2.0], (4, 1)),
                lambda x: np.sqrt(2.0) * np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]]),
                known=[np.ones(4), second]),
        Problem("Styblinski-Tang, at a bound", _cut, np.tile([-2.5, 4.0], (2, 1)), grid=101),
        Problem("two decays that swap", _decays, decays,
                lambda x: x[0] * np.exp(-x[1] * _TIMES) + x[2] * np.exp(-x[3] * _TIMES) - _DATA,
                known=[best, best[[2, 3, 0, 1]]]),
    )  # fmt: skip


def multistart(problem: Problem, method: str, runs: int, rng: np.random.Generator) -> list[Any]:
    """Results of so many runs from uniform starts."""
    lower, upper = problem.bounds.T
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, start in enumerate(rng.uniform(lower, upper, (runs, len(lower)))):
            if method.startswith("least_squares"):
                assert problem.residuals is not None
                loose = {"ftol": _LOOSE, "xtol": _LOOSE, "gtol": _LOOSE}
                results.append(_fitted(problem.residuals, start, bounds=(lower, upper), **loose))
            else:
                options = {"maxiter": _SHORT} if method == "Nelder-Mead" and i % _CUT == 0 else {}
                results.append(_minimised(problem.one, start, method=method, bounds=problem.bounds, options=options))
    return results
