"""Local searches that fall into known modes are recognised, and no others."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.searchers.local.models import gain, model
from allmodes.search.searchers.local.recognition import recognise

BOX = Box.make([(0, 1), (0, 1)])
CENTRES = np.array([[0.2, 0.3], [0.7, 0.6], [0.25, 0.8]])
HEIGHTS = np.array([3.0, 2.0, 2.5])
CURVES = -np.array([[[80.0, 20.0], [20.0, 60.0]], [[50.0, 0.0], [0.0, 90.0]], [[70.0, -30.0], [-30.0, 40.0]]])


def a_context(order=2, box=BOX, known=(0, 1, 2)):
    context = Context(box, Archive(box), np.random.default_rng(0), order=order)
    context.observe_level(np.linspace(0.0, 1.0, 101))
    for j in known:
        found = Frozen(np.zeros(2), CURVES[j], np.zeros(2, bool), "optimum", "derivatives", 1)
        context.archive.add(CENTRES[j], HEIGHTS[j], found)
    return context


def parabola(points, j, tilt=0.0):
    """Value, gradient and Hessian of hill j at points (n, d), with a slope to the right."""
    apart = points - CENTRES[j]
    g = apart @ CURVES[j] + [tilt, 0.0]
    return HEIGHTS[j] + 0.5 * np.einsum("nd,nd->n", apart, apart @ CURVES[j]) + tilt * apart[:, 0], g, CURVES[j]


def asked(context, points, value, g, H, has_peak=True):
    """The searches' own models."""
    H = np.broadcast_to(H, (len(points), 2, 2)).copy()
    newton = model(context.box, points, g, H).newton()
    peaks = points + newton
    has = np.full(len(points), has_peak)
    return recognise(context, points, value, g, peaks, gain(g, H, newton), has)


def around(j, radius, n=40, seed=1):
    """Points at this distance in the metric of the mode."""
    u = np.random.default_rng(seed).normal(size=(n, 2))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return CENTRES[j] + radius * np.linalg.solve(np.linalg.cholesky(-CURVES[j]).T, u.T).T


@pytest.mark.parametrize("j", [0, 1, 2])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("has_peak", [True, False])
def test_a_search_on_the_slope_of_a_known_mode_is_recognised(j, order, has_peak):
    points = around(j, 1.0)
    known = asked(a_context(order), points, *parabola(points, j), has_peak=has_peak)
    assert known.tolist() == [j if has_peak or order < 2 else -1] * len(points)


@pytest.mark.parametrize("has_peak", [True, False])
def test_a_search_on_an_unknown_hill_is_not(has_peak):
    points = around(1, 1.0)
    known = asked(a_context(1, known=(0, 2)), points, *parabola(points, 1), has_peak=has_peak)
    assert known.tolist() == [-1] * len(points)


def test_a_peak_in_the_right_place_and_at_another_height_is_another_mode():
    points = around(0, 1.0)
    value, g, H = parabola(points, 0)
    for lift, mode in ((0.0, 0), (0.1, 0), (0.3, -1), (-0.6, -1)):  # about half a unit is left to climb
        assert set(asked(a_context(), points, value + lift, g, H).tolist()) == {mode}, lift


def test_a_peak_at_the_right_height_and_in_another_place_is_another_mode():
    points = around(0, 1.0)
    value, g, H = parabola(points, 0)
    exact = asked(a_context(), points, value, g, H)
    climb = 0.5  # at distance 1
    for share, mode in ((0.2, 0), (0.8, -1)):  # of the search's own distance
        peaks = CENTRES[0] + share * (points - CENTRES[0])
        known = recognise(a_context(), points, value, g, peaks, np.full(40, climb), np.ones(40, bool))
        assert set(known.tolist()) == {mode}
    assert set(exact.tolist()) == {0}


def test_a_gradient_that_points_elsewhere_is_another_mode():
    points = around(0, 1.0)
    value, g, _ = parabola(points, 0)
    nothing = np.zeros(40, bool)
    for turn, mode in ((1.0, 0), (0.0, -1), (-1.0, -1)):
        known = recognise(a_context(1), points, value, turn * g, points, np.zeros(40), nothing)
        assert set(known.tolist()) == {mode}


def test_without_a_model_only_the_upper_half_of_a_component_counts():
    """The frozen parabola is 2.5 above the level of the function: half of it is at a distance of sqrt(2.5)."""
    for radius, mode in ((1.5, 0), (1.7, -1)):
        points = around(0, radius)
        known = asked(a_context(1), points, *parabola(points, 0), has_peak=False)
        assert set(known.tolist()) == {mode}
    points = around(0, 1.7)
    assert set(asked(a_context(1), points, *parabola(points, 0)).tolist()) == {0}


def test_rows_with_and_without_a_model_are_told_apart():
    points = np.concatenate([around(0, 1.0, 5), around(1, 1.0, 5)])
    parts = [parabola(points[:5], 0), parabola(points[5:], 1)]
    value, g = (np.concatenate([part[i] for part in parts]) for i in range(2))
    peaks = np.concatenate([np.tile(CENTRES[0], (5, 1)), points[5:]])
    has = np.arange(10) < 5
    known = recognise(a_context(1), points, value, g, peaks, np.full(10, 0.5), has)
    assert known.tolist() == [0] * 5 + [1] * 5


def test_of_two_modes_that_fit_the_closer_one_is_meant():
    context = a_context(known=(0,))
    aside = np.array([0.01, 0.0])
    context.archive.add(CENTRES[0] + aside, HEIGHTS[0], context.archive.records[0])
    points = around(0, 1.0)
    value, g, H = parabola(points, 0)
    assert set(asked(context, points, value, g, H).tolist()) == {0}
    known = asked(context, points + aside, *parabola(points, 0))
    assert set(known.tolist()) == {1}


def test_modes_are_recognised_across_the_ends_of_periodic_coordinates():
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    context = Context(box, Archive(box), np.random.default_rng(0), order=1)
    context.observe_level(np.linspace(0.0, 1.0, 101))
    found = Frozen(np.zeros(2), -50.0 * np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
    context.archive.add(np.array([0.02, 0.5]), 3.0, found)
    point = np.array([[0.95, 0.5]])  # 0.07 to the left
    value, g = np.array([3.0 - 25.0 * 0.07**2]), np.array([[50.0 * 0.07, 0.0]])
    top, rise = np.array([[1.02, 0.5]]), np.array([25.0 * 0.07**2])
    for has_peak in (True, False):
        assert recognise(context, point, value, g, top, rise, np.array([has_peak])).tolist() == [0]


@pytest.mark.parametrize("has_peak", [True, False])
def test_after_checks_that_were_wrong_a_mode_must_agree_better(has_peak):
    points = around(0, 1.0)
    value, g, _ = parabola(points, 0)
    for wrong, share, mode in ((0, 0.2, 0), (0, 0.02, 0), (50, 0.2, -1), (50, 0.02, 0)):
        context = a_context(1)
        for is_right in [True] * 950 + [False] * wrong:
            context.observe_check(is_right)
        peaks = CENTRES[0] + share * (points - CENTRES[0])
        pull = g if has_peak else (1.0 - share) * g
        known = recognise(context, points, value, pull, peaks, np.full(40, 0.5), np.full(40, has_peak))
        assert set(known.tolist()) == {mode}, (wrong, share)
