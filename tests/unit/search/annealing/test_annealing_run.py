"""One annealing run."""

import numpy as np
import pytest
from playing import frozen, himmelblau

from allmodes.nva.annealing.presets import nva_gm
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.searchers.annealing.run import Run
from allmodes.search.searchers.annealing.tuning import TUNING

BOX = Box.make([(-5, 5), (-5, 5)])


def begin(means, repels=False, steps=20):
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), order=2)
    context.observe_level(himmelblau(10 * context.rng.random((64, 2)) - 5)[0])
    return Run(context, nva_gm(2, num_samples=2), 0, steps, np.array(means), repels)


def step(run):
    value, gradient, hessian = himmelblau(BOX.to_user(run.ask().points))
    run.tell(Evaluation(value, 10 * gradient, 100 * hessian))


def widths(run):
    covariances = run.algorithm.family.covariances(run.mixture.components)
    return np.sqrt(covariances.trace(axis1=1, axis2=2))


def test_components_narrow_as_the_temperature_falls():
    run = begin([[0.8, 0.7], [0.2, 0.2]])
    step(run)
    first = widths(run)
    while not run.is_over:
        step(run)
    assert widths(run).max() < 0.3 * first.min()
    temperatures = [frame.temperature for frame in run.context.frames.frames]
    assert temperatures[-1] < 0.02 * temperatures[0]


def test_ends_in_one_basin_are_one_and_others_are_their_own():
    run = begin([[0.8, 0.7], [0.79, 0.71], [0.2, 0.2]])
    step(run)
    run.heights = np.array([1.0, 3.0, 2.0])
    mu = np.array([[0.8, 0.7], [0.801, 0.7], [0.12, 0.17]])
    cold = run.algorithm.family.start(mu, 1e-4)
    run.mixture = run.mixture._replace(components=cold)
    ends = run.ends
    np.testing.assert_array_equal(ends.points, mu[[1, 2]])  # best first


def test_values_without_bounds_leave_components_finite_and_in_the_box():
    run = begin([[0.8, 0.7], [0.2, 0.2]])
    extremes = np.array([1e308, -1e308, -np.inf, np.nan])
    for _ in range(run.steps):
        n = len(run.ask().points)
        value, slope = run.context.rng.choice(extremes, n), run.context.rng.choice(extremes, (n, 2))
        run.tell(Evaluation(value, slope, slope[:, :, None] * np.ones(2)))
        assert BOX.inside(run.mixture.components.mu).all()
        assert np.isfinite(run.ends.covariances).all()
        assert np.isfinite(run.mixture.log_ratios).all()


def test_the_temperature_falls_from_the_scale_of_the_function_to_its_end():
    run = begin([[0.8, 0.7]], steps=5)
    values = []
    while not run.is_over:
        values.append(run.temperature / run.scale)
        step(run)
    np.testing.assert_allclose(values, TUNING.end ** (np.arange(5) / 4))


def test_covariances_rest_while_an_algorithm_burns_in():
    run = begin([[0.8, 0.7]])
    run.algorithm = nva_gm(2, num_samples=2, burn_in=3, damping=1e-6)
    first = widths(run)
    for _ in range(3):
        step(run)
    np.testing.assert_allclose(widths(run), first)
    step(run)
    assert not np.allclose(widths(run), first)


def test_known_modes_change_a_run_only_if_they_repel():
    ends = {}
    for repels in (False, True):
        for is_known in (False, True):
            run = begin([[0.75, 0.65], [0.3, 0.3]], repels)
            if is_known:
                run.context.archive.add(BOX.to_unit(np.array([[3.0, 2.0]]))[0], 0.0, frozen(-5e3 * np.eye(2)))
            for _ in range(5):
                step(run)
            ends[repels, is_known] = run.mixture.components.mu
    np.testing.assert_array_equal(ends[False, False], ends[False, True])
    np.testing.assert_array_equal(ends[False, False], ends[True, False])
    assert not np.allclose(ends[True, True], ends[True, False])


# ---- the function that is annealed


def told(run, points, evaluation):
    """What a run makes of an evaluation at points that it has drawn."""
    return run._scaled(np.array(points), evaluation)


def test_what_is_annealed_has_the_derivatives_it_claims_inside_and_outside():
    run = begin([[0.8, 0.7]])
    run.level, run.scale = -3.0, 7.0
    drawn = np.random.default_rng(0).uniform(-0.4, 1.4, (40, 2))

    def at(points):
        value, gradient, hessian = himmelblau(10 * BOX.project(points) - 5)
        return told(run, points, Evaluation(value, 10 * gradient, 100 * hessian))

    step, here = 1e-6, at(drawn)
    for i in range(2):
        there, back = at(drawn + step * np.eye(2)[i]), at(drawn - step * np.eye(2)[i])
        np.testing.assert_allclose((there.value - back.value) / (2 * step), here.gradient[:, i], rtol=1e-4, atol=1e-4)
        slopes = (there.gradient - back.gradient) / (2 * step)
        np.testing.assert_allclose(slopes, here.hessian[:, i], rtol=1e-4, atol=1e-4)


def test_failures_rank_below_everything_seen():
    run = begin([[0.8, 0.7]])
    run.level, run.scale, run.lowest = 0.0, 1.0, -4.0
    slopes = np.array([[1.0, 0.0], [np.nan, 0.0], [np.inf, 0.0]])
    result = told(run, [[0.1, 0.5], [0.2, 0.5], [0.3, 0.5]], Evaluation(np.array([2.0, -np.inf, np.nan]), slopes))
    np.testing.assert_array_equal(result.value, [2.0, -5.0, -5.0])
    assert np.isfinite(result.gradient).all()


@pytest.mark.parametrize(
    ("values", "scale"),
    [([1.0] * 5, 1.0), ([3.0] * 8 + [4.5], 1.5), (np.arange(9.0), 4.0), ([-1e308, *[0.0] * 8, 1e308], 1.0)],
)
def test_the_scale_of_a_function_is_never_zero_and_finite(values, scale):
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), order=2)
    context.observe_level(np.array(values))
    assert Run(context, nva_gm(2, num_samples=2), 0, 5, np.full((1, 2), 0.5), False).scale == scale
