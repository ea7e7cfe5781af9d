"""Problems with known modes: every mode verified, derivatives, and the numbers that the paper prints."""

import jax
import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.problems import (
    Problem,
    asymmetric_mixture,
    degenerate,
    mixture_objective,
    styblinski_tang,
    symmetric_mixture,
)

BOTH = GRADIENT | HESSIAN
PROBLEMS = [symmetric_mixture(), asymmetric_mixture(), degenerate(), *(styblinski_tang(d) for d in (1, 2, 4))]
every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.name} {p.dimension}")


@every_problem
def test_every_mode_is_a_maximum(problem):
    here = problem.objective.evaluate(problem.modes, BOTH)
    assert np.abs(here.gradient).max() < 1e-9
    assert (np.linalg.eigvalsh(here.hessian)[:, -1] <= 1e-9).all()
    rng = np.random.default_rng(0)
    for mode, value in zip(problem.modes, here.value, strict=True):  # also where the Hessian is singular
        around = mode + 0.01 * rng.normal(size=(500, problem.dimension))
        assert (problem.objective.evaluate(around, VALUE).value < value).all()


@every_problem
def test_modes_are_distinct_inside_the_box_and_best_first(problem):
    assert problem.bounds.shape == (problem.dimension, 2)
    assert (problem.modes > problem.bounds[:, 0]).all()
    assert (problem.modes < problem.bounds[:, 1]).all()
    apart = np.abs(problem.modes[:, None] - problem.modes[None]).max(axis=2) + np.eye(len(problem.modes))
    assert apart.min() > 0.1
    values = problem.objective.evaluate(problem.modes, VALUE).value
    assert (np.diff(values) <= 1e-9).all()


@every_problem
def test_global_modes_are_those_of_the_highest_value(problem):
    values = problem.objective.evaluate(problem.modes, VALUE).value
    np.testing.assert_array_equal(problem.is_global, values > values.max() - 1e-7)
    assert problem.is_global.dtype == bool


@every_problem
def test_no_point_of_a_fine_sample_is_above_the_global_modes(problem):
    """Nothing better was missed in the box."""
    low, high = problem.bounds.T
    points = np.random.default_rng(1).uniform(low, high, size=(20_000, problem.dimension))
    best = problem.objective.evaluate(problem.modes[:1], VALUE).value[0]
    assert problem.objective.evaluate(points, VALUE).value.max() <= best + 1e-12


@every_problem
def test_climbing_from_anywhere_in_the_box_ends_in_a_listed_mode(problem):
    """No mode was missed: gradient ascent with backtracking from a spread of starts."""
    low, high = problem.bounds.T
    points = np.random.default_rng(2).uniform(low, high, size=(40, problem.dimension))
    rate = np.full((len(points), 1), 0.02)
    here = problem.objective.evaluate(points, GRADIENT)
    for _ in range(600):
        trial = points + rate * here.gradient
        there = problem.objective.evaluate(trial, GRADIENT)
        is_better = (there.value > here.value)[:, None]
        points = np.where(is_better, trial, points)
        here = here._replace(
            value=np.where(is_better[:, 0], there.value, here.value),
            gradient=np.where(is_better, there.gradient, here.gradient),
        )
        rate = np.where(is_better, 1.2 * rate, 0.5 * rate)
    apart = np.abs(points[:, None] - problem.modes[None]).max(axis=2).min(axis=1)
    assert apart.max() < 0.05


@every_problem
def test_derivatives_are_those_of_the_function(problem):
    low, high = problem.bounds.T
    points = np.random.default_rng(3).uniform(low, high, size=(6, problem.dimension))
    here = problem.objective.evaluate(points, BOTH)
    for i, unit in enumerate(np.eye(problem.dimension)):
        step = 1e-5 * unit
        ahead = problem.objective.evaluate(points + step, GRADIENT)
        behind = problem.objective.evaluate(points - step, GRADIENT)
        np.testing.assert_allclose(here.gradient[:, i], (ahead.value - behind.value) / 2e-5, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            here.hessian[:, :, i], (ahead.gradient - behind.gradient) / 2e-5, rtol=1e-5, atol=1e-5
        )
    np.testing.assert_allclose(here.hessian, here.hessian.mT, atol=1e-12)


@every_problem
def test_problems_run_in_jax(problem):
    points = problem.modes[:2] + 0.1
    wanted = problem.objective.evaluate(points, BOTH)
    with jax.enable_x64(True):
        x = jax.numpy.asarray(points)
        found = [
            np.asarray(function(x))
            for function in (problem.objective.fun, problem.objective.jac, problem.objective.hess)
        ]
    for ours, theirs in zip(wanted, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-10, atol=1e-10)


def test_the_symmetric_mixture_has_three_equal_modes_at_the_printed_distance():
    problem = symmetric_mixture()
    assert problem.modes.shape == (4, 2)
    assert problem.is_global.tolist() == [True, True, True, False]
    distance = np.linalg.norm(problem.modes[:3], axis=1)
    np.testing.assert_allclose(distance, distance[0], rtol=1e-9)
    assert round(distance[0], 3) == 0.511
    np.testing.assert_allclose(problem.modes[3], 0.0, atol=1e-12)
    corners = problem.modes[:3] / distance[:, None]
    np.testing.assert_allclose(corners @ corners.T, 1.5 * np.eye(3) - 0.5, atol=1e-9)


def test_the_asymmetric_mixture_has_the_printed_weights_and_limits():
    """Weights in the limit are proportional to det(-H)^-1/2 over the global modes: 0.586 and 0.414."""
    problem = asymmetric_mixture()
    assert problem.modes.shape == (3, 2)
    assert problem.is_global.tolist() == [True, True, False]
    hessian = problem.objective.evaluate(problem.modes[:2], BOTH).hessian
    shares = np.linalg.det(-hessian) ** -0.5
    shares /= shares.sum()
    np.testing.assert_allclose(shares, [0.586, 0.414], atol=5e-4)


def test_the_weights_of_the_asymmetric_mixture_are_the_printed_ones():
    """pi_1 = 0.527 and pi_3 = 0.373: the probabilities of strips that the narrow components hardly leave."""
    objective = asymmetric_mixture().objective
    x, y = np.meshgrid(np.linspace(-2.5, 2.5, 1001), np.linspace(-5.0, 5.0, 401), indexing="ij")
    density = np.exp(objective.evaluate(np.stack([x.ravel(), y.ravel()], axis=1), VALUE).value).reshape(x.shape)
    share = density.sum(axis=1) * (5.0 / 1000) * (10.0 / 400)
    middle = share[np.abs(x[:, 0]) < 0.4].sum()
    assert share.sum() == pytest.approx(1.0, abs=1e-3)
    assert share[x[:, 0] <= -0.4].sum() == pytest.approx(0.527, abs=2e-3)
    assert middle == pytest.approx(0.1, abs=2e-3)
    assert share[x[:, 0] >= 0.4].sum() == pytest.approx(0.373, abs=2e-3)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
def test_styblinski_tang_has_two_to_the_d_modes_and_one_global_one(d):
    problem = styblinski_tang(d)
    assert problem.modes.shape == (2**d, d)
    assert problem.is_global.sum() == 1
    np.testing.assert_allclose(problem.modes[0], -2.903534, atol=1e-6)
    assert problem.objective.evaluate(problem.modes[:1], VALUE).value[0] == pytest.approx(39.16617 * d, rel=1e-6)
    assert len({tuple(mode) for mode in np.sign(problem.modes)}) == 2**d


def test_the_degenerate_problem_has_one_singular_and_one_ordinary_mode_of_equal_value():
    problem = degenerate()
    assert problem.modes.tolist() == [[-3.0, 0.0], [3.0, 0.0]]
    here = problem.objective.evaluate(problem.modes, BOTH)
    np.testing.assert_allclose(here.value, [-1.0, -1.0])
    np.testing.assert_allclose(np.linalg.det(here.hessian), [0.0, 4.0], atol=1e-12)


def test_the_degenerate_problem_is_continuous_with_its_slope_at_the_seams():
    objective = degenerate().objective
    for seam in (-2.0, 2.0):
        points = np.array([[seam - 1e-9, 0.5], [seam + 1e-9, 0.5]])
        here = objective.evaluate(points, GRADIENT)
        assert here.value[0] == pytest.approx(here.value[1], abs=1e-6)
        np.testing.assert_allclose(here.gradient[0], here.gradient[1], atol=1e-6)


def test_a_mixture_objective_is_a_log_density():
    objective = mixture_objective(np.array([[0.0], [3.0]]), np.array([[[1.0]], [[0.25]]]), np.array([0.3, 0.7]))
    x = np.linspace(-8.0, 8.0, 4001)
    density = np.exp(objective.evaluate(x[:, None], VALUE).value)
    assert density.sum() * (x[1] - x[0]) == pytest.approx(1.0, abs=1e-9)
    assert density[np.argmin(np.abs(x - 3.0))] == pytest.approx(0.7 / np.sqrt(2 * np.pi * 0.25), rel=0.01)


def test_found_is_within_the_tolerance_in_every_coordinate():
    problem = Problem(
        "two",
        styblinski_tang(2).objective,
        np.zeros((2, 2)),
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        np.array([True, False]),
    )
    points = np.array([[0.09, -0.09], [1.0, 1.11]])
    assert problem.found(points).tolist() == [True, False]
    assert problem.found(points, tolerance=0.2).tolist() == [True, True]
    assert problem.found(points, tolerance=0.01).tolist() == [False, False]
    assert problem.found(points[:0]).tolist() == [False, False]


@pytest.mark.parametrize("d", [0, -1, 2.0, True])
def test_a_dimension_that_makes_no_sense_is_refused(d):
    with pytest.raises((TypeError, ValueError), match="d is"):
        styblinski_tang(d)
