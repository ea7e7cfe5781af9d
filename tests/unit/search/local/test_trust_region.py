"""Trust-region searches alone: where they arrive, and how else they end."""

import numpy as np
import pytest
from local_runs import a_context, answer, begin, cone, freeze, quartic, run

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.checked import Checks
from allmodes.search.events import Arrived, Failed, RanAway, Recognised, Stuck

STARTS = np.random.default_rng(2).random((12, 2))


def maxima():
    """Of the quartic, in unit coordinates, per coordinate."""
    roots = np.roots([-4.0, 0.0, 4.0, 0.3])
    return (np.sort(roots.real)[[0, 2]] + 2.0) / 4.0


@pytest.mark.parametrize("order", [0, 1, 2])
def test_every_search_arrives_at_a_maximum(order):
    context = a_context(order, function=quartic)
    events = run(begin(context, STARTS), quartic)
    assert sorted(event.candidate.origin.number for event in events) == list(range(12))
    for event in events:
        candidate = event.candidate
        assert np.abs(candidate.point[:, None] - maxima()).min(axis=1).max() < 1e-6
        np.testing.assert_allclose(candidate.hessian, quartic(candidate.point)[2], rtol=0.1, atol=5.0)
        assert candidate.source == ("derivatives" if order == 2 else "differences")
        assert (candidate.is_kinked, candidate.factor) == (False, None)
        assert candidate.radius > 0.0
    assert sum(event.candidate.origin.cost for event in events) == context.nfev


@pytest.mark.parametrize("order", [0, 1, 2])
def test_candidates_say_what_is_left_to_gain(order):
    """About as much as they are below the maximum, or more; next to nothing where Newton's method has converged."""
    for event in run(begin(a_context(order, function=quartic), STARTS), quartic):
        candidate = event.candidate
        place = maxima()[np.abs(candidate.point[:, None] - maxima()).argmin(axis=1)]
        left = quartic(place[None])[0][0] - candidate.value
        assert left <= 10.0 * candidate.gain + 1e-15
        assert 0.0 <= candidate.gain <= 1e-9


def test_a_flat_maximum_is_reached_although_newton_converges_slowly_there():
    def flat(z):
        x = z - 0.4
        curvature = -12.0 * x**2 - 150.0 * x**4
        return -(x**4 + 5.0 * x**6).sum(axis=-1), -4.0 * x**3 - 30.0 * x**5, curvature[..., None] * np.eye(2)

    events = run(begin(a_context(2, function=flat), STARTS), flat)
    assert max(np.abs(event.candidate.point - 0.4).max() for event in events) < 1e-3
    assert max(event.candidate.origin.cost for event in events) < 25  # two thirds of the way each time: 40 and more


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_maximum_on_the_boundary_is_reached_exactly(order):
    def slope(z):
        apart = z - np.array([1.3, 0.4])
        return -(apart**2).sum(axis=-1), -2.0 * apart, np.broadcast_to(-2.0 * np.eye(2), (*z.shape, 2))

    (event,) = run(begin(a_context(order, function=slope), [(0.2, 0.7)]), slope)
    assert event.candidate.point[0] == 1.0
    assert event.candidate.point[1] == pytest.approx(0.4, abs=1e-6)
    assert event.candidate.gradient[0] == pytest.approx(0.6, rel=1e-4)


def corner(z):
    return z.sum(axis=-1), np.ones_like(z), np.zeros((*z.shape, 2))


def test_a_corner_that_is_known_is_recognised_before_it_is_measured():
    unknown, known = (a_context(1, function=corner) for _ in range(2))
    (event,) = run(begin(unknown, [(0.6, 0.7)]), corner)
    assert event.candidate.point.tolist() == [1.0, 1.0]
    mode = freeze(known, (1.0, 1.0), 2.0, kind="boundary")
    (event,) = run(begin(known, [(0.6, 0.7)]), corner)
    assert event == Recognised(Origin(LOCAL, SPACE_FILLING, 0, known.nfev), mode)
    assert known.nfev < unknown.nfev


@pytest.mark.parametrize("order", [0, 1, 2])
def test_searches_that_fall_into_a_known_mode_are_stopped_early(order):
    point = np.full(2, maxima()[1])
    value, _, hessian = quartic(point)
    costs = []
    for recognises in (True, False):
        context = a_context(order, function=quartic)
        mode = freeze(context, point, float(value), hessian)
        (event,) = run(begin(context, [(0.9, 0.85)], recognises=recognises), quartic)
        assert event.mode == mode if recognises else isinstance(event, Arrived)
        costs.append(context.nfev)
    assert costs[0] < costs[1]


def nowhere(z):
    return np.full(z.shape[:-1], -np.inf), np.full(z.shape, np.nan), np.full((*z.shape, 2), np.nan)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_search_whose_start_fails_has_failed(order):
    context = a_context(order)
    (event,) = run(begin(context, [(0.5, 0.5)]), nowhere)
    assert event == Failed(Origin(LOCAL, SPACE_FILLING, 0, 3 if order == 0 else 1))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_gradients_and_hessians_that_are_missing_beyond_a_line_never_make_bad_points(order):
    def holes(z):
        value, gradient, hessian = quartic(z)
        is_bad = z[..., 0] > 0.6
        gradient, hessian = (
            np.where(is_bad[(..., *[None] * k)], np.nan, part) for k, part in ((1, gradient), (2, hessian))
        )
        return np.where(is_bad, -np.inf, value), gradient, hessian

    context = a_context(order, function=quartic)
    events = run(begin(context, STARTS), holes)
    assert len(events) == len(STARTS)
    for event in events:
        if isinstance(event, Arrived):
            assert event.candidate.point[0] <= 0.6
    assert sum(isinstance(event, Failed) for event in events) == (STARTS[:, 0] > 0.6).sum()
    assert sum(isinstance(event, Arrived) for event in events) >= 2


@pytest.mark.parametrize("order", [1, 2])
def test_a_search_without_end_runs_away(order):
    def plane(z):
        return z[..., 0], np.broadcast_to([1.0, 0.0], z.shape), np.zeros((*z.shape, 2))

    (event,) = run(begin(a_context(order, bounds=[(0, None), (0, 1)]), [(0.5, 0.5)]), plane)
    assert isinstance(event, RanAway)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_that_lead_downhill_get_a_search_stuck(order):
    def wrong(z):
        value, gradient, hessian = quartic(z)
        return value, -gradient, -hessian

    context = a_context(order, function=quartic)
    (event,) = run(begin(context, [(0.3, 0.35)]), wrong)
    assert isinstance(event, Stuck)
    assert event.origin.cost == context.nfev
    assert event.value == quartic(event.point)[0]


def test_a_last_step_is_evaluated_where_there_are_values_alone():
    """The final step is asked for and answered by the same machine; the candidate is where it led."""
    context = a_context(0, function=quartic)
    local = begin(context, [(0.2, 0.3)])
    kinds = []
    while len(local):
        blocks = local.ask()
        kinds += [block.kind for block in blocks]
        events = local.tell(blocks, answer(context, blocks, quartic))
    assert kinds[0] == "START"
    assert kinds[-1] == "FINAL"
    assert kinds.count("CURVE") >= 1
    assert np.abs(events[0].candidate.gradient).max() == 0.0


def test_hessians_at_a_kink_do_not_keep_a_search_from_ending():
    events = run(begin(a_context(2, function=cone), STARTS), cone)
    assert len(events) == 12
    assert all(isinstance(event, Arrived | Stuck) for event in events)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_recognised_search_that_is_to_be_checked_runs_on_and_knows_why(share):
    context = a_context(2, function=quartic, checks=Checks(share))
    where = np.full(2, maxima()[1])
    value, _, hessian = quartic(where)
    mode = freeze(context, where, float(value), hessian)
    (event,) = run(begin(context, [where - 0.06]), quartic)
    if share:
        assert isinstance(event, Arrived)
        assert event.candidate.origin.recognised == mode
        np.testing.assert_allclose(event.candidate.point, where, atol=1e-6)
    else:
        assert isinstance(event, Recognised)
        assert (event.origin.recognised, event.mode) == (-1, mode)
