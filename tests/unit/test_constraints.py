"""Constraints as users give them, and what the search sees of them."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_matrix

from allmodes import find_minima
from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.objective.constraints_given import parts_of

BOX = Box.make([(-2.0, 2.0)] * 2)
POINTS = np.array([[0.25, 0.5], [0.75, 0.9]])  # in units: (-1, 0) and (1, 1.6)


def made(given, vectorized=False, **options):
    constraints = Constraints.make(given, BOX, vectorized, **options)
    assert constraints is not None
    return constraints


# ---- every kind


SQUARES = {
    "nonlinear": NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0),
    "with jac": NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0, jac=lambda x: 2 * x),
    "with hess": NonlinearConstraint(
        lambda x: x @ x, -np.inf, 1.0, jac=lambda x: 2 * x, hess=lambda x, v: 2 * v[0] * np.eye(2)
    ),
    "sparse jac": NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0, jac=lambda x: csr_matrix(2 * x)),
    "old": {"type": "ineq", "fun": lambda x: 1 - x @ x},
    "old with args": {"type": "INEQ", "fun": lambda x, r: r - x @ x, "jac": lambda x, r: -2 * x, "args": (1.0,)},
    "old with one arg": {"type": "ineq", "fun": lambda x, r: r - x @ x, "args": 1.0},
    "a list": [NonlinearConstraint(lambda x: [x @ x], -np.inf, [1.0])],
}  # fmt: skip


@pytest.mark.parametrize("name", SQUARES)
def test_every_kind_says_the_same(name):
    constraints, point = made(SQUARES[name]), POINTS[1]
    reference = made(SQUARES["nonlinear"])
    assert constraints.m == 1
    assert constraints.is_feasible(POINTS).tolist() == [True, False]
    assert constraints.violation(POINTS) == pytest.approx(reference.violation(POINTS))
    assert constraints.rows(point) == pytest.approx(reference.rows(point))
    assert constraints.jacobian(point) == pytest.approx(reference.jacobian(point), rel=1e-6)
    assert constraints.curvature(point, np.ones(1)) == pytest.approx(reference.curvature(point, np.ones(1)), rel=1e-4)
    exact = -2.0 * 16.0 * np.eye(2) / constraints.scale[0]  # of 1 - x^2, by units of which four are one
    assert constraints.curvature(point, np.ones(1)) == pytest.approx(exact, rel=1e-4, abs=1e-6)


def test_linear_constraints_have_rows_for_both_sides_and_may_be_sparse():
    A = [[1.0, 1.0], [1.0, -1.0]]
    for matrix in (A, csr_matrix(A)):
        constraints = made(LinearConstraint(matrix, [-1.0, 0.5], [1.0, 0.5]))
        assert (constraints.m, len(constraints.index)) == (2, 3)
        assert constraints.index.tolist() == [0, 0, 1]
        assert constraints.is_equality.tolist() == [False, False, True]
        J = constraints.jacobian(POINTS[0]) * constraints.scale[constraints.index][:, None]
        assert pytest.approx(4.0 * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])) == J
        assert not constraints.curvature(POINTS[0], np.ones(3)).any()


def test_functions_of_many_points_say_the_same_as_those_of_one():
    many = made(NonlinearConstraint(lambda x: np.stack([x[:, 0] ** 2, x[:, 1]], axis=1), -np.inf, 1.0), vectorized=True)
    single = made(NonlinearConstraint(lambda x: [x[0] ** 2, x[1]], -np.inf, 1.0))
    assert many.values(POINTS) == pytest.approx(single.values(POINTS))
    assert many.jacobian(POINTS[1]) == pytest.approx(single.jacobian(POINTS[1]))


def test_no_constraint_is_none():
    assert Constraints.make(None, BOX) is None
    assert Constraints.make([], BOX) is None


# ---- what is feasible


def test_a_feasible_point_may_violate_a_constraint_by_a_share_of_its_scale():
    sloped = LinearConstraint([[1000.0, 0.0]], -np.inf, 0.0)
    for feasibility, allowed in ((1e-8, False), (1e-2, True)):
        constraints = made(sloped, feasibility=feasibility)
        assert constraints.scale[0] == pytest.approx(1000.0, rel=0.2)  # the median distance from the bound
        assert constraints.is_feasible(np.array([[0.5 + 1e-3, 0.5]])).tolist() == [allowed]
    assert made(sloped).is_feasible(np.array([[0.5 + 1e-10, 0.5]])).all()


def test_what_is_kept_has_no_tolerance():
    kept = made(LinearConstraint([[1.0, 0.0]], -np.inf, 0.0, keep_feasible=True))
    beside = np.array([[0.5, 0.5], [0.5 + 1e-12, 0.5]])
    assert kept.is_allowed(beside).tolist() == [True, False]
    assert kept.is_feasible(beside).tolist() == [True, False]
    free = made(LinearConstraint([[1.0, 0.0]], -np.inf, 0.0))
    assert free.is_allowed(np.array([[0.9, 0.5]])).all()
    assert 0.0 < free.margin[0] < 1e-12 < kept.margin[0] < 1e-8


def test_where_a_constraint_fails_nothing_is_feasible():
    def fails(x):
        if x[0] > 0.0:
            raise ArithmeticError("undefined")
        return 1.0

    constraints = made({"type": "ineq", "fun": fails})
    assert constraints.is_feasible(POINTS).tolist() == [True, False]
    assert constraints.violation(POINTS)[1] == np.inf
    assert constraints.rows(POINTS[1])[0] < -1.0
    assert np.isfinite(constraints.jacobian(POINTS[1])).all()


def test_evaluations_are_counted_and_the_last_one_is_known():
    constraints = made(SQUARES["nonlinear"])
    constraints.taken()
    constraints.rows(POINTS[0])
    constraints.rows(POINTS[0])
    assert (constraints.taken(), constraints.taken()) == (1, 0)
    constraints.forget()
    constraints.rows(POINTS[0])
    assert constraints.taken() == 1


# ---- errors

BALL = NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, "constraints is 3"),
        (lambda x: x, TypeError, "wanted a scipy.optimize.LinearConstraint"),
        ([BALL, "x > 0"], TypeError, r"constraints\[1\] is 'x > 0'"),
        (Bounds([0, 0], [1, 1]), TypeError, "pass them as bounds"),
        ({"type": "ineq", "fun": 3}, TypeError, "the fun of constraints is 3"),
        ({"type": "less", "fun": BALL.fun}, ValueError, "the type of constraints is 'less'"),
        ({"type": "ineq", "fun": BALL.fun, "lb": 0}, ValueError, "has the key 'lb'"),
        (LinearConstraint(np.ones((1, 3)), 0, 1), ValueError, r"shape \(1, 3\) for 2 coordinates; wanted \(m, 2\)"),
        (LinearConstraint([[np.inf, 1.0]], 0, 1), ValueError, "A of constraints contains inf"),
        (NonlinearConstraint(BALL.fun, np.nan, 1.0), ValueError, "the lb of constraints is nan"),
        (NonlinearConstraint(BALL.fun, "a", 1.0), TypeError, "the lb of constraints is 'a'"),
        (
            NonlinearConstraint(BALL.fun, [0.0, 0.0], 1.0),
            ValueError,
            "the lb of constraints has 2 entries and its fun 1",
        ),
        (NonlinearConstraint(BALL.fun, 2.0, 1.0), ValueError, "lb 2 above ub 1 in row 0"),
        (NonlinearConstraint(lambda x: [[1.0]], 0.0, 1.0), ValueError, r"returned shape \(1, 1\)"),
        (NonlinearConstraint(lambda x: 1 / 0, 0.0, 1.0), ValueError, "failed at all of 64 points"),
    ],
)
def test_what_is_wrong_is_named(given, error, message):
    with pytest.raises(error, match=message):
        made(given)


def test_shapes_of_vectorised_functions_are_checked():
    with pytest.raises(ValueError, match="it is vectorised with the objective"):
        made(NonlinearConstraint(lambda x: np.ones(3), 0.0, 1.0), vectorized=True)


def test_a_jacobian_of_another_shape_is_refused():
    constraints = made(NonlinearConstraint(BALL.fun, 0.0, 1.0, jac=lambda x: np.ones(3)))
    with pytest.raises(ValueError, match=r"the jac of constraints has shape \(3,\); wanted \(1, 2\)"):
        constraints.jacobian(POINTS[0])


def test_a_function_that_changes_its_shape_is_refused():
    constraints = made(NonlinearConstraint(lambda x: np.ones(1 if x[0] < 1.9999 else 2), 0.0, 2.0))
    with pytest.raises(ValueError, match="wanted always the same"):
        constraints.values(np.array([[1.0, 0.5]]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "anneal"}, 'constraints are given and method is "anneal"'),
        ({"integrality": True}, "constraints are given beside"),
        ({"symmetry": [[0], [1]]}, "constraints are given beside"),
    ],
)
def test_what_does_not_go_with_constraints_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        find_minima(lambda x: x @ x, [(-2, 2)] * 2, constraints=BALL, **settings)


def test_parts_have_names_that_messages_use():
    names = [part.name for part in parts_of([BALL, LinearConstraint([[1, 1]], 0, 1)], False, 2)]
    assert names == ["constraints[0]", "constraints[1]"]
    assert parts_of(BALL, False, 2)[0].name == "constraints"
