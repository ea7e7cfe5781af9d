"""Strict minima in narrow valleys, level valleys, and minima of high order: each listed once, as what it is."""

import numpy as np
import pytest

from allmodes import find_minima

SQUARE = [(-2.0, 2.0)] * 2
ORDERS = {"values": 0, "jac": 1, "hess": 2}


def search(functions, bounds, order, **settings):
    """A search with as many derivatives as its order, of functions that are value, gradient and Hessian."""
    fun, *derivatives = functions
    given = dict(zip(("jac", "hess"), derivatives[:order], strict=False))
    return find_minima(fun, bounds, **given, **settings)


# ---- narrow valleys


def bent(steepness, x_min):
    """A valley along a parabola, lowest at one point of it."""

    def fun(x):
        return steepness * (x[1] - x[0] ** 2) ** 2 + (x_min - x[0]) ** 2

    def jac(x):
        across = 2.0 * steepness * (x[1] - x[0] ** 2)
        return np.array([-2.0 * x[0] * across - 2.0 * (x_min - x[0]), across])

    def hess(x):
        mixed = -4.0 * steepness * x[0]
        return np.array([[-4.0 * steepness * (x[1] - 3.0 * x[0] ** 2) + 2.0, mixed], [mixed, 2.0 * steepness]])

    return fun, jac, hess


def rotated(condition, center=(0.3, -0.2)):
    """A quadratic whose axes are not those of the box."""
    axes = np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    A = axes @ np.diag([1.0, condition]) @ axes.T
    return lambda x: float((x - center) @ A @ (x - center)), lambda x: 2.0 * A @ (x - center), lambda x: 2.0 * A


@pytest.mark.parametrize("seed", range(5))
def test_of_a_bent_valley_the_lowest_point_alone_is_a_minimum(seed):
    result = search(bent(1e5, 1.0), SQUARE, 2, rng=seed)
    assert [mode.kind for mode in result.modes] == ["minimum"]
    np.testing.assert_allclose(result.modes[0].x, 1.0, atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8])
def test_a_quadratic_of_any_condition_has_a_minimum(condition, order):
    result = search(rotated(condition), SQUARE, ORDERS[order], rng=0, maxfev=500)
    assert [mode.kind for mode in result.modes] == ["minimum"]
    np.testing.assert_allclose(result.modes[0].x, [0.3, -0.2], atol=1e-5)


@pytest.mark.parametrize(
    ("order", "steepness", "maxfev"),
    [("values", 1e4, 2000), ("jac", 1e4, 1000), ("jac", 1e6, 4000), ("hess", 1e7, 6000)],
)
def test_a_bent_valley_has_a_minimum_however_narrow_it_is(order, steepness, maxfev):
    result = search(bent(steepness, 0.5), SQUARE, ORDERS[order], rng=3, maxfev=maxfev)
    assert [mode.kind for mode in result.modes] == ["minimum"]
    np.testing.assert_allclose(result.modes[0].x, [0.5, 0.25], atol=1e-4)


def test_from_values_a_valley_of_a_million_is_nothing_false_and_often_a_minimum():
    """Some seeds find it, others end in the valley: it is called flat there, or nothing at all."""
    results = [search(bent(1e6, 0.5), SQUARE, 0, rng=seed, maxfev=8000) for seed in (0, 2, 4)]
    minima = [mode for result in results for mode in result.modes if mode.kind == "minimum"]
    assert len(minima) >= 1
    np.testing.assert_allclose([mode.x for mode in minima], [[0.5, 0.25]] * len(minima), atol=1e-4)


# ---- level valleys


def ring():
    def hess(x):
        return 4.0 * (x @ x - 1.0) * np.eye(2) + 8.0 * np.outer(x, x)

    return lambda x: float((x @ x - 1.0) ** 2), lambda x: 4.0 * (x @ x - 1.0) * x, hess


def sine():
    def off(x):
        return x[1] - np.sin(2.0 * x[0])

    def slope(x):
        return np.array([-2.0 * np.cos(2.0 * x[0]), 1.0])

    def hess(x):
        return 2.0 * np.outer(slope(x), slope(x)) + 8.0 * off(x) * np.diag([np.sin(2.0 * x[0]), 0.0])

    return lambda x: float(off(x) ** 2), lambda x: 2.0 * off(x) * slope(x), hess


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("valley", [ring, sine])
def test_a_level_valley_is_one_flat_mode(valley, order, seed):
    result = search(valley(), SQUARE, ORDERS[order], rng=seed, maxfev=3000)
    assert [mode.kind for mode in result.modes] == ["flat"]


# ---- minima of high order


def powers(n):
    """(x^2 - 1)^n with its derivatives."""

    def hess(x):
        inner = x[0] ** 2 - 1.0
        return np.array([[2.0 * n * inner ** (n - 1) + 4.0 * n * (n - 1) * x[0] ** 2 * inner ** (n - 2)]])

    return lambda x: (x[0] ** 2 - 1.0) ** n, lambda x: 2.0 * n * x * (x[0] ** 2 - 1.0) ** (n - 1), hess


@pytest.mark.parametrize(
    ("n", "order", "upper", "seeds"), [(6, "hess", 2.2, 4), (4, "jac", 2.0, 4), (4, "jac", 2.3, 4)]
)
def test_minima_of_high_order_are_each_listed_once(n, order, upper, seeds):
    for seed in range(seeds):
        result = search(powers(n), [(-2.0, upper)], ORDERS[order], rng=seed)
        np.testing.assert_allclose(sorted(mode.x[0] for mode in result.modes), [-1.0, 1.0], atol=1e-2)
        assert all(mode.is_global for mode in result.modes)
