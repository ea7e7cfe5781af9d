"""The frame: sign, coordinates and size of values, there and back."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.objective.frame import Frame

BOX = Box.make([(-1, 3), (7, 7), (0, 10)])
POINTS = np.array([[0.5, 7.0, 2.0], [-1.0, 7.0, 10.0]])
both_signs = pytest.mark.parametrize("maximise", [False, True])


def fun(x):
    return x[..., 0] ** 3 + 2.0 * x[..., 0] * x[..., 2] + 0.1 * x[..., 2] ** 2 + x[..., 1]


def jac(x):
    return np.stack([3 * x[..., 0] ** 2 + 2 * x[..., 2], 1.0 + 0 * x[..., 0], 2 * x[..., 0] + 0.2 * x[..., 2]], axis=-1)


def hess(x):
    H = np.zeros((*x.shape, 3))
    H[..., 0, 0], H[..., 2, 2] = 6 * x[..., 0], 0.2
    H[..., 0, 2] = H[..., 2, 0] = 2.0
    return H


@both_signs
def test_inside_larger_is_better(maximise):
    inside = Frame(BOX, maximise).inward(fun(POINTS)).value
    np.testing.assert_array_equal(inside, fun(POINTS) if maximise else -fun(POINTS))


@both_signs
def test_derivatives_are_those_by_unit_coordinates(maximise):
    frame, z, step = Frame(BOX, maximise), BOX.to_unit(POINTS), 1e-4
    inside = frame.inward(fun(POINTS), jac(POINTS), hess(POINTS))

    def value(unit):
        return frame.inward(fun(BOX.to_user(unit))).value

    def gradient(unit):
        x = BOX.to_user(unit)
        return frame.inward(fun(x), jac(x)).gradient

    z = np.clip(z, step, 1 - step)  # for central differences
    inside = frame.inward(fun(BOX.to_user(z)), jac(BOX.to_user(z)), hess(BOX.to_user(z)))
    assert inside.gradient.shape == (2, 2)
    assert inside.hessian.shape == (2, 2, 2)
    for i, e in enumerate(step * np.eye(2)):
        np.testing.assert_allclose(inside.gradient[:, i], (value(z + e) - value(z - e)) / (2 * step), rtol=1e-5)
        np.testing.assert_allclose(inside.hessian[:, i], (gradient(z + e) - gradient(z - e)) / (2 * step), rtol=1e-5)


@both_signs
@pytest.mark.parametrize("size", [1.0, 1e300, 1e-300])
def test_there_and_back(maximise, size):
    frame = Frame(BOX, maximise)
    inside = frame.inward(size * fun(POINTS), size * jac(POINTS), size * hess(POINTS))
    np.testing.assert_allclose([frame.value(one) for one in inside.value], size * fun(POINTS), rtol=1e-15)
    gradient = size * jac(POINTS)
    gradient[:, 1] = 0.0  # the fixed coordinate has left the problem
    np.testing.assert_allclose(frame.gradient(inside.gradient), gradient, rtol=1e-14)
    np.testing.assert_allclose(frame.hessian(inside.hessian), size * hess(POINTS), rtol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@both_signs
def test_what_failed_is_the_worst_there_is(bad, maximise):
    inside = Frame(BOX, maximise).inward(np.array([bad, 2.0])).value
    assert inside[0] == -np.inf
    assert np.isfinite(inside[1])


def test_the_users_arrays_are_left_alone():
    values = np.array([np.nan, 2.0])
    Frame(BOX, True).inward(values)
    assert np.isnan(values[0])


@pytest.mark.parametrize("size", [1e300, 1e-300, 1.7e308, 1e-310, 1e100])
def test_values_of_extraordinary_size_are_scaled_to_one(size):
    frame = Frame(BOX, True)
    inside = frame.inward(np.array([size, 0.1 * size])).value
    assert 1e-3 < inside[0] < 4.0  # the smallest numbers cannot be raised to one by a power of two
    assert np.frexp(frame.factor)[0] == 0.5  # a power of two: nothing is rounded
    assert np.isfinite(inside**4).all()


@pytest.mark.parametrize("size", [1.0, 1e-50, 1e50, -3.0])
def test_ordinary_values_are_left_as_they_are(size):
    frame = Frame(BOX, True)
    assert frame.inward(np.array([size])).value[0] == size
    assert frame.factor == 1.0


def test_the_first_values_that_say_something_set_the_size_for_good():
    frame = Frame(BOX, True)
    frame.inward(np.array([np.nan, 0.0, np.inf]))
    assert frame.factor == 0.0
    assert frame.value(3.0) == 3.0  # not yet known: as it is
    frame.inward(np.array([1e200, np.nan]))
    factor = frame.factor
    assert 0.0 < factor < 1e-190
    frame.inward(np.array([1e-5]))
    assert frame.factor == factor
