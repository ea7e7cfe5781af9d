"""Candidates on kinks: values around them, and searches that come back to them from their sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from judging import candidate_at, climb, make_context

from allmodes.search.candidate import LOCAL, RETURN, Origin
from allmodes.search.events import Arrived, Stuck
from allmodes.search.verify.kinks import AroundKink, ComesBack
from allmodes.search.verify.question import BySearch, ByValues, Elsewhere, Higher, NoOptimum, Optimum
from allmodes.search.verify.tuning import TUNING

ORIGIN = Origin(LOCAL, RETURN, 0, question=0)
MIDDLE = np.full(2, 0.5)


def cone(x):
    return -float(np.abs(x - 0.5).sum())


def kinked(f, point=MIDDLE, **known):
    d = len(point)
    return candidate_at(f, point, is_kinked=True, **{"factor": np.diag(np.arange(1.0, d + 1))} | known)


def first_step(f, point=MIDDLE, context=None, **known):
    """What values around a candidate say."""
    context = make_context(len(point), order=1) if context is None else context
    question = AroundKink(kinked(f, point, **known))
    points = question.points(context)
    assert context.box.inside(points).all()
    return question.answer(context, points, np.array([f(each) for each in points]))


def judged(f, point=MIDDLE, context=None):
    """The last word, with the candidates that searches from beside have come to."""
    context = make_context(len(point), order=1) if context is None else context
    step = AroundKink(kinked(f, point))
    while isinstance(step, ByValues | BySearch):
        if isinstance(step, BySearch):
            step = step.ended(context, Arrived(climb(context, f, step.search(context, ORIGIN), ORIGIN)))
        else:
            points = step.points(context)
            step = step.answer(context, points, np.array([f(each) for each in points]))
    return step


# ---- values around


def test_higher_ground_beside_it_sends_the_search_on():
    step = first_step(cone, np.array([0.5, 0.501]))
    assert isinstance(step, Higher)
    assert step.is_kinked
    assert cone(step.point) > -0.001


def test_where_the_function_is_smooth_after_all_the_search_goes_on_as_a_smooth_one():
    step = first_step(lambda x: -float(((x - 0.5) ** 2).sum()))
    assert isinstance(step, Higher)
    assert not step.is_kinked


def test_a_cusp_is_no_optimum():
    step = first_step(lambda x: -float(np.sqrt(np.abs(x - 0.5)).sum()))
    assert isinstance(step, NoOptimum)
    assert "steeper towards it" in step.reason


def test_a_kink_is_as_curved_as_a_parabola_that_is_as_wide_as_it_is():
    """Both fall by the height, here 1 over the level of the function, at the same distance; along a ridge as it is."""
    context = make_context(2, order=1)
    context.observe_level(np.linspace(-3.0, 0.0, 101))
    step = first_step(lambda x: 1.0 + context.level - 4.0 * abs(x[0] - 0.5) - 3.0 * (x[1] - 0.5) ** 2, context=context)
    assert isinstance(step, ComesBack)
    np.testing.assert_allclose(step.candidate.hessian, [[-2.0 * 4.0**2, 0.0], [0.0, -6.0]], rtol=1e-3, atol=1e-6)


def test_failures_beside_it_give_no_curvature_that_is_not_finite():
    context, question = make_context(2, order=1), AroundKink(kinked(cone))
    points = question.points(context)
    values = np.array([cone(each) for each in points])
    values[3] = -np.inf
    step = question.answer(context, points, values)
    assert isinstance(step, ComesBack)
    assert np.isfinite(step.candidate.hessian).all()


# ---- searches that come back


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_cone_is_an_optimum(d):
    step = judged(cone, np.full(d, 0.5))
    assert isinstance(step, Optimum)
    assert (step.kind, step.is_level) == ("optimum", False)
    np.testing.assert_allclose(step.candidate.point, 0.5, atol=1e-6)


@pytest.mark.parametrize("place", [0.0, 1.0])
def test_a_kink_at_a_bound_is_a_boundary_mode(place):
    """At upper bounds as at lower ones."""

    def f(x):
        return (2.0 * place - 1.0) * float(x[0]) - abs(x[1] - 0.5)

    step = judged(f, np.array([place, 0.5]))
    assert isinstance(step, Optimum)
    assert step.kind == "boundary"


def test_a_level_ridge_is_flat():
    step = judged(lambda x: -abs(x[0] - 0.5))
    assert isinstance(step, Optimum)
    assert (step.kind, step.is_level) == ("flat", True)


def test_a_saddle_along_a_ridge_is_left():
    step = judged(lambda x: -2.0 * abs(x[0] - 0.5) + (x[1] - 0.5) ** 2 - 1e3 * (x[1] - 0.5) ** 4)
    assert isinstance(step, (Higher, Elsewhere))
    point = step.point if isinstance(step, Higher) else step.candidate.point
    np.testing.assert_allclose(np.abs(point - 0.5) > 1e-4, [False, True])


def test_searches_are_put_aside_at_right_angles_inside_the_box():
    context = make_context(2, order=1)
    context_close = context.tolerances.close
    question = ComesBack(kinked(cone, np.array([1.0, 0.5])), np.eye(2))
    search = question.search(context, ORIGIN)
    assert context.box.inside(search.point)
    np.testing.assert_allclose(search.point, [1.0 - context_close, 0.5])
    assert search.is_kinked
    np.testing.assert_array_equal(search.goal, [1.0, 0.5])
    assert 0.0 < search.goal_reach < context_close


def test_a_search_from_beside_that_arrives_higher_is_taken_in_its_place():
    context = make_context(2, order=1)
    question = ComesBack(kinked(cone, np.array([0.3, 0.5])), np.eye(2))
    step = question.ended(context, Arrived(kinked(cone)))
    assert isinstance(step, Elsewhere)
    np.testing.assert_array_equal(step.candidate.point, MIDDLE)


def test_a_search_from_beside_that_gets_stuck_is_no_proof():
    question = ComesBack(kinked(cone), np.eye(2))
    assert isinstance(question.ended(make_context(2), Stuck(ORIGIN, MIDDLE, -1.0)), NoOptimum)


def test_searches_that_end_lower_elsewhere_are_tried_again_for_a_while():
    context = make_context(2, order=1)
    step, searches = ComesBack(kinked(cone), np.eye(2)), 0
    while isinstance(step, ComesBack):
        searches += 1
        step = step.ended(context, Arrived(kinked(cone, np.array([0.6, 0.6]))))
    assert isinstance(step, NoOptimum)
    assert searches == TUNING.most_restarts + 1


def test_coming_back_counts_for_each_side_and_keeps_the_better_point():
    context = make_context(2, order=1)
    off = np.array([0.5, 0.5 + 1e-11])
    step = ComesBack(kinked(cone, off), np.eye(2)).ended(context, Arrived(kinked(cone)))
    assert isinstance(step, ComesBack)
    np.testing.assert_array_equal(step.candidate.point, MIDDLE)
    for returns in range(1, TUNING.returns):
        assert (type(step), step.returns) == (ComesBack, returns)
        step = step.ended(context, Arrived(kinked(cone)))
    assert isinstance(step, Optimum)


def test_searches_come_from_both_sides_of_a_direction_before_the_next():
    """On a ridge that rises those from below always come back."""
    context = make_context(2, order=1)
    question, aside = ComesBack(kinked(cone), np.eye(2)), context.tolerances.close
    starts = [replace(question, returns=returns).search(context, ORIGIN).point - MIDDLE for returns in range(4)]
    np.testing.assert_allclose(starts, aside * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]))


@pytest.mark.parametrize("angle", np.arange(0.25, 6.0, 0.5))
def test_a_ridge_that_rises_is_left_from_whichever_side_a_search_begins(angle):
    def ridge(x):
        return -5.0 * abs(x[0] - 0.5) - (x[1] - 0.8) ** 2

    def arrives(start):  # those from below come back to where they are awaited
        return Arrived(kinked(ridge, np.array([0.5, max(0.5, start[1])])))

    context = make_context(2, order=1)
    step = ComesBack(kinked(ridge), np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]))
    while isinstance(step, ComesBack):
        step = step.ended(context, arrives(step.search(context, ORIGIN).point))
    assert isinstance(step, Elsewhere)
    assert step.candidate.point[1] > 0.5
