"""Random functions whose minima are known, of seven kinds: what `missing_modes.py` searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

SAME = 1e-3  # of the bounds: minima that are closer are one


class Problem(NamedTuple):
    """Points (N, d) -> values (N,) and gradients (N, d), over the unit box, with its minima (n, d)."""

    bed: str
    d: int
    fun: Function
    jac: Function
    minima: Floats


def random_problem(bed: str, number: int, seed: int) -> Problem:
    """One of a bed; the number says how large."""
    rng = np.random.default_rng([seed, number, sorted(BEDS).index(bed)])
    return BEDS[bed](bed, rng, number)


def merged(points: Floats, known: Floats) -> Floats:
    """The points and those of the known ones that are none of them."""
    if not len(points):
        return known
    apart = np.abs(known[:, None] - points[None]).max(axis=2)
    return np.concatenate([points, known[apart.min(axis=1) > SAME]])


def _polished(fun: Function, jac: Function, starts: Floats) -> Floats:
    """The distinct minima below these starts."""
    ends = np.zeros((0, starts.shape[1]))

    def value(x: Floats) -> float:
        return float(fun(x[None])[0])

    given: dict[str, Any] = {
        "jac": lambda x: jac(x[None])[0], "method": "L-BFGS-B", "bounds": [(0.0, 1.0)] * starts.shape[1],
        "options": {"ftol": 1e-15, "gtol": 1e-9},
    }  # fmt: skip
    for start in starts:
        ends = merged(ends, minimize(value, start, **given).x[None])
    return ends


def _on_a_line(fun: Function, size: int = 20_001) -> Floats:
    """The minima of a function of one coordinate, bounds included, (n,)."""
    x = np.linspace(0.0, 1.0, size)
    f = np.concatenate([[np.inf], fun(x[:, None]), [np.inf]])
    return np.asarray(x[(f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:])])


def _bowls(bed: str, d: int, centres: Floats, widths: Floats, heights: Floats) -> Problem:
    """Sums of -h / (1 + |x - c|^2 / w^2)."""

    def parts(x: Floats) -> tuple[Floats, Floats]:
        apart = x[:, None] - centres
        return apart, 1.0 + (apart**2).sum(axis=2) / widths**2

    def fun(x: Floats) -> Floats:
        return -(heights / parts(x)[1]).sum(axis=1)

    def jac(x: Floats) -> Floats:
        apart, below = parts(x)
        return (2.0 * (heights / widths**2 / below**2)[..., None] * apart).sum(axis=1)

    return Problem(bed, d, fun, jac, _polished(fun, jac, centres))


def _mixtures(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """-log of a sum of Gaussians whose widths differ by factors."""
    d, K = 2 + number % 7, int(rng.integers(4, 41))
    centres = rng.uniform(0.1, 0.9, (K, d))
    widths = 0.035 * np.sqrt(d) * np.exp(rng.uniform(0.2, 1.0) * rng.standard_normal(K))
    widths = np.clip(widths, 0.01, 0.3)
    heights = rng.normal(0.0, 1.0, K)

    def logs(x: Floats) -> tuple[Floats, Floats]:
        apart = x[:, None] - centres
        return apart, heights - 0.5 * (apart**2).sum(axis=2) / widths**2

    def fun(x: Floats) -> Floats:
        return -np.asarray(np.logaddexp.reduce(logs(x)[1], axis=1))

    def jac(x: Floats) -> Floats:
        apart, log = logs(x)
        share = np.exp(log - log.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        return (share[..., None] * apart / widths[:, None] ** 2).sum(axis=1)

    return Problem(bed, d, fun, jac, _polished(fun, jac, centres))


def _bowl_sums(bed: str, rng: np.random.Generator, number: int) -> Problem:
    d, K = 2 + number % 4, int(rng.integers(5, 31))
    widths = np.exp(rng.uniform(np.log(0.0125), np.log(0.1), K))
    return _bowls(bed, d, rng.uniform(0.05, 0.95, (K, d)), widths, rng.uniform(0.5, 2.0, K))


def _trigonometric(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """Random waves in one or two coordinates."""
    d, m = 1 + number % 2, 12
    k = rng.normal(0.0, [25.0, 12.0][d - 1], (m, d))
    phase, height = rng.uniform(0.0, 2.0 * np.pi, m), rng.normal(0.0, 1.0, m)

    def fun(x: Floats) -> Floats:
        return np.asarray(np.cos(x @ k.T + phase) @ height)

    def jac(x: Floats) -> Floats:
        return np.asarray((-np.sin(x @ k.T + phase) * height) @ k)

    if d == 1:
        return Problem(bed, d, fun, jac, _on_a_line(fun)[:, None])
    n = 301
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, n)] * 2, indexing="ij"), axis=-1)
    f = np.pad(fun(grid.reshape(-1, 2)).reshape(n, n), 1, constant_values=np.inf)
    around = np.min([np.roll(f, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j], axis=0)
    return Problem(bed, d, fun, jac, _polished(fun, jac, grid[(f < around)[1:-1, 1:-1]]))


def _separable(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """Sums of wells in each of two to four coordinates."""
    d = 2 + number % 3
    m = 6
    k, phase = rng.uniform(2.0, [0, 0, 30.0, 18.0, 14.0][d], (d, m)), rng.uniform(0.0, 2.0 * np.pi, (d, m))
    height = rng.normal(0.0, 1.0, (d, m))

    def fun(x: Floats) -> Floats:
        return np.asarray((height * np.cos(k * x[..., None] + phase)).sum(axis=(1, 2)))

    def jac(x: Floats) -> Floats:
        return np.asarray(-(height * k * np.sin(k * x[..., None] + phase)).sum(axis=2))

    def line(i: int) -> Function:
        return lambda x: (height[i] * np.cos(k[i] * x + phase[i])).sum(axis=1)

    return Problem(bed, d, fun, jac, _product([_on_a_line(line(i)) for i in range(d)]))


def _product(lines: list[Floats]) -> Floats:
    return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))


def _polynomials(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """Of one coordinate: sums of Chebyshev's, which are as large everywhere."""
    rise = np.polynomial.Chebyshev(rng.normal(0.0, 1.0, int(rng.integers(6, 18))), domain=[0.0, 1.0])
    slope = rise.deriv()

    def fun(x: Floats) -> Floats:
        return np.asarray(rise(x[:, 0]))

    return Problem(bed, 1, fun, lambda x: np.asarray(slope(x)), _on_a_line(fun)[:, None])


def _dimples(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """A wide bowl with narrow holes."""
    d, K = 1 + number % 3, int(rng.integers(3, 13))
    centres, widths = rng.uniform(0.05, 0.95, (K, d)), np.exp(rng.uniform(np.log(0.01), np.log(0.08), K))
    depths = rng.uniform(0.1, 0.6, K)

    def fun(x: Floats) -> Floats:
        apart = x[:, None] - centres
        return ((x - 0.5) ** 2).sum(axis=1) - (depths * np.exp(-0.5 * (apart**2).sum(axis=2) / widths**2)).sum(axis=1)

    def jac(x: Floats) -> Floats:
        apart = x[:, None] - centres
        hole = depths / widths**2 * np.exp(-0.5 * (apart**2).sum(axis=2) / widths**2)
        return 2.0 * (x - 0.5) + (hole[..., None] * apart).sum(axis=1)

    around = centres[:, None] + 0.5 * widths[:, None, None] * rng.standard_normal((K, 5, d))
    starts = np.concatenate([centres, around.reshape(-1, d), rng.random((50, d))])
    return Problem(bed, d, fun, jac, _polished(fun, jac, np.clip(starts, 0.0, 1.0)))


def _washboards(bed: str, rng: np.random.Generator, number: int) -> Problem:
    """A parabola with ripples in each of one or two coordinates."""
    d = 1 + number % 2
    k = rng.uniform([60.0, 25.0][d - 1], [250.0, 55.0][d - 1], d)
    middle, height = rng.uniform(0.3, 0.7, d), rng.uniform(0.005, 0.1, d)

    def fun(x: Floats) -> Floats:
        return np.asarray(((x - middle) ** 2 - height * np.cos(k * x)).sum(axis=1))

    def jac(x: Floats) -> Floats:
        return np.asarray(2.0 * (x - middle) + height * k * np.sin(k * x))

    def line(i: int) -> Function:
        return lambda x: ((x - middle[i]) ** 2 - height[i] * np.cos(k[i] * x)).sum(axis=1)

    return Problem(bed, d, fun, jac, _product([_on_a_line(line(i)) for i in range(d)]))


BEDS: dict[str, Callable[[str, np.random.Generator, int], Problem]] = {
    "mixtures": _mixtures,
    "bowls": _bowl_sums,
    "trigonometric": _trigonometric,
    "separable": _separable,
    "polynomials": _polynomials,
    "dimples": _dimples,
    "washboards": _washboards,
}
