"""Linear models of equations: Newton's steps, steps within a radius and bounds, and Broyden's update."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from allmodes.objective.bounds import Box
from allmodes.search.searchers.roots.steps import Newton, bounded, is_regular, updated

RNG = np.random.default_rng(4)
BOX = Box.make([(0, 1)] * 3)
FAR = np.full(5, 1e6)


def systems(n=5, d=3):
    return RNG.standard_normal((n, d, d)), RNG.standard_normal((n, d))


def test_newton_takes_the_model_to_zero():
    J, F = systems()
    newton = Newton.of(J, F)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", J, newton.step), -F, atol=1e-9)
    np.testing.assert_allclose(newton.left, 0.0, atol=1e-12)
    assert not newton.has_arrived(1e-6).any()
    assert Newton.of(J, 1e-12 * F).has_arrived(1e-6).all()


def test_along_a_curve_of_roots_only_what_is_across_counts():
    """x + y = 1, twice: at a point of the line nothing is left to go, though F is rounding."""
    J = np.array([[[1.0, 1.0], [1.0, 1.0]]])
    on, off = np.array([[1e-17, 2e-17]]), np.array([[0.2, 0.2]])
    assert Newton.of(J, on).has_arrived(1e-6).all()
    step = Newton.of(J, off)
    assert not step.has_arrived(1e-6).any()
    np.testing.assert_allclose(step.determined, [[-0.1, -0.1]])


@pytest.mark.parametrize(("least", "expected"), [(1.0, True), (1e-3, True), (1e-7, False), (0.0, False)])
def test_regular_is_said_by_the_least_singular_value(least, expected):
    U, _, Vt = np.linalg.svd(RNG.standard_normal((3, 3)))
    assert is_regular(U @ np.diag([1.0, 0.5, least]) @ Vt) is expected


def test_a_coordinate_that_a_bound_stops_lets_the_others_make_the_best_of_it():
    J = np.array([[[1.0, 0.2, 0.0], [0.3, 1.0, 0.1], [0.0, 0.2, 1.0]]])
    F, point = np.array([[-0.9, 0.1, 0.05]]), np.full((1, 3), 0.5)  # beyond the upper bound of the first
    found = bounded(BOX, point, J, F, Newton.of(J, F).step, FAR[:1])[0]
    best = lsq_linear(J[0], -F[0], bounds=(-point[0], 1.0 - point[0]))
    np.testing.assert_allclose(found, best.x, atol=1e-6)
    assert found[0] == 0.5


def test_steps_stay_within_the_radius_and_gain():
    J, F = systems()
    point, radius = np.full((5, 3), 0.5), np.full(5, 0.05)
    found = bounded(BOX, point, J, F, Newton.of(J, F).step, radius)
    assert (np.linalg.norm(found, axis=1) <= 0.05 * (1 + 1e-6)).all()
    left = np.linalg.norm(F + np.einsum("nij,nj->ni", J, found), axis=1)
    assert (left < np.linalg.norm(F, axis=1)).all()


def test_short_newton_steps_are_taken_as_they_are():
    J, F = systems()
    newton = Newton.of(J, 1e-3 * F).step
    newton *= 1e-2 / np.abs(newton).max()
    np.testing.assert_array_equal(bounded(BOX, np.full((5, 3), 0.5), J, F, newton, FAR), newton)


def test_an_updated_jacobian_tells_the_last_step_and_leaves_the_rest():
    J, s = systems()
    true = J + RNG.standard_normal(J.shape)
    missed = np.einsum("nij,nj->ni", true - J, s)
    new = updated(J, s, missed)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", new - true, s), 0.0, atol=1e-9)
    across = np.cross(s, RNG.standard_normal((5, 3)))
    np.testing.assert_allclose(np.einsum("nij,nj->ni", new - J, across), 0.0, atol=1e-9)
