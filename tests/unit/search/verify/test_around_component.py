"""Components of populations: optima by values along their axes, and what these say about curvature and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.candidate import POPULATION, RETURN, Origin
from allmodes.search.events import Arrived, Stuck
from allmodes.search.verify.components import AroundComponent, Polish
from allmodes.search.verify.question import Elsewhere, NoOptimum, Optimum

WIDTH = 1e-3


def asked(f, point, factor=None, context=None, is_polished=False):
    """What values say of a component at a point."""
    context = make_context(len(point)) if context is None else context
    factor = WIDTH * np.eye(len(point)) if factor is None else factor
    question = AroundComponent(candidate_at(f, point, "component", factor=factor), is_polished)
    points = question.points(context)
    assert context.box.inside(points).all()
    assert len(points) == 2 * len(point) + 1
    return question.answer(context, points, np.array([f(each) for each in points]))


def test_the_function_falls_on_both_sides_of_an_optimum():
    step = asked(lambda x: -float(((x - 0.5) ** 2).sum()), [0.5, 0.5])
    assert isinstance(step, Optimum)
    assert (step.kind, step.is_level) == ("optimum", False)


def test_a_component_on_a_slope_is_none():
    step = asked(lambda x: -float(((x - 0.5) ** 2).sum()), [0.6, 0.5])
    assert isinstance(step, NoOptimum)
    assert "higher" in step.reason


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_failed_beside_it_are_no_proof(bad):
    def f(x):
        return bad if x[0] > 0.5 + 1e-6 else -float(((x - 0.5) ** 2).sum())

    question = AroundComponent(candidate_at(lambda x: -float(((x - 0.5) ** 2).sum()), [0.5, 0.5], "component",
                                            factor=WIDTH * np.eye(2)))  # fmt: skip
    context = make_context(2)
    points = question.points(context)
    assert isinstance(question.answer(context, points, np.array([f(each) for each in points])), NoOptimum)


def test_conjugate_axes_give_the_whole_hessian():
    """A component that has converged has the covariance of the function's level sets."""
    H = -np.array([[40.0, 18.0, 3.0], [18.0, 20.0, -4.0], [3.0, -4.0, 9.0]])
    factor = np.linalg.cholesky(np.linalg.inv(-H)) * WIDTH
    centre = np.array([0.4, 0.5, 0.6])
    step = asked(lambda x: 0.5 * float((x - centre) @ H @ (x - centre)), centre, factor)
    np.testing.assert_allclose(step.candidate.hessian, H, rtol=1e-6)
    np.testing.assert_allclose(step.candidate.gradient, 0.0, atol=1e-6)


def test_a_coordinate_next_to_a_bound_is_put_on_it():
    def slope(x):
        return 2.0 * float(x[0]) - float((x[1] - 0.5) ** 2)

    step = asked(slope, [1.0 - 1e-5, 0.5], 1e-5 * np.eye(2))
    assert step.kind == "boundary"
    assert step.candidate.point.tolist() == [1.0, 0.5]
    assert step.candidate.value == slope(np.array([1.0, 0.5]))


def test_a_coordinate_next_to_a_bound_stays_where_the_bound_is_worse():
    def hill(x):
        return -1e8 * float((x[0] - 1.0 + 3e-5) ** 2) - float((x[1] - 0.5) ** 2)

    step = asked(hill, [1.0 - 3e-5, 0.5], 1e-5 * np.eye(2), make_context(2, scale=1e-3))
    assert step.kind != "boundary"
    assert step.candidate.point[0] == 1.0 - 3e-5


def test_a_component_far_from_the_bounds_is_not_moved():
    step = asked(lambda x: -float(((x - 0.99) ** 2).sum()), [0.99, 0.99])
    assert step.kind == "optimum"
    assert step.candidate.point.tolist() == [0.99, 0.99]


def test_level_ground_is_flat_and_a_lopsided_fall_is_unverified():
    assert asked(lambda x: -float((x[0] - 0.5) ** 2), [0.5, 0.5]).kind == "flat"

    def lopsided(x):
        return -float((x[0] - 0.5) ** 2) * (1.0 if x[0] > 0.5 else 100.0) - float((x[1] - 0.5) ** 2)

    assert asked(lopsided, [0.5, 0.5]).kind == "unverified"


@pytest.mark.parametrize(("ratio", "is_level"), [(2.0, False), (100.0, True)])
def test_a_long_component_may_lie_in_a_bent_valley(ratio, is_level):
    step = asked(lambda x: -float(((x - 0.5) ** 2).sum()), [0.5, 0.5], WIDTH * np.diag([1.0, 1.0 / ratio]))
    assert step.is_level is is_level


# ---- where a local search from there arrives


def bowl(x):
    return -float(((x - 0.5) ** 2).sum())


ORIGIN = Origin(POPULATION, RETURN, 0, question=0)


def polished(event, point=(0.5, 0.5)):
    """What is said of a component at a point once the local search from there has ended."""
    step = asked(bowl, point, is_polished=True)
    assert isinstance(step, Polish)
    search = step.search(make_context(2), ORIGIN)
    np.testing.assert_array_equal(search.point, point)
    assert search.origin is ORIGIN
    assert search.radius > 0.0
    return step.optimum, step.ended(make_context(2), event)


def test_what_falls_on_both_sides_is_verified_where_a_local_search_arrives():
    there = candidate_at(bowl, [0.5, 0.5 + 1e-9])
    _, step = polished(Arrived(there))
    assert step == Elsewhere(there)


@pytest.mark.parametrize(
    "event",
    [
        Stuck(ORIGIN, np.full(2, 0.5), 0.0),
        Arrived(candidate_at(bowl, [0.5, 0.5], is_kinked=True)),
        Arrived(candidate_at(bowl, [0.6, 0.5])),
        Stuck(ORIGIN, np.full(2, 0.6), -1.0),
        Stuck(ORIGIN, np.full(2, 0.5 + 1e-3), 1e-3),
    ],
    ids=["stuck", "on a kink", "lower", "stuck lower", "stuck nearby"],
)
def test_where_the_function_is_too_rough_for_local_searches_values_hold(event):
    optimum, step = polished(event)
    assert step is optimum
    assert step.kind == "optimum"


def test_what_a_local_search_climbs_away_from_is_none_although_it_does_not_arrive():
    """Along the floor of a valley that is so narrow that its patience runs out."""
    _, step = polished(Stuck(ORIGIN, np.full(2, 0.55), 1e-3))
    assert isinstance(step, NoOptimum)


def test_on_a_slope_no_local_search_is_made():
    assert isinstance(asked(bowl, [0.6, 0.5], is_polished=True), NoOptimum)
