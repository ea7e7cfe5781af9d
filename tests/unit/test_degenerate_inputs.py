"""Functions and bounds at the edge of sense: a sensible result or a clear error, and no search that hangs."""

import numpy as np
import pytest

from allmodes import Status, find_maxima, find_minima
from allmodes.nva import presets

SQUARE = [(-2.0, 2.0), (-1.0, 3.0)]
METHODS = {
    "auto": "auto",
    "local": "local",
    "multistart": "multistart",
    "black-box": "black-box",
    "anneal": "anneal",
    "assembly": presets.nva_gm(order=0),
}
every_method = pytest.mark.parametrize("method", list(METHODS))


def positions(result):
    return np.array([mode.x for mode in result.modes]).reshape(len(result.modes), -1)


class Counted:
    """A function that counts its calls and notes whether a point was outside the bounds."""

    def __init__(self, function, bounds):
        self.function, self.calls, self.strayed = function, 0, False
        self.low, self.high = np.array(bounds, float).T

    def __call__(self, x):
        self.calls += 1
        self.strayed |= not ((x >= self.low) & (x <= self.high)).all()
        return self.function(x)


def minima(function, bounds, **settings):
    """The result of a search that kept to its bounds and its budget."""
    fun = Counted(function, bounds)
    is_slow = len(bounds) >= 50 or settings.get("method") == "black-box"
    given = {"maxfev": 5000 if is_slow else 3000, "rng": 0} | settings
    result = find_minima(fun, bounds, **given)
    assert fun.calls == result.nfev <= given["maxfev"]
    assert not fun.strayed
    assert isinstance(repr(result), str)
    values = [mode.fun for mode in result.modes]
    assert values == sorted(values)
    return result


# ---- nothing to find


@every_method
def test_constant(method):
    result = minima(lambda x: 3.0, SQUARE, method=METHODS[method])
    assert result.fun == 3.0
    assert len(result.modes) <= 3, "one plateau, not many modes"
    assert all(mode.kind in ("flat", "unverified") for mode in result.modes)


def test_constant_with_derivatives():
    result = minima(lambda x: 3.0, SQUARE, jac=np.zeros_like, hess=lambda x: np.zeros((2, 2)))
    assert result.fun == 3.0
    assert len(result.modes) <= 3
    assert all(mode.kind in ("flat", "unverified") for mode in result.modes)


def test_a_constant_in_one_coordinate():
    result = minima(lambda x: (x[0] - 1.0) ** 2, SQUARE)
    assert len(result.modes) == 1, "a straight valley is one mode"
    assert result.modes[0].kind == "flat"
    np.testing.assert_allclose(result.x[0], 1.0, atol=1e-4)


@every_method
def test_linear(method):
    maxfev = 20_000 if method == "black-box" else 3000  # populations need thousands of points to shrink
    result = minima(lambda x: x[0] - 2.0 * x[1], SQUARE, method=METHODS[method], maxfev=maxfev)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [-2.0, 3.0], atol=1e-6)
    assert result.modes[0].kind == "boundary"
    assert result.modes[0].active == (0, 1)
    assert result.fun == pytest.approx(-8.0)


def test_linear_upwards():
    result = find_maxima(lambda x: x[0] - 2.0 * x[1], SQUARE, rng=0, maxfev=2000)
    np.testing.assert_allclose(positions(result), [[2.0, -1.0]], atol=1e-6)
    assert result.modes[0].kind == "boundary"


# ---- no lower bound


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: float(x[0] + x[1]),
        lambda x: float(-(x @ x)),
        lambda x: float(x[0] ** 3 + x[1] ** 2),
    ],
)
def test_unbounded_below(fun):
    with np.errstate(over="ignore"):  # the search may go as far as it likes
        result = find_minima(fun, x0=[0.5, 0.5], rng=0, maxfev=3000)
    assert result.nfev <= 3000
    assert result.fun <= fun(np.array([0.5, 0.5]))
    assert all(mode.kind != "minimum" for mode in result.modes), "there is no minimum"
    assert not result.success or result.modes
    assert result.message


# ---- few or many coordinates, narrow ones


def test_a_single_point():
    result = minima(lambda x: float(x @ x), [(1.0, 1.0), (2.0, 2.0)])
    assert result.nfev == 1
    np.testing.assert_array_equal(positions(result), [[1.0, 2.0]])
    assert result.fun == 5.0
    assert result.success


@every_method
def test_a_single_point_by_every_method(method):
    result = minima(lambda x: float(x @ x), [(1.0, 1.0)], method=METHODS[method])
    np.testing.assert_array_equal(result.x, [1.0])


def test_a_single_point_that_fails():
    result = minima(lambda x: np.nan, [(1.0, 1.0)])
    assert result.status is Status.ALL_FAILED


@pytest.mark.parametrize("method", ["auto", "black-box", "anneal"])
def test_a_fixed_coordinate(method):
    result = minima(
        lambda x: (x[0] ** 2 - 1.0) ** 2 + x[1] + 0.0 * x[2], [(-2.0, 2.0), (5.0, 5.0), (0.0, 0.0)], method=method
    )
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-4)
    assert (positions(result)[:, 1:] == [5.0, 0.0]).all()
    assert all(mode.hessian.shape == (3, 3) for mode in result.modes)
    assert all(mode.eigenvalues.shape == (1,) for mode in result.modes)


def test_a_very_narrow_and_a_very_wide_coordinate():
    result = minima(lambda x: ((1e9 * x[0]) ** 2 - 1.0) ** 2 + (1e-9 * x[1] - 0.5) ** 2, [(-2e-9, 2e-9), (-2e9, 2e9)])
    assert len(result.modes) == 2
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1e-9, 1e-9], rtol=1e-4)
    np.testing.assert_allclose(positions(result)[:, 1], 5e8, rtol=1e-4)


def test_bounds_one_float_apart():
    high = np.nextafter(1.0, 2.0)
    result = minima(lambda x: -float(x[0]), [(1.0, high)], maxfev=500)
    assert result.fun == -high


@every_method
def test_one_coordinate(method):
    result = minima(lambda x: float(np.cos(3.0 * x[0]) + 0.1 * x[0] ** 2), [(-4.0, 4.0)], method=METHODS[method])
    x = np.linspace(-4.0, 4.0, 80001)
    f = np.cos(3.0 * x) + 0.1 * x**2
    inner = x[1:-1][(f[1:-1] < f[:-2]) & (f[1:-1] < f[2:])]
    assert len(inner) == 4
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), inner, atol=2e-4)


@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_fifty_coordinates(derivatives):
    given = {}
    if derivatives > 0:
        given["jac"] = lambda x: 2.0 * (x - 0.3)
    if derivatives > 1:
        given["hess"] = lambda x: 2.0 * np.eye(50)
    result = minima(lambda x: float(((x - 0.3) ** 2).sum()), [(-1.0, 1.0)] * 50, **given)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, 0.3, atol=1e-4)
    assert result.modes[0].kind == "minimum"
    assert result.modes[0].eigenvalues.shape == (50,)


def test_two_modes_in_fifty_coordinates():
    def fun(x):
        return float((x[0] ** 2 - 1.0) ** 2 + (x[1:] ** 2).sum())

    def jac(x):
        return np.concatenate([[4.0 * x[0] * (x[0] ** 2 - 1.0)], 2.0 * x[1:]])

    result = minima(fun, [(-2.0, 2.0)] * 50, jac=jac)
    assert len(result.modes) == 2
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-4)
    np.testing.assert_allclose(positions(result)[:, 1:], 0.0, atol=1e-4)


# ---- not smooth


@pytest.mark.parametrize("method", ["auto", "black-box"])
def test_discontinuous(method):
    def fun(x):
        return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2 + (0.5 if x[0] > 0.2 else 0.0))

    result = minima(fun, [(-2.0, 2.0)] * 2, method=method, maxfev=10_000)
    for place in (-1.0, 1.0):
        assert np.abs(positions(result) - [place, 0.0]).max(axis=1).min() < 1e-3
    assert len(result.modes) <= 3  # at (0.2, 0) the function falls to a lower piece: an infimum, not a minimum


@pytest.mark.parametrize("method", ["auto", "local", "black-box", "anneal"])
def test_integer_valued(method):
    result = minima(lambda x: int(np.floor(x[0] ** 2 + x[1] ** 2)), [(-5.0, 5.0)] * 2, method=method, maxfev=5000)
    assert result.fun == 0.0
    assert np.linalg.norm(result.x) < 1.0
    assert all(mode.kind in ("flat", "unverified") for mode in result.modes)
    assert sum(mode.fun == 0.0 for mode in result.modes) == 1 or not result.modes


def test_a_step():
    result = minima(lambda x: float(x[0] > 0.3), [(-1.0, 1.0)])
    assert result.fun == 0.0
    assert result.x[0] <= 0.3


@pytest.mark.parametrize("method", ["auto", "black-box"])
def test_a_kink(method):
    result = minima(lambda x: float(np.abs(x - [0.3, -0.4]).sum()), [(-1.0, 1.0)] * 2, method=method)
    np.testing.assert_allclose(result.x, [0.3, -0.4], atol=1e-3)
    assert len(result.modes) <= 1, "one kink, not several modes"


def test_a_kink_with_its_gradient():
    result = minima(lambda x: float(np.abs(x).sum()), [(-1.0, 1.5)] * 2, jac=np.sign)
    assert result.fun < 1e-3
    assert len(result.modes) <= 1


def test_white_noise():
    rng = np.random.default_rng(3)
    result = minima(lambda x: float(rng.random()), [(-1.0, 1.0)] * 2, maxfev=2000)
    assert "The function is noisy: two values at one point are" in result.message
    assert 0.2 < result.fun < 0.6  # a mean of values, not the luckiest of them
    assert all(mode.kind == "unverified" for mode in result.modes)


# ---- large and small values


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("derivatives", [0, 2])
def test_large_and_small_values(scale, derivatives):
    given = {}
    if derivatives:
        given["jac"] = lambda x: scale * np.array([4.0 * x[0] * (x[0] ** 2 - 1.0), 2.0 * x[1]])
        given["hess"] = lambda x: scale * np.diag([12.0 * x[0] ** 2 - 4.0, 2.0])
    result = minima(lambda x: scale * ((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2), [(-2.0, 2.0)] * 2, **given)
    assert len(result.modes) == 2
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-3)
    np.testing.assert_allclose(result.modes[0].hessian, scale * np.diag([8.0, 2.0]), rtol=0.05, atol=0.05 * scale)


@pytest.mark.parametrize("method", ["black-box", "anneal", "multistart"])
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_large_and_small_values_by_other_methods(method, scale):
    result = minima(
        lambda x: scale * ((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2), [(-2.0, 2.0)] * 2, method=method, maxfev=10_000
    )
    assert len(result.modes) == 2
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-3)


@pytest.mark.parametrize("steepness", [5.0, 20.0, 100.0])
def test_values_over_many_orders(steepness):
    result = minima(lambda x: float(np.exp(steepness * (x[0] ** 2 + x[1] ** 2))), [(-1.0, 1.0)] * 2)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, 0.0, atol=1e-4)


@pytest.mark.parametrize("constant", [1e4, -1e6, 1e8])
def test_a_large_constant_added(constant):
    result = minima(lambda x: constant + (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2, [(-2.0, 2.0)] * 2)
    assert len(result.modes) == 2
    for place in (-1.0, 1.0):
        assert np.abs(positions(result) - [place, 0.0]).max(axis=1).min() < 1e-2


# ---- flat and degenerate


@pytest.mark.parametrize("method", ["auto", "local", "black-box"])
def test_a_plateau(method):
    result = minima(lambda x: max(0.0, float(x @ x) - 1.0), [(-3.0, 3.0)] * 2, method=method, maxfev=5000)
    assert result.fun == 0.0
    assert len(result.modes) <= 2, "one plateau, not many modes"
    assert np.linalg.norm(result.x) <= 1.0
    assert all(mode.kind in ("flat", "unverified") for mode in result.modes)


@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_a_circle_of_minima(derivatives):
    given = {}
    if derivatives > 0:
        given["jac"] = lambda x: 4.0 * (x @ x - 1.0) * x
    if derivatives > 1:
        given["hess"] = lambda x: 8.0 * np.outer(x, x) + 4.0 * (x @ x - 1.0) * np.eye(2)
    result = minima(lambda x: float((x @ x - 1.0) ** 2), [(-2.0, 2.0)] * 2, **given)
    assert 1 <= len(result.modes) <= 5, "one valley, not many modes"
    assert all(mode.kind == "flat" for mode in result.modes)
    np.testing.assert_allclose(np.linalg.norm(positions(result), axis=1), 1.0, atol=1e-3)


def sine_derivatives(x):
    """Gradient and Hessian of (x1 - sin x0)^2."""
    miss, slope = x[1] - np.sin(x[0]), np.array([-np.cos(x[0]), 1.0])
    bend = np.array([[np.sin(x[0]), 0.0], [0.0, 0.0]])
    return 2.0 * miss * slope, 2.0 * (np.outer(slope, slope) + miss * bend)


@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_a_valley_with_bends_is_one_flat_mode(derivatives):
    given = {}
    if derivatives > 0:
        given["jac"] = lambda x: sine_derivatives(x)[0]
    if derivatives > 1:
        given["hess"] = lambda x: sine_derivatives(x)[1]
    result = minima(lambda x: float((x[1] - np.sin(x[0])) ** 2), [(-5.0, 5.0), (-2.0, 2.0)], method="local", **given)
    assert [mode.kind for mode in result.modes] == ["flat"]


@pytest.mark.parametrize("seed", [0, 1])
def test_two_rings_at_the_same_height_are_two(seed):
    def rings(x):
        return min(float((x[0] - side) ** 2 + x[1] ** 2 - 1.0) ** 2 for side in (-2.0, 2.0))

    result = minima(rings, [(-4.0, 4.0)] * 2, method="local", rng=seed)
    assert [mode.kind for mode in result.modes] == ["flat", "flat"]
    assert sorted(np.sign(positions(result)[:, 0])) == [-1.0, 1.0]


@pytest.mark.parametrize("seed", [0, 1])
def test_where_a_coordinate_is_not_used_every_line_is_one_mode(seed):
    result = minima(lambda x: float(np.cos(3.0 * x[0])), [(-3.0, 3.0)] * 2, rng=seed)
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-3.0, -np.pi / 3, np.pi / 3, 3.0], atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_an_inflection_on_a_face_is_no_mode(seed):
    def jac(x):
        return np.array([-1.0, -3.0 * x[1] ** 2])

    result = minima(lambda x: float(-x[0] - x[1] ** 3), [(-1.0, 1.2), (-1.1, 1.2)], jac=jac, rng=seed)
    np.testing.assert_allclose(positions(result), [[1.2, 1.2]])


def test_with_a_gradient_a_function_of_kinks_has_its_minimum():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    y = X @ rng.normal(size=2) + rng.standard_t(2, size=30)
    result = minima(
        lambda b: float(np.abs(y - X @ b).sum()),
        [(-5.0, 5.0)] * 2,
        jac=lambda b: -np.sign(y - X @ b) @ X,
        maxfev=30_000,
    )
    assert len(result.modes) == 1
    assert result.fun == pytest.approx(51.1489921, abs=1e-5)


def test_with_a_gradient_populations_join_where_local_searches_end_nowhere():
    """A root gets steeper towards zero: no local search can locate its lowest point."""

    def jac(x):
        return 0.5 * np.sign(x) / np.sqrt(np.abs(x) + 1e-300)

    result = minima(lambda x: float(np.sqrt(np.abs(x)).sum()), [(-1.0, 2.0)] * 2, jac=jac, maxfev=30_000)
    assert "rough" in result.message
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, 0.0, atol=1e-4)


@pytest.mark.parametrize("seed", [1, 5])
def test_a_global_minimum_in_a_kink_is_not_replaced_by_worse_ones(seed):
    """A cone among smooth dents: local searches end at no optimum in it, and everything else they find is worse."""

    def cone(x):
        r = x - np.array([0.21, -0.33, 0.47])
        waves = np.exp(np.cos(2.0 * np.pi * r).mean())
        return float(20.0 * (1.0 - np.exp(-0.2 * np.sqrt((r * r).mean()))) + np.e - waves)

    result = minima(cone, [(-1.6, 1.9)] * 3, target="global", rng=seed, maxfev=40_000)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.21, -0.33, 0.47], atol=1e-4)
    np.testing.assert_array_equal(result.x, result.modes[0].x)
    assert result.modes[0].is_global


def test_two_terms_that_only_their_sum_matters_of_are_a_line():
    """The direction of the line is no axis, and differences get it only nearly right."""

    def fun(x):
        return float((x[0] + x[1] - 0.7) ** 2 + 50.0 * (x[2] - 0.1 * x[0]) ** 2)

    result = minima(fun, [(0.1, 1.0), (0.1, 1.0), (-1.0, 1.0)], maxfev=8000)
    assert [mode.kind for mode in result.modes] == ["flat"]


@pytest.mark.parametrize("derivatives", [0, 2])
def test_a_straight_ridge(derivatives):
    across = np.array([[1.0, 1.0], [1.0, 1.0]])
    given = {"jac": lambda x: 2.0 * across @ x, "hess": lambda x: 2.0 * across} if derivatives else {}
    result = minima(lambda x: float(x[0] + x[1]) ** 2, [(-2.0, 2.0)] * 2, **given)
    assert 1 <= len(result.modes) <= 3, "one valley, not many modes"  # its two ends are in corners
    assert all(mode.kind in ("flat", "boundary") for mode in result.modes)
    np.testing.assert_allclose(positions(result).sum(axis=1), 0.0, atol=1e-4)


DERIVATIVES_OF_CUBE = {"jac": lambda x: 3.0 * x**2, "hess": lambda x: np.diag(6.0 * x)}


@pytest.mark.parametrize("given", [{}, DERIVATIVES_OF_CUBE])
def test_a_cube_has_its_minimum_at_the_bound(given):
    result = minima(lambda x: float(x[0] ** 3), [(-1.0, 1.0)], **given)
    np.testing.assert_array_equal(positions(result), [[-1.0]])
    assert result.modes[0].kind == "boundary"


@pytest.mark.parametrize("given", [{}, DERIVATIVES_OF_CUBE])
def test_a_local_search_from_a_degenerate_saddle(given):
    result = minima(lambda x: float(x[0] ** 3), [(-1.0, 1.0)], x0=[0.0], **given)
    np.testing.assert_array_equal(positions(result), [[-1.0]])


@pytest.mark.parametrize("derivatives", [0, 2])
def test_a_monkey_saddle(derivatives):
    given = {}
    if derivatives:
        given["jac"] = lambda x: np.array([3.0 * x[0] ** 2 - 3.0 * x[1] ** 2, -6.0 * x[0] * x[1]])
        given["hess"] = lambda x: np.array([[6.0 * x[0], -6.0 * x[1]], [-6.0 * x[1], -6.0 * x[0]]])
    result = minima(lambda x: float(x[0] ** 3 - 3.0 * x[0] * x[1] ** 2), [(-1.0, 1.0)] * 2, x0=[0.0, 0.0], **given)
    x = positions(result)
    assert (np.abs(x).max(axis=1) == 1.0).all(), "minima are on the boundary alone"
    wanted = [[-1.0, 0.0], [1.0, -1.0], [1.0, 1.0]]
    order = np.lexsort((x[:, 1], x[:, 0]))
    np.testing.assert_allclose(x[order], wanted, atol=1e-4)
    assert all(mode.kind == "boundary" for mode in result.modes)


@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_a_degenerate_quartic(derivatives):
    given = {}
    if derivatives > 0:
        given["jac"] = lambda x: 4.0 * (x - 0.3) ** 3
    if derivatives > 1:
        given["hess"] = lambda x: np.diag(12.0 * (x - 0.3) ** 2)
    result = minima(lambda x: float(((x - 0.3) ** 4).sum()), [(-1.0, 1.0)] * 2, **given)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, 0.3, atol=2e-2)
    assert result.modes[0].kind in ("flat", "minimum")


def test_a_mode_exactly_at_a_bound_with_zero_gradient():
    result = minima(lambda x: float(x[0] ** 2 + (x[1] - 0.5) ** 2), [(0.0, 2.0), (-1.0, 1.0)])
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.0, 0.5], atol=1e-4)


def test_a_saddle_is_never_reported():
    result = minima(
        lambda x: float(x[0] ** 2 - x[1] ** 2 + 0.5 * x[1] ** 4), [(-2.0, 2.0)] * 2, x0=[[0.0, 0.0], [0.5, 0.0]]
    )
    np.testing.assert_allclose(np.sort(positions(result)[:, 1]), [-1.0, 1.0], atol=1e-4)
    assert len(result.modes) == 2


class TestGroundThatMisleads:
    @pytest.mark.parametrize("seed", range(20))
    def test_a_saddle_at_a_bound_is_no_minimum(self, seed):
        """Without slope at the bound x1 = 0, and falling inward; the seeds include those that once took it for one."""

        def fun(x):
            return 10.0 * (x[0] - 0.3) ** 2 - 0.001 * x[1] ** 2 + 0.1 * x[1] ** 4

        result = find_minima(fun, [(0, 1)] * 2, rng=seed, maxfev=3000)
        (mode,) = result.modes
        np.testing.assert_allclose(mode.x, [0.3, np.sqrt(0.005)], atol=1e-3)

    @pytest.mark.parametrize("seed", range(4))
    def test_long_troughs_side_by_side_are_one_mode_each(self, seed):
        """Points of one trough may be closer to the other trough than to each other."""

        def fun(x):
            return np.minimum(np.minimum(50 * (x[:, 0] - 0.2) ** 2, 0.1 + 50 * (x[:, 0] - 0.5) ** 2), 1.0)

        result = find_minima(fun, [(0, 1)] * 2, rng=seed, maxfev=4000, vectorized=True)
        np.testing.assert_allclose([mode.x[0] for mode in result.modes], [0.2, 0.5], atol=1e-4)

    @pytest.mark.parametrize("width", [200.0, 1000.0])
    def test_in_a_wide_box_one_minimum_is_global(self, width):
        """Values differ by far less than the function spans over the box."""

        def fun(x):
            return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2 + 0.5 * x[0] + 0.2 * x[1]

        def jac(x):
            a, b = x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7
            return np.array([4 * x[0] * a + 2 * b + 0.5, 2 * a + 4 * x[1] * b + 0.2])

        result = find_minima(fun, [(-width, width)] * 2, jac=jac, rng=0, maxfev=4000)
        found = [(round(float(mode.fun), 2), mode.kind, mode.is_global) for mode in result.modes]
        assert found == [
            (-2.55, "minimum", True),
            (-0.78, "minimum", False),
            (1.42, "minimum", False),
            (1.9, "minimum", False),
        ]

    @pytest.mark.parametrize("seed", range(2))
    def test_where_a_steep_valley_meets_a_bound_is_no_minimum(self, seed):
        c = 1e6

        def jac(x):
            return np.array([-4 * c * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 2 * c * (x[1] - x[0] ** 2)])

        def hess(x):
            return np.array([[-4 * c * (x[1] - 3 * x[0] ** 2) + 2, -4 * c * x[0]], [-4 * c * x[0], 2 * c]])

        result = find_minima(
            lambda x: c * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [(-2, 2)] * 2, jac=jac, hess=hess, rng=seed,
            maxfev=4000,
        )  # fmt: skip
        (mode,) = result.modes
        np.testing.assert_allclose(mode.x, [1.0, 1.0], atol=1e-3)

    def test_a_point_on_a_sloping_crease_is_no_minimum(self):
        result = find_minima(
            lambda x: 3 * abs(x[0] + x[1] - 0.9) + abs(x[0] - x[1] + 0.3), [(0, 1)] * 2, rng=3, maxfev=3000
        )
        assert all(mode.fun < 1e-3 for mode in result.modes)
