"""Derivatives from differences: exact for quadratics, inside the box, and wary of kinks."""

import numpy as np
import pytest

from allmodes.strategy import differences

RNG = np.random.default_rng(0)
D = 3
A = RNG.normal(size=(D, D))
A = A + A.T
B = RNG.normal(size=D)
LOWER, UPPER = np.zeros(D), np.ones(D)
PLACES = np.array([[0.5, 0.4, 0.3], [0.0, 1.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1e-9, 1.0 - 1e-9, 5e-4]])


def quadratic(x):
    return 0.5 * np.einsum("...i,ij,...j->...", x, A, x) + x @ B + 2.0


def slope(x):
    return x @ A + B


def is_inside(points):
    return (points >= LOWER).all() and (points <= UPPER).all()


@pytest.mark.parametrize("size", [1e-7, 1e-3])
def test_gradients_are_those_of_the_function_and_stay_inside(size):
    steps = differences.inward(PLACES, np.full_like(PLACES, size), LOWER, UPPER)
    moved = differences.gradient_points(PLACES, steps)
    assert moved.shape == (len(PLACES), D, D)
    assert is_inside(moved)
    found = differences.gradient(PLACES, quadratic(PLACES), moved, quadratic(moved))
    bias = 0.5 * (moved[:, range(D), range(D)] - PLACES) * np.diag(A)
    np.testing.assert_allclose(found - bias, slope(PLACES), atol=1e-8 if size < 1e-5 else 1e-10)


def test_a_step_is_what_floating_point_made_of_it():
    """1e-7 beside 1000 is off by a relative 4e-7; the step that was made is what divides."""
    point = np.array([[1000.0]])
    moved = differences.gradient_points(point, np.full((1, 1), 1e-7))
    assert moved[0, 0, 0] - 1000.0 != 1e-7
    slope = differences.gradient(point, np.zeros(1), moved, 3.0 * (moved[..., 0] - 1000.0))
    assert slope[0, 0] == pytest.approx(3.0, rel=1e-14)


def test_steps_turn_inward_at_the_upper_bound_alone():
    steps = differences.inward(np.array([[0.0, 0.5, 1.0]]), np.full((1, 3), 0.1), LOWER, UPPER)
    np.testing.assert_array_equal(steps, [[0.1, 0.1, -0.1]])


@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.1])
def test_curvature_is_exact_for_quadratics_at_the_bounds_too(size):
    steps = np.full_like(PLACES, size)
    moved = differences.curvature_points(PLACES, steps, LOWER, UPPER)
    assert moved.shape == (len(PLACES), differences.curvature_size(D), D)
    assert is_inside(moved)
    found = differences.curvature(PLACES, quadratic(PLACES), moved, quadratic(moved))
    np.testing.assert_allclose(found, np.broadcast_to(A, found.shape), atol=2e-15 / size**2 + 1e-9)
    np.testing.assert_array_equal(found, found.mT)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_number_of_points_is_that_of_the_coefficients(d):
    """Value and gradient are known: a quadratic in d coordinates has d + d (d + 1) / 2 further coefficients."""
    middle = np.full((2, d), 0.5)
    moved = differences.curvature_points(middle, np.full((2, d), 1e-3), np.zeros(d), np.ones(d))
    assert moved.shape[1] == differences.curvature_size(d) == d + d * (d + 1) // 2


def test_hessians_from_gradients():
    steps = differences.inward(PLACES, np.full_like(PLACES, 1e-4), LOWER, UPPER)
    moved = differences.gradient_points(PLACES, steps)
    found = differences.hessian_of_gradients(PLACES, slope(PLACES), moved, slope(moved))
    np.testing.assert_allclose(found, np.broadcast_to(A, found.shape), atol=1e-9)
    np.testing.assert_array_equal(found, found.mT)


FUNCTIONS = {
    "parabola": (lambda x: ((x - 0.4) ** 2).sum(axis=-1), False),
    "cosine": (lambda x: np.cos(5.0 * x).sum(axis=-1), False),
    "level": (lambda x: 0.0 * x[..., 0] + 3.0, False),
    "linear": (lambda x: x.sum(axis=-1), False),
    "kink": (lambda x: np.abs(x - 0.5).sum(axis=-1), True),
    "kink with a slope": (lambda x: np.abs(x - 0.5).sum(axis=-1) + 0.5 * x[..., 0], True),
    "jump": (lambda x: np.where(x[..., 0] > 0.5 + 1e-5, 1.0, 0.0), True),
    "not a number": (lambda x: np.where(x[..., 0] > 0.5 + 1e-5, np.nan, 0.0), True),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.parametrize("side", [0.0, 1e-6])
def test_kinks_and_jumps_are_seen(name, side):
    function, is_rough = FUNCTIONS[name]
    point = np.full((1, 2), 0.5 + side)
    lower, upper = np.zeros(2), np.ones(2)
    near = differences.gradient_points(point, np.full((1, 2), differences.GRADIENT_STEP))
    gradient = differences.gradient(point, function(point), near, function(near))
    moved = differences.curvature_points(point, np.full((1, 2), 1e-3), lower, upper)
    found = differences.is_rough(point, function(point), gradient, moved, function(moved), 1e-11)
    assert found.tolist() == [is_rough]


def test_one_kink_among_many_points_is_told_apart():
    points = np.array([[0.2], [0.5], [0.8]])
    moved = differences.curvature_points(points, np.full((3, 1), 1e-3), np.zeros(1), np.ones(1))

    def function(x):
        return np.abs(x[..., 0] - 0.5)

    gradient = np.array([[-1.0], [1.0], [1.0]])
    rough = differences.is_rough(points, function(points), gradient, moved, function(moved), 1e-11)
    assert rough.tolist() == [False, True, False]
