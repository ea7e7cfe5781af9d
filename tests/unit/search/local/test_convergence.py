"""When a search has arrived, when its steps are to be lengthened, and when the last one ended short."""

import numpy as np
import pytest
from local_runs import a_context

from allmodes.search.searchers.local import convergence, models
from allmodes.search.searchers.local.tuning import TUNING


def is_stationary(context, g, H, is_measured=True, measurements=0, value=0.0, last_step=0.0):
    """At the middle of the box, for one search with this gradient and Hessian."""
    g, H = np.array([g], dtype=float), np.array([H], dtype=float)
    point = np.full_like(g, 0.5)
    model = models.model(context.box, point, g, H)
    far = np.abs(model.newton()).max(axis=1)
    values, measured = np.array([value]), np.array([is_measured])
    arguments = values, far, model.promise(), measured, np.array([measurements]), np.array([last_step])
    (found,) = convergence.is_stationary(context, model, *arguments)
    return bool(found)


BOWL = -2.0 * np.eye(2)
SADDLE = np.diag([-2.0, 1.0])


def scaled(order):
    context = a_context(order)
    context.observe_level(np.linspace(0.0, 2.0, 101))
    return context


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_measured_model_counts_when_its_maximum_is_within_reach(order):
    reach = 3e-5 if order == 0 else 1e-7
    context = scaled(order)
    assert is_stationary(context, (0.9 * 2.0 * reach, 0.0), BOWL)
    assert not is_stationary(context, (4.0 * reach, 0.0), BOWL)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("measurements", "reach"), [(0, 1e-3), (1, 2e-4), (2, 4e-5), (9, 1e-6)])
def test_a_guessed_model_counts_earlier_and_after_each_measurement_later(order, measurements, reach):
    context = scaled(order)
    for share, wanted in ((0.9, True), (1.1, False)):
        g = (2.0 * share * reach, 0.0)
        assert is_stationary(context, g, BOWL, is_measured=False, measurements=measurements) is wanted


@pytest.mark.parametrize("order", [0, 1])
def test_a_guessed_model_after_a_long_step_waits_for_another(order):
    """On the wall of a valley the next step is short, too, and the curvature there is not that of the minimum."""
    context, longest = scaled(order), TUNING.settled * 1e-3
    assert is_stationary(context, (1e-3, 0.0), BOWL, is_measured=False, last_step=0.9 * longest)
    assert not is_stationary(context, (1e-3, 0.0), BOWL, is_measured=False, last_step=1.1 * longest)
    assert is_stationary(context, (1e-6, 0.0), BOWL, is_measured=False, last_step=1.1 * longest)  # below xtol
    assert is_stationary(context, (1e-7, 0.0), BOWL, last_step=1.1 * longest)  # a measured one need not wait


def test_a_saddle_is_no_place_to_stay_unless_its_curvature_is_a_guess():
    context = scaled(2)
    assert not is_stationary(context, (0.0, 0.0), SADDLE)
    assert is_stationary(context, (0.0, 0.0), SADDLE, is_measured=False)
    assert is_stationary(context, (0.0, 0.0), np.diag([-2.0, 0.0]))  # a flat direction is looked at by the verifier


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_small_slope_along_a_flat_valley_goes_on_while_there_is_something_to_gain(order):
    valley = np.diag([-2.0, -1e-7])
    assert not is_stationary(scaled(order), (0.0, 1e-8), valley)  # a tenth of the box away, and 5e-10 higher
    is_hidden = is_stationary(scaled(order), (0.0, 1e-8), valley, value=1e6)  # where values are rounded to 9e-10
    assert is_hidden is (order == 0)  # a gradient tells the way
    assert not is_stationary(scaled(order), (0.0, 1e-8), valley, value=1e5)
    assert is_stationary(scaled(order), (0.0, 5e-12), valley, value=1.0)  # 1e-16 higher: farther away than xtol


def test_steps_that_shrink_alike_are_lengthened_to_the_end_of_the_series():
    """Newton's method on -x^4 goes two thirds of the way, again and again: three steps are left."""
    far, distance, before = np.full(4, 2.0 / 3.0), np.ones(4), np.array([2.0 / 3.0, 0.3, 2.0 / 3.0, 0.66])
    is_sure = np.array([True, True, False, True])
    factor, q = convergence.stretch(far, distance, before, is_sure)
    np.testing.assert_allclose(factor, [3.0, 0.0, 0.0, 3.0])
    np.testing.assert_allclose(q, [2.0 / 3.0, 2.0 / 3.0, 0.0, 2.0 / 3.0])


@pytest.mark.parametrize("q", [0.01, 0.4, 0.95, 1.5])
def test_quick_and_hopeless_steps_are_left_alone(q):
    factor, shrinkage = convergence.stretch(np.array([q]), np.ones(1), np.array([q]), np.ones(1, bool))
    assert factor == 0.0
    np.testing.assert_allclose(shrinkage, [q])


def test_a_last_step_is_short_when_what_is_left_would_spoil_a_tie():
    context = scaled(0)  # a tie is 1e-7
    assert not convergence.is_short(context, rise=1e-6, predicted=1e-6, slack=1e-12)
    assert not convergence.is_short(context, rise=0.99e-6, predicted=1e-6, slack=1e-12)  # leaves 1e-10
    assert convergence.is_short(context, rise=0.5e-6, predicted=1e-6, slack=1e-12)  # leaves 2.5e-7
    assert not convergence.is_short(context, rise=0.5e-6, predicted=1e-6, slack=1e-6)
    assert not convergence.is_short(context, rise=-1e-9, predicted=1e-6, slack=1e-12)


def test_slopes_against_a_bound_do_not_count():
    context = scaled(1)
    assert convergence.free_slope(context, np.array([1.0, 0.5]), np.array([3.0, 4.0])) == 4.0
    assert convergence.free_slope(context, np.array([0.0, 0.5]), np.array([3.0, 4.0])) == 5.0
    assert np.isnan(convergence.free_slope(context, np.array([0.5, 0.5]), np.array([np.nan, 4.0])))
    assert 0.0 < convergence.no_slope(context) < 1e-3
