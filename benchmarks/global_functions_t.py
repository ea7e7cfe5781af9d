"""Test functions of global optimisation, T to Z, and those of one variable; names and bounds as in SciPy's suite.

Formulas: Jamil and Yang 2013 (arXiv:1308.4008), Gavana's collection, and NIST's nonlinear regression problems. Values
are as found by `--check`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt

from global_functions_n import rastrigin
from global_problem import Function, Known, columns, norm, numbers, product, residuals, total

_FIVE = np.arange(1.0, 6.0)
# Electron mobility against the logarithm of density (NIST, Thurber).
_DENSITY = np.array(
    [-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481, -2.363, -2.322, -1.501, -1.460,
     -1.274, -1.212, -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010, 0.119,
     0.377, 0.790, 0.963, 1.006, 1.115, 1.572, 1.841, 2.047, 2.200]
)  # fmt: skip
_MOBILITY = np.array(
    [80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854, 100.696, 101.060, 401.672, 390.724,
     567.534, 635.316, 733.054, 759.087, 894.206, 990.785, 1090.109, 1080.914, 1122.643, 1178.351, 1260.531, 1273.514,
     1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384, 1442.962, 1464.350, 1468.705, 1447.894, 1457.628]
)  # fmt: skip


def _thurber(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
    t = _DENSITY
    return (a + t * (b + t * (c + t * d))) / (1 + t * (e + t * (f + t * g)))


def _trefethen(a: Any, b: Any) -> Any:
    waves = sin(60 * exp(b)) + sin(70 * sin(a)) + sin(sin(80 * b)) - sin(10 * (a + b))
    return exp(sin(50 * a)) + waves + (a**2 + b**2) / 4


def _trigonometric1(x: Any) -> Any:
    i = numbers(x)[:, None]
    z = x[..., None, :]
    return total((x.shape[-1] - total(cos(z) + i * (1 - cos(z) - sin(z)))) ** 2)


def _trigonometric2(x: Any) -> Any:
    s = (x - 0.9) ** 2
    return 1 + total(8 * sin(7 * s) ** 2 + 6 * sin(14 * s) ** 2 + s)


def _tripod(a: Any, b: Any) -> Any:
    p, q = np.where(a >= 0, 1.0, 0.0), np.where(b >= 0, 1.0, 0.0)
    return q * (1 + p) + abs(a + 50 * q * (1 - 2 * p)) + abs(b + 50 * (1 - 2 * q))


def _waves(a: Any, b: Any) -> Any:
    return -0.9 * a**2 - 3.5 * a * b**3 + 4.7 * cos(3 * a - b**2 * (2 + a)) * sin(2.5 * pi * a)


def _watson(x: Any) -> Any:
    t = (np.arange(30.0) / 29)[:, None]
    k = np.arange(6.0)
    z = x[..., None, :]
    slope = total(k[1:] * t ** k[:-1] * z[..., 1:])
    return total((slope - total(t**k * z) ** 2 - 1) ** 2) + x[..., 0] ** 2


def _weierstrass(x: Any) -> Any:
    k = np.arange(21.0)
    return total(total(0.5**k * (cos(2 * pi * 3**k * (x[..., None] + 0.5)) - cos(pi * 3**k))))


def _whitley(x: Any) -> Any:
    u = 100 * (x[..., None, :] ** 2 - x[..., None]) + (1 - x[..., None]) ** 2
    return total(total(u**2 / 4000 - cos(u) + 1))


def _yang3(x: Any) -> Any:
    return exp(-total((x / 15) ** 10)) - 2 * exp(-total(x**2)) * product(cos(x) ** 2)


def _yang4(x: Any) -> Any:
    return (total(sin(x) ** 2) - exp(-total(x**2))) * exp(-total(sin(sqrt(abs(x))) ** 2))


def _xor(x: Any) -> Any:
    """Squared error of a small neural network: two inputs, two hidden units, one output."""

    def logistic(u: Any) -> Any:
        return 1 / (1 + exp(-u))

    def output(p: float, q: float) -> Any:
        u = x[..., 6] * logistic(p * x[..., 0] + q * x[..., 1] + x[..., 4])
        return logistic(u + x[..., 7] * logistic(p * x[..., 2] + q * x[..., 3] + x[..., 5]) + x[..., 8])

    return output(1, 1) ** 2 + output(0, 0) ** 2 + (1 - output(1, 0)) ** 2 + (1 - output(0, 1)) ** 2


def _zacharov(x: Any) -> Any:
    u = 0.5 * total(numbers(x) * x)
    return total(x**2) + u**2 + u**4


def _zero_sum(x: Any) -> Any:
    s = abs(total(x))
    return np.where(s < 3e-16, 0.0, 1 + sqrt(1e4 * s))


def _zimmerman(a: Any, b: Any) -> Any:
    limits = [(a - 3) ** 2 + (b - 2) ** 2 - 16, a * b - 14]
    terms = [9 - a - b, *(100 * (1 + u) * np.sign(u) for u in limits), *(100 * (1 - u) * np.sign(u) for u in (a, b))]
    return np.stack(terms).max(axis=0)


def _on_line(number: int, fun: Function, lower: float, upper: float, minimum: float, place: float) -> Known:
    return Known(f"Problem{number:02}", columns(fun), [(lower, upper)], minimum, (place,))


FUNCTIONS = [
    # SciPy has -pi / 2 for the first coordinate, and a value that is a little higher.
    Known("TestTubeHolder", columns(lambda a, b: -4 * abs(sin(a) * cos(b) * exp(abs(cos((a**2 + b**2) / 200))))),
          [(-10, 10)] * 2, -10.8723001056227, (-1.5706026, 0)),
    Known("Thurber", residuals(_thurber, _MOBILITY), [(500, 2000), (500, 2000), (100, 1000), (10, 150), (0.1, 2),
          (0.1, 1), (0, 0.2)], 5642.7082397, (1288.13968, 1491.0792535, 583.23836877, 75.416644291, 0.96629502864,
          0.39797285797, 0.049727297349)),
    Known("Treccani", columns(lambda a, b: a**4 + 4 * a**3 + 4 * a**2 + b**2), [(-5, 5)] * 2, 0.0, (-2, 0)),
    Known("Trefethen", columns(_trefethen), [(-10, 10)] * 2, -3.3068686474, (-0.02440307923, 0.2106124261)),
    Known("ThreeHumpCamel", columns(lambda a, b: 2 * a**2 - 1.05 * a**4 + a**6 / 6 + a * b + b**2), [(-5, 5)] * 2, 0.0,
          (0, 0)),
    Known("Trid", lambda x: total((x - 1) ** 2) - total(x[..., 1:] * x[..., :-1]), [(-20, 20)] * 6, -50.0,
          (6, 10, 12, 12, 10, 6)),
    Known("Trigonometric01", _trigonometric1, [(0, pi)] * 2, 0.0, (0, 0)),
    Known("Trigonometric02", _trigonometric2, [(-500, 500)] * 2, 1.0, (0.9, 0.9)),
    Known("Tripod", columns(_tripod), [(-100, 100)] * 2, 0.0, (0, -50)),
    Known("Ursem01", columns(lambda a, b: -sin(2 * a - 0.5 * pi) - 3 * cos(b) - 0.5 * a), [(-2.5, 3), (-2, 2)],
          -4.81681406371, (1.69714, 0)),
    Known("Ursem03", lambda x: -total(cos(2.2 * pi * x) * (2 - abs(x)) * (3 - abs(x)) / 4), [(-2, 2), (-1.5, 1.5)],
          -3.0, (0, 0)),
    Known("Ursem04", columns(lambda a, b: -0.75 * cos(0.5 * pi * a) * (2 - norm(a, b))), [(-2, 2)] * 2, -1.5, (0, 0)),
    Known("UrsemWaves", columns(_waves), [(-0.9, 1.2), (-1.2, 1.2)], -8.5536, (1.2, 1.2)),
    Known("VenterSobiezcczanskiSobieski", lambda x: total(x**2 - 100 * cos(x) ** 2 - 100 * cos(x**2 / 30)),
          [(-50, 50)] * 2, -400.0, (0, 0)),
    Known("Vincent", lambda x: -total(sin(10 * log(x))), [(0.25, 10)] * 2, -2.0, (7.70628098, 7.70628098)),
    Known("Watson", _watson, [(-5, 5)] * 6, 0.00228767005355,
          (-0.015725084, 1.0124349, -0.23299162, 1.2604301, -1.5137289, 0.99299644)),
    Known("Wavy", lambda x: 1 - (cos(10 * x) * exp(-0.5 * x**2)).mean(axis=-1), [(-pi, pi)] * 2, 0.0, (0, 0)),
    Known("WayburnSeader01", columns(lambda a, b: (a**6 + b**4 - 17) ** 2 + (2 * a + b - 4) ** 2), [(-5, 5)] * 2, 0.0,
          (1, 2)),
    Known("WayburnSeader02", columns(lambda a, b: (1.613 - 4 * (a - 0.3125) ** 2 - 4 * (b - 1.625) ** 2) ** 2
          + (b - 1) ** 2), [(-500, 500)] * 2, 0.0, (0.3125 + sqrt(0.012625), 1)),
    Known("Weierstrass", _weierstrass, [(-0.5, 0.5)] * 2, 0.0, (0, 0)),
    Known("Whitley", _whitley, [(-10.24, 10.24)] * 2, 0.0, (1, 1)),
    Known("Wolfe", columns(lambda a, b, c: 4 / 3 * (a**2 + b**2 - a * b) ** 0.75 + c), [(0, 2)] * 3, 0.0, (0, 0, 0)),
    # Published with random weights between 0 and 1, drawn at every call; here with their mean.
    Known("XinSheYang01", lambda x: 0.5 * total(abs(x) ** numbers(x)), [(-5, 5)] * 2, 0.0, (0, 0)),
    Known("XinSheYang02", lambda x: total(abs(x)) * exp(-total(sin(x**2))), [(-2 * pi, 2 * pi)] * 2, 0.0, (0, 0)),
    Known("XinSheYang03", _yang3, [(-20, 20)] * 2, -1.0, (0, 0)),
    Known("XinSheYang04", _yang4, [(-10, 10)] * 2, -1.0, (0, 0)),
    Known("Xor", _xor, [(-1, 1)] * 9, 0.959758757011962, (-1, 1, -1, 1, -1, 1, 1, -1, 0.421457115)),
    Known("YaoLiu04", lambda x: abs(x).max(axis=-1), [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("YaoLiu09", rastrigin, [(-5.12, 5.12)] * 2, 0.0, (0, 0)),
    Known("Zacharov", _zacharov, [(-5, 10)] * 2, 0.0, (0, 0)),
    # Zero on a line, one and more beside it.
    Known("ZeroSum", _zero_sum, [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("Zettl", columns(lambda a, b: (a**2 + b**2 - 2 * a) ** 2 + 0.25 * a), [(-5, 10)] * 2, -0.003791237220468656,
          (-0.02989597760285287, 0)),
    Known("Zimmerman", columns(_zimmerman), [(0, 100)] * 2, 0.0, (7, 2)),
    Known("Zirilli", columns(lambda a, b: 0.25 * a**4 - 0.5 * a**2 + 0.1 * a + 0.5 * b**2), [(-10, 10)] * 2,
          -0.352386073800036, (-1.04668053, 0)),
    _on_line(2, lambda x: sin(x) + sin(10 * x / 3), 2.7, 7.5, -1.89959934915212, 5.1457353),
    _on_line(3, lambda x: -total(_FIVE * sin((_FIVE + 1) * x[..., None] + _FIVE)), -10, 10, -12.0312494421671,
             -6.77457614),
    _on_line(4, lambda x: -(16 * x**2 - 24 * x + 5) * exp(-x), 1.9, 3.9, -3.85045070880022, 2.868034),
    _on_line(5, lambda x: (3 * x - 1.4) * sin(18 * x), 0, 1.2, -1.48907253868960, 0.9660858),
    _on_line(6, lambda x: -(x + sin(x)) * exp(-(x**2)), -10, 10, -0.824239398476077, 0.67957866),
    _on_line(7, lambda x: sin(x) + sin(10 * x / 3) + log(x) - 0.84 * x + 3, 2.7, 7.5, -1.60130754649439, 5.19977837),
    _on_line(8, lambda x: -total(_FIVE * cos((_FIVE + 1) * x[..., None] + _FIVE)), -10, 10, -14.5080079271950,
             5.4828642),
    _on_line(9, lambda x: sin(x) + sin(2 * x / 3), 3.1, 20.4, -1.90596111871578, 17.0391989),
    _on_line(10, lambda x: -x * sin(x), 0, 10, -7.91672737158778, 7.97866571),
    _on_line(11, lambda x: 2 * cos(x) + cos(2 * x), -pi / 2, 2 * pi, -1.5, 2 * pi / 3),
    _on_line(12, lambda x: sin(x) ** 3 + cos(x) ** 3, 0, 2 * pi, -1.0, pi),
    _on_line(13, lambda x: -(x ** (2 / 3)) - np.cbrt(1 - x**2), 0.001, 0.99, -(4 ** (1 / 3)), 0.5**0.5),
    _on_line(14, lambda x: -exp(-x) * sin(2 * pi * x), 0, 4, -0.788685387408673, 0.22488039),
    _on_line(15, lambda x: (x**2 - 5 * x + 6) / (x**2 + 1), -5, 5, 2.5 * (1.4 - sqrt(2)), 1 + sqrt(2)),
    _on_line(18, lambda x: np.where(x <= 3, (x - 2) ** 2, 2 * log(np.maximum(x, 3) - 2) + 1), 0, 6, 0.0, 2),
    _on_line(20, lambda x: (sin(x) - x) * exp(-(x**2)), -10, 10, -0.0634905289364399, 1.19513664),
    _on_line(21, lambda x: x * sin(x) + x * cos(2 * x), 0, 10, -9.50835044063310, 4.7954087),
    _on_line(22, lambda x: exp(-3 * x) - sin(x) ** 3, 0, 20, exp(-27 * pi / 2) - 1, 9 * pi / 2),
]  # fmt: skip
