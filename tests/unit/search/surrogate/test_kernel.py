"""Covariances and their derivatives, on a line and round a circle."""

import numpy as np
import pytest

from allmodes.search.searchers.surrogate.kernel import Kernel, wrapped


@pytest.mark.parametrize("turning", [(False, False, False), (True, False, True)])
def test_sums_have_the_derivatives_that_differences_see(turning):
    rng = np.random.default_rng(1)
    kernel = Kernel(np.array([0.3, 0.7, 0.4]), np.array(turning))
    x, others, weights, step = rng.random((4, 3)), rng.random((6, 3)), rng.normal(size=6), 1e-5
    value, gradient, hessian = kernel.sums(x, others, weights)
    np.testing.assert_allclose(value, kernel.values(x, others) @ weights, rtol=1e-12)
    for i in range(3):
        move = step * np.eye(3)[i]
        after, before = kernel.sums(x + move, others, weights), kernel.sums(x - move, others, weights)
        np.testing.assert_allclose((after[0] - before[0]) / (2 * step), gradient[:, i], atol=1e-7)
        np.testing.assert_allclose((after[1] - before[1]) / (2 * step), hessian[:, i], atol=1e-5)


def test_periodic_coordinates_are_the_same_a_turn_on():
    kernel = Kernel(np.array([0.3, 0.5]), np.array([True, False]))
    x, others = np.array([[0.95, 0.2]]), np.array([[0.05, 0.3]])
    np.testing.assert_allclose(kernel.values(x, others), kernel.values(x - [[1.0, 0.0]], others))
    straight = Kernel(np.array([0.3, 0.5]), np.array([False, False]))
    assert kernel.values(x, others)[0, 0] > 2 * straight.values(x, others)[0, 0]
    np.testing.assert_allclose(wrapped(np.array([0.5, 0.5]), np.array([True, False])), [1 / np.pi, 0.5])
