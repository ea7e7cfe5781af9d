"""Problems with whole numbers, catalogue sizes and real coordinates, written from their formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PENALTY = 10.0  # times the objective's size, for each constraint violated by its scale: more than any multiplier


@dataclass(frozen=True, eq=False)
class WholeProblem:
    """A function to minimise.

    Args:
        name: of the problem.
        values: of points (N, d), (N,).
        bounds: pairs, and lists of sizes.
        integrality: (d,), which coordinates with pairs are whole numbers.
        best: the least value known, to the digits given.
        at: where it is, (d,); None for large problems.
        is_proved: whether `best` is known to be the least, by trying every point or every choice.
        minima: how many points there are that no change of one whole number by one betters; None if nobody has counted.
        source: where the problem is from.
    """

    name: str
    values: Callable[[Floats], Floats]
    bounds: list[Any]
    integrality: list[int]
    best: float
    at: tuple[float, ...] | None
    is_proved: bool
    minima: int | None
    source: str

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    @property
    def is_mixed(self) -> bool:
        """Whether there are real coordinates."""
        return any(
            not isinstance(b, list) and not whole for b, whole in zip(self.bounds, self.integrality, strict=True)
        )

    def __call__(self, x: Any) -> float:
        """At a point (d,)."""
        return float(self.values(np.asarray(x, dtype=np.float64)[None])[0])


# The least values, whether that is proved, and the number of local minima where somebody has counted them. Knapsacks
# by dynamic programming, small problems by trying every point, larger QUBOs by twelve tabu searches of 12,000 moves.
_KNOWN: dict[str, tuple[float, bool, int | None]] = {
    "QUBO-16": (-989.0, True, 5),
    "QUBO-20": (-1233.0, True, 11),
    "QUBO-60": (-10_287.0, False, None),
    "QUBO-100": (-20_682.0, False, None),
    "QUBO-200": (-46_705.0, False, None),
    "knapsack-16": (-297.0, True, 2662),
    "knapsack-60": (-1290.0, True, None),
    "knapsack-100": (-2211.0, True, None),
    "knapsack-200": (-4465.0, True, None),
}


def _bits(name: str, n: int, values: Callable[[Floats], Floats], source: str) -> WholeProblem:
    best, is_proved, minima = _KNOWN.get(name, (np.nan, False, None))
    return WholeProblem(name, values, [(0, 1)] * n, [1] * n, best, None, is_proved, minima, source)


def qubo(n: int) -> WholeProblem:
    """A quadratic function of n bits, with coefficients drawn evenly from the whole numbers -100 to 100."""
    Q = np.triu(np.random.default_rng([n, 0]).integers(-100, 101, (n, n))).astype(np.float64)

    def values(x: Floats) -> Floats:
        return np.asarray(((x @ Q) * x).sum(axis=-1))

    return _bits(f"QUBO-{n}", n, values, "drawn as in Beasley 1998, with all coefficients")


def knapsack(n: int) -> WholeProblem:
    """n things with weights and prices that go along with them; half of the weight fits, and more costs dearly."""
    rng = np.random.default_rng([n, 0, 1])
    weights = rng.integers(5, 51, n).astype(np.float64)
    prices = weights + rng.integers(1, 21, n)
    room, fine = float(weights.sum() // 2), float(prices.max() + 1.0)  # to leave a thing out costs less

    def values(x: Floats) -> Floats:
        return np.asarray(fine * np.maximum(0.0, x @ weights - room) - x @ prices)

    return _bits(f"knapsack-{n}", n, values, "weakly correlated, as in Pisinger 2005")


def gear_train() -> WholeProblem:
    """Numbers of teeth of four gears, for a ratio of 1 / 6.931."""

    def values(x: Floats) -> Floats:
        a, b, c, d = x.T
        return np.asarray((1.0 / 6.931 - a * b / (c * d)) ** 2)

    return WholeProblem(
        "gear train", values, [(12, 60)] * 4, [1] * 4, 2.7008571488865134e-12, (16.0, 19.0, 43.0, 49.0), True, None,
        "Sandgren 1990",
    )  # fmt: skip


def _penalised(cost: Floats, excess: list[Floats], size: float) -> Floats:
    """A cost with what constraints g <= 0 are violated by."""
    return np.asarray(cost + _PENALTY * size * sum(np.maximum(0.0, g) for g in excess))


def pressure_vessel() -> WholeProblem:
    """Shell and head in sixteenths of an inch, radius and length real: what it costs to build."""
    sizes = [i / 16 for i in range(1, 100)]

    def values(x: Floats) -> Floats:
        s, h, R, L = x.T
        cost = 0.6224 * s * R * L + 1.7781 * h * R**2 + 3.1661 * s**2 * L + 19.84 * s**2 * R
        volume = np.pi * R**2 * L + 4.0 / 3.0 * np.pi * R**3
        return _penalised(cost, [0.0193 * R / s - 1.0, 0.00954 * R / h - 1.0, 1.0 - volume / 1_296_000.0], 1e4)

    return WholeProblem(
        "pressure vessel", values, [sizes, sizes, (10.0, 200.0), (10.0, 200.0)], [0] * 4, 6059.714335,
        (0.8125, 0.4375, 42.0984456, 176.6365958), True, None, "Sandgren 1990",
    )  # fmt: skip


def welded_beam() -> WholeProblem:
    """Weld and bar in sixteenths of an inch, length of the weld and height of the bar real: what it costs to build."""
    sizes = [i / 16 for i in range(2, 33)]

    def values(x: Floats) -> Floats:
        h, length, t, b = x.T
        P, E, G, arm = 6000.0, 30e6, 12e6, 14.0
        cost = 1.10471 * h**2 * length + 0.04811 * t * b * (arm + length)
        direct = P / (np.sqrt(2.0) * h * length)
        R = np.sqrt(length**2 / 4.0 + ((h + t) / 2.0) ** 2)
        J = 2.0 * np.sqrt(2.0) * h * length * (length**2 / 12.0 + ((h + t) / 2.0) ** 2)
        twist = P * (arm + length / 2.0) * R / J
        shear = np.sqrt(direct**2 + direct * twist * length / R + twist**2)
        bending = 6.0 * P * arm / (b * t**2)
        buckling = 4.013 * E * t * b**3 / (6.0 * arm**2) * (1.0 - t / (2.0 * arm) * np.sqrt(E / (4.0 * G)))
        bend = 4.0 * P * arm**3 / (E * t**3 * b)
        excess = [shear / 13_600.0 - 1.0, bending / 30_000.0 - 1.0, h / b - 1.0, 1.0 - buckling / P, bend / 0.25 - 1.0]
        return _penalised(cost, excess, 1.0)

    return WholeProblem(
        "welded beam", values, [sizes, (0.1, 10.0), (0.1, 10.0), sizes], [0] * 4, 1.8812386932770533,
        (0.25, 2.987895789578859, 8.197560612767678, 0.25), True, None,
        "Ragsdell and Phillips 1976, with sizes of a catalogue",
    )  # fmt: skip


_WIRES = [
    0.009, 0.0095, 0.0104, 0.0118, 0.0128, 0.0132, 0.014, 0.015, 0.0162, 0.0173, 0.018, 0.020, 0.023, 0.025, 0.028,
    0.032, 0.035, 0.041, 0.047, 0.054, 0.063, 0.072, 0.080, 0.092, 0.105, 0.120, 0.135, 0.148, 0.162, 0.177, 0.192,
    0.207, 0.225, 0.244, 0.263, 0.283, 0.307, 0.331, 0.362, 0.394, 0.4375, 0.500,
]  # fmt: skip


def spring() -> WholeProblem:
    """Windings, diameter of the coil and one of 42 wires: the volume of steel."""

    def values(x: Floats) -> Floats:
        n, D, d = x.T
        most, strength, G, preload, travel = 1000.0, 189_000.0, 11.5e6, 300.0, 6.0
        C = D / d
        wahl = (4.0 * C - 1.0) / (4.0 * C - 4.0) + 0.615 / C
        rate = G * d**4 / (8.0 * n * D**3)
        under, length = preload / rate, most / rate + 1.05 * (n + 2.0) * d
        excess = [
            8.0 * wahl * most * D / (np.pi * d**3) / strength - 1.0, length / 14.0 - 1.0, (D + d) / 3.0 - 1.0,
            1.0 - C / 3.0, under / travel - 1.0, 1.25 - (most - preload) / rate,
        ]  # fmt: skip
        return _penalised(0.25 * np.pi**2 * D * d**2 * (n + 2.0), excess, 1.0)

    return WholeProblem(
        "spring", values, [(1, 70), (0.6, 3.0), _WIRES], [1, 0, 0], 2.658559, (9.0, 1.2230410, 0.283), True, None,
        "Sandgren 1990",
    )  # fmt: skip


def whole_problems() -> list[WholeProblem]:
    """Small ones first."""
    bits = [
        qubo(16),
        qubo(20),
        knapsack(16),
        qubo(60),
        qubo(100),
        qubo(200),
        knapsack(60),
        knapsack(100),
        knapsack(200),
    ]
    return [*bits, gear_train(), pressure_vessel(), welded_beam(), spring()]
