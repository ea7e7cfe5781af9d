"""The 8 functions that the composite ones are made of: never negative, and 0 at x = 0 alone.

They take points (K, N, d) and how hard each of the K is to optimise globally, (K, 1), and give values (K, N).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BASE = 5.0  # of powers by which hardness grows
_SKEW = 5.0  # one side of the minimum is as much steeper and the other as much flatter, where hardness is 1
_SCHWEFEL_AT, _SCHWEFEL_VALUE = 420.96874635998202731, 418.9828872724337063  # the minimum of a coordinate
_RIPPLES = 21  # of Weierstrass' function


def elliptic(x: Floats, hard: Floats) -> Floats:
    """An ellipsoid whose longest axis is 10^(3 hard) times the shortest."""
    stretch = 10.0 ** (3.0 * _rising(x) * hard[..., None])
    return np.asarray(10.0 ** (4.0 * (0.5 - hard)) * ((stretch * x) ** 2).sum(axis=-1))


def different_powers(x: Floats, hard: Floats) -> Floats:
    """The root of a sum of powers, from 2 to 2 + 4 hard."""
    return np.asarray(np.sqrt((np.abs(x) ** (2.0 + 4.0 * _rising(x) * hard[..., None])).sum(axis=-1)))


def skewed_double_sum(x: Floats, hard: Floats) -> Floats:
    """Schwefel's double sum, with a kink of its curvature."""
    return np.asarray((np.cumsum(_skewed(x, hard), axis=-1) ** 2).sum(axis=-1))


def rosenbrock(x: Floats, hard: Floats) -> Floats:
    """Rosenbrock's function, mixed with a sphere."""
    y = x + 1.0
    valley = 100.0 * ((y[..., 1:] - y[..., :-1] ** 2) ** 2).sum(axis=-1) + (x[..., :-1] ** 2).sum(axis=-1)
    return np.asarray(hard * valley + (1.0 - hard) * 20.0 * (x**2).sum(axis=-1))


def skewed_ackley(x: Floats, hard: Floats) -> Floats:
    """Ackley's function."""
    y = _skewed(x, hard)
    wide = -20.0 * np.exp(-0.2 * np.sqrt((y**2).mean(axis=-1)))
    return np.asarray(wide - np.exp(np.cos(2.0 * np.pi * y).mean(axis=-1)) + 20.0 + np.e)


def rastrigin(x: Floats, hard: Floats) -> Floats:
    """Rastrigin's function, with waves of amplitude 0 to 10."""
    waves = 10.0 * _share(hard)[..., None] * (1.0 - np.cos(2.0 * np.pi * x))
    return np.asarray((x**2 + waves).sum(axis=-1))


def weierstrass(x: Floats, hard: Floats) -> Floats:
    """Weierstrass' function, fenced half a period around its minimum, mixed with a cone."""
    apart = np.abs(x)
    rippled = np.maximum(apart - 0.5, 0.0)
    turns = x - np.round(x)
    for k in range(_RIPPLES):
        rippled += 0.5**k * 2.0 * np.sin(np.pi * turns) ** 2  # cos(2 pi 3^k (x + 1/2)) + 1
        turns = 3.0 * turns - np.round(3.0 * turns)
    share = _share(hard)
    return np.asarray(share * rippled.sum(axis=-1) + (1.0 - share) * apart.sum(axis=-1))


def schwefel(x: Floats, hard: Floats) -> Floats:
    """Schwefel's sines, fenced at 500, mixed with a cone."""
    y = x + _SCHWEFEL_AT
    fence = np.where(y < -500.0, -300.0 - y, 0.0) + np.where(y > 500.0, y - 420.0, 0.0)
    sines = 1.5 * fence - y * np.sin(np.sqrt(np.abs(y))) + _SCHWEFEL_VALUE
    share = _share(hard)
    return np.asarray(share * sines.sum(axis=-1) + (1.0 - share) * np.abs(x).sum(axis=-1))


def _rising(x: Floats) -> Floats:
    """0 to 1 over the coordinates, (d,)."""
    return np.linspace(0.0, 1.0, x.shape[-1])


def _skewed(x: Floats, hard: Floats) -> Floats:
    skew = _SKEW ** hard[..., None]
    return np.asarray(np.where(x > 0.0, skew, 1.0 / skew) * x)


def _share(hard: Floats) -> Floats:
    return np.asarray((_BASE**hard - 1.0) / (_BASE - 1.0))


FUNCTIONS: tuple[Callable[[Floats, Floats], Floats], ...] = (
    elliptic, different_powers, skewed_double_sum, rosenbrock, skewed_ackley, rastrigin, weierstrass, schwefel,
)  # fmt: skip
