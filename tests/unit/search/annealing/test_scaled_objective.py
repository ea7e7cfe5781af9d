"""The function that is annealed."""

import numpy as np
from playing import himmelblau

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.searchers.annealing.scaled_objective import ScaledObjective


def test_it_has_the_derivatives_it_claims_inside_and_outside():
    box = Box.make([(0, 1), (0, 1)])
    drawn = np.random.default_rng(0).uniform(-0.4, 1.4, (40, 2))

    def at(points):
        value, gradient, hessian = himmelblau(10 * box.project(points) - 5)
        return ScaledObjective(-3.0, 7.0).scaled(box, points, Evaluation(value, 10 * gradient, 100 * hessian), 0.0)

    step, here = 1e-6, at(drawn)
    for i in range(2):
        there, back = at(drawn + step * np.eye(2)[i]), at(drawn - step * np.eye(2)[i])
        np.testing.assert_allclose((there.value - back.value) / (2 * step), here.gradient[:, i], rtol=1e-4, atol=1e-4)
        slopes = (there.gradient - back.gradient) / (2 * step)
        np.testing.assert_allclose(slopes, here.hessian[:, i], rtol=1e-4, atol=1e-4)


def test_failures_rank_below_everything_seen():
    evaluation = Evaluation(np.array([2.0, -np.inf, np.nan]), np.array([[1.0], [np.nan], [np.inf]]))
    points = np.array([[0.1], [0.2], [0.3]])
    result = ScaledObjective().scaled(Box.make([(0, 1)]), points, evaluation, -4.0)
    np.testing.assert_array_equal(result.value, [2.0, -5.0, -5.0])
    assert np.isfinite(result.gradient).all()


def test_the_scale_of_a_function_is_never_zero():
    box = Box.make([(0, 1)])
    context = Context(box, Archive(box), np.random.default_rng(0))
    assert ScaledObjective.of(context) == (0.0, 1.0)
    context.observe_level(np.full(5, 3.0))
    assert ScaledObjective.of(context) == (3.0, 1.0)
    context.observe_level(np.array([4.5]))
    assert ScaledObjective.of(context) == (3.0, 1.5)
