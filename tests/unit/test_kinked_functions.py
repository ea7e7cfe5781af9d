"""Functions that are not smooth: ridges, cones, penalties; every minimum, each once, and nothing else."""

import numpy as np
import pytest

from allmodes import ModeFinder, find_maxima, find_minima

WELLS = np.array([[-2.0, -2.0], [2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [0.0, 0.0]])


def cone(x):
    return np.sqrt(((x - [0.3, -0.7]) ** 2).sum(axis=-1))


def wells(x):
    return (np.abs(x[..., None, :] - WELLS).sum(axis=-1) + 0.1 * np.arange(len(WELLS))).min(axis=-1)


def squares(x):
    """Two coordinates that are plus or minus one, with a price on their sum; along its ridge is a saddle."""
    return ((x**2 - 1.0) ** 2).sum(axis=-1) + 0.2 * x.sum(axis=-1) + 3.0 * np.abs(x.sum(axis=-1))


def lasso(x):
    A, b = np.array([[1.0, 0.5, 0.2], [0.3, 1.0, 0.4], [0.1, 0.2, 1.0]]), np.array([1.0, 0.2, -0.5])
    return ((x @ A.T - b) ** 2).sum(axis=-1) + 0.6 * np.abs(x).sum(axis=-1)


def bent(x):
    """A ridge along a parabola, lowest at one point of it."""
    return 5.0 * np.abs(x[..., 1] - x[..., 0] ** 2) + (x[..., 0] - 0.5) ** 2


def penalty(x):
    """Himmelblau's function with a wall through its upper half."""
    a, b = x[..., 0], x[..., 1]
    return (a * a + b - 11.0) ** 2 + (a + b * b - 7.0) ** 2 + 60.0 * np.maximum(0.0, a + b - 1.0)


CASES = {
    "cone": (cone, [(-2, 2)] * 2, [[0.3, -0.7]], 1e-6),
    "wells": (wells, [(-5, 5)] * 2, WELLS, 1e-5),
    "squares": (squares, [(-2, 2)] * 2, [[-1.0, 1.0], [1.0, -1.0]], 1e-3),
    "lasso": (lasso, [(-3, 3)] * 3, [[0.71555, 0.0, -0.18376]], 1e-3),
    "bent": (bent, [(-2, 2)] * 2, [[0.5, 0.25]], 1e-2),
    "penalty": (penalty, [(-5, 5)] * 2, [[-2.805118, 3.131313], [3.3725, -2.3725], [-3.77931, -3.283186]], 2e-2),
}


def slopes(function, bounds):
    """Gradients of one side, inside the bounds."""
    upper = np.array(bounds, dtype=float)[:, 1]

    def jac(x):
        x = np.atleast_2d(x)
        steps = np.where(x + 1e-8 > upper, -1e-8, 1e-8)
        moved = x[:, None] + steps[:, :, None] * np.eye(x.shape[1])
        return (function(moved) - function(x)[:, None]) / steps

    return jac


def in_order(points):
    return np.array(sorted(np.round(np.atleast_2d(points), 2).tolist()))


@pytest.mark.parametrize("derivatives", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_every_minimum_is_found_once_and_nothing_else(name, derivatives):
    function, bounds, wanted, accuracy = CASES[name]
    given = {"jac": slopes(function, bounds)} if derivatives else {}
    result = find_minima(function, bounds, vectorized=True, rng=0, method="local", maxfev=12_000, **given)
    found = np.array([mode.x for mode in result.modes])
    assert len(found) == len(wanted)
    apart = np.abs(found[:, None] - np.asarray(wanted)).max(axis=2)
    assert sorted(apart.argmin(axis=1)) == list(range(len(wanted)))
    assert apart.min(axis=1).max() < accuracy
    assert {mode.kind for mode in result.modes} == {"minimum"}
    assert result.modes[0].is_global


@pytest.mark.parametrize("seed", range(1, 8))
def test_of_a_bent_ridge_no_other_point_is_taken_for_a_minimum(seed):
    function, bounds, (wanted,), accuracy = CASES["bent"]
    jac = slopes(function, bounds)
    result = find_minima(function, bounds, vectorized=True, rng=seed, method="local", maxfev=12_000, jac=jac)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.modes[0].x, wanted, atol=accuracy)


def test_minima_that_are_equal_are_all_global():
    result = find_minima(lambda x: float(np.abs(np.abs(x) - 1.0).sum()), [(-2, 2)] * 2, rng=0, maxfev=12_000)
    assert len(result.modes) == 4
    assert all(mode.is_global for mode in result.modes)


def test_maxima_keep_their_sign():
    result = find_maxima(lambda x: 2.0 - float(cone(x)), [(-2, 2)] * 2, rng=0, method="local", maxfev=5000)
    assert [mode.kind for mode in result.modes] == ["maximum"]
    assert result.fun == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.abs(x[..., 0]),
        lambda x: np.abs(x[..., 0] - x[..., 1]),
        lambda x: np.abs(np.sqrt((x**2).sum(axis=-1)) - 1.0),
    ],
)
def test_a_level_ridge_is_one_flat_mode(function, seed):
    result = find_minima(function, [(-2, 2)] * 2, vectorized=True, rng=seed, method="local", maxfev=6000)
    assert [mode.kind for mode in result.modes] == ["flat"]


def test_a_ridge_that_ends_at_a_bound():
    def function(x):
        return float(abs(x[0] - 2.5) + abs(x[1] - 0.2))

    result = find_minima(function, [(-2, 2)] * 2, rng=0, method="local", maxfev=6000)
    assert [mode.kind for mode in result.modes] == ["boundary"]
    np.testing.assert_allclose(result.x, [2.0, 0.2], atol=1e-4)


def test_points_of_a_cusp_are_not_taken_for_minima():
    """Along a ridge with the slope of a root nothing tells the lowest point from others."""

    def function(x):
        return 100.0 * np.sqrt(np.abs(x[..., 1] - 0.01 * x[..., 0] ** 2)) + 0.01 * np.abs(x[..., 0] + 10.0)

    result = find_minima(function, [(-15, -5), (-3, 3)], vectorized=True, rng=0, method="local", maxfev=8000)
    assert not result.modes


def test_a_search_over_kinks_goes_on_exactly_where_it_was_saved(tmp_path):
    function, bounds, *_ = CASES["wells"]

    def run(finder, rounds):
        for _ in range(rounds):
            points = finder.ask()
            finder.tell(points, function(points))
        return finder

    whole = run(ModeFinder(bounds, rng=0), 120)
    begun = run(ModeFinder(bounds, rng=0), 40)
    assert len(begun._driver.state.search.local.quasi_newton.table)
    begun.save(tmp_path / "search.npz")
    resumed = run(ModeFinder.load(tmp_path / "search.npz"), 80)
    assert resumed.nfev == whole.nfev
    np.testing.assert_array_equal([m.x for m in resumed.result.modes], [m.x for m in whole.result.modes])


@pytest.mark.parametrize("power", [1 / 3, 0.5, 0.8])
def test_cusps_of_one_coordinate_are_minima(power):
    """In more coordinates nothing tells them from ridges; here values on both sides do."""

    def cusps(x):
        return min(abs(x[0] - 0.3) ** power, 0.1 + abs(x[0] + 1.2) ** power)

    result = find_minima(cusps, [(-2, 2)], rng=0)
    assert sorted(round(float(mode.x[0]), 4) for mode in result.modes if mode.kind == "minimum") == [-1.2, 0.3]


@pytest.mark.parametrize("seed", range(3))
def test_a_cusp_that_most_searches_step_over_is_awaited_from_the_one_that_does_not(seed):
    """Its basin is two first steps wide; the searches that end there take much longer than the others."""
    found = find_minima(lambda x: float(np.sqrt(abs(x[0] - 0.3)) + 0.5 * np.cos(5 * x[0])), [(-2, 2)], rng=seed)
    assert [mode.kind for mode in found.modes] == ["minimum"] * 5
    assert found.modes[0].x == pytest.approx([0.3], abs=1e-5)
    assert found.nfev < 5000
