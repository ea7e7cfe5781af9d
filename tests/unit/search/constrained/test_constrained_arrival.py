"""Is a place an optimum on its active set, and is it known?"""

import numpy as np
import pytest
from constrained_runs import CIRCLE, DISC, MIDDLE, make_context, play, verify

from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.arrival import KNOWN, NEW, NOWHERE, ON
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.record import frozen_of

RIGHT, TOP = MIDDLE + np.array([0.3, 0.0]), MIDDLE + np.array([0.0, 0.3])


def at(point, value=0.0, gradient=(0.0, 0.0)):
    return Launch(
        0, np.array(point), SPACE_FILLING, stage="arrived", value=value, gradient=np.array(gradient), hessian=np.eye(2)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_a_minimum_on_the_edge_is_new_and_then_known(order):
    context = make_context(DISC, order=order)
    fun, grad = (lambda z: -z[0]), (lambda z: np.array([-1.0, 0.0]))
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    play(launch, context, fun, grad)
    arrival = verify(launch, context, fun, grad)
    assert (arrival.verdict, arrival.kind) == (NEW, "optimum")
    context.archive.add(launch.point, -launch.value, frozen_of(context, arrival))
    again = Launch(1, launch.point + np.array([0.0, 1e-7]), SPACE_FILLING)
    play(again, context, fun, grad)
    assert verify(again, context, fun, grad).verdict == KNOWN


def test_a_place_with_a_slope_along_the_edge_is_none():
    context = make_context(DISC, order=1)
    launch = at(TOP, -0.5, [-1.0, 0.0])
    assert verify(launch, context, lambda z: -z[0], lambda z: np.array([-1.0, 0.0])).verdict == NOWHERE


def test_a_saddle_along_the_edge_is_left():
    """The best point of an axis across a circle: on either side along the circle the function falls."""
    context = make_context(CIRCLE, order=1)
    fun, grad = (lambda z: -((z[1] - 0.5) ** 2)), (lambda z: np.array([0.0, -2.0 * (z[1] - 0.5)]))
    launch = at(RIGHT, 0.0)
    arrival = verify(launch, context, fun, grad)
    assert arrival.verdict == ON
    assert launch.restarts == 1
    assert abs(launch.point[1] - 0.5) > 1e-3


def test_level_ground_is_flat():
    context = make_context(DISC, order=1)
    arrival = verify(at(MIDDLE), context, lambda z: 0.0, lambda z: np.zeros(2))
    assert (arrival.verdict, arrival.kind) == (NEW, "flat")


def test_a_corner_without_a_slope_is_left_where_the_function_falls():
    """All derivatives vanish at the edge of a disc that the function falls away from."""
    context = make_context(DISC, order=1)
    fun = lambda z: -((RIGHT[0] - z[0]) ** 4)  # noqa: E731
    grad = lambda z: np.array([4.0 * (RIGHT[0] - z[0]) ** 3, 0.0])  # noqa: E731
    assert verify(at(RIGHT), context, fun, grad).verdict == ON


def test_values_do_not_take_a_kink_for_a_narrow_valley():
    context = make_context(DISC)
    fun = lambda z: abs(z[0] - 0.5) + (z[1] - 0.5) ** 2  # noqa: E731
    assert verify(at(MIDDLE), context, fun).verdict == NOWHERE
    smooth = lambda z: 1e3 * (z[0] - 0.5) ** 2 + (z[1] - 0.5) ** 2  # noqa: E731
    assert verify(at(MIDDLE), context, smooth).verdict == NEW


def test_a_vertex_needs_no_curvature():
    context = make_context(
        [{"type": "ineq", "fun": lambda x: x[0] - 0.2}, {"type": "ineq", "fun": lambda x: x[1] - 0.3}]
    )
    fun = lambda z: z[0] + z[1]  # noqa: E731
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    play(launch, context, fun)
    arrival = verify(launch, context, fun)
    assert arrival.verdict == NEW
    assert arrival.reduced.shape == (0, 0)
    assert launch.point == pytest.approx([0.2, 0.3], abs=1e-9)


def test_what_a_population_found_is_unverified():
    context = make_context(DISC)
    launch = at(MIDDLE, -1.0, [1.0, 1.0])
    arrival = verify_settled(launch, context)
    assert (arrival.verdict, arrival.kind) == (NEW, "unverified")
    assert not launch.gradient.any()


def verify_settled(launch, context):
    from allmodes.search.searchers.constrained.arrival import Arrival

    arrival = Arrival(launch)
    arrival.settle(context)
    return arrival


def test_nor_do_gradients():
    context = make_context(DISC, order=1)
    fun = lambda z: abs(z[0] - 0.5) + (z[1] - 0.5) ** 2  # noqa: E731
    grad = lambda z: np.array([np.sign(z[0] - 0.5 + 1e-12), 2.0 * (z[1] - 0.5)])  # noqa: E731
    launch = at(MIDDLE - np.array([1e-6, 0.0]), 1e-6, [-1.0, 0.0])
    launch.hessian = np.diag([1e5, 2.0])
    assert verify(launch, context, fun, grad).verdict == NOWHERE
