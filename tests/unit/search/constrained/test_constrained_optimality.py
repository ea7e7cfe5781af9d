"""What holds a point: active rows, multipliers with signs, and the directions that are left."""

import numpy as np
import pytest
from constrained_runs import CIRCLE, DISC, MIDDLE, constraints_of
from scipy.optimize import LinearConstraint

from allmodes.search.searchers.constrained.optimality import curvature_from_values, hold_of, pairs, tangent_of

RIGHT = MIDDLE + np.array([0.3, 0.0])


def test_a_constraint_that_is_pushed_against_holds():
    constraints = constraints_of(DISC)
    hold = hold_of(constraints, RIGHT, np.array([-1.0, 0.0]))
    assert hold.active.all()
    assert hold.held.all()
    assert hold.multipliers[0] > 0.0
    assert np.abs(hold.residual).max() < 1e-11
    assert np.abs(hold.tangent[:, 0]) == pytest.approx([0.0, 1.0])
    J = constraints.jacobian(RIGHT)
    assert J.T @ hold.multipliers == pytest.approx([-1.0, 0.0], abs=1e-9)


def test_a_constraint_that_is_pulled_from_does_not():
    hold = hold_of(constraints_of(DISC), RIGHT, np.array([1.0, 0.0]))
    assert hold.active.all()
    assert not hold.held.any()
    assert hold.residual == pytest.approx([1.0, 0.0])
    assert hold.tangent.shape == (2, 2)


def test_an_equality_holds_either_way():
    for sign in (1.0, -1.0):
        hold = hold_of(constraints_of(CIRCLE), RIGHT, np.array([sign, 0.0]))
        assert hold.held.all()
        assert np.sign(hold.multipliers[0]) == sign
        assert np.abs(hold.residual).max() < 1e-11


def test_pushes_below_the_floor_hold_nothing():
    push = np.array([-1e-12, 0.0])
    assert hold_of(constraints_of(DISC), RIGHT, push).held.all()
    assert not hold_of(constraints_of(DISC), RIGHT, push, floor=1e-9).held.any()


def test_bounds_hold_beside_constraints():
    corner = np.array([0.0, 0.5])
    hold = hold_of(constraints_of(LinearConstraint([[0.0, 1.0]], -np.inf, 0.5)), corner, np.array([2.0, -1.0]))
    assert hold.at_bounds.tolist() == [True, False]
    assert hold.held.all()
    assert hold.tangent.shape == (2, 0)


def test_redundant_rows_leave_the_directions_that_they_leave():
    normals = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert tangent_of(normals, np.zeros(3, bool)).shape == (3, 2)
    assert tangent_of(np.zeros((0, 3)), np.zeros(3, bool)) == pytest.approx(np.eye(3))


def test_curvature_from_values_is_that_of_a_quadratic_function():
    A, g, h = np.array([[2.0, 0.5], [0.5, -1.0]]), np.array([0.3, -0.2]), 1e-3
    eye = np.eye(2)
    steps = h * np.array([*eye, *-eye, *(eye[i] + eye[j] for i, j in pairs(2))])
    slopes, bends = curvature_from_values(1.0, np.array([1.0 + g @ s + 0.5 * s @ A @ s for s in steps]), 2, h)
    assert slopes == pytest.approx(g, abs=1e-9)
    assert bends == pytest.approx(A, abs=1e-6)


def test_where_many_multipliers_would_do_all_that_may_hold_do():
    """At a corner of a simplex the upper bound alone explains the slope, but it leaves directions that are barred."""
    simplex = constraints_of(LinearConstraint(np.ones((1, 3)), 1.0, 1.0), [(0.0, 1.0)] * 3)
    hold = hold_of(simplex, np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -2.0]))
    assert hold.tangent.shape == (3, 0)
    assert hold.at_bounds.all()
    assert np.abs(hold.residual).max() < 1e-9
