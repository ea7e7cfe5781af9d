"""What modes weigh: the same on a bound as beside it, whatever the last step of a search was."""

import numpy as np
import pytest

from allmodes import find_maxima, find_minima

SIDE = 10.0 * np.pi


def eggbox(x):
    return (2.0 + np.cos(x[:, 0] / 2.0) * np.cos(x[:, 1] / 2.0)) ** 5


def slopes(x):
    c, s = np.cos(x / 2.0), np.sin(x / 2.0)
    return -2.5 * (eggbox(x) ** 0.8)[:, None] * np.stack([s[:, 0] * c[:, 1], c[:, 0] * s[:, 1]], axis=1)


@pytest.mark.parametrize("jac", [None, slopes], ids=["values", "gradients"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_level_maxima_on_bounds_weigh_half_and_at_corners_a_quarter(seed, jac):
    """They are stationary there: whether a search ends on the bound or a rounding beside it is luck."""
    result = find_maxima(eggbox, [(0.0, SIDE)] * 2, jac=jac, vectorized=True, rng=seed, maxfev=3000)
    assert len(result.modes) == 18
    inner = max(mode.weight for mode in result.modes)
    for mode in result.modes:
        on_bounds = int((np.minimum(mode.x, SIDE - mode.x) < 1e-3).sum())
        assert mode.weight == pytest.approx(inner * 0.5**on_bounds, rel=0.02)


def test_a_mode_beside_a_bound_weighs_what_is_inside():
    """Two equal wells, one of them a deviation away from the bound: 84 % of it is inside."""
    width, low = 0.1, -1.0 - 0.1

    def wells(x):
        return -np.logaddexp(*(-0.5 * ((x[0] - place) / width) ** 2 for place in (-1.0, 1.0)))

    result = find_minima(wells, [(low, 3.0)], rng=0, options={"temperature": 1.0})
    by_place = {round(float(mode.x[0])): mode.weight for mode in result.modes}
    assert by_place[-1] / by_place[1] == pytest.approx(0.8413, abs=0.002)


@pytest.mark.parametrize("scale", [None, "log"])
def test_the_slope_at_a_bound_is_told(scale):
    """It is what weights at bounds are made of; along other coordinates values alone do not tell it."""

    def fun(x):
        return 3.0 * x[0] + (x[1] - 2.0) ** 2

    by_values = find_minima(fun, [(0.5, 4.0)] * 2, scale=scale, rng=0, maxfev=300).modes[0]
    assert by_values.gradient[0] == pytest.approx(3.0, rel=1e-4)
    assert np.isnan(by_values.gradient[1])

    def jac(x):
        return np.array([3.0, 2.0 * (x[1] - 2.0)])

    mode = find_minima(fun, [(0.5, 4.0)] * 2, jac=jac, scale=scale, rng=0, maxfev=300).modes[0]
    np.testing.assert_allclose(mode.gradient, [3.0, 0.0], atol=1e-5)
