"""What is solved without the objective."""

import numpy as np
import pytest
from constrained_runs import CIRCLE, DISC, MIDDLE, constraints_of
from scipy.optimize import LinearConstraint

from allmodes.search.searchers.constrained import subproblem
from allmodes.search.searchers.constrained.subproblem import (
    best_of_model,
    extreme,
    least_violated,
    nearest_feasible,
    restored,
)


def test_the_nearest_point_of_a_disc():
    constraints, start = constraints_of(DISC), np.array([0.9, 0.5])
    assert nearest_feasible(constraints, start) == pytest.approx([0.8, 0.5], abs=1e-6)
    inside = np.array([0.4, 0.55])
    assert nearest_feasible(constraints, inside) == pytest.approx(inside, abs=0.0)


def test_the_nearest_point_of_a_circle():
    found = nearest_feasible(constraints_of(CIRCLE), np.array([0.6, 0.6]))
    assert found == pytest.approx(MIDDLE + 0.3 / np.sqrt(2.0), abs=1e-6)


def test_no_point_of_an_empty_set_is_near_and_the_least_violated_one_is_known():
    empty = constraints_of([LinearConstraint([[1.0, 1.0]], -np.inf, 0.5), LinearConstraint([[1.0, 1.0]], 1.5, np.inf)])
    assert nearest_feasible(empty, MIDDLE) is None
    assert least_violated(empty, np.array([0.1, 0.2])).sum() == pytest.approx(1.0, abs=0.2)


def test_the_least_violated_point_survives_a_solver_that_fails(monkeypatch):
    import scipy.optimize

    def fails(*args, **keywords):
        raise ValueError("not within the trust region")

    monkeypatch.setattr(scipy.optimize, "least_squares", fails)
    assert least_violated(constraints_of(DISC), np.array([1.2, 0.5])) == pytest.approx([1.0, 0.5])


def test_a_point_beside_the_constraints_is_restored_exactly():
    constraints = constraints_of(CIRCLE)
    found = restored(constraints, MIDDLE + np.array([0.31, 0.02]))
    assert constraints.violation(found[None])[0] < 1e-12
    held = restored(constraints_of(DISC), MIDDLE + np.array([0.29, 0.0]), np.ones(1, bool))
    assert held == pytest.approx([0.8, 0.5], abs=1e-9)


def test_the_best_of_a_model_is_feasible_and_within_the_radius():
    constraints, point, g = constraints_of(DISC), MIDDLE + np.array([0.25, 0.0]), np.array([-1.0, -0.2])
    found, change = best_of_model(constraints, point, g, np.zeros((2, 2)), 0.1)
    assert change < 0.0
    assert np.abs(found - point).max() <= 0.1 + 1e-12
    assert constraints.is_feasible(found[None]).all()
    assert g @ (found - point) == pytest.approx(change)


def test_what_the_small_solver_leaves_scipy_solves(monkeypatch):
    constraints, point, g = constraints_of(DISC), MIDDLE + np.array([0.25, 0.0]), np.array([-1.0, -0.2])
    found, _ = best_of_model(constraints, point, g, np.zeros((2, 2)), 0.1)
    monkeypatch.setattr(subproblem, "best_within", lambda *args: None)
    other, _ = best_of_model(constraints, point, g, np.zeros((2, 2)), 0.1)
    assert found == pytest.approx(other, abs=1e-4)


def test_the_extreme_point_of_a_disc_is_on_its_edge():
    way = np.array([3.0, 4.0])
    found = extreme(constraints_of(DISC), MIDDLE, way)
    assert found == pytest.approx(MIDDLE + 0.3 * way / 5.0, abs=1e-6)


def test_a_point_that_nothing_betters_is_kept():
    found, change = best_of_model(
        constraints_of(DISC), MIDDLE + np.array([0.3, 0.0]), np.array([-1.0, 0.0]), np.zeros((2, 2)), 0.1
    )
    assert found == pytest.approx([0.8, 0.5], abs=1e-9)
    assert change == 0.0
