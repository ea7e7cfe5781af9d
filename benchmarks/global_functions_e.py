"""Test functions of global optimisation, E to M; names, dimensions and bounds as in SciPy's suite.

Formulas: Jamil and Yang 2013 (arXiv:1308.4008), Gavana's collection, and NIST's nonlinear regression problems. Values
are as found by `--check`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import cos, exp, log, pi, sin, sqrt

from global_functions_a import csendes, decanomial
from global_problem import Known, columns, norm, numbers, product, residuals, total

_TEN = np.arange(1.0, 11.0)
_FIVE = np.arange(1.0, 6.0)
_HUNDREDTHS = np.arange(1, 100) / 100
# Transmittance against wavelength in nm (NIST, Eckerle4).
_WAVELENGTHS = np.array([*range(400, 435, 5), *np.arange(435, 465.1, 1.5), *range(470, 501, 5)], dtype=float)
_TRANSMITTANCE = np.array(
    [0.0001575, 0.0001699, 0.0002350, 0.0003102, 0.0004917, 0.0008710, 0.0017418, 0.0046400, 0.0065895, 0.0097302,
     0.0149002, 0.0237310, 0.0401683, 0.0712559, 0.1264458, 0.2073413, 0.2902366, 0.3445623, 0.3698049, 0.3668534,
     0.3106727, 0.2078154, 0.1164354, 0.0616764, 0.0337200, 0.0194023, 0.0117831, 0.0074357, 0.0022732, 0.0008800,
     0.0004579, 0.0002345, 0.0001586, 0.0001143, 0.0000710]
)  # fmt: skip
_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN3 = (
    np.array([[3, 10, 30], [0.1, 10, 35]] * 2),
    np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381.5, 5743, 8828]]) * 1e-4,
)
_HARTMANN6 = (
    np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8],
              [17, 8, 0.05, 10, 0.1, 14]]),
    np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
              [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]) * 1e-4,
)  # fmt: skip
_JUDGE_Y = np.array([4.284, 4.149, 3.877, 0.533, 2.211, 2.389, 2.145, 3.231, 1.998, 1.379, 2.106, 1.428, 1.011, 2.179,
                     2.858, 1.388, 1.651, 1.593, 1.046, 2.152])  # fmt: skip
_JUDGE_A = np.array([0.286, 0.973, 0.384, 0.276, 0.973, 0.543, 0.957, 0.948, 0.543, 0.797, 0.936, 0.889, 0.006, 0.828,
                     0.399, 0.617, 0.939, 0.784, 0.072, 0.889])  # fmt: skip
_JUDGE_B = np.array([0.645, 0.585, 0.310, 0.058, 0.455, 0.779, 0.259, 0.202, 0.028, 0.099, 0.142, 0.296, 0.175, 0.180,
                     0.842, 0.039, 0.103, 0.620, 0.158, 0.704])  # fmt: skip
_KOWALIK_A = 1 / np.array([0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 14, 16])
_KOWALIK_B = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
# Resistance against temperature in degrees (NIST, MGH10).
_TEMPERATURES = np.arange(50.0, 126.0, 5.0)
_RESISTANCE = np.array([34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307,
                        2872.0])  # fmt: skip


def _egg_holder(a: Any, b: Any) -> Any:
    return -(b + 47) * sin(sqrt(abs(b + a / 2 + 47))) - a * sin(sqrt(abs(a - b - 47)))


def _freudenstein(a: Any, b: Any) -> Any:
    return (a - 13 + ((5 - b) * b - 2) * b) ** 2 + (a - 29 + ((b + 1) * b - 14) * b) ** 2


def _gear(a: Any, b: Any, c: Any, d: Any) -> Any:
    return (1 / 6.931 - np.floor(a) * np.floor(b) / (np.floor(c) * np.floor(d))) ** 2


def _giunta(x: Any) -> Any:
    s = 16 * x / 15 - 1
    return 0.6 + total(sin(s) + sin(s) ** 2 + sin(4 * s) / 50)


def _goldstein(a: Any, b: Any) -> Any:
    u = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    v = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return u * v


def _griewank(x: Any) -> Any:
    return 1 + total(x**2) / 4000 - product(cos(x / sqrt(numbers(x))))


def _gulf(a: Any, b: Any, c: Any) -> Any:
    return exp(-(abs(25 + (-50 * log(_HUNDREDTHS)) ** (2 / 3) - b) ** c) / a)


def hansen(a: Any, b: Any) -> Any:
    """The product of two sums of five cosines."""
    i, a, b = _FIVE, a[..., None], b[..., None]
    return total(i * cos((i - 1) * a + i)) * total(i * cos((i + 1) * b + i))


def _hartmann(x: Any, steepness: Any, places: Any) -> Any:
    return -total(_HARTMANN_WEIGHTS * exp(-total(steepness * (x[..., None, :] - places) ** 2)))


def _helical(a: Any, b: Any, c: Any) -> Any:
    return c**2 + 100 * ((c - 5 * np.arctan2(b, a) / pi) ** 2 + (norm(a, b) - 1) ** 2)


def _hosaki(a: Any, b: Any) -> Any:
    return (1 - 8 * a + 7 * a**2 - 7 * a**3 / 3 + a**4 / 4) * b**2 * exp(-b)


def _katsuura(x: Any) -> Any:
    powers = 2.0 ** np.arange(1, 33)
    return product(1 + numbers(x) * total(np.rint(powers * x[..., None]) / powers))


def _keane(a: Any, b: Any) -> Any:
    r = norm(a, b)
    return np.where(r > 0, (sin(a - b) * sin(a + b)) ** 2 / np.where(r > 0, r, 1.0), 0.0)


def _kowalik(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * (_KOWALIK_A**2 + _KOWALIK_A * b) / (_KOWALIK_A**2 + _KOWALIK_A * c + d)


def _langermann(x: Any) -> Any:
    places = np.array([[3.0, 5], [5, 2], [2, 1], [1, 4], [7, 9]])
    r = total((x[..., None, :] - places) ** 2)
    return -total(np.array([1, 2, 5, 2, 3]) * exp(-r / pi) * cos(pi * r))


def _lennard_jones(x: Any) -> Any:
    atoms = x.reshape(*x.shape[:-1], -1, 3)
    i, j = np.tril_indices(atoms.shape[-2], -1)
    cube = total((atoms[..., i, :] - atoms[..., j, :]) ** 2) ** 3
    # Two atoms in one place have no energy, in place of an infinite one, as in SciPy's.
    cube = np.where(cube > 0, cube, np.inf)
    return total(1 / cube**2 - 2 / cube)


def levy(y: Any) -> Any:
    """What Levy 3 and the first penalty function share."""
    inner = total((y[..., :-1] - 1) ** 2 * (1 + 10 * sin(pi * y[..., 1:]) ** 2))
    return inner + (y[..., -1] - 1) ** 2


def _levy13(a: Any, b: Any) -> Any:
    rest = (b - 1) ** 2 * (1 + sin(2 * pi * b) ** 2)
    return sin(3 * pi * a) ** 2 + (a - 1) ** 2 * (1 + sin(3 * pi * b) ** 2) + rest


def _mishra5(a: Any, b: Any) -> Any:
    u, v = sin((cos(a) + cos(b)) ** 2) ** 2, cos((sin(a) + sin(b)) ** 2) ** 2
    return (u + v + a) ** 2 + 0.01 * a + 0.1 * b


def _mishra6(a: Any, b: Any) -> Any:
    u, v = sin((cos(a) + cos(b)) ** 2) ** 2, cos((sin(a) + sin(b)) ** 2) ** 2
    return 0.1 * ((a - 1) ** 2 + (b - 1) ** 2) - log((u - v + a) ** 2)


def _mishra9(a: Any, b: Any, c: Any) -> Any:
    u = 2 * a**3 + 5 * a * b + 4 * c - 2 * a**2 * c - 18
    v = a + b**3 + a * b**2 + a * c**2 - 22
    w = 8 * a**2 + 2 * b * c + 2 * b**2 + 3 * b**3 - 52
    return (u * w * v**2 + u * v * w**2 + v**2 + (a + b - c) ** 2) ** 2


_EXP2 = residuals(
    lambda a, b: exp(-a * (_TEN - 1) / 10) - 5 * exp(-b * (_TEN - 1) / 10), exp((1 - _TEN) / 10) - 5 * exp(1 - _TEN)
)
_JENNRICH = residuals(lambda a, b: exp(_TEN * a) + exp(_TEN * b), 2 + 2 * _TEN)
_ECKERLE = residuals(lambda a, b, c: a / b * exp(-0.5 * ((_WAVELENGTHS - c) / b) ** 2), _TRANSMITTANCE)

FUNCTIONS = [
    Known("Easom", columns(lambda a, b: -cos(a) * cos(b) * exp(-((a - pi) ** 2) - (b - pi) ** 2)), [(-100, 100)] * 2,
          -1.0, (pi, pi)),
    Known("Eckerle4", _ECKERLE, [(0, 20), (1, 20), (10, 600)], 0.0014635887487,
          (1.5543827178, 4.0888321754, 451.54121844)),
    Known("EggCrate", lambda x: total(x**2 + 25 * sin(x) ** 2), [(-5, 5)] * 2, 0.0, (0, 0)),
    Known("EggHolder", columns(_egg_holder), [(-512.1, 512)] * 2, -959.640662711, (512, 404.2319)),
    Known("ElAttarVidyasagarDutta", columns(lambda a, b: (a**2 + b - 10) ** 2 + (a + b**2 - 7) ** 2
          + (a**2 + b**3 - 1) ** 2), [(-100, 100)] * 2, 1.71278035486237, (3.4091868, -2.171433)),
    Known("Exp2", _EXP2, [(0, 20)] * 2, 0.0, (1, 10)),
    Known("Exponential", lambda x: -exp(-0.5 * total(x**2)), [(-1, 1)] * 2, -1.0, (0, 0)),
    Known("FreudensteinRoth", columns(_freudenstein), [(-10, 10)] * 2, 0.0, (5, 4)),
    Known("Gear", columns(_gear), [(12, 60)] * 4, 2.7e-12, (16, 19, 43, 49)),
    Known("Giunta", _giunta, [(-1, 1)] * 2, 0.06447042053690566, (0.4673200277395354, 0.4673200169591304)),
    Known("GoldsteinPrice", columns(_goldstein), [(-2, 2)] * 2, 3.0, (0, -1)),
    Known("Griewank", _griewank, [(-100, 100)] * 2, 0.0, (0, 0)),
    Known("Gulf", residuals(_gulf, _HUNDREDTHS), [(0, 50)] * 3, 0.0, (50, 25, 1.5)),
    Known("Hansen", columns(hansen), [(-10, 10)] * 2, -176.541793136749, (-1.30670770, -7.70831373)),
    Known("Hartmann3", lambda x: _hartmann(x, *_HARTMANN3), [(0, 1)] * 3, -3.8627821478,
          (0.11461292, 0.55564907, 0.85254697)),
    Known("Hartmann6", lambda x: _hartmann(x, *_HARTMANN6), [(0, 1)] * 6, -3.32236801141551,
          (0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054)),
    Known("HelicalValley", columns(_helical), [(-10, 10)] * 3, 0.0, (1, 0, 0)),
    Known("HimmelBlau", columns(lambda a, b: (a**2 + b - 11) ** 2 + (a + b**2 - 7) ** 2), [(-5, 5)] * 2, 0.0, (3, 2)),
    Known("HolderTable", columns(lambda a, b: -abs(sin(a) * cos(b) * exp(abs(1 - norm(a, b) / pi)))), [(-10, 10)] * 2,
          -19.20850256788675, (8.055023472141116, 9.664590028909654)),
    Known("Hosaki", columns(_hosaki), [(0, 5), (0, 6)], -2.34581157610129, (4, 2)),
    Known("Infinity", csendes, [(-1, 1)] * 2, 0.0, (0, 0)),
    Known("JennrichSampson", _JENNRICH, [(-1, 1)] * 2, 124.362182355615, (0.2578252, 0.2578252)),
    Known("Judge", residuals(lambda a, b: a + b * _JUDGE_A + b**2 * _JUDGE_B, _JUDGE_Y), [(-10, 10)] * 2,
          16.0817301329604, (0.86478729, 1.2357485)),
    Known("Katsuura", _katsuura, [(0, 100)] * 2, 1.0, (0, 0)),
    Known("Keane", columns(_keane), [(0, 10)] * 2, 0.0, (1, 1)),
    Known("Kowalik", residuals(_kowalik, _KOWALIK_B), [(-5, 5)] * 4, 0.000307485987806,
          (0.1928335, 0.1908362, 0.1231173, 0.135766)),
    Known("Langermann", _langermann, [(0, 10)] * 2, -5.16212615996384, (2.00299212, 1.00609594)),
    Known("LennardJones", _lennard_jones, [(-4, 4)] * 6, -1.0, (0, 0, 0, 1, 0, 0)),
    Known("Leon", columns(lambda a, b: 100 * (b - a**2) ** 2 + (1 - a) ** 2), [(-1.2, 1.2)] * 2, 0.0, (1, 1)),
    Known("Levy03", lambda x: sin(pi * (x[..., 0] + 3) / 4) ** 2 + levy((x + 3) / 4), [(-10, 10)] * 2, 0.0, (1, 1)),
    Known("Levy05", columns(lambda a, b: hansen(a, b) + (a + 1.42513) ** 2 + (b + 0.80032) ** 2), [(-10, 10)] * 2,
          -176.137578001625, (-1.306853, -1.424845)),
    Known("Levy13", columns(_levy13), [(-10, 10)] * 2, 0.0, (1, 1)),
    Known("Matyas", columns(lambda a, b: 0.26 * (a**2 + b**2) - 0.48 * a * b), [(-10, 10)] * 2, 0.0, (0, 0)),
    Known("McCormick", columns(lambda a, b: sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1), [(-1.5, 4), (-3, 3)],
          -1.913222954981037, (-0.5471975602214493, -1.547197559268372)),
    # The published minimum, 87.9 at (0.0056, 6181, 345), is outside the bounds; inside, the lowest is at a corner.
    Known("Meyer", residuals(lambda a, b, c: a * exp(b / (_TEMPERATURES + c)), _RESISTANCE),
          [(0, 1), (100, 1000), (100, 500)], 3718453685.01692, (1, 1000, 100)),
    Known("Michalewicz", lambda x: -total(sin(x) * sin(numbers(x) * x**2 / pi) ** 20), [(0, pi)] * 2, -1.80130341009855,
          (2.2029055, 1.5707963)),
    Known("MieleCantrell", columns(lambda a, b, c, d: (exp(-a) - b) ** 4 + 100 * (b - c) ** 6 + np.tan(c - d) ** 4
          + a**8), [(-1, 1)] * 4, 0.0, (0, 1, 1, 1)),
    Known("Mishra01", columns(lambda a, _: (3 - a) ** (2 - a)), [(0, 1)] * 2, 2.0, (1, 1)),
    Known("Mishra02", columns(lambda a, b: (3 - (a + b) / 2) ** (2 - (a + b) / 2)), [(0, 1)] * 2, 2.0, (1, 1)),
    # Cusps; SciPy has -0.19990562 for the first, which is higher.
    Known("Mishra03", columns(lambda a, b: 0.01 * (a + b) + sqrt(abs(cos(norm(a, b))))), [(-10, 10)] * 2,
          -0.045 * sqrt(2) * pi, (-4.5 * pi / sqrt(2), -4.5 * pi / sqrt(2))),
    Known("Mishra04", columns(lambda a, b: 0.01 * (a + b) + sqrt(abs(sin(norm(a, b))))), [(-10, 10)] * 2,
          -0.04 * sqrt(2) * pi, (-4 * pi / sqrt(2), -4 * pi / sqrt(2))),
    Known("Mishra05", columns(_mishra5), [(-10, 10)] * 2, -1.01982951993064, (-1.98682, -10)),
    Known("Mishra06", columns(_mishra6), [(-10, 10)] * 2, -2.28394983847477, (2.8863072, 1.8232603)),
    Known("Mishra07", lambda x: (product(x) - product(numbers(x))) ** 2, [(-10, 10)] * 2, 0.0, (1, 2)),
    Known("Mishra08", columns(decanomial), [(-10, 10)] * 2, 0.0, (2, -3)),
    Known("Mishra09", columns(_mishra9), [(-10, 10)] * 3, 0.0, (1, 2, 3)),
    Known("Mishra10", columns(lambda a, b: (np.trunc(a) + np.trunc(b) - np.trunc(a) * np.trunc(b)) ** 2),
          [(-10, 10)] * 2, 0.0, (2, 2)),
    # As published, with the geometric mean; SciPy's divides the product by d, a slip.
    Known("Mishra11", lambda x: (abs(x).mean(axis=-1) - product(abs(x)) ** (1 / x.shape[-1])) ** 2, [(-10, 10)] * 2,
          0.0, (0, 0)),
    Known("MultiModal", lambda x: total(abs(x)) * product(abs(x)), [(-10, 10)] * 2, 0.0, (0, 0)),
]  # fmt: skip
