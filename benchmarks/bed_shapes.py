"""Cases of the bed for problems of other shapes: constraints, whole numbers, roots, fits, few evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint

from allmodes import problems
from allmodes.problems.fits import fit_problems
from bed_known import Floats, Known, from_points, from_problem

_STARTS, _STEPS, _LONGEST = 2000, 60, 0.5  # of Newton's method, which tells the roots; and its longest step
_ZERO, _DIGITS = 1e-9, 6  # of a root, and of its coordinates
_CONSTRAINED = ("Himmelblau in a disc", "Rastrigin on an ellipse", "Gomez and Levy", "product on a sphere", "HS16")
_BITS = 40
_PEAKS = [
    [2.04431, 4.01126, 0.72213, 1.21691, 6.55739, 0.89854], [1.21691, 6.55739, 0.89854, 2.04431, 4.01126, 0.72213],
]  # fmt: skip
_WAVES = [
    [1.62757, 0.11168, 2.20384, 0.79414], [1.40767, 0.09822, 2.33047, 6.28319], [0.16131, 0.04423, 5.64028, 0.22406],
    [0.16087, 0.04575, 5.66702, 6.28319], [0.08956, 0.0, 0.61823, 6.28319],
]  # fmt: skip


def constrained(name: str) -> Known:
    """A problem of the package with the constraints that it has."""
    problem = problems.constrained_problems()[name]
    sides = ((problem.inequalities, np.inf), (problem.equalities, 0.0))
    given = [NonlinearConstraint(partial(_rows, kind), 0.0, upper) for kind, upper in sides if kind]
    return from_points(
        lambda x: problem.objective(np.moveaxis(x, -1, 0)),
        problem.bounds,
        problem.minima,
        settings={"constraints": given},
    )


def _rows(kind: Any, x: Floats) -> Floats:
    return np.stack(np.broadcast_arrays(*kind(list(np.moveaxis(x, -1, 0)))), axis=-1)


def lattice() -> Known:
    """Styblinski and Tang's function of whole numbers: 32 of 161,051 points are better than their neighbours."""
    modes = np.array(list(product((-3.0, 3.0), repeat=5)))
    return from_points(_styblinski_tang, [(-5, 5)] * 5, modes, settings={"integrality": True})


def bits() -> Known:
    """Integer least squares whose solution is known: of 2^40 points one has the value 0."""
    rng = np.random.default_rng(7)
    M, best = rng.standard_normal((2 * _BITS, _BITS)), rng.integers(0, 2, _BITS).astype(float)
    settings = {"integrality": True, "target": "global"}
    return from_points(lambda x: (((x - best) @ M.T) ** 2).sum(axis=-1), [(0, 1)] * _BITS, best, settings=settings)


def mixed() -> Known:
    """Himmelblau's function with a first coordinate of whole numbers."""
    modes = [[3.0, 2.0], [-3.0, 3.1335], [-4.0, -3.3534], [4.0, -1.9455]]
    return from_points(_himmelblau, [(-6, 6)] * 2, modes, settings={"integrality": [1, 0]})


def stationary() -> Known:
    """The roots of the gradient of Himmelblau's function."""
    return _system(_slope, [(-6.0, 6.0)] * 2)


def waves() -> Known:
    """Three equations of sines, each with the unknown of the next."""
    return _system(lambda x: np.sin(3.0 * x) - 0.5 * np.roll(x, 1, axis=-1), [(-1.5, 1.5)] * 3)


def two_peaks() -> Known:
    """Fits of two peaks, of which two are best: the peaks may exchange their names."""
    return _fits("two peaks", _PEAKS, target="global")


def damped_wave() -> Known:
    """Fits of a damped wave, whose frequency has aliases."""
    return _fits("damped wave", _WAVES)


def _fits(name: str, modes: Any, **settings: Any) -> Known:
    """A problem of the package, with the minima of least squares from 250 starts."""
    problem = next(each for each in fit_problems() if each.name == name)

    def residuals(x: Any) -> Any:
        return problem.model(x) - problem.data

    return from_points(residuals, problem.bounds, modes, is_analytic=False, settings=settings)


def few(make: Callable[[], problems.Problem]) -> Known:
    """A problem of the package, by a model of it."""
    return replace(from_problem(make()), settings={"method": "surrogate"})


def _system(F: Callable[[Any], Any], bounds: Any) -> Known:
    """With the roots that Newton's method finds from many points."""
    box, jac = np.array(bounds), partial(_jacobian, F)
    x = box[:, 0] + np.random.default_rng(3).random((_STARTS, len(box))) * np.ptp(box, axis=1)
    for _ in range(_STEPS):
        x = x - np.clip(np.linalg.solve(jac(x), F(x)[..., None])[..., 0], -_LONGEST, _LONGEST)
    ends = x[(np.abs(F(x)).max(axis=1) < _ZERO) & ((x >= box[:, 0]) & (x <= box[:, 1])).all(axis=1)]
    roots = np.unique(ends.round(_DIGITS), axis=0)
    return from_points(F, box, roots, is_analytic=False, jac=jac)


def _jacobian(F: Callable[[Any], Any], x: Floats) -> Floats:
    """Of an analytic function of points (n, d), by complex steps: (n, m, d)."""
    steps = 1e-30j * np.eye(x.shape[-1])
    return np.stack([F(x + step).imag / 1e-30 for step in steps], axis=-1)


def _styblinski_tang(x: Any) -> Any:
    return 0.5 * (x**4 - 16 * x**2 + 5 * x).sum(axis=-1)


def _himmelblau(x: Any) -> Any:
    return (x[..., 0] ** 2 + x[..., 1] - 11) ** 2 + (x[..., 0] + x[..., 1] ** 2 - 7) ** 2


def _slope(x: Any) -> Any:
    a, b = x[..., 0] ** 2 + x[..., 1] - 11, x[..., 0] + x[..., 1] ** 2 - 7
    return np.stack([4 * a * x[..., 0] + 2 * b, 2 * a + 4 * b * x[..., 1]], axis=-1)


# What is searched for, a name, what makes it, orders of derivatives, and the most evaluations.
SHAPES: list[tuple[str, str, Callable[[], Known], tuple[int, ...], int]] = [
    *(("constrained", name, cache(partial(constrained, name)), (0, 1), 300) for name in _CONSTRAINED),
    ("whole", "lattice d=5", cache(lattice), (0,), 4000),
    ("whole", f"bits d={_BITS}", cache(bits), (0,), 4000),
    ("whole", "mixed Himmelblau", cache(mixed), (0,), 2000),
    ("roots", "slope of Himmelblau", cache(stationary), (0, 1), 600),
    ("roots", "waves d=3", cache(waves), (0, 1), 600),
    ("fits", "two peaks", cache(two_peaks), (0,), 1500),
    ("fits", "damped wave", cache(damped_wave), (0,), 1500),
    ("few", "Himmelblau", cache(partial(few, problems.himmelblau)), (0,), 100),
    ("few", "camel", cache(partial(few, problems.six_hump_camel)), (0,), 120),
]
