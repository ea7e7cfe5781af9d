"""Test functions of global optimisation, A to D; names, dimensions and bounds as in SciPy's suite.

Formulas: Jamil and Yang 2013 (arXiv:1308.4008) and Gavana's collection. Values are as found by `--check`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt

from global_problem import Known, columns, norm, numbers, product, residuals, total

_T10 = 0.1 * np.arange(1, 11)
_T11 = 0.1 * np.arange(1, 12)
_BIGGS = exp(-_T10) - 5 * exp(-10 * _T10)
_BIGGS5 = exp(-_T11) - 5 * exp(-10 * _T11) + 3 * exp(-4 * _T11)
_GLASSER1, _GLASSER2 = 0.1 * np.arange(24), 0.1 * np.arange(16)
# Dissimilarities of ten colas, row by row below the diagonal (Groenen and others 1995).
_COLAS = np.array(
    [1.27, 1.69, 1.43, 2.04, 2.35, 2.43, 3.09, 3.18, 3.26, 2.85, 3.20, 3.22, 3.27, 2.88, 1.55, 2.86, 2.56, 2.58, 2.59,
     3.12, 3.06, 3.17, 3.18, 3.18, 3.12, 1.31, 1.64, 3.00, 3.21, 3.18, 3.18, 3.17, 1.70, 1.36, 2.95, 1.32, 2.38, 2.31,
     2.42, 1.94, 2.85, 2.81, 2.56, 2.91, 2.97]
)  # fmt: skip


def _ackley1(x: Any) -> Any:
    d = x.shape[-1]
    return 20 + np.e - 20 * exp(-0.2 * sqrt(total(x**2) / d)) - exp(total(cos(2 * pi * x)) / d)


def _branin(a: Any, b: Any) -> Any:
    return (b - 5.1 * a**2 / (4 * pi**2) + 5 * a / pi - 6) ** 2


def _brown(a: Any, b: Any) -> Any:
    return (a**2) ** (b**2 + 1) + (b**2) ** (a**2 + 1)


def _cola(x: Any) -> Any:
    # The first cola is at the origin, the second on the first axis.
    zero = np.zeros_like(x[..., :1])
    places = np.concatenate([zero, zero, x[..., :1], zero, x[..., 1:]], axis=-1).reshape(*x.shape[:-1], 10, 2)
    i, j = np.tril_indices(10, -1)
    gaps = places[..., i, :] - places[..., j, :]
    return total((norm(gaps[..., 0], gaps[..., 1]) - _COLAS) ** 2)


def _colville(a: Any, b: Any, c: Any, d: Any) -> Any:
    # Jamil and Yang have a - b**2 where others have b - a**2.
    rest = 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)
    return 100 * (a - b**2) ** 2 + (1 - a) ** 2 + (1 - c) ** 2 + 90 * (d - c**2) ** 2 + rest


def _corana(x: Any) -> Any:
    scale = np.array([1.0, 1000.0, 10.0, 100.0])
    step = 0.2 * np.floor(abs(x / 0.2) + 0.49999) * np.sign(x)
    flat = 0.15 * (step - 0.05 * np.sign(step)) ** 2
    return total(scale * np.where(abs(x - step) < 0.05, flat, x**2))


def _cross(a: Any, b: Any) -> Any:
    return abs(sin(a) * sin(b) * exp(abs(100 - norm(a, b) / pi))) + 1


def csendes(x: Any) -> Any:
    """Zero at zero, where the formula divides by it."""
    return total(np.where(x == 0, 0.0, x**6 * (2 + sin(1 / np.where(x == 0, 1.0, x)))))


def _damavandi(a: Any, b: Any) -> Any:
    # NumPy's sinc has the factor pi, and its limit at zero.
    needle = 1 - abs(np.sinc(a - 2) * np.sinc(b - 2)) ** 5
    return needle * (2 + (a - 7) ** 2 + 2 * (b - 7) ** 2)


def decanomial(a: Any, b: Any) -> Any:
    """The published polynomial, gathered: its coefficients are those of (a - 2)**10, but for two."""
    return 0.001 * (abs((a - 2) ** 10 - 100 * a**4 + 1600) + (b + 3) ** 4) ** 2


def _deceptive(x: Any) -> Any:
    top = numbers(x) / (x.shape[-1] + 1)
    cases = [x <= 0, x < 0.8 * top, x < top, x < (1 + 4 * top) / 5, x <= 1]
    values = [x, 0.8 - x / top, 5 * x / top - 4, 5 * (x - top) / (top - 1) + 1, (x - 1) / (1 - top) + 0.8]
    return -(np.select(cases, values, x - 1).mean(axis=-1) ** 2)


def _deckkers(a: Any, b: Any) -> Any:
    r = a**2 + b**2
    return 1e5 * a**2 + b**2 - r**2 + 1e-5 * r**4


def _spring(x: Any) -> Any:
    r = total((x - 5) ** 2)
    return 0.1 * r - cos(5 * sqrt(r))


def _glasser1(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * b**_GLASSER1 * sin(c * _GLASSER1 + d)


def _glasser2(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    return a * b**_GLASSER2 * np.tanh(c * _GLASSER2 + sin(d * _GLASSER2)) * cos(_GLASSER2 * exp(e))


def _dixon(x: Any) -> Any:
    return (x[..., 0] - 1) ** 2 + total(numbers(x)[1:] * (2 * x[..., 1:] ** 2 - x[..., :-1]) ** 2)


def _dolan(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    return abs((a + 1.7 * b) * sin(a) - 1.5 * c - 0.1 * d * cos(d + e - a) + 0.2 * e**2 - b - 1)


def _bird(a: Any, b: Any) -> Any:
    return sin(a) * exp((1 - cos(b)) ** 2) + cos(b) * exp((1 - sin(a)) ** 2) + (a - b) ** 2


def _chichinadze(a: Any, b: Any) -> Any:
    waves = 10 * cos(pi * a / 2) + 8 * sin(5 * pi * a / 2)
    return a**2 - 12 * a + 11 + waves - exp(-0.5 * (b - 0.5) ** 2) / sqrt(5)


_BIGGS_MODELS = (
    residuals(lambda a, b: exp(-_T10 * a) - 5 * exp(-_T10 * b), _BIGGS),
    residuals(lambda a, b, c: exp(-_T10 * a) - c * exp(-_T10 * b), _BIGGS),
    residuals(lambda a, b, c, d: c * exp(-_T10 * a) - d * exp(-_T10 * b), _BIGGS),
    residuals(lambda a, b, c, d, e: c * exp(-_T11 * a) - d * exp(-_T11 * b) + 3 * exp(-_T11 * e), _BIGGS5),
)
_BOX_BETTS = residuals(
    lambda a, b, c: exp(-_T10 * a) - exp(-_T10 * b) - c * (exp(-_T10) - exp(-10 * _T10)), 0.0
)  # fmt: skip


FUNCTIONS = [
    Known("Ackley01", _ackley1, [(-35, 35)] * 2, 0.0, (0, 0)),
    Known("Ackley02", columns(lambda a, b: -200 * exp(-0.02 * norm(a, b))), [(-32, 32)] * 2, -200.0, (0, 0)),
    Known("Ackley03", columns(lambda a, b: -200 * exp(-0.02 * norm(a, b)) + 5 * exp(cos(3 * a) + sin(3 * b))),
          [(-32, 32)] * 2, -195.62902825923879, (-0.68255758, -0.36070859)),
    Known("Adjiman", columns(lambda a, b: cos(a) * sin(b) - a / (b**2 + 1)), [(-1, 2), (-1, 1)], -2.02180678335979,
          (2, 0.1057835)),
    Known("Alpine01", lambda x: total(abs(x * sin(x) + 0.1 * x)), [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("Alpine02", lambda x: product(sqrt(x) * sin(x)), [(0, 10)] * 2, -6.12950389113, (7.917052686, 4.815842317)),
    Known("AMGM", lambda x: (x.mean(axis=-1) - product(x) ** (1 / x.shape[-1])) ** 2, [(0, 10)] * 2, 0.0, (1, 1)),
    Known("BartelsConn", columns(lambda a, b: abs(a**2 + b**2 + a * b) + abs(sin(a)) + abs(cos(b))),
          [(-500, 500)] * 2, 1.0, (0, 0)),
    Known("Beale", columns(lambda a, b: sum((c - a + a * b**k) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))),
          [(-4.5, 4.5)] * 2, 0.0, (3, 0.5)),
    Known("BiggsExp02", _BIGGS_MODELS[0], [(0, 20)] * 2, 0.0, (1, 10)),
    Known("BiggsExp03", _BIGGS_MODELS[1], [(0, 20)] * 3, 0.0, (1, 10, 5)),
    Known("BiggsExp04", _BIGGS_MODELS[2], [(0, 20)] * 4, 0.0, (1, 10, 1, 5)),
    Known("BiggsExp05", _BIGGS_MODELS[3], [(0, 20)] * 5, 0.0, (1, 10, 1, 5, 4)),
    Known("Bird", columns(_bird), [(-2 * pi, 2 * pi)] * 2, -106.764536749265, (-1.58214218, -3.13024680)),
    Known("Bohachevsky1", columns(lambda a, b: a**2 + 2 * b**2 - 0.3 * cos(3 * pi * a) - 0.4 * cos(4 * pi * b) + 0.7),
          [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Bohachevsky2", columns(lambda a, b: a**2 + 2 * b**2 - 0.3 * cos(3 * pi * a) * cos(4 * pi * b) + 0.3),
          [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Bohachevsky3", columns(lambda a, b: a**2 + 2 * b**2 - 0.3 * cos(3 * pi * a + 4 * pi * b) + 0.3),
          [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("BoxBetts", _BOX_BETTS, [(0.9, 1.2), (9, 11.2), (0.9, 1.2)], 0.0, (1, 10, 1)),
    Known("Branin01", columns(lambda a, b: _branin(a, b) + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10), [(-5, 10), (0, 15)],
          0.39788735772973816, (-pi, 12.275)),
    Known("Branin02", columns(lambda a, b: _branin(a, b) + 10 * (1 - 1 / (8 * pi)) * cos(a) * cos(b)
          + log(a**2 + b**2 + 1) + 10), [(-5, 15)] * 2, 5.5589144038938247, (-3.1969884, 12.52625787)),
    Known("Brent", columns(lambda a, b: (a + 10) ** 2 + (b + 10) ** 2 + exp(-(a**2) - b**2)), [(-10, 10)] * 2,
          0.0, (-10, -10)),
    Known("Brown", columns(_brown), [(-1, 4)] * 2, 0.0, (0, 0)),
    Known("Bukin02", columns(lambda a, b: 100 * (b**2 - 0.01 * a**2 + 1) + 0.01 * (a + 10) ** 2),
          [(-15, -5), (-3, 3)], -124.75, (-15, 0)),
    Known("Bukin04", columns(lambda a, b: 100 * b**2 + 0.01 * abs(a + 10)), [(-15, -5), (-3, 3)], 0.0, (-10, 0)),
    Known("Bukin06", columns(lambda a, b: 100 * sqrt(abs(b - 0.01 * a**2)) + 0.01 * abs(a + 10)),
          [(-15, -5), (-3, 3)], 0.0, (-10, 1)),
    Known("CarromTable", columns(lambda a, b: -((cos(a) * cos(b) * exp(abs(1 - norm(a, b) / pi))) ** 2) / 30),
          [(-10, 10)] * 2, -24.1568155473912, (9.64616767, 9.64616767)),
    Known("Chichinadze", columns(_chichinadze), [(-30, 30)] * 2, -42.94438701899098, (6.18986658696568, 0.5)),
    Known("Cigar", lambda x: x[..., 0] ** 2 + 1e6 * total(x[..., 1:] ** 2), [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Cola", _cola, [(0, 4), *[(-4, 4)] * 16], 11.7463902756604,
          (0.65192298, 1.3019443, -0.099231529, -0.88382548, 0.87959846, 0.20462586, 3.2841489, 0.85119053, 3.4624242,
           2.5324149, 0.89525289, 1.409921, 3.0737063, 1.9625774, 2.9787413, -0.80781363, 1.6897811)),
    Known("Colville", columns(_colville), [(-10, 10)] * 4, 0.0, (1, 1, 1, 1)),
    Known("Corana", _corana, [(-5, 5)] * 4, 0.0, (0, 0, 0, 0)),
    Known("CosineMixture", lambda x: total(x**2 - 0.1 * cos(5 * pi * x)), [(-1, 1)] * 2, -0.2, (0, 0)),
    Known("CrossInTray", columns(lambda a, b: -1e-4 * _cross(a, b) ** 0.1), [(-10, 10)] * 2, -2.062611870822739,
          (1.34940668535334, 1.349406608602084)),
    # The lowest value of the next two is that of the axes alone, lines with nothing but walls beside them.
    Known("CrossLegTable", columns(lambda a, b: -(_cross(a, b) ** -0.1)), [(-10, 10)] * 2, -1.0, (0, 0)),
    Known("CrownedCross", columns(lambda a, b: 1e-4 * _cross(a, b) ** 0.1), [(-10, 10)] * 2, 1e-4, (0, 0)),
    Known("Csendes", csendes, [(-1, 1)] * 2, 0.0, (0, 0)),
    Known("Cube", columns(lambda a, b: 100 * (b - a**3) ** 2 + (1 - a) ** 2), [(-10, 10)] * 2, 0.0, (1, 1)),
    Known("Damavandi", columns(_damavandi), [(0, 14)] * 2, 0.0, (2, 2)),
    Known("Deb01", lambda x: -(sin(5 * pi * x) ** 6).mean(axis=-1), [(-1, 1)] * 2, -1.0, (0.3, -0.3)),
    Known("Deb03", lambda x: -(sin(5 * pi * (x**0.75 - 0.05)) ** 6).mean(axis=-1), [(0, 1)] * 2, -1.0,
          (0.15 ** (4 / 3), 0.15 ** (4 / 3))),
    Known("Decanomial", columns(decanomial), [(-10, 10)] * 2, 0.0, (2, -3)),
    Known("Deceptive", _deceptive, [(0, 1)] * 2, -1.0, (1 / 3, 2 / 3)),
    Known("DeckkersAarts", columns(_deckkers), [(-20, 20)] * 2, -24776.518342168, (0, 14.9451209)),
    Known("DeflectedCorrugatedSpring", _spring, [(0, 10)] * 2, -1.0, (5, 5)),
    Known("DeVilliersGlasser01", residuals(_glasser1, 60.137 * 1.371**_GLASSER1 * sin(3.112 * _GLASSER1 + 1.761)),
          [(1, 100)] * 4, 0.0, (60.137, 1.371, 3.112, 1.761)),
    # The published place has 0.507 last, out of bounds; at these times another frequency gives the same.
    Known("DeVilliersGlasser02", residuals(_glasser2, _glasser2(53.81, 1.27, 3.012, 2.13, 0.507)),
          [(1, 60)] * 5, 0.0, (53.81, 1.27, 3.012, 2.13, log(20 * pi - exp(0.507)))),
    Known("DixonPrice", _dixon, [(-10, 10)] * 2, 0.0, (1, 0.5**0.5)),
    Known("Dolan", columns(_dolan), [(-100, 100)] * 5, 0.0, (0, 0, -2 / 3, 0, 0)),
    Known("DropWave", lambda x: -(1 + cos(12 * sqrt(total(x**2)))) / (0.5 * total(x**2) + 2), [(-5.12, 5.12)] * 2,
          -1.0, (0, 0)),
]  # fmt: skip
