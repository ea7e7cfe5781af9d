"""Functions of many kinds whose modes are known: the bed (bed.py) has them beside the problems of the package."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import ortho_group

from bed_known import Floats, Known, from_points, from_sets, grid, minima_in_torus, minima_on_line

_ON_THE_SET = 4000  # points that stand for a set of minima

# ---- modes at the bounds


def wave_in_box(d: int) -> Known:
    """sum_i sin(5 x_i) + x_i / 10 between 0 and 2: in each coordinate one minimum inside and one at each end."""

    def wave(x: Any) -> Any:
        return np.sin(5.0 * x) + 0.1 * x

    return from_points(lambda x: wave(x).sum(axis=-1), [(0.0, 2.0)] * d, grid(minima_on_line(wave, 0.0, 2.0), d))


def vertices(d: int) -> Known:
    """A concave function: a minimum in every corner."""
    centre = np.linspace(-0.2, 0.3, d)
    return from_points(lambda x: -((x - centre) ** 2).sum(axis=-1), [(-1.0, 1.0)] * d, grid((-1.0, 1.0), d))


def saddle() -> Known:
    """x^2 - y^2: a minimum in the middle of two edges."""
    return from_points(lambda x: x[..., 0] ** 2 - x[..., 1] ** 2, [(-1.0, 1.5)] * 2, [(0.0, -1.0), (0.0, 1.5)])


def slope(d: int) -> Known:
    """A linear function."""
    steepness = np.linspace(1.0, 3.0, d)
    return from_points(lambda x: (steepness * x).sum(axis=-1), [(0.0, 1.0)] * d, np.zeros(d))


# ---- sets of minima


def _circle(centre: tuple[float, float]) -> Floats:
    angle = np.linspace(0.0, 2.0 * np.pi, _ON_THE_SET)
    return np.asarray(centre) + np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _to_circle(x: Any, centre: Any) -> Any:
    return ((x - np.asarray(centre)) ** 2).sum(axis=-1) - 1.0


def ring() -> Known:
    return from_sets(lambda x: _to_circle(x, (0.0, 0.0)) ** 2, [(-2.0, 2.0)] * 2, [_circle((0.0, 0.0))])


def two_rings() -> Known:
    centres = ((-1.5, 0.5), (1.5, -0.5))

    def fun(x: Any) -> Any:
        return (_to_circle(x, centres[0]) * _to_circle(x, centres[1])) ** 2

    return from_sets(fun, [(-3.0, 3.0)] * 2, [_circle(centre) for centre in centres])


def sine_valley() -> Known:
    x = np.linspace(-3.0, 3.0, _ON_THE_SET)
    floor = np.stack([x, np.sin(2.0 * x)], axis=1)
    return from_sets(lambda x: 100.0 * (x[..., 1] - np.sin(2.0 * x[..., 0])) ** 2, [(-3.0, 3.0), (-2.0, 2.0)], [floor])


def line() -> Known:
    x = np.linspace(-2.0, 2.0, _ON_THE_SET)
    return from_sets(lambda x: (x[..., 0] + x[..., 1]) ** 2, [(-2.0, 2.0)] * 2, [np.stack([x, -x], axis=1)])


def line_and_point() -> Known:
    """x^2 ((x - 2)^2 + y^2): the line x = 0, and the point (2, 0)."""
    y = np.linspace(-3.0, 3.0, _ON_THE_SET)

    def fun(x: Any) -> Any:
        return x[..., 0] ** 2 * ((x[..., 0] - 2.0) ** 2 + x[..., 1] ** 2)

    return from_sets(fun, [(-3.0, 4.0), (-3.0, 3.0)], [np.stack([0.0 * y, y], axis=1), (2.0, 0.0)])


def floor() -> Known:
    """max(0, |x - c|^2 - 1), and a narrower well beside it: everything in a disc is a minimum."""
    inside = grid(np.linspace(-1.0, 1.0, 61), 2)

    def fun(x: Any) -> Any:
        outside = np.maximum(((x - np.array([-1.0, 0.0])) ** 2).sum(axis=-1) - 1.0, 0.0)
        beside = ((x - np.array([2.0, 1.0])) ** 2).sum(axis=-1)
        return np.minimum(outside, 0.3 + 2.0 * beside)

    disc = inside[(inside**2).sum(axis=1) <= 1.0] - np.array([1.0, 0.0])
    known = from_sets(fun, [(-3.0, 3.0)] * 2, [disc, (2.0, 1.0)])

    def jac(x: Any) -> Any:
        to_disc, to_well = x - np.array([-1.0, 0.0]), x - np.array([2.0, 1.0])
        outside = np.maximum((to_disc**2).sum(axis=-1) - 1.0, 0.0)
        is_well = 0.3 + 2.0 * (to_well**2).sum(axis=-1) < outside
        return np.where(is_well[..., None], 4.0 * to_well, np.where((outside > 0.0)[..., None], 2.0 * to_disc, 0.0))

    return replace(known, jac=jac, hess=None)


# ---- functions that are rough or periodic


def composition(d: int, K: int, seed: int) -> Known:
    """K rippled, rotated and stretched bowls of depth 0 merged by weights |x - o_k|^-4: K global minima, many local.

    A bowl is |z|^2 + ripples (1 - cos(w z_i)), of its own frequency and height, of z = S_k R_k (x - o_k).
    """
    rng = np.random.default_rng(seed)
    centres = _spread(rng, K, d)
    turns = [ortho_group.rvs(d, random_state=rng) if d > 1 else np.eye(1) for _ in range(K)]
    stretch = np.exp(rng.uniform(-0.7, 0.7, (K, d)))
    ripples, heights, lifts = rng.uniform(4.0, 9.0, K), rng.uniform(0.2, 1.0, K), rng.uniform(0.5, 2.0, K)

    def fun(x: Any) -> Any:
        x = np.asarray(x)
        bowls, squares = [], []
        for k in range(K):
            z = stretch[k] * ((x - centres[k]) @ turns[k])
            bowl = lifts[k] * (z * z).sum(axis=-1) + heights[k] * (1.0 - np.cos(ripples[k] * z)).sum(axis=-1)
            bowls.append(bowl)
            squares.append(((x - centres[k]) ** 2).sum(axis=-1))
        weights = (np.stack(squares) + 1e-12) ** -2
        return (weights * np.stack(bowls)).sum(axis=0) / weights.sum(axis=0)

    return from_points(fun, [(-5.0, 5.0)] * d, centres)


def _spread(rng: np.random.Generator, K: int, d: int) -> Floats:
    """Centres in a box that are not close to each other."""
    centres = [rng.uniform(-4.0, 4.0, d)]
    while len(centres) < K:
        tried = rng.uniform(-4.0, 4.0, (50, d))
        distance = np.linalg.norm(tried[:, None] - np.array(centres), axis=2).min(axis=1)
        centres.append(tried[distance.argmax()])
    return np.array(centres)


def torsion(d: int) -> Known:
    """sum_i -cos(3 x_i) - cos(x_i) / 5 of angles: three minima each, one of them where the angle wraps around."""

    def one(x: Any) -> Any:
        return -np.cos(3.0 * x) - 0.2 * np.cos(x)

    places = minima_on_line(one, -np.pi, np.pi) % (2.0 * np.pi)
    return from_points(lambda x: one(x).sum(axis=-1), [(0.0, 2.0 * np.pi)] * d, grid(places, d), periodic=True)


def coupled_torsion() -> Known:
    """Two angles that feel each other."""

    def fun(x: Any) -> Any:
        a, b = x[..., 0], x[..., 1]
        return -np.cos(3.0 * a + 0.4) - np.cos(2.0 * b) - 0.7 * np.cos(a - b)

    places = minima_in_torus(fun, 2.0 * np.pi)
    return from_points(fun, [(0.0, 2.0 * np.pi)] * 2, places, periodic=True)


# ---- functions of several scales


def rosenbrock(d: int) -> Known:
    """One minimum in a bent valley with d = 2, and with d = 4 a second one, near (-1, 1, 1, 1)."""

    def fun(x: Any) -> Any:
        return (100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2).sum(axis=-1)

    second = [(-0.7756592265653526, 0.6130933654850083, 0.38206284633839305, 0.14597201855219452)]
    modes = [np.ones(d), *(np.array(second) if d == 4 else [])]
    return from_points(fun, [(-2.0, 2.0)] * d, modes)


def bowl(d: int, condition: float) -> Known:
    """A rotated quadratic."""
    axes = ortho_group.rvs(d, random_state=np.random.default_rng(d))
    scales, centre = np.geomspace(1.0, condition, d), np.linspace(-0.7, 0.9, d)

    def fun(x: Any) -> Any:
        return (scales * ((x - centre) @ axes) ** 2).sum(axis=-1)

    return from_points(fun, [(-2.0, 2.0)] * d, centre)


def narrow_wells(d: int, steepness: float) -> Known:
    """Two wells along the diagonal of a valley that is narrow in all other directions."""
    along = np.ones(d) / np.sqrt(d)

    def one(u: Any) -> Any:
        return (u * u - 1.0) ** 2 + 0.1 * u

    def fun(x: Any) -> Any:
        u = x @ along
        across = x - u[..., None] * along
        return one(u) + steepness * (across * across).sum(axis=-1)

    places = minima_on_line(one, -2.0, 2.0)
    return from_points(fun, [(-2.0, 2.0)] * d, places[:, None] * along)


def unequal_units() -> Known:
    """Himmelblau's function of coordinates in units of 1e-3 and 1e4."""
    units = np.array([1e-3, 1e4])

    def fun(x: Any) -> Any:
        a, b = x[..., 0] / units[0], x[..., 1] / units[1]
        return (a * a + b - 11.0) ** 2 + (a + b * b - 7.0) ** 2

    modes = np.array([[3.0, 2.0], [-2.805118, 3.131313], [-3.779310, -3.283186], [3.584428, -1.848127]])
    box = np.array([[-5.0, 5.0], [-5.0, 5.0]]) * units[:, None]
    return from_points(fun, box, modes * units, is_analytic=False)
