"""Problems g01, g03 to g15 and g24 of the CEC2006 collection, from their formulas.

Left out: g02, whose minima are too many to be known; g18, whose minima are not isolated; g16, g17, g19 and g21 to g23,
which have long tables or branches; g20, which has no known feasible point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from allmodes.problems.constrained import ConstrainedProblem, Floats

Xs = Sequence[Any]
_CEC = "Liang et al. 2006, CEC2006; best values for exact equalities, by Hock and Schittkowski 1981 where they differ"


def box(*sides: tuple[float, float, int]) -> Floats:
    """Bounds (d, 2) from lower, upper and how many coordinates have them."""
    return np.concatenate([np.tile([[low, high]], (n, 1)) for low, high, n in sides]).astype(np.float64)


def product(factors: Sequence[Any]) -> Any:
    found = factors[0]
    for factor in factors[1:]:
        found = found * factor
    return found


def cec_problems() -> list[ConstrainedProblem]:
    """Those of the collection that are written here."""
    made = ConstrainedProblem
    problems = [
        made("g01", _g01, box((0, 1, 9), (0, 100, 3), (0, 1, 1)), _g01_rows, best=-15.0),
        made("g03", lambda x: -product([np.sqrt(10.0) * a for a in x]), box((0, 1, 10)),
             None, lambda x: [sum(a * a for a in x) - 1.0], best=-1.0),
        made("g04", _g04, box((78, 102, 1), (33, 45, 1), (27, 45, 3)), _g04_rows, best=-30665.53867178),
        made("g05", lambda x: 3 * x[0] + 1e-6 * x[0] ** 3 + 2 * x[1] + 2e-6 / 3 * x[1] ** 3,
             box((0, 1200, 2), (-0.55, 0.55, 2)), lambda x: [0.55 - x[3] + x[2], 0.55 - x[2] + x[3]], _g05_rows,
             best=5126.498109),
        made("g06", lambda x: (x[0] - 10) ** 3 + (x[1] - 20) ** 3, box((13, 100, 1), (0, 100, 1)),
             lambda x: [(x[0] - 5) ** 2 + (x[1] - 5) ** 2 - 100, 82.81 - (x[0] - 6) ** 2 - (x[1] - 5) ** 2],
             best=-6961.81387558),
        made("g07", _g07, box((-10, 10, 10)), _g07_rows, best=24.30620906818),
        made("g08", lambda x: -np.sin(2 * np.pi * x[0]) ** 3 * np.sin(2 * np.pi * x[1]) / (x[0] ** 3 * (x[0] + x[1])),
             box((0.1, 10, 2)), lambda x: [x[1] - x[0] ** 2 - 1, x[0] - 1 - (x[1] - 4) ** 2], best=-0.0958250414180359),
        made("g09", _g09, box((-10, 10, 7)), _g09_rows, best=680.630057374402),
        made("g10", lambda x: x[0] + x[1] + x[2], box((100, 1e4, 1), (1000, 1e4, 2), (10, 1000, 5)), _g10_rows,
             best=7049.24802052867),
        made("g11", lambda x: x[0] ** 2 + (x[1] - 1) ** 2, box((-1, 1, 2)), None, lambda x: [x[1] - x[0] ** 2],
             best=0.75),
        made("g12", lambda x: -(100 - sum((a - 5) ** 2 for a in x)) / 100, box((0, 10, 3)),
             lambda x: [0.0625 - sum((a - np.clip(np.round(np.real(a)), 1, 9)) ** 2 for a in x)], best=-1.0),
        made("g13", lambda x: np.exp(product(x)), box((-2.3, 2.3, 2), (-3.2, 3.2, 3)), None,
             lambda x: [sum(a * a for a in x) - 10, x[1] * x[2] - 5 * x[3] * x[4], x[0] ** 3 + x[1] ** 3 + 1],
             best=0.0539498478),
        made("g14", _g14, box((1e-6, 10, 10)), None, _g14_rows, best=-47.76109026),
        made("g15", lambda x: 1000 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - x[0] * x[1] - x[0] * x[2],
             box((0, 10, 3)), None,
             lambda x: [sum(a * a for a in x) - 25, 8 * x[0] + 14 * x[1] + 7 * x[2] - 56], best=961.7151721),
        made("g24", lambda x: -x[0] - x[1], box((0, 3, 1), (0, 4, 1)), _g24_rows, best=-5.50801327159536),
    ]  # fmt: skip
    for problem in problems:
        object.__setattr__(problem, "source", _CEC)
    return problems


def _g01(x: Xs) -> Any:
    return sum(5 * a - 5 * a**2 for a in x[:4]) - sum(x[4:])


def _g01_rows(x: Xs) -> list[Any]:
    pairs = [(0, 1, 9, 10), (0, 2, 9, 11), (1, 2, 10, 11)]
    rows = [10 - 2 * x[a] - 2 * x[b] - x[c] - x[d] for a, b, c, d in pairs]
    rows += [8 * x[i] - x[9 + i] for i in range(3)]
    return rows + [2 * x[3 + 2 * i] + x[4 + 2 * i] - x[9 + i] for i in range(3)]


def _g04(x: Xs) -> Any:
    return 5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141


def _g04_rows(x: Xs) -> list[Any]:
    a, b, c, d, e = x
    u = 85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e
    v = 80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2
    w = 9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d
    return [u, 92 - u, v - 90, 110 - v, w - 20, 25 - w]


def _g05_rows(x: Xs) -> list[Any]:
    a, b, c, d = x
    return [
        1000 * np.sin(-c - 0.25) + 1000 * np.sin(-d - 0.25) + 894.8 - a,
        1000 * np.sin(c - 0.25) + 1000 * np.sin(c - d - 0.25) + 894.8 - b,
        1000 * np.sin(d - 0.25) + 1000 * np.sin(d - c - 0.25) + 1294.8 + 0 * a,
    ]


def _g07(x: Xs) -> Any:
    far = (x[2] - 10) ** 2 + 4 * (x[3] - 5) ** 2 + (x[4] - 3) ** 2 + 2 * (x[5] - 1) ** 2 + 5 * x[6] ** 2
    far = far + 7 * (x[7] - 11) ** 2 + 2 * (x[8] - 10) ** 2 + (x[9] - 7) ** 2 + 45
    return x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + far


def _g07_rows(x: Xs) -> list[Any]:
    return [
        105 - 4 * x[0] - 5 * x[1] + 3 * x[6] - 9 * x[7],
        -10 * x[0] + 8 * x[1] + 17 * x[6] - 2 * x[7],
        8 * x[0] - 2 * x[1] - 5 * x[8] + 2 * x[9] + 12,
        -3 * (x[0] - 2) ** 2 - 4 * (x[1] - 3) ** 2 - 2 * x[2] ** 2 + 7 * x[3] + 120,
        -5 * x[0] ** 2 - 8 * x[1] - (x[2] - 6) ** 2 + 2 * x[3] + 40,
        -(x[0] ** 2) - 2 * (x[1] - 2) ** 2 + 2 * x[0] * x[1] - 14 * x[4] + 6 * x[5],
        -0.5 * (x[0] - 8) ** 2 - 2 * (x[1] - 4) ** 2 - 3 * x[4] ** 2 + x[5] + 30,
        3 * x[0] - 6 * x[1] - 12 * (x[8] - 8) ** 2 + 7 * x[9],
    ]


def _g09(x: Xs) -> Any:
    first = (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2 + 10 * x[4] ** 6
    return first + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6]


def _g09_rows(x: Xs) -> list[Any]:
    return [
        127 - 2 * x[0] ** 2 - 3 * x[1] ** 4 - x[2] - 4 * x[3] ** 2 - 5 * x[4],
        282 - 7 * x[0] - 3 * x[1] - 10 * x[2] ** 2 - x[3] + x[4],
        196 - 23 * x[0] - x[1] ** 2 - 6 * x[5] ** 2 + 8 * x[6],
        -4 * x[0] ** 2 - x[1] ** 2 + 3 * x[0] * x[1] - 2 * x[2] ** 2 - 5 * x[5] + 11 * x[6],
    ]


def _g10_rows(x: Xs) -> list[Any]:
    return [
        1 - 0.0025 * (x[3] + x[5]),
        1 - 0.0025 * (x[4] + x[6] - x[3]),
        1 - 0.01 * (x[7] - x[4]),
        x[0] * x[5] - 833.33252 * x[3] - 100 * x[0] + 83333.333,
        x[1] * x[6] - 1250 * x[4] - x[1] * x[3] + 1250 * x[3],
        x[2] * x[7] - 1250000 - x[2] * x[4] + 2500 * x[4],
    ]


_G14 = -6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.1, -10.708, -26.662, -22.179


def _g14(x: Xs) -> Any:
    total = sum(x)
    return sum(a * (c + np.log(a / total)) for a, c in zip(x, _G14, strict=True))


def _g14_rows(x: Xs) -> list[Any]:
    return [
        x[0] + 2 * x[1] + 2 * x[2] + x[5] + x[9] - 2,
        x[3] + 2 * x[4] + x[5] + x[6] - 1,
        x[2] + x[6] + x[7] + 2 * x[8] + x[9] - 1,
    ]


def _g24_rows(x: Xs) -> list[Any]:
    a, b = x
    return [
        2 * a**4 - 8 * a**3 + 8 * a**2 - b + 2,
        4 * a**4 - 32 * a**3 + 88 * a**2 - 96 * a - b + 36,
    ]
