"""Systems of equations with known numbers of real roots in a box, written from their formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEP = 1e-30  # of a complex step: nothing is subtracted, so that it may be this short

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class System:
    """Equations F(x) = 0.

    Args:
        name: of the system.
        equations: d coordinates, each a number or an array of them, real or complex, -> what is to be zero; analytic.
        bounds: (d, 2).
        roots: how many real roots the box has, by dense multistart Newton (see `benchmarks/roots.py --verify`).
        source: where the formulas are from.
        periodic: whether all coordinates wrap around.

    >>> himmelblau = systems()[0]
    >>> himmelblau([3.0, 2.0])
    array([0., 0.])
    """

    name: str
    equations: Callable[[Sequence[Any]], list[Any]]
    bounds: Floats
    roots: int
    source: str
    periodic: bool = False

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def __call__(self, x: Any) -> Any:
        """At a point (d,): (m,)."""
        return np.array(self.equations(x))

    def values(self, x: Any) -> Any:
        """At points (N, d): (N, m)."""
        x = np.asarray(x)
        return np.stack(np.broadcast_arrays(*self.equations(x.T)), axis=-1)

    def jacobian(self, x: Floats) -> Floats:
        """At points (N, d): (N, m, d), exact to rounding, by complex steps."""
        steps = 1j * _STEP * np.eye(x.shape[1])
        return np.stack([self.values(x + step).imag / _STEP for step in steps], axis=-1)


def systems() -> list[System]:
    """Polynomial and trigonometric systems from 2 to 10 unknowns, easy ones first."""
    return [
        System("Himmelblau", _himmelblau, _cube(5.0, 2), 9, "Himmelblau 1972: where the slope of his function is zero"),
        System("trigonometric", _trigonometric, _cube(10.0, 2), 13, "a geometry of conics; Grosan and Abraham 2008"),
        System("Noonburg-3", _noonburg, _cube(5.0, 3), 7, "Noonburg 1989: a neural network"),
        System("cyclohexane", _cyclohexane, _cube(20.0, 3), 16, "Emiris 1994: conformations of a ring"),
        System("combustion", _combustion, _COMBUSTION, 4, "Meintjes and Morgan 1990: propane in air, y2 / 40"),
        System("cyclic-5", _cyclic, _cube(5.0, 5), 10, "Bjorck and Froberg 1991"),
        System("Katsura-5", _katsura, _cube(1.5, 6), 16, "Katsura 1990: magnetism"),
        System("neurophysiology", _neurons, _cube(2.0, 6), 8, "Verschelde et al. 1994, with other constants"),
        System("eco-8", _economics, _cube(30.0, 8), 7, "Morgan 1987: economics"),
        System("PUMA", _puma, _cube(1.0, 8), 16, "Morgan and Shapiro 1987: inverse position of a robot"),
        System("PUMA 560", _puma560, _cube(np.pi, 6), 8, "Corke and Armstrong-Helouvry 1994, in angles", True),
        System("Stewart", _stewart, _STEWART, 16, "a platform on six legs, as in Merlet 2006"),
        System("Bratu-10", _bratu, _box(-1.0, 6.0, 10), 2, "Bratu 1914: u'' = -exp(u), 10 inner points"),
    ]  # fmt: skip


def _box(lower: float, upper: float, d: int) -> Floats:
    return np.tile([[lower, upper]], (d, 1)).astype(np.float64)


def _cube(side: float, d: int) -> Floats:
    return _box(-side, side, d)


def _himmelblau(x: Sequence[Any]) -> list[Any]:
    a, b = x
    return [4 * a**3 + 4 * a * b + 2 * b**2 - 42 * a - 14, 4 * b**3 + 2 * a**2 + 4 * a * b - 26 * b - 22]


def _trigonometric(x: Sequence[Any]) -> list[Any]:
    a, b = x
    return [np.cos(2 * a) - np.cos(2 * b) - 0.4, 2 * (b - a) + np.sin(2 * b) - np.sin(2 * a) - 1.2]


def _noonburg(x: Sequence[Any]) -> list[Any]:
    return [x[i] * (x[i - 1] ** 2 + x[i - 2] ** 2) - 1.1 * x[i] + 1.0 for i in range(3)]


def _cyclohexane(x: Sequence[Any]) -> list[Any]:
    a, b, c = x
    pairs = (b, c), (a, b), (c, a)
    return [13 + p**2 * (1 + q**2) + q * (q - 24 * p) for p, q in pairs]


_COMBUSTION = np.array([[-0.2, 0.5], [0.2, 2.0], [-1.0, 1.0], [-1.5, 1.5], [-0.2, 0.3]])


def _combustion(x: Sequence[Any]) -> list[Any]:
    root, R = np.sqrt(40.0), 10.0
    R5, R6, R7, R8 = 0.193, 0.002597 / root, 0.003448 / root, 0.00001799 / 40
    R9, R10 = 0.0002155 / root, 0.00003846 / 40
    y1, y2, y3, y4, y5 = x[0], 40.0 * x[1], x[2], x[3], x[4]
    shared = y2 * y3**2 + R7 * y2 * y3 + R9 * y2 * y4 + R8 * y2
    return [
        y1 * y2 + y1 - 3 * y5,
        2 * y1 * y2 + y1 + 2 * R10 * y2**2 + shared - R * y5,
        2 * y2 * y3**2 + R7 * y2 * y3 + 2 * R5 * y3**2 + R6 * y3 - 8 * y5,
        R9 * y2 * y4 + 2 * y4**2 - 4 * R * y5,
        y1 * y2 + y1 + R10 * y2**2 + shared + R5 * y3**2 + R6 * y3 + y4**2 - 1,
    ]


def _product(factors: Sequence[Any]) -> Any:
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product


def _cyclic(x: Sequence[Any]) -> list[Any]:
    n = len(x)
    sums = [sum(_product([x[(i + j) % n] for j in range(k)]) for i in range(n)) for k in range(1, n)]
    return [*sums, _product(list(x)) - 1]


def _katsura(x: Sequence[Any]) -> list[Any]:
    n = len(x) - 1
    u = {k: x[abs(k)] for k in range(-n, n + 1)}
    rows = [sum(u[j] * u[k - j] for j in range(-n, n + 1) if -n <= k - j <= n) - u[k] for k in range(n)]
    return [*rows, sum(u.values()) - 1]


def _neurons(x: Sequence[Any]) -> list[Any]:
    a, b, c, d, e, f = x
    return [
        a**2 + c**2 - 1,
        b**2 + d**2 - 1,
        e * c**3 + f * d**3 - 0.1,
        e * a**3 + f * b**3 - 0.3,
        e * a * c**2 + f * d**2 * b - 0.2,
        e * a**2 * c + f * b**2 * d - 0.15,
    ]


def _economics(x: Sequence[Any]) -> list[Any]:
    n = len(x)
    rows = [(x[k - 1] + sum(x[i] * x[i + k] for i in range(n - 1 - k))) * x[n - 1] - k for k in range(1, n)]
    return [*rows, sum(x[: n - 1]) + 1]


def _puma(x: Sequence[Any]) -> list[Any]:
    a, b, c, d, e, f, g, h = x
    return [
        4.731e-3 * a * c - 0.3578 * b * c - 0.1238 * a + g - 1.637e-3 * b - 0.9338 * d - 0.3571,
        0.2238 * a * c + 0.7623 * b * c + 0.2638 * a - g - 0.07745 * b - 0.6734 * d - 0.6022,
        f * h + 0.3578 * a + 4.731e-3 * b,
        -0.7623 * a + 0.2238 * b + 0.3461,
        a**2 + b**2 - 1,
        c**2 + d**2 - 1,
        e**2 + f**2 - 1,
        g**2 + h**2 - 1,
    ]


def _frame(q: Sequence[Any]) -> list[list[Any]]:
    """Rotation and place (3, 4) of the hand of a PUMA 560 at six joint angles, by Denavit and Hartenberg's rule."""
    twists, lengths = (1, 0, -1, 1, -1, 0), (0.0, 0.4318, 0.0203, 0.0, 0.0, 0.0)  # twists in right angles; metres
    offsets = 0.0, 0.0, 0.15005, 0.4318, 0.0, 0.0
    frame: list[list[Any]] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    for angle, twist, a, b in zip(q, twists, lengths, offsets, strict=True):
        c, s, u, v = np.cos(angle), np.sin(angle), float(twist == 0), float(twist)
        step = [[c, -s * u, s * v, a * c], [s, c * u, -c * v, a * s], [0.0, v, u, b]]
        frame = [
            [sum(row[k] * step[k][j] for k in range(3)) + (row[3] if j == 3 else 0.0) for j in range(4)]
            for row in frame
        ]
    return frame


_HAND = _frame((0.5, 0.9, -1.9, 0.7, 0.8, -1.1))


def _puma560(q: Sequence[Any]) -> list[Any]:
    """Twelve equations for six angles: place and rotation of the hand."""
    frame = _frame(q)
    weights = 0.5, 0.5, 0.5, 3.0
    return [weights[j] * (frame[i][j] - _HAND[i][j]) for i in range(3) for j in range(4)]


_STEWART = np.array([[-1.6, 1.6]] * 3 + [[-1.2, 1.2]] * 4)
_BASE_ANGLES, _PLATE_ANGLES = np.deg2rad([10, 110, 130, 230, 250, 350]), np.deg2rad([50, 70, 170, 190, 290, 310])
_BASE = np.stack([np.cos(_BASE_ANGLES), np.sin(_BASE_ANGLES), [0.0, 0.08, -0.05, 0.1, -0.07, 0.03]], axis=-1)
_PLATE = 0.6 * np.stack([np.cos(_PLATE_ANGLES), np.sin(_PLATE_ANGLES), [0.05, -0.1, 0.08, 0.0, -0.06, 0.1]], axis=-1)


def _legs(x: Sequence[Any]) -> list[Any]:
    """Squares of the lengths of six legs of a platform at a place, turned by a quaternion."""
    w, p, q, r = x[3:]
    rotation = [
        [w**2 + p**2 - q**2 - r**2, 2 * (p * q - w * r), 2 * (p * r + w * q)],
        [2 * (p * q + w * r), w**2 - p**2 + q**2 - r**2, 2 * (q * r - w * p)],
        [2 * (p * r - w * q), 2 * (q * r + w * p), w**2 - p**2 - q**2 + r**2],
    ]
    return [
        sum((x[i] + sum(rotation[i][j] * plate[j] for j in range(3)) - base[i]) ** 2 for i in range(3))
        for base, plate in zip(_BASE.tolist(), _PLATE.tolist(), strict=True)
    ]


_TURN = np.array([0.95, 0.12, -0.18, 0.2])
_LENGTHS = _legs([0.15, -0.1, 0.9, *(_TURN / np.sqrt((_TURN**2).sum()))])


def _stewart(x: Sequence[Any]) -> list[Any]:
    norm = x[3] ** 2 + x[4] ** 2 + x[5] ** 2 + x[6] ** 2
    return [*(leg - length for leg, length in zip(_legs(x), _LENGTHS, strict=True)), 2.0 * (norm - 1.0)]


def _bratu(x: Sequence[Any]) -> list[Any]:
    n = len(x)
    h = 1.0 / (n + 1)
    u = [0.0, *x, 0.0]
    return [u[i - 1] - 2.0 * u[i] + u[i + 1] + h**2 * np.exp(u[i]) for i in range(1, n + 1)]
