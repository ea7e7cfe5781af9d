"""Constrained problems with several minima: of Hock and Schittkowski, in discs, on spheres, packing."""

from __future__ import annotations

from typing import Any

import numpy as np

from allmodes.problems.constrained import ConstrainedProblem
from allmodes.problems.constrained_cec import Xs, box, product

_HS = "Hock and Schittkowski 1981"


def classic_problems() -> list[ConstrainedProblem]:
    """Two to eight coordinates."""
    made = ConstrainedProblem
    return [
        made("Himmelblau in a disc", _himmelblau, box((-6, 6, 2)), lambda x: [9 - _square(x)]),
        made("Himmelblau under a line", _himmelblau, box((-6, 6, 2)), lambda x: [-x[0] - x[1]]),
        made("Himmelblau outside of a disc", _himmelblau, box((-6, 6, 2)), lambda x: [_square(x) - 16]),
        made("Himmelblau on a circle", _himmelblau, box((-6, 6, 2)), None, lambda x: [_square(x) - 9]),
        made("linear on a disc", lambda x: x[0] + 2 * x[1], box((-2, 2, 2)), lambda x: [1 - _square(x)]),
        made("product on a sphere", product, box((-2, 2, 3)), None, lambda x: [_square(x) - 1]),
        made("cubes on a sphere", lambda x: x[0] ** 3 + 2 * x[1] ** 3 - x[2] ** 3 + x[0] * x[1], box((-2, 2, 3)),
             None, lambda x: [_square(x) - 1]),
        made("concave on a simplex", lambda x: -_square(x), box((0, 1, 4)), None, lambda x: [sum(x) - 1]),
        made("waves on a simplex", lambda x: sum(np.cos(9 * a) for a in x) + x[0] * x[1], box((0, 1, 3)),
             None, lambda x: [sum(x) - 1]),
        made("Townsend", lambda x: -np.cos((x[0] - 0.1) * x[1]) ** 2 - x[0] * np.sin(3 * x[0] + x[1]),
             box((-2.25, 2.25, 1), (-2.5, 1.75, 1)), _townsend, best=-2.0239884, source="Townsend 2014"),
        made("Gomez and Levy", _camel, box((-1, 0.75, 1), (-1, 1, 1)),
             lambda x: [1.5 + np.sin(4 * np.pi * x[0]) - 2 * np.sin(2 * np.pi * x[1]) ** 2], best=-1.031628453,
             source="Gomez and Levy 1982"),
        made("six-hump camel in a disc", _camel, box((-2, 2, 2)), lambda x: [1 - _square(x)]),
        made("Mishra's bird", _bird, box((-10, 0, 1), (-6.5, 0, 1)),
             lambda x: [25 - (x[0] + 5) ** 2 - (x[1] + 5) ** 2], best=-106.7645367, source="Mishra 2006"),
        made("Rosenbrock under a cubic and a line", _rosenbrock, box((-1.5, 1.5, 1), (-0.5, 2.5, 1)),
             lambda x: [x[1] - 1 - (x[0] - 1) ** 3, 2 - x[0] - x[1]], best=0.0, source="Simionescu and Beale 2002"),
        made("Simionescu", lambda x: 0.1 * x[0] * x[1], box((-1.25, 1.25, 2)),
             lambda x: [(1 + 0.2 * np.cos(8 * np.arctan(x[0] / (x[1] + 1e-300)))) ** 2 - _square(x)], best=-0.072,
             source="Simionescu 2014"),
        made("Rastrigin on an ellipse", _rastrigin, box((-3, 3, 2)), None, lambda x: [x[0] ** 2 / 4 + x[1] ** 2 - 1]),
        made("Rastrigin above a line", _rastrigin, box((-2, 2, 2)), lambda x: [x[0] + 2 * x[1] - 1.3]),
        made("waves in a ring", lambda x: np.sin(3 * x[0]) * np.cos(2 * x[1]) + 0.1 * x[0], box((-3, 3, 2)),
             lambda x: [_square(x) - 1, 6 - _square(x)]),
        made("two ellipses", lambda x: (x[0] - x[2]) ** 2 + (x[1] - x[3]) ** 2 + 0.1 * x[1] + 0.05 * x[0],
             box((-4, 4, 4)), None, lambda x: [x[0] ** 2 + x[1] ** 2 / 9 - 1, (x[2] - 1) ** 2 / 6 + x[3] ** 2 - 1]),
        made("two circles in a square", lambda x: -x[4], box((0, 1, 4), (0, 0.5, 1)), lambda x: _circles(x, 2),
             best=-0.5 * np.sqrt(2.0) / (1.0 + np.sqrt(2.0)), source="Schaer 1965"),
        made("three circles in a square", lambda x: -x[6], box((0, 1, 6), (0, 0.5, 1)), lambda x: _circles(x, 3),
             best=-0.254333095, source="Schaer 1965"),
        made("HS16", _rosenbrock, box((-2, 0.5, 1), (-1.5, 1, 1)),
             lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1]], best=0.25, source=_HS),
        made("HS20", _rosenbrock, box((-0.5, 0.5, 1), (-2, 2, 1)),
             lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1], _square(x) - 1], best=81.5 - 25 * np.sqrt(3), source=_HS),
        made("HS23", _square, box((-50, 50, 2)), _hs23, best=2.0, source=_HS),
        made("HS29", lambda x: -product(x), box((-8, 8, 3)),
             lambda x: [48 - x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2], best=-16 * np.sqrt(2), source=_HS),
        made("HS33", lambda x: (x[0] - 1) * (x[0] - 2) * (x[0] - 3) + x[2], box((0, 5, 3)),
             lambda x: [x[2] ** 2 - x[1] ** 2 - x[0] ** 2, _square(x) - 4], best=np.sqrt(2) - 6, source=_HS),
        made("HS40", lambda x: -product(x), box((-2, 2, 4)), None,
             lambda x: [x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]], best=-0.25, source=_HS),
        made("HS43", _hs43, box((-5, 5, 4)), _hs43_rows, best=-44.0, source=_HS),
    ]  # fmt: skip


def _square(x: Xs) -> Any:
    return sum(a * a for a in x)


def _himmelblau(x: Xs) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def _rosenbrock(x: Xs) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def _camel(x: Xs) -> Any:
    return 4 * x[0] ** 2 - 2.1 * x[0] ** 4 + x[0] ** 6 / 3 + x[0] * x[1] - 4 * x[1] ** 2 + 4 * x[1] ** 4


def _rastrigin(x: Xs) -> Any:
    return sum(a * a - 10 * np.cos(2 * np.pi * a) + 10 for a in x)


def _bird(x: Xs) -> Any:
    a, b = x
    return np.sin(b) * np.exp((1 - np.cos(a)) ** 2) + np.cos(a) * np.exp((1 - np.sin(b)) ** 2) + (a - b) ** 2


def _townsend(x: Xs) -> list[Any]:
    """The angle is that from the second axis, by its sine and cosine: smooth but at the origin, which is inside."""
    radius = np.sqrt(_square(x) + 1e-300)
    sine, c = x[0] / radius, x[1] / radius
    c2 = 2 * c * c - 1
    c3, c4 = 4 * c**3 - 3 * c, 2 * c2 * c2 - 1
    return [(2 * c - c2 / 2 - c3 / 4 - c4 / 8) ** 2 + (2 * sine) ** 2 - _square(x)]


def _circles(x: Xs, n: int) -> list[Any]:
    """n circles of one radius, the last coordinate, apart from each other and inside the unit square."""
    r, centres = x[-1], [(x[2 * i], x[2 * i + 1]) for i in range(n)]
    rows = [
        (centres[i][0] - centres[j][0]) ** 2 + (centres[i][1] - centres[j][1]) ** 2 - 4 * r * r
        for i in range(n)
        for j in range(i + 1, n)
    ]
    sides = [side for centre in centres for a in centre for side in (a - r, 1 - r - a)]
    return rows + sides


def _hs23(x: Xs) -> list[Any]:
    a, b = x
    return [a + b - 1, a**2 + b**2 - 1, 9 * a**2 + b**2 - 9, a**2 - b, b**2 - a]


def _hs43(x: Xs) -> Any:
    a, b, c, d = x
    return a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d


def _hs43_rows(x: Xs) -> list[Any]:
    a, b, c, d = x
    return [
        8 - _square(x) - a + b - c + d,
        10 - a**2 - 2 * b**2 - c**2 - 2 * d**2 + a + d,
        5 - 2 * a**2 - b**2 - c**2 - 2 * a + b + d,
    ]
