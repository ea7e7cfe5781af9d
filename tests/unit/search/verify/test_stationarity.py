"""Smooth candidates: optima, saddles, level ground, boundaries; by derivatives, or by values where these fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.verify.question import Higher, NoOptimum, Optimum, Question
from allmodes.search.verify.stationarity import (
    FarGround,
    LevelGround,
    Remeasured,
    WeakAxes,
    examine,
    is_curved,
    shape,
)

PEAK, SADDLE, LEVEL = -np.diag([4.0, 2.0]), np.diag([-4.0, 2.0]), np.diag([-4.0, 0.0])
MIDDLE = (0.5, 0.5)


def nothing(x):
    return 0.0


def claimed(point=MIDDLE, hessian=PEAK, gradient=(0.0, 0.0), value=0.0, **known):
    """A candidate with these derivatives."""
    hessian, gradient = np.asarray(hessian, dtype=float), np.asarray(gradient, dtype=float)
    return candidate_at(lambda x: value, point, hessian=hessian, gradient=gradient, **known)


def answered(step, f, context):
    """What a question says once the function is known where it asks."""
    points = step.points(context)
    assert context.box.inside(points).all()
    return step.answer(context, points, np.array([f(point) for point in points]))


def judged(f, candidate, context):
    """The last word."""
    step = examine(context, candidate)
    while isinstance(step, Question):
        step = answered(step, f, context)
    return step


# ---- what derivatives say


@pytest.mark.parametrize("hessian", [SADDLE, -PEAK, np.diag([-4.0, 0.5])])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_saddle_or_a_bottom_is_no_optimum(hessian, order):
    assert examine(make_context(2, order), claimed(hessian=hessian)) == NoOptimum("a saddle")


@pytest.mark.parametrize(
    ("point", "gradient", "hessian", "held"),
    [
        ((0.0, 0.5), (-3.0, 0.0), SADDLE, None),  # the free coordinate curves up: a saddle on the edge
        ((0.0, 0.5), (-3.0, 0.0), np.diag([5.0, -2.0]), [True, False]),
        ((1.0, 0.5), (3.0, 0.0), np.diag([5.0, -2.0]), [True, False]),
        ((1.0, 0.0), (3.0, -1.0), -PEAK, [True, True]),
    ],
)
def test_on_the_boundary_free_coordinates_decide(point, gradient, hessian, held):
    context, candidate = make_context(2, order=2), claimed(point, hessian, gradient)
    step = examine(context, candidate)
    if held is None:
        assert isinstance(step, NoOptimum)
        return
    assert step.kind == "boundary"
    assert shape(context, candidate).held.tolist() == held


def test_a_bound_that_does_not_push_is_not_active():
    assert examine(make_context(2, order=2), claimed((0.0, 0.5))).kind == "optimum"


def test_a_slope_at_a_bound_that_may_be_an_error_of_differences_holds_nothing():
    context = make_context(2, order=0)
    assert not shape(context, claimed((0.0, 0.5), gradient=(-1e-9, 0.0))).held.any()
    assert shape(context, claimed((0.0, 0.5), gradient=(-1.0, 0.0))).held.tolist() == [True, False]


@pytest.mark.parametrize(
    ("order", "curvature", "is_sure"),
    [(0, -30.0, False), (0, -0.8, False), (1, -2.5, True), (1, -0.8, False), (2, -0.8, True), (2, -0.03, False)],
)
def test_values_are_spent_on_weak_curvature_alone(order, curvature, is_sure):
    """A Hessian of a point beside this one may be off by a few per cent of the largest, and differences by anything."""
    step = examine(make_context(2, order), claimed(hessian=np.diag([-40.0, curvature])))
    assert isinstance(step, Optimum if is_sure else WeakAxes)


# ---- weak axes


def long_hill(x):
    return -20.0 * (x[0] - 0.5) ** 2 - 0.4 * (x[1] - 0.5) ** 2


@pytest.mark.parametrize("order", [0, 1])
def test_a_curvature_that_values_show_is_kept(order):
    hessian = np.diag([-40.0, -0.8])
    step = judged(long_hill, claimed(hessian=hessian), make_context(2, order))
    assert (step.kind, step.is_level) == ("optimum", False)
    np.testing.assert_array_equal(step.candidate.hessian, hessian)


@pytest.mark.parametrize(("order", "share"), [(0, 0.0), (1, 0.0), (1, 0.3), (1, 3.0)])
def test_a_curvature_that_values_do_not_show_is_looked_at_farther(order, share):
    context = make_context(2, order)
    step = examine(context, claimed(hessian=np.diag([-40.0, -0.8])))
    step = answered(step, lambda x: -20.0 * (x[0] - 0.5) ** 2 - share * 0.4 * (x[1] - 0.5) ** 2, context)
    assert isinstance(step, LevelGround)


@pytest.mark.parametrize("share", [0.3, 3.0])
def test_from_values_a_parabola_that_is_another_one_is_measured_again(share):
    """On both sides, which tells the curvature of the function, and not that of the model."""
    hessian = np.array([[-40.0, 3.0], [3.0, -0.8 * share]])

    def hill(x):
        moved = x - 0.5
        return 0.5 * moved @ hessian @ moved + 30.0 * moved[0] ** 2 * moved[1]

    step = judged(hill, claimed(hessian=np.diag([-40.0, -0.8])), make_context(2, 0))
    assert (step.kind, step.is_level) == ("optimum", False)
    np.testing.assert_allclose(step.candidate.hessian, hessian, atol=1e-3)


def test_it_is_measured_again_once():
    context = make_context(2, 0)
    candidate = claimed(hessian=np.diag([-40.0, -0.8]))
    step = answered(WeakAxes(candidate), lambda x: 10.0 * long_hill(x), context)
    assert isinstance(step, Remeasured)
    step = answered(step, long_hill, context)
    assert step.is_remeasured
    assert isinstance(answered(step, lambda x: 10.0 * long_hill(x), context), LevelGround)


@pytest.mark.parametrize(("order", "hessian"), [(0, PEAK), (0, np.diag([-40.0, -0.8])), (1, np.diag([-40.0, -0.8]))])
def test_along_a_ridge_that_a_model_took_for_a_peak_the_search_goes_on(order, hessian):
    step = judged(lambda x: x[1] - 0.5, claimed(hessian=hessian), make_context(2, order))
    assert isinstance(step, Higher)
    assert step.point[1] > 0.5


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_gentle_curve_that_values_close_by_show_is_one(order):
    """There are ripples farther away, which probes there would see."""
    context = make_context(2, order)
    step = examine(context, claimed(hessian=np.diag([-4.0, -0.03]), value=1.0))
    assert isinstance(step, WeakAxes)
    assert 0.0 < np.abs(step.points(context) - 0.5).max() < 1e-3

    def rippled(x):
        return 1.0 - 2.0 * (x[0] - 0.5) ** 2 + 0.03 / 400.0 * (np.cos(20.0 * (x[1] - 0.5)) - 1.0)

    assert answered(step, rippled, context).kind == "optimum"


@pytest.mark.parametrize(("fall", "kind"), [(lambda t: 2.0 * t**2, Optimum), (lambda t: 2e-5 * t, NoOptimum)])
def test_a_kink_across_is_no_peak_although_differences_see_curvature(fall, kind):
    context = make_context(2, order=0)
    step = examine(context, claimed(hessian=np.diag([-4.0, -2.0]), value=0.0))
    assert isinstance(answered(step, lambda x: -fall(abs(x[0] - 0.5)) - (x[1] - 0.5) ** 2, context), kind)


def test_a_slope_that_is_known_is_taken_off():
    """With gradients one side is asked near, here downhill, and the other one farther away."""
    context, hessian = make_context(2, order=1), np.diag([-40.0, -0.8])
    near = examine(context, claimed(hessian=hessian)).points(context)[0]
    slope = -1e-5 * np.sign(near - 0.5)
    for known, kind in ((slope, Optimum), (0.0 * slope, LevelGround)):
        step = examine(context, claimed(hessian=hessian, gradient=known))
        assert isinstance(answered(step, lambda x: long_hill(x) + slope @ (x - 0.5), context), kind)


def test_a_slope_that_values_cannot_tell_is_on_neither_side():
    """Without gradients both sides are asked, near and farther away: a slope cancels."""
    context = make_context(2, order=0)
    points = examine(context, claimed(hessian=np.diag([-40.0, -0.8]))).points(context) - 0.5
    np.testing.assert_allclose(points.sum(axis=0), 0.0, atol=1e-15)
    along = points[points[:, 1] != 0.0, 1]
    assert sorted(np.round(along / np.abs(along).min(), 6)) == [-4.0, -1.0, 1.0, 4.0]


def test_a_level_valley_that_bends_is_no_peak_although_its_sides_agree_on_average():
    """From values: one side falls much and the other hardly, since the axis is a little askew."""
    context, hessian = make_context(2, order=0), np.diag([-40.0, -0.8])
    step = examine(context, claimed(hessian=hessian))
    points = step.points(context)
    across, along = points.T - 0.5
    falls = 20.0 * across**2 + 0.4 * along**2
    far = np.abs(along) > 2.0 * np.abs(along[along != 0.0]).min()
    assert step.answer(context, points, -falls).kind == "optimum"
    assert isinstance(
        step.answer(context, points, -falls * np.where(far, 1.0 + 0.9 * np.sign(along), 1.0)), LevelGround
    )


@pytest.mark.parametrize("order", [0, 1, 2])
def test_what_may_still_be_gained_is_no_curvature(order):
    """A search ends beside a quartic peak, where the second derivative is not zero, and values fit it nearby."""
    aside, steepness = 1e-3, 50.0

    def quartic(x):
        return -2.0 * (x[0] - 0.5) ** 2 - steepness * (x[1] - 0.5) ** 4

    curvature, slope = -12.0 * steepness * aside**2, -4.0 * steepness * aside**3
    beside = claimed((0.5, 0.5 + aside), np.diag([-4.0, curvature]), (0.0, slope), quartic((0.5, 0.5 + aside)))
    step = judged(quartic, replace(beside, gain=-0.5 * slope**2 / curvature), make_context(2, order))
    assert isinstance(step, Higher) or step.kind == "flat"


# ---- level ground


def test_directions_that_look_level_are_probed_on_both_sides_inside_the_box():
    context = make_context(2, order=2)
    step = examine(context, claimed((0.5, 0.99), LEVEL))
    assert isinstance(step, LevelGround)
    points = step.points(context)
    np.testing.assert_allclose(points[:, 0], 0.5)
    assert points[:, 1].min() < 0.99 < points[:, 1].max() <= 1.0


@pytest.mark.parametrize("steepness", [1.0, 50.0])
def test_a_quartic_peak_is_flat(steepness):
    step = judged(
        lambda x: -2.0 * (x[0] - 0.5) ** 2 - steepness * (x[1] - 0.5) ** 4, claimed(hessian=LEVEL), make_context(2, 2)
    )
    assert (step.kind, step.is_level) == ("flat", True)


def test_a_weak_parabola_is_an_ordinary_peak():
    step = judged(lambda x: -2.0 * (x[0] - 0.5) ** 2 - 1e-3 * (x[1] - 0.5) ** 2,
                  claimed(hessian=np.diag([-4.0, -1e-6])), make_context(2, 2))  # fmt: skip
    assert step.kind == "optimum"


@pytest.mark.parametrize(
    ("place", "hessian", "f", "kind"),
    [
        (0.994, LEVEL, lambda x: -50.0 * (x[1] - 0.994) ** 4, "flat"),
        (0.998, np.diag([-4.0, -1e-6]), lambda x: -0.04 * (x[1] - 0.998) ** 2, "optimum"),
    ],
    ids=["quartic", "parabola"],
)
def test_a_bound_next_to_it_does_not_change_what_a_peak_is(place, hessian, f, kind):
    assert judged(f, claimed((0.5, place), hessian), make_context(2, 2)).kind == kind


def test_a_degenerate_saddle_is_left_uphill():
    context = make_context(2, order=2)
    step = judged(lambda x: (x[1] - 0.5) ** 3 - (x[0] - 0.5) ** 2, claimed(hessian=LEVEL), context)
    assert isinstance(step, Higher)
    assert step.point[1] > 0.52


def test_ground_that_is_exactly_level_is_looked_at_farther():
    """A higher hill that begins after the first fall is not climbed, for a valley lies before it."""
    context = make_context(2, order=2)
    step = answered(examine(context, claimed(hessian=LEVEL)), nothing, context)
    assert isinstance(step, FarGround)
    assert step.points(context)[:, 1].max() == 1.0
    step = answered(step, lambda x: -0.1 * (x[1] > 0.55) + 5.0 * (x[1] > 0.9), context)
    assert (step.kind, step.is_level) == ("flat", True)


def test_level_ground_that_rises_at_last_is_left():
    context = make_context(2, order=2)
    step = judged(lambda x: float(max(0.0, x[1] - 0.7)), claimed(hessian=LEVEL), context)
    assert isinstance(step, Higher)
    assert step.point[1] > 0.7


def test_a_plateau_below_the_best_value_is_no_optimum():
    context = make_context(2, order=2)
    context.observe(np.full((1, 2), 0.9), np.ones(1), 1)
    step = judged(nothing, claimed(hessian=np.zeros((2, 2))), context)
    assert step == NoOptimum("a plateau below the best value")
    context = make_context(2, order=2)
    assert judged(nothing, claimed(hessian=np.zeros((2, 2))), context).kind == "flat"


def test_before_the_function_is_sampled_the_largest_curvature_is_its_scale():
    """A given start: nothing is known of the spread of the function."""
    context = make_context(2, order=2)
    context.sampled = np.zeros(0)
    assert examine(context, claimed()).kind == "optimum"
    assert isinstance(examine(context, claimed(hessian=np.diag([-4.0, -1e-6]))), WeakAxes)


@pytest.mark.parametrize(("power", "curved"), [(2.0, True), (4.0, False), (1.0, True)])
def test_falls_like_those_of_a_parabola_are_curved(power, curved):
    length = np.array([0.003, 0.03])[:, None, None] * np.ones((2, 2, 1))
    assert is_curved(length, length**power, 1e-15).tolist() == [curved]
    assert is_curved(length, length**power, 1.0).tolist() == [False]  # nothing is seen above rounding


def test_a_side_that_a_bound_cuts_short_tells_little():
    length = np.array([[[0.003], [0.001]], [[0.03], [0.001]]])
    falls = length**2
    falls[:, 1] = 0.0
    assert is_curved(length, falls, 1e-15).tolist() == [True]
