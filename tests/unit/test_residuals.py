"""Sums of squares as the evaluator calls them: values, gradients, models, counts."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.losses import Loss
from allmodes.objective.residuals import SumOfSquares, errors_of

BOX = Box.make([(0.0, 2.0), (0.0, 2.0)])
EVERYTHING = GRADIENT | HESSIAN


def residuals(x):
    return np.array([x[0] ** 2 - x[1], x[0] - 1.0, x[0] * x[1]])


def jacobian(x):
    return np.array([[2.0 * x[0], -1.0], [1.0, 0.0], [x[1], x[0]]])


def evaluated(part, point, needs=EVERYTHING):
    with Evaluator(Source((part,), 1, has_model=True)) as evaluator:
        return evaluator.evaluate(np.array([point]), needs), evaluator


@pytest.mark.parametrize("jac", [jacobian, None])
@pytest.mark.parametrize("point", [[0.7, 1.3], [2.0, 0.0], [0.0, 2.0]])  # inside, and in corners
def test_value_gradient_and_model(jac, point):
    told, _ = evaluated(SumOfSquares(residuals, jac, BOX), point)
    r, J = residuals(point), jacobian(point)
    assert told.value[0] == pytest.approx(0.5 * r @ r)
    assert told.gradient[0] == pytest.approx(J.T @ r, abs=1e-6)
    assert told.hessian[0] == pytest.approx(J.T @ J, abs=1e-6)


def test_differences_stay_inside_the_bounds():
    seen = []
    evaluated(SumOfSquares(lambda x: seen.append(x.copy()) or residuals(x), None, BOX), [2.0, 0.0])
    assert len(seen) == 3
    assert all((x >= 0.0).all() and (x <= 2.0).all() for x in seen)


@pytest.mark.parametrize(("jac", "needs", "counts"), [
    (jacobian, VALUE, (1, 0)), (jacobian, EVERYTHING, (1, 1)), (None, VALUE, (1, 0)), (None, EVERYTHING, (3, 0)),
    (None, GRADIENT, (3, 0)),
])  # fmt: skip
def test_evaluations_are_counted(jac, needs, counts):
    part = SumOfSquares(residuals, jac, BOX)
    _, evaluator = evaluated(part, [0.5, 0.5], needs)
    assert (evaluator.nfev, evaluator.njev, evaluator.nhev) == (*counts, 0)
    assert Source((part,), 1, has_model=True).cost(needs) == counts[0]


def test_a_residual_that_is_not_finite_is_a_failure():
    told, evaluator = evaluated(SumOfSquares(lambda x: residuals(x) * np.nan, jacobian, BOX), [0.5, 0.5])
    assert np.isnan(told.value[0])
    assert evaluator.nfail == 1


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_gradients_of_losses_are_their_derivatives(loss):
    part = SumOfSquares(residuals, jacobian, BOX, loss=Loss.make(loss, 0.4))
    point, step = np.array([0.7, 1.3]), 1e-6 * np.eye(2)
    told, _ = evaluated(part, point)
    sides = [[evaluated(part, point + sign * move, VALUE)[0].value[0] for sign in (1, -1)] for move in step]
    assert told.gradient[0] == pytest.approx([(a - b) / 2e-6 for a, b in sides], rel=1e-6)


def test_a_covariance_of_the_data_is_that_of_correlated_residuals():
    C = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.5]])
    told, _ = evaluated(SumOfSquares(residuals, jacobian, BOX, sigma=errors_of(C)), [0.7, 1.3])
    r, J = residuals([0.7, 1.3]), jacobian([0.7, 1.3])
    assert told.value[0] == pytest.approx(0.5 * r @ np.linalg.solve(C, r))
    assert told.hessian[0] == pytest.approx(J.T @ np.linalg.solve(C, J))


def test_costs_of_functions_are_what_they_call():
    def both(x):
        return x @ x, 2.0 * x

    for jac, hess, cost in ((None, None, 1), (lambda x: 2 * x, None, 1), (lambda x: 2 * x, "2-point", 1)):
        source = Source.make(lambda x: x @ x, jac=jac, hess=hess, box=BOX)
        assert source.cost(source.offers) == cost
    source = Source.make(both, jac=True, hess="2-point", box=BOX)
    assert (source.cost(source.offers), source.cost(GRADIENT)) == (3, 1)
