"""Small quadratic programmes, compared with SciPy's solver."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from allmodes.search.searchers.constrained.quadratic import Model, best_within, convex

SEEDS = range(12)


def programme(seed, d=4, m=6):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return A @ A.T + 0.1 * np.eye(d), rng.normal(size=d), rng.normal(size=(m, d)), rng.normal(size=m) - 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_convex_programme_is_solved(seed):
    B, g, G, h = programme(seed)
    found = convex(B, g, G, h)
    assert found is not None
    s, multipliers = found
    assert (G @ s - h).min() > -1e-8
    assert multipliers.min() > -1e-8
    assert g + B @ s == pytest.approx(G.T @ multipliers, abs=1e-8)
    expected = minimize(
        lambda x: g @ x + 0.5 * x @ B @ x, np.zeros(4), jac=lambda x: g + B @ x, method="trust-constr",
        constraints=LinearConstraint(G, h, np.inf), options={"gtol": 1e-9},
    ).fun  # fmt: skip
    assert g @ s + 0.5 * s @ B @ s == pytest.approx(expected, abs=1e-4)


def test_without_active_rows_it_is_the_step_of_newton():
    s, multipliers = convex(2.0 * np.eye(2), np.array([-2.0, 4.0]), np.eye(2), np.array([-9.0, -9.0]))
    assert s == pytest.approx([1.0, -2.0])
    assert not multipliers.any()


def test_contradictions_and_singular_matrices_have_no_solution():
    G, h = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0])
    assert convex(np.eye(2), np.zeros(2), G, h) is None
    assert convex(np.zeros((2, 2)), np.ones(2), np.eye(2), np.zeros(2)) is None


def disc(u):
    return np.array([1.0 - u @ u]), -2.0 * u[None]


@pytest.mark.parametrize(("hessian", "gradient"), [(np.zeros((2, 2)), [3.0, 4.0]), (np.eye(2), [3.0, 4.0])])
def test_a_bent_row_is_followed(hessian, gradient):
    sides = np.array([[-2.0, -2.0], [2.0, 2.0]])
    u = best_within(Model(np.array(gradient), hessian, sides), disc, np.zeros(1, bool), np.zeros(2), 1e-10)
    assert u == pytest.approx([-0.6, -0.8], abs=1e-3)


def test_an_equality_and_a_side_hold_together():
    sides = np.array([[-0.5, -2.0], [2.0, 2.0]])
    u = best_within(
        Model(np.array([1.0, 0.0]), np.zeros((2, 2)), sides), disc, np.ones(1, bool), np.array([0.0, 1.0]), 1e-10
    )
    assert u == pytest.approx([-0.5, np.sqrt(0.75)], abs=1e-3)


def test_negative_curvature_ends_at_a_side():
    model = Model(np.array([-0.1, 0.0]), -np.eye(2), np.array([[-1.0, -0.0], [1.0, 0.0]]))
    u = best_within(model, lambda u: (np.zeros(0), np.zeros((0, 2))), np.zeros(0, bool), np.zeros(2), 1e-10)
    assert u == pytest.approx([1.0, 0.0])


def test_open_sides_are_no_rows():
    model = Model(np.array([-1.0, 2.0]), np.eye(2), np.array([[-np.inf] * 2, [np.inf] * 2]))
    u = best_within(model, lambda u: (np.zeros(0), np.zeros((0, 2))), np.zeros(0, bool), np.zeros(2), 1e-10)
    assert u == pytest.approx([1.0, -2.0])
