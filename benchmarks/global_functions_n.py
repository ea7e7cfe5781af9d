"""Test functions of global optimisation, N to S; names, dimensions and bounds as in SciPy's suite.

Formulas: Jamil and Yang 2013 (arXiv:1308.4008), Gavana's collection, and NIST's nonlinear regression problems. Values
are as found by `--check`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt

from global_functions_e import levy
from global_problem import Known, columns, norm, numbers, product, residuals, total

_EYE = 1e-4  # half of the width of the needle's eye
_FIVE = np.arange(1.0, 6.0)
# Growth of plants against time: onions, pasture (NIST, Rat43 and Rat42).
_ONION_TIMES = np.arange(1.0, 16.0)
_ONIONS = np.array([16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93, 699.56, 689.96,
                    637.56, 717.41])  # fmt: skip
_PASTURE_TIMES = np.array([9.0, 14, 21, 28, 42, 57, 63, 70, 79])
_PASTURE = np.array([8.93, 10.80, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08])
_FOXHOLES = np.array([[4.0, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7], [2, 9, 2, 9],
                      [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2], [7, 3.6, 7, 3.6]])  # fmt: skip
_FOXHOLE_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])


def _needle_eye(x: Any) -> Any:
    is_out = abs(x) >= _EYE
    outside = total(np.where(is_out, 100 + abs(x), 1.0))
    return np.where(is_out.any(axis=-1), outside, 1.0)


def _odd_square(x: Any) -> Any:
    squares = (x - np.array([1.0, 1.3])) ** 2
    d = 2 * squares.max(axis=-1)
    return -exp(-d / (2 * pi)) * cos(pi * d) * (1 + 0.02 * total(squares) / (d + 0.01))


def _pathological(a: Any, b: Any) -> Any:
    return 0.5 + (sin(sqrt(100 * a**2 + b**2)) ** 2 - 0.5) / (1 + 0.001 * (a - b) ** 4)


def _penalty(x: Any, free: float) -> Any:
    return 100 * total(np.maximum(abs(x) - free, 0.0) ** 4)


def _penalty2(x: Any) -> Any:
    inner = total((x[..., :-1] - 1) ** 2 * (1 + sin(3 * pi * x[..., 1:]) ** 2))
    last = (x[..., -1] - 1) ** 2 * (1 + sin(2 * pi * x[..., -1]) ** 2)
    return _penalty(x, 5.0) + 0.1 * (10 * sin(3 * pi * x[..., 0]) ** 2 + inner + last)


def _pen_holder(a: Any, b: Any) -> Any:
    return -exp(-1 / abs(cos(a) * cos(b) * exp(abs(1 - norm(a, b) / pi))))


def _perm1(x: Any) -> Any:
    i, k = numbers(x), numbers(x)[:, None]
    return total(total((i**k + 0.5) * ((x[..., None, :] / i) ** k - 1)) ** 2)


def _perm2(x: Any) -> Any:
    i, k = numbers(x), numbers(x)[:, None]
    return total(total((i + 10) * (x[..., None, :] ** k - i**-k)) ** 2)


def _pinter(x: Any) -> Any:
    i, before, after = numbers(x), np.roll(x, 1, axis=-1), np.roll(x, -1, axis=-1)
    u = before * sin(x) + sin(after)
    v = before**2 - 2 * x + 3 * after - cos(x) + 1
    return total(i * x**2 + 20 * i * sin(u) ** 2 + i * np.log10(1 + i * v**2))


def _powell(a: Any, b: Any, c: Any, d: Any) -> Any:
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


def _power_sum(x: Any) -> Any:
    powers = numbers(x)[:, None]
    return total((total(x[..., None, :] ** powers) - np.array([8.0, 18, 44, 114])) ** 2)


def _quadratic(a: Any, b: Any) -> Any:
    return -3803.84 - 138.08 * a - 232.92 * b + 128.08 * a**2 + 203.64 * b**2 + 182.25 * a * b


def _rana(a: Any, b: Any) -> Any:
    s, t = sqrt(abs(b + a + 1)), sqrt(abs(b - a + 1))
    return (b + 1) * cos(t) * sin(s) + a * cos(s) * sin(t)


def rastrigin(x: Any) -> Any:
    """A paraboloid with a wave on it."""
    return total(x**2 - 10 * cos(2 * pi * x) + 10)


def _ripple(x: Any, height: float) -> Any:
    waves = sin(5 * pi * x) ** 6 + height * cos(500 * pi * x) ** 2
    return -total(waves * exp(-2 * log(2) * ((x - 0.1) / 0.8) ** 2))


def rosenbrock(a: Any, b: Any) -> Any:
    """The bent valley."""
    return 100 * (b - a**2) ** 2 + (1 - a) ** 2


def _schaffer(wave: Any, a: Any, b: Any) -> Any:
    return 0.5 + (wave**2 - 0.5) / (1 + 0.001 * (a**2 + b**2)) ** 2


def _shekel(n: int) -> Any:
    return lambda x: -total(1 / (total((x[..., None, :] - _FOXHOLES[:n]) ** 2) + _FOXHOLE_WIDTHS[:n]))


def _shubert(x: Any, wave: Any) -> Any:
    return total(_FIVE * wave((_FIVE + 1) * x[..., None] + _FIVE))


def _six_humps(a: Any, b: Any) -> Any:
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def _stretched(a: Any, b: Any) -> Any:
    t = a**2 + b**2
    return t**0.25 * sin(50 * t**0.1 + 1) ** 2


FUNCTIONS = [
    Known("NeedleEye", _needle_eye, [(-10, 10)] * 2, 1.0, (0, 0)),
    # Cusps; SciPy has values for both, -0.184648852 and -0.199409030, that are higher.
    Known("NewFunction01", columns(lambda a, b: sqrt(abs(cos(sqrt(abs(a**2 + b))))) + 0.01 * (a + b)), [(-10, 10)] * 2,
          -0.1 - 0.01 * sqrt(10 + 6.25 * pi**2), (-sqrt(10 + 6.25 * pi**2), -10)),
    Known("NewFunction02", columns(lambda a, b: sqrt(abs(sin(sqrt(abs(a**2 + b))))) + 0.01 * (a + b)), [(-10, 10)] * 2,
          -0.1 - 0.01 * sqrt(10 + 9 * pi**2), (-sqrt(10 + 9 * pi**2), -10)),
    Known("OddSquare", _odd_square, [(-5 * pi, 5 * pi)] * 2, -1.00846728102, (1.0873320463871847, 1.387332045681808)),
    Known("Parsopoulos", columns(lambda a, b: cos(a) ** 2 + sin(b) ** 2), [(-5, 5)] * 2, 0.0, (pi / 2, pi)),
    Known("Pathological", columns(_pathological), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Paviani", lambda x: total(log(x - 2) ** 2 + log(10 - x) ** 2) - product(x) ** 0.2, [(2.001, 9.999)] * 10,
          -45.7784697074463, (9.350266,) * 10),
    Known("Penalty01", lambda x: _penalty(x, 10.0) + pi / 30 * (10 * sin(pi * (x[..., 0] + 5) / 4) ** 2
          + levy((x + 5) / 4)), [(-50, 50)] * 2, 0.0, (-1, -1)),
    Known("Penalty02", _penalty2, [(-50, 50)] * 2, 0.0, (1, 1)),
    Known("PenHolder", columns(_pen_holder), [(-11, 11)] * 2, -0.9635348327265058,
          (-9.646167708023526, 9.6461676710434)),
    Known("PermFunction01", _perm1, [(-2, 3)] * 2, 0.0, (1, 2)),
    Known("PermFunction02", _perm2, [(-2, 3)] * 2, 0.0, (1, 0.5)),
    Known("Pinter", _pinter, [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("Plateau", lambda x: 30 + total(np.floor(abs(x))), [(-5.12, 5.12)] * 2, 30.0, (0, 0)),
    Known("Powell", columns(_powell), [(-4, 5)] * 4, 0.0, (0, 0, 0, 0)),
    Known("PowerSum", _power_sum, [(0, 4)] * 4, 0.0, (1, 2, 2, 3)),
    Known("Price01", lambda x: total((abs(x) - 5) ** 2), [(-500, 500)] * 2, 0.0, (5, 5)),
    Known("Price02", lambda x: 1 + total(sin(x) ** 2) - 0.1 * exp(-total(x**2)), [(-10, 10)] * 2, 0.9, (0, 0)),
    Known("Price03", columns(lambda a, b: 100 * (b - a**2) ** 2 + (6.4 * (b - 0.5) ** 2 - a - 0.6) ** 2),
          [(-5, 5)] * 2, 0.0, (1, 1)),
    Known("Price04", columns(lambda a, b: (2 * a**3 * b - b**3) ** 2 + (6 * a - b**2 + b) ** 2), [(-50, 50)] * 2, 0.0,
          (2, 4)),
    Known("Qing", lambda x: total((x**2 - numbers(x)) ** 2), [(-500, 500)] * 2, 0.0, (1, 2**0.5)),
    Known("Quadratic", columns(_quadratic), [(-10, 10)] * 2, -3873.72418218627, (0.19388017, 0.48513391)),
    Known("Quintic", lambda x: total(abs(x**5 - 3 * x**4 + 4 * x**3 + 2 * x**2 - 10 * x - 4)), [(-10, 10)] * 2, 0.0,
          (-1, -1)),
    Known("Rana", columns(_rana), [(-500.000001, 500.000001)] * 2, -500.802161003566, (-300.337633, 500.000001)),
    Known("Rastrigin", rastrigin, [(-5.12, 5.12)] * 2, 0.0, (0, 0)),
    Known("Ratkowsky01", residuals(lambda a, b, c, d: a / (1 + exp(b - c * _ONION_TIMES)) ** (1 / d), _ONIONS),
          [(0, 1000), (1, 20), (0, 3), (0.1, 6)], 8786.404908,
          (699.6415127, 5.2771253025, 0.75962938329, 1.2792483859)),
    Known("Ratkowsky02", residuals(lambda a, b, c: a / (1 + exp(b - c * _PASTURE_TIMES)), _PASTURE),
          [(10, 200), (0.5, 5), (0.01, 0.5)], 8.0565229338, (72.462237576, 2.6180768402, 0.067359200066)),
    Known("Ripple01", lambda x: _ripple(x, 0.1), [(0, 1)] * 2, -2.2, (0.1, 0.1)),
    Known("Ripple25", lambda x: _ripple(x, 0.0), [(0, 1)] * 2, -2.0, (0.1, 0.1)),
    Known("Rosenbrock", columns(rosenbrock), [(-30, 30)] * 2, 0.0, (1, 1)),
    Known("RosenbrockModified", columns(lambda a, b: 74 + rosenbrock(a, b) - 400 * exp(-10 * ((a + 1) ** 2
          + (b + 1) ** 2))), [(-2, 2)] * 2, 34.040243106640844, (-0.90955374, -0.95057172)),
    Known("RotatedEllipse01", columns(lambda a, b: 7 * a**2 - 6 * sqrt(3) * a * b + 13 * b**2), [(-500, 500)] * 2, 0.0,
          (0, 0)),
    Known("RotatedEllipse02", columns(lambda a, b: a**2 - a * b + b**2), [(-500, 500)] * 2, 0.0, (0, 0)),
    Known("Salomon", lambda x: 1 - cos(2 * pi * sqrt(total(x**2))) + 0.1 * sqrt(total(x**2)), [(-100, 100)] * 2, 0.0,
          (0, 0)),
    Known("Sargan", columns(lambda a, b: 2 * (a**2 + b**2 + 0.8 * a * b)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schaffer01", columns(lambda a, b: _schaffer(sin(a**2 + b**2), a, b)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schaffer02", columns(lambda a, b: _schaffer(sin(a**2 - b**2), a, b)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schaffer03", columns(lambda a, b: _schaffer(sin(cos(abs(a**2 - b**2))), a, b)), [(-100, 100)] * 2,
          0.00156685452600797, (0, 1.253115)),
    Known("Schaffer04", columns(lambda a, b: _schaffer(cos(sin(abs(a**2 - b**2))), a, b)), [(-100, 100)] * 2,
          0.292578632035980, (0, 1.25313183)),
    Known("Schwefel01", lambda x: total(x**2) ** sqrt(pi), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schwefel02", lambda x: total(np.cumsum(x, axis=-1) ** 2), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schwefel04", lambda x: total((x - 1) ** 2 + (x[..., :1] - x**2) ** 2), [(0, 10)] * 2, 0.0, (1, 1)),
    Known("Schwefel06", columns(lambda a, b: np.maximum(abs(a + 2 * b - 7), abs(2 * a + b - 5))), [(-100, 100)] * 2,
          0.0, (1, 3)),
    Known("Schwefel20", lambda x: total(abs(x)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schwefel21", lambda x: abs(x).max(axis=-1), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schwefel22", lambda x: total(abs(x)) + product(abs(x)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Schwefel26", lambda x: total(418.982887 - x * sin(sqrt(abs(x)))), [(-500, 500)] * 2, -5.4486753e-07,
          (420.9687464, 420.9687464)),
    Known("Schwefel36", columns(lambda a, b: -a * b * (72 - 2 * a - 2 * b)), [(0, 500)] * 2, -3456.0, (12, 12)),
    Known("Shekel05", _shekel(5), [(0, 10)] * 4, -10.1531996791, (4.00003715, 4.00013327, 4.00003715, 4.00013327)),
    Known("Shekel07", _shekel(7), [(0, 10)] * 4, -10.4029405668, (4.00057291, 4.00068937, 3.99948971, 3.99960616)),
    Known("Shekel10", _shekel(10), [(0, 10)] * 4, -10.536409816692,
          (4.00074654, 4.00059292, 3.99966339, 3.99950980)),
    Known("Shubert01", lambda x: product(_shubert(x, cos)), [(-10, 10)] * 2, -186.730908831024,
          (-7.08350641, -7.70831374)),
    Known("Shubert03", lambda x: -total(_shubert(x, sin)), [(-10, 10)] * 2, -24.0624988843340,
          (5.79179447, 5.79179447)),
    Known("Shubert04", lambda x: -total(_shubert(x, cos)), [(-10, 10)] * 2, -29.0160158543901,
          (5.48286421, -0.80032110)),
    Known("SineEnvelope", columns(lambda a, b: _schaffer(sin(norm(a, b)), a, b)), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("SixHumpCamel", columns(_six_humps), [(-5, 5)] * 2, -1.03162845348988, (0.08984201, -0.71265640)),
    Known("Sodp", lambda x: total(abs(x) ** (numbers(x) + 1)), [(-1, 1)] * 2, 0.0, (0, 0)),
    Known("Sphere", lambda x: total(x**2), [(-5.12, 5.12)] * 2, 0.0, (0, 0)),
    Known("Step", lambda x: total(np.floor(abs(x))), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Step2", lambda x: total((np.floor(x) + 0.5) ** 2), [(-100, 100)] * 2, 0.5, (0.5, 0.5)),
    # Published with random weights between 0 and 1, drawn at every call; here with their mean.
    Known("Stochastic", lambda x: 0.5 * total(abs(x - 1 / numbers(x))), [(-5, 5)] * 2, 0.0, (1, 0.5)),
    Known("StretchedV", columns(_stretched), [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("StyblinskiTang", lambda x: total(x**4 - 16 * x**2 + 5 * x) / 2, [(-5, 5)] * 2, -78.33233140754284,
          (-2.90353401818596, -2.90353401818596)),
]  # fmt: skip
