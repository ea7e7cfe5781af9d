"""Searches over kinks: they climb, come back to goals, pause at modes, and give way where it is smooth."""

import numpy as np
import pytest
from local_runs import a_context, answer, begin, cone, freeze, run

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.events import Arrived, Continue, Failed, Stuck
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.local.quasi_newton import QuasiNewton
from allmodes.search.searchers.local.table import Phase

PEAK = np.array([0.3, 0.6])
ORIGIN = Origin(LOCAL, SPACE_FILLING, 3, cost=17)
AWAITED = ORIGIN._replace(question=2)  # the verifier waits for its end


def put(context, point, function, **options):
    """A search that is put at a point where the function is not smooth; its event."""
    local = LocalSearch(context)
    local.resume(Continue(options.pop("origin", ORIGIN), np.array(point, dtype=float), 1e-3, is_kinked=True, **options))
    (event,) = run(local, function)
    return event


@pytest.mark.parametrize("order", [0, 1])
def test_a_cone_is_climbed_to_its_peak(order):
    context = a_context(order, function=cone)
    event = put(context, (0.52, 0.41), cone)
    assert isinstance(event, Arrived)
    candidate = event.candidate
    np.testing.assert_allclose(candidate.point, PEAK, atol=1e-6)
    assert candidate.value == cone(candidate.point)[0]
    assert candidate.is_kinked
    assert candidate.source == "differences"
    assert candidate.origin == ORIGIN._replace(cost=17 + context.nfev)


def test_what_is_known_of_the_peak_is_a_matrix_and_its_inverse():
    candidate = put(a_context(function=cone), (0.52, 0.41), cone).candidate
    assert candidate.factor.shape == (2, 2)
    assert (np.linalg.eigvalsh(candidate.factor) > 0.0).all()
    assert (np.linalg.eigvalsh(candidate.hessian) < 0.0).all()
    np.testing.assert_allclose(candidate.factor @ -candidate.hessian, np.eye(2), atol=1e-3)


def test_a_search_with_a_goal_ends_as_soon_as_it_is_back():
    free, bound = a_context(function=cone), a_context(function=cone)
    start = PEAK + np.array([0.01, -0.004])
    far = put(free, start, cone)
    back = put(bound, start, cone, goal=PEAK, goal_value=0.0, goal_reach=1e-3)
    assert isinstance(back, Arrived)
    assert bound.nfev < free.nfev
    apart = np.abs(back.candidate.point - PEAK).max()
    assert apart <= 1e-3
    assert back.candidate.value >= -0.01 * 0.014
    assert np.abs(far.candidate.point - PEAK).max() <= apart


def test_a_search_that_does_not_come_back_arrives_where_it_ends():
    event = put(a_context(function=cone), (0.5, 0.4), cone, goal=np.array([0.8, 0.8]), goal_value=0.5, goal_reach=1e-3)
    assert isinstance(event, Arrived)
    np.testing.assert_allclose(event.candidate.point, PEAK, atol=1e-6)


def test_a_search_pauses_close_to_a_mode_and_not_again_when_it_was_compared():
    context = a_context(function=cone)
    mode = freeze(context, PEAK, 0.0)
    event = put(context, (0.52, 0.41), cone)
    assert (event.rival, event.candidate.is_kinked) == (mode, True)
    assert 1e-9 < np.abs(event.candidate.point - PEAK).max() <= context.tolerances.near
    again = put(context, event.candidate.point, cone, origin=event.candidate.origin._replace(compared=mode))
    assert again.rival == -1
    np.testing.assert_allclose(again.candidate.point, PEAK, atol=1e-6)
    assert again.candidate.origin.compared == mode


def test_a_search_that_the_verifier_waits_for_does_not_pause():
    context = a_context(function=cone)
    freeze(context, PEAK, 0.0)
    event = put(context, (0.31, 0.59), cone, origin=AWAITED, goal=PEAK, goal_value=0.0, goal_reach=1e-3)
    assert event.rival == -1
    assert event.candidate.origin == AWAITED._replace(cost=17 + context.nfev)


def smooth(z):
    return -((z - PEAK) ** 2).sum(axis=-1), -2.0 * (z - PEAK), -2.0 * np.eye(2) + 0.0 * z[..., None]


@pytest.mark.parametrize("order", [0, 1])
def test_where_the_slope_vanishes_a_search_goes_on_as_on_smooth_ground(order):
    event = put(a_context(order, function=smooth), (0.5, 0.4), smooth)
    assert isinstance(event, Arrived)
    assert not event.candidate.is_kinked
    assert event.candidate.factor is None
    np.testing.assert_allclose(event.candidate.point, PEAK, atol=1e-6)
    np.testing.assert_allclose(event.candidate.hessian, -2.0 * np.eye(2), rtol=1e-3, atol=1e-3)


def nowhere(z):
    return np.full(z.shape[:-1], -np.inf), np.full(z.shape, np.nan), np.full((*z.shape, 2), np.nan)


def test_a_search_that_is_put_where_the_function_fails_could_not_begin():
    assert put(a_context(), (0.5, 0.5), nowhere) == Failed(ORIGIN._replace(cost=20))


def test_a_function_that_fails_all_around_gets_a_search_stuck():
    """The start is fine; no point on any line is; nor is the point a little aside."""
    context, start = a_context(1, function=cone), np.array([0.5, 0.5])

    def alone(z):
        is_there = (z == start).all(axis=-1)
        value, gradient, hessian = cone(z)
        return np.where(is_there, value, -np.inf), np.where(is_there[..., None], gradient, np.nan), hessian

    event = put(context, start, alone)
    assert isinstance(event, Stuck)
    assert event.point.tolist() == start.tolist()
    assert event.value == cone(start)[0]


def test_a_wall_shortens_the_line():
    """Beyond a wall the function fails; the search arrives at the wall, having asked only for points in the box."""

    def wall(z):
        value, gradient, hessian = cone(z)
        return np.where(z[..., 0] < 0.4, -np.inf, value), gradient, hessian

    context = a_context(1, function=cone)
    event = put(context, (0.9, 0.6 + 1e-4), wall)
    point = event.candidate.point if isinstance(event, Arrived) else event.point
    assert 0.4 <= point[0] < 0.41


def test_trust_region_searches_that_meet_a_kink_are_taken_over():
    context = a_context(0, function=cone)
    local = begin(context, [(0.52, 0.41)])
    machines = set()
    while len(local):
        blocks = local.ask()
        machines |= {(block.machine, block.kind) for block in blocks}
        events = local.tell(blocks, answer(context, blocks, cone))
    (event,) = events
    assert {("trust region", "STEP"), ("quasi-Newton", "STEP"), ("quasi-Newton", "SLOPE")} <= machines
    assert event.candidate.is_kinked
    assert event.candidate.origin.cost == context.nfev
    np.testing.assert_allclose(event.candidate.point, PEAK, atol=1e-6)


def test_a_search_taken_over_with_a_slope_that_leads_nowhere_is_stuck():
    """Differences across the kink say that it rises; no line does."""
    context = a_context(1, function=cone)
    machine = QuasiNewton(context)
    assert not machine.take(PEAK[None], np.zeros(1), np.ones((1, 2)), [ORIGIN], [3])
    ends = {}
    while not ends:
        points = machine.points(Phase.STEP, np.array(machine.table.rows))
        ends = machine.tell(Phase.STEP, np.array(machine.table.rows), points, Evaluation(*cone(points)))
    (event,) = ends.values()
    assert isinstance(event, Stuck)
    assert event.point.tolist() == PEAK.tolist()
