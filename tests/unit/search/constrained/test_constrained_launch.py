"""A local search under constraints: every point is feasible, and it ends at the constrained minimum."""

import numpy as np
import pytest
from constrained_runs import DISC, MIDDLE, make_context, play

from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.launch import ARRIVED, LOST, Launch

FAR = np.array([0.95, 0.7])
NEAREST = MIDDLE + 0.3 * (FAR - MIDDLE) / np.linalg.norm(FAR - MIDDLE)


def bowl(z):
    return float((z - FAR) @ (z - FAR))


def slope(z):
    return 2.0 * (z - FAR)


@pytest.mark.parametrize("order", [0, 1])
def test_it_arrives_at_the_nearest_point_of_a_disc(order):
    context = make_context(DISC, order=order)
    launch = Launch(0, np.array([0.4, 0.6]), SPACE_FILLING)
    play(launch, context, bowl, slope)
    assert launch.stage == ARRIVED
    assert np.abs(launch.point - NEAREST).max() < 1e-5
    assert context.constraints.is_feasible(launch.point[None]).all()


def test_every_point_is_feasible_with_gradients():
    context = make_context(DISC, order=1)
    asked = play(Launch(0, np.array([0.4, 0.6]), SPACE_FILLING), context, bowl, slope)
    assert context.constraints.is_feasible(np.array(asked)).all()


def test_differences_are_taken_on_the_feasible_side():
    context = make_context(DISC)
    launch = Launch(0, NEAREST * 1.0, SPACE_FILLING)
    points = launch.ask(context)
    assert context.constraints.is_within(points[1:]).sum() >= 2


def test_a_start_where_the_function_fails_is_lost():
    context = make_context(DISC)
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    play(launch, context, lambda z: np.inf)
    assert launch.stage == LOST


def test_a_step_that_fails_is_made_shorter():
    context = make_context(DISC, order=1)
    launch = Launch(0, np.array([0.35, 0.5]), SPACE_FILLING)
    play(launch, context, lambda z: bowl(z) if z[0] < 0.7 else np.inf, slope)
    assert launch.stage == ARRIVED
    assert 0.69 < launch.point[0] < 0.7


def test_negative_curvature_is_learnt():
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    launch.learn(np.array([0.1, 0.0]), np.array([0.2, 0.0]))
    assert launch.hessian == pytest.approx(np.diag([2.0, 0.02]))  # flat where nothing is known
    launch.learn(np.array([0.0, 0.1]), np.array([0.0, -0.3]))
    assert np.linalg.eigvalsh(launch.hessian)[0] == pytest.approx(-3.0)


def test_sent_on_it_looks_again():
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    launch.send_on(np.array([0.4, 0.4]))
    assert (launch.stage, launch.restarts, launch.is_moving) == ("look", 1, True)
