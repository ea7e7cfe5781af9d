"""Residuals of the test problems of Moré, Garbow and Hillstrom, "Testing unconstrained optimization software" (1981).

Each function maps points (..., d) to residuals (..., m), for real and for complex points: no absolute values and no
comparisons but of real parts, so that derivatives by steps into the complex plane are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[Any]  # real or complex, (..., d)


def _stack(*parts: Any) -> Points:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _columns(x: Points) -> list[Points]:
    """The coordinates, each with an axis for the data."""
    return [x[..., j, None] for j in range(x.shape[-1])]


# ---- two and three unknowns


def rosenbrock(x: Points) -> Points:
    odd, even = x[..., ::2], x[..., 1::2]
    return np.concatenate([10.0 * (even - odd**2), 1.0 - odd], axis=-1)


def freudenstein_roth(x: Points) -> Points:
    a, b = x[..., 0], x[..., 1]
    return _stack(-13.0 + a + ((5.0 - b) * b - 2.0) * b, -29.0 + a + ((b + 1.0) * b - 14.0) * b)


def powell_badly_scaled(x: Points) -> Points:
    a, b = x[..., 0], x[..., 1]
    return _stack(1e4 * a * b - 1.0, np.exp(-a) + np.exp(-b) - 1.0001)


def brown_badly_scaled(x: Points) -> Points:
    a, b = x[..., 0], x[..., 1]
    return _stack(a - 1e6, b - 2e-6, a * b - 2.0)


def beale(x: Points) -> Points:
    a, b = _columns(x)
    return np.array([1.5, 2.25, 2.625]) - a * (1.0 - b ** np.arange(1, 4))


def jennrich_sampson(x: Points) -> Points:
    a, b = _columns(x)
    i = np.arange(1.0, 11.0)
    return 2.0 + 2.0 * i - (np.exp(i * a) + np.exp(i * b))


def helical_valley(x: Points) -> Points:
    a, b, c = (x[..., j] for j in range(3))
    theta = np.arctan(b / a) / (2.0 * np.pi) + np.where(a.real < 0.0, 0.5, 0.0)
    return _stack(10.0 * (c - 10.0 * theta), 10.0 * (np.sqrt(a**2 + b**2) - 1.0), c)


_BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])


def bard(x: Points) -> Points:
    a, b, c = _columns(x)
    u = np.arange(1.0, 16.0)
    v = 16.0 - u
    return _BARD - (a + u / (v * b + np.minimum(u, v) * c))


_GAUSSIAN = np.array([0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989])
_GAUSSIAN = np.concatenate([_GAUSSIAN, _GAUSSIAN[-2::-1]])


def gaussian(x: Points) -> Points:
    a, b, c = _columns(x)
    t = (8.0 - np.arange(1.0, 16.0)) / 2.0
    return a * np.exp(-b * (t - c) ** 2 / 2.0) - _GAUSSIAN


_MEYER = np.array(
    [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872], float
)


def meyer(x: Points) -> Points:
    a, b, c = _columns(x)
    return a * np.exp(b / (45.0 + 5.0 * np.arange(1.0, 17.0) + c)) - _MEYER


def gulf(x: Points) -> Points:
    """With y - x2 in the power, as in the source that the paper quotes: its own formula is misprinted."""
    a, b, c = _columns(x)
    t = np.arange(1.0, 100.0) / 100.0
    y = 25.0 + (-50.0 * np.log(t)) ** (2.0 / 3.0)
    return np.exp(-(((y - b) ** 2) ** (c / 2.0)) / a) - t


def box(x: Points) -> Points:
    a, b, c = _columns(x)
    t = 0.1 * np.arange(1.0, 11.0)
    return np.exp(-t * a) - np.exp(-t * b) - c * (np.exp(-t) - np.exp(-10.0 * t))


# ---- four to eleven unknowns


def powell_singular(x: Points) -> Points:
    a, b, c, d = (x[..., j::4] for j in range(4))
    parts = [a + 10.0 * b, np.sqrt(5.0) * (c - d), (b - 2.0 * c) ** 2, np.sqrt(10.0) * (a - d) ** 2]
    return np.concatenate(parts, axis=-1)


def wood(x: Points) -> Points:
    a, b, c, d = (x[..., j] for j in range(4))
    pair, gap = np.sqrt(10.0) * (b + d - 2.0), (b - d) / np.sqrt(10.0)
    return _stack(10.0 * (b - a**2), 1.0 - a, np.sqrt(90.0) * (d - c**2), 1.0 - c, pair, gap)


_KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
_KOWALIK_AT = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])


def kowalik_osborne(x: Points) -> Points:
    a, b, c, d = _columns(x)
    u = _KOWALIK_AT
    return _KOWALIK - a * (u**2 + u * b) / (u**2 + u * c + d)


def brown_dennis(x: Points) -> Points:
    a, b, c, d = _columns(x)
    t = np.arange(1.0, 21.0) / 5.0
    return (a + t * b - np.exp(t)) ** 2 + (c + d * np.sin(t) - np.cos(t)) ** 2


_OSBORNE_1 = np.array([
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603,
    0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411,
    0.406,
])  # fmt: skip


def osborne_1(x: Points) -> Points:
    a, b, c, d, e = _columns(x)
    t = 10.0 * np.arange(33.0)
    return _OSBORNE_1 - (a + b * np.exp(-t * d) + c * np.exp(-t * e))


def biggs(x: Points) -> Points:
    a, b, c, d, e, f = _columns(x)
    t = 0.1 * np.arange(1.0, 14.0)
    y = np.exp(-t) - 5.0 * np.exp(-10.0 * t) + 3.0 * np.exp(-4.0 * t)
    return c * np.exp(-t * a) - d * np.exp(-t * b) + f * np.exp(-t * e) - y


_OSBORNE_2 = np.array([
    1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616, 0.606,
    0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495, 0.500, 0.423,
    0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668,
    0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098,
    0.054,
])  # fmt: skip


def osborne_2(x: Points) -> Points:
    c, t = _columns(x), np.arange(65.0) / 10.0
    peaks = sum(c[1 + k] * np.exp(-((t - c[8 + k]) ** 2) * c[5 + k]) for k in range(3))
    return _OSBORNE_2 - (c[0] * np.exp(-t * c[4]) + peaks)


def watson(x: Points) -> Points:
    d = x.shape[-1]
    t, j = np.arange(1.0, 30.0)[:, None] / 29.0, np.arange(d)
    slope = x[..., 1:] @ (j[1:] * t ** (j[1:] - 1)).T
    first = slope - (x @ (t**j).T) ** 2 - 1.0
    return np.concatenate([first, x[..., :1], x[..., 1:2] - x[..., :1] ** 2 - 1.0], axis=-1)


# ---- any number of unknowns


def penalty_1(x: Points) -> Points:
    total = (x**2).sum(axis=-1, keepdims=True) - 0.25
    return np.concatenate([np.sqrt(1e-5) * (x - 1.0), total], axis=-1)


def penalty_2(x: Points) -> Points:
    d, e = x.shape[-1], np.exp(x / 10.0)
    i = np.arange(2.0, d + 1.0)
    pairs = e[..., 1:] + e[..., :-1] - (np.exp(i / 10.0) + np.exp((i - 1.0) / 10.0))
    single = e[..., 1:] - np.exp(-0.1)
    total = (np.arange(d, 0.0, -1.0) * x**2).sum(axis=-1, keepdims=True) - 1.0
    return np.concatenate([x[..., :1] - 0.2, np.sqrt(1e-5) * pairs, np.sqrt(1e-5) * single, total], axis=-1)


def variably_dimensioned(x: Points) -> Points:
    total = (np.arange(1.0, x.shape[-1] + 1.0) * (x - 1.0)).sum(axis=-1, keepdims=True)
    return np.concatenate([x - 1.0, total, total**2], axis=-1)


def trigonometric(x: Points) -> Points:
    d = x.shape[-1]
    i, c = np.arange(1.0, d + 1.0), np.cos(x)
    return d - c.sum(axis=-1, keepdims=True) + i * (1.0 - c) - np.sin(x)


def brown_almost_linear(x: Points) -> Points:
    d = x.shape[-1]
    first = x[..., :-1] + x.sum(axis=-1, keepdims=True) - (d + 1.0)
    return np.concatenate([first, x.prod(axis=-1, keepdims=True) - 1.0], axis=-1)


def _padded(x: Points) -> Points:
    """With a zero before and one after."""
    zero = np.zeros_like(x[..., :1])
    return np.concatenate([zero, x, zero], axis=-1)


def boundary_value(x: Points) -> Points:
    h = 1.0 / (x.shape[-1] + 1.0)
    t, y = h * np.arange(1.0, x.shape[-1] + 1.0), _padded(x)
    return 2.0 * x - y[..., :-2] - y[..., 2:] + h**2 * (x + t + 1.0) ** 3 / 2.0


def integral_equation(x: Points) -> Points:
    h = 1.0 / (x.shape[-1] + 1.0)
    t = h * np.arange(1.0, x.shape[-1] + 1.0)
    kernel = np.where(t[:, None] >= t, (1.0 - t[:, None]) * t, t[:, None] * (1.0 - t))
    return x + h / 2.0 * ((x + t + 1.0) ** 3 @ kernel.T)


def broyden_tridiagonal(x: Points) -> Points:
    y = _padded(x)
    return (3.0 - 2.0 * x) * x - y[..., :-2] - 2.0 * y[..., 2:] + 1.0


def broyden_banded(x: Points) -> Points:
    i = np.arange(x.shape[-1])
    apart = i - i[:, None]  # columns after rows: five before, one after
    band = ((apart >= -5) & (apart <= 1) & (apart != 0)).astype(float)
    return x * (2.0 + 5.0 * x**2) + 1.0 - (x * (1.0 + x)) @ band.T


def chebyquad(x: Points) -> Points:
    d, y = x.shape[-1], 2.0 * x - 1.0
    before, now, means = np.ones_like(y), y, []
    for _ in range(d):
        means.append(now.mean(axis=-1))
        before, now = now, 2.0 * y * now - before
    i = np.arange(1, d + 1)
    integrals = np.where(i % 2 == 0, -1.0 / np.maximum(i**2 - 1.0, 1.0), 0.0)
    return np.stack(means, axis=-1) - integrals
