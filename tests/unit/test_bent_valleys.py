"""Minima that are curves, by populations: each is listed once."""

import numpy as np
import pytest

from allmodes import find_minima


def ring(x):
    return (np.hypot(x[:, 0], x[:, 1]) - 1) ** 2


def kinked_ring(x):
    return abs(x[:, 0] ** 2 + x[:, 1] ** 2 - 1)


def banana(x):
    return 100 * (x[:, 1] - x[:, 0] ** 2) ** 2


def stiff(x):
    return 1e8 * (x[:, 1] + x[:, 0] - 0.37) ** 2 + (1.1 * x[:, 0] - x[:, 1] - 0.2) ** 2


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


VALLEYS = {
    "ring": (ring, [(-2, 2)] * 2, 1),
    "kinked ring": (kinked_ring, [(-2, 2)] * 2, 1),
    "banana": (banana, [(-2, 2), (-1, 4)], 1),
    "hyperbola": (lambda x: (x[:, 0] * x[:, 1] - 0.1) ** 2, [(-1, 1.2)] * 2, 2),
    "stiff": (stiff, [(-2, 2)] * 2, 1),
    "lines": (lambda x: np.cos(2.5 * np.pi * x[:, 0]), [(-2, 1.8)] * 2, 6),  # one of them, higher, at the upper bound
    "sine": (lambda x: (x[:, 1] - np.sin(4 * x[:, 0])) ** 2, [(-2, 2)] * 2, 1),
    "himmelblau": (himmelblau, [(-6, 6)] * 2, 4),
}


# The sine bends so often that no path is found between its ends; modes that later ones would join stay apart.
NAMES = [pytest.param(name, marks=pytest.mark.xfail(strict=True) if name == "sine" else ()) for name in VALLEYS]


@pytest.mark.parametrize("name", NAMES)
def test_black_box_lists_a_bent_valley_once(name):
    function, bounds, wanted = VALLEYS[name]
    maxfev = 40_000 if name == "lines" else 20_000  # to tell a point from five lines takes many searches between them
    result = find_minima(function, bounds, vectorized=True, method="black-box", rng=0, maxfev=maxfev)
    assert len(result.modes) == wanted
    assert result.nfev <= maxfev


@pytest.mark.parametrize("seed", range(2))
def test_the_floor_of_a_valley_that_falls_is_no_minimum(seed):
    """Components come to rest there."""

    def rosenbrock(x):
        return 100 * (x[:, 1] - x[:, 0] ** 2) ** 2 + (1 - x[:, 0]) ** 2

    given = {"vectorized": True, "method": "black-box", "target": "global"}
    result = find_minima(rosenbrock, [(-30, 30)] * 2, rng=seed, maxfev=20_000, **given)
    assert [mode.kind for mode in result.modes] == ["minimum"]
    assert result.modes[0].fun < 1e-6


def test_what_populations_find_has_the_curvature_of_derivatives():
    """Components are polished, and give way to what was measured there."""
    result = find_minima(himmelblau, [(-6, 6)] * 2, vectorized=True, method="black-box", rng=0, maxfev=8000)
    assert len(result.modes) == 4
    for mode in result.modes:
        x, y = mode.x
        hessian = np.array([[12 * x * x + 4 * y - 42, 4 * (x + y)], [4 * (x + y), 12 * y * y + 4 * x - 26]])
        np.testing.assert_allclose(mode.hessian, hessian, rtol=1e-3, atol=1e-3 * np.abs(hessian).max())
        assert mode.curvature_from == "differences"
