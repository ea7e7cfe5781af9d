"""The bed of constrained problems: formulas, derivatives, and minima that are feasible and satisfy the conditions."""

import numpy as np
import pytest

import constrained_truth
from allmodes.problems import constrained_problems
from allmodes.problems.constrained import ConstrainedProblem

BED = constrained_problems()
KNOWN = [name for name, problem in BED.items() if name != "g12"]  # all of whose 729 are given by a formula


def test_there_are_enough_of_them_and_most_have_several_minima():
    assert len(BED) >= 30
    assert all(len(problem.minima) for problem in BED.values())
    assert sum(len(problem.minima) > 1 for problem in BED.values()) >= 20


@pytest.mark.parametrize("name", BED)
def test_minima_are_feasible_and_best_first(name):
    problem = BED[name]
    scale = constrained_truth.size_of(problem)
    lower, upper = problem.bounds.T
    values = np.array([problem.value(x) for x in problem.minima])
    assert (np.diff(values) >= -1e-6 * max(1.0, np.abs(values).max())).all()
    for x in problem.minima:
        assert problem.violation(x) <= 1e-8 * scale
        assert ((lower <= x) & (x <= upper)).all()


@pytest.mark.parametrize("name", KNOWN)
def test_minima_satisfy_the_first_order_conditions(name):
    problem = BED[name]
    with np.errstate(all="ignore"):
        assert max(constrained_truth.unexplained(problem, x) for x in problem.minima) <= 1e-4


def test_a_point_beside_a_minimum_does_not():
    problem = BED["Townsend"]
    assert constrained_truth.unexplained(problem, problem.minima[1] + 0.01) > 1e-3


@pytest.mark.parametrize("name", [name for name, problem in BED.items() if np.isfinite(problem.best)])
def test_the_best_is_the_published_one(name):
    problem = BED[name]
    assert problem.value(problem.minima[0]) == pytest.approx(problem.best, rel=2e-7, abs=1e-7)


def test_g12_has_a_minimum_in_every_sphere():
    problem = BED["g12"]
    assert problem.minima.shape == (729, 3)
    assert problem.minima[0] == pytest.approx([5.0, 5.0, 5.0])


@pytest.mark.parametrize("name", BED)
def test_derivatives_are_those_of_the_formulas(name):
    problem = BED[name]
    lower, upper = problem.bounds.T
    x = lower + (upper - lower) * (0.37 + 0.2 * np.random.default_rng(0).random(problem.dimension))
    step = 1e-6 * (upper - lower)
    for function, derivative in (
        (lambda z: np.atleast_1d(problem.value(z)), lambda z: problem.gradient(z)[None]),
        *(
            (lambda z, k=kind: problem.rows(z, k), lambda z, k=kind: problem.jacobian(z, k))
            for kind in (problem.inequalities, problem.equalities)
            if kind is not None
        ),
    ):
        found = derivative(x)
        for i in range(problem.dimension):
            ahead, behind = x.copy(), x.copy()
            ahead[i], behind[i] = x[i] + step[i], x[i] - step[i]
            difference = (function(ahead) - function(behind)) / (2 * step[i])
            assert found[:, i] == pytest.approx(difference, rel=1e-4, abs=1e-4 * max(1.0, np.abs(found).max()))


def test_found_counts_minima_with_a_point_near():
    problem = BED["Himmelblau in a disc"]
    assert problem.found(problem.minima[:2]).tolist() == [True, True, False]
    assert problem.found([]).tolist() == [False] * 3


def test_a_problem_without_constraints_violates_nothing():
    free = ConstrainedProblem("free", lambda x: x[0] ** 2, np.array([[-1.0, 1.0]]))
    assert free.violation(np.array([0.5])) == 0.0
    assert free.constraints == []
