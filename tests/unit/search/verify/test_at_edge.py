"""Components that came to rest where the function ends: optima of the edge, places on its way, square roots."""

from __future__ import annotations

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.verify.edges import AtEdge
from allmodes.search.verify.question import NoOptimum, Optimum


def asked(f, point):
    """What values say of a place; f is -inf where it ends."""
    context = make_context(len(point))
    smooth = candidate_at(lambda x: 0.0, point, "component", factor=1e-7 * np.eye(len(point)))
    question = AtEdge(Optimum(smooth, "unverified"))
    points = question.points(context)
    assert context.box.inside(points).all()
    return question.answer(context, points, np.array([f(each) for each in points]))


def ended(slope):
    """Ends at x[0] = 0.5, where it falls, and has its best point of the edge at (0.5, 0.5), or none."""

    def f(x):
        return -np.inf if x[0] < 0.5 else -(x[0] - 0.5) - (x[1] - 0.5) ** 2 + slope * (x[1] - 0.5)

    return f


def test_the_best_point_of_an_edge_is_a_mode_at_a_boundary():
    step = asked(ended(0.0), [0.5, 0.5])
    assert isinstance(step, Optimum)
    assert step.kind == "boundary"


def test_a_place_on_the_way_along_an_edge_is_none():
    assert isinstance(asked(ended(0.5), [0.5, 0.5]), NoOptimum)


@pytest.mark.parametrize("f", [
    lambda x: -np.inf if x[0] < 0.5 else -np.sqrt(x[0] - 0.5),  # a ridge along the edge hides its slope
    lambda x: -abs(x[0] - 0.5),  # it does not end here
    lambda x: -np.inf,  # nothing is known around it
])  # fmt: skip
def test_what_values_do_not_tell_stays_unverified(f):
    step = asked(f, [0.5, 0.5])
    assert isinstance(step, Optimum)
    assert step.kind == "unverified"


def test_on_a_line_there_is_no_way_along_an_edge():
    step = asked(lambda x: -np.inf if x[0] < 0.5 else -np.sqrt(x[0] - 0.5), [0.5])
    assert isinstance(step, Optimum)
    assert step.kind == "boundary"
