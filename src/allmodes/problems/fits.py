"""Models with residuals that fit data in several ways. The data are made here, with fixed seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEP = 1e-30  # of a complex step: nothing is subtracted, so that it may be this short

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FitProblem:
    """A model of data.

    Args:
        name: of the problem.
        model: parameters (N, d), real or complex, -> what it says of the data (N, m); analytic.
        data: (m,).
        bounds: (d, 2).

    >>> problem = fit_problems()[0]
    >>> problem.residuals(problem.bounds.mean(axis=1)[None]).shape
    (1, 60)
    """

    name: str
    model: Callable[[Any], Any]
    data: Floats
    bounds: Floats

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def residuals(self, x: Floats) -> Floats:
        """At parameters (N, d): (N, m)."""
        return np.asarray(self.model(x) - self.data, dtype=np.float64)

    def jacobian(self, x: Floats) -> Floats:
        """At parameters (N, d): (N, m, d), exact to rounding, by complex steps."""
        steps = 1j * _STEP * np.eye(x.shape[1])
        return np.stack([self.model(x + step).imag / _STEP for step in steps], axis=-1)


def fit_problems() -> list[FitProblem]:
    """Two peaks, three decays, a drug in two compartments, a network of two units, and damped waves."""
    return [_two_peaks(), _decays(), _two_compartments(), _network(), _waves()]


def _made(name: str, model: Callable[[Any], Any], true: list[float], noise: float, bounds: list[Any]) -> FitProblem:
    """A problem whose data are those of the true parameters with noise."""
    exact = np.asarray(model(np.array([true])))[0]
    data = exact + noise * np.random.default_rng(len(name)).standard_normal(len(exact))
    return FitProblem(name, model, data, np.array(bounds, dtype=np.float64))


def _two_peaks() -> FitProblem:
    """a1 exp(-((x - c1) / w1)^2 / 2) + a2 exp(-((x - c2) / w2)^2 / 2)."""
    x = np.linspace(0.0, 10.0, 60)

    def model(p: Any) -> Any:
        a, c, w = (p[:, i::3, None] for i in range(3))
        return (a * np.exp(-0.5 * ((x - c) / w) ** 2)).sum(axis=1)

    bounds = [(0, 4), (0, 10), (0.3, 3)] * 2
    return _made("two peaks", model, [2.0, 4.0, 0.7, 1.2, 6.5, 1.0], 0.1, bounds)


def _decays() -> FitProblem:
    """a1 exp(-k1 t) + a2 exp(-k2 t) + a3 exp(-k3 t)."""
    t = np.linspace(0.0, 5.0, 50)

    def model(p: Any) -> Any:
        return (p[:, ::2, None] * np.exp(-p[:, 1::2, None] * t)).sum(axis=1)

    return _made("three decays", model, [2.0, 0.3, 1.5, 2.0, 1.0, 8.0], 0.005, [(0, 5), (0, 10)] * 3)


def _two_compartments() -> FitProblem:
    """A dose that is absorbed at a rate ka, exchanged with tissue (k12, k21) and eliminated (ke), in a volume V.

    The concentration is the sum of three exponentials; ka and the fast rate of disposition may exchange their roles.
    """
    t = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0])

    def model(p: Any) -> Any:
        ka, ke, k12, k21, volume = (p[:, i, None] for i in range(5))
        half, product = 0.5 * (ke + k12 + k21), ke * k21
        root = np.sqrt(half * half - product)
        fast, slow = half + root, half - root
        terms = [(ka, fast, slow), (fast, ka, slow), (slow, ka, fast)]
        parts = [(k21 - a) / ((b - a) * (c - a) + 1e-12) * np.exp(-a * t) for a, b, c in terms]
        return 100.0 * ka / volume * sum(parts)

    bounds = [(0.05, 5), (0.02, 2), (0.02, 3), (0.02, 3), (1, 50)]
    return _made("two compartments", model, [1.4, 0.25, 0.6, 0.4, 12.0], 0.05, bounds)


def _network() -> FitProblem:
    """v1 tanh(w1 x + b1) + v2 tanh(w2 x + b2) + c: units may exchange their names and signs."""
    x = np.linspace(-2.0, 2.0, 40)

    def model(p: Any) -> Any:
        v, w, b = (p[:, i:6:3, None] for i in range(3))
        return (v * np.tanh(w * x + b)).sum(axis=1) + p[:, 6:]

    bounds = [(-3, 3), (-5, 5), (-4, 4)] * 2 + [(-2, 2)]
    return _made("network", model, [1.0, 2.0, 1.0, 0.8, -3.0, 2.0, 0.3], 0.05, bounds)


def _waves() -> FitProblem:
    """a exp(-k t) sin(f t + p): a frequency, of which data see aliases."""
    t = np.linspace(0.0, 12.0, 40)

    def model(p: Any) -> Any:
        a, k, f, shift = (p[:, i, None] for i in range(4))
        return a * np.exp(-k * t) * np.sin(f * t + shift)

    return _made("damped wave", model, [1.5, 0.1, 2.2, 0.8], 0.2, [(0, 3), (0, 1), (0.2, 8), (0, 2 * np.pi)])
