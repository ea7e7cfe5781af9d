"""A search that falls into a known mode on the same active set is recognised, another one is not."""

import numpy as np
from constrained_runs import DISC, MIDDLE, make_context, play, verify

from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.recognition import recognised
from allmodes.search.searchers.constrained.record import frozen_of


def fun(z):
    return float(-z[0] + 0.5 * (z[1] - 0.5) ** 2)


def grad(z):
    return np.array([-1.0, z[1] - 0.5])


def known():
    context = make_context(DISC, order=1)
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    play(launch, context, fun, grad)
    context.archive.add(launch.point, -launch.value, frozen_of(context, verify(launch, context, fun, grad)))
    return context


def falling(context, value=0.0):
    """A search right beside the mode that is about to step into it."""
    launch = Launch(1, MIDDLE + np.array([0.26, 0.06]), SPACE_FILLING)
    points = launch.ask(context)
    launch.hessian, launch.has_curvature = np.diag([0.0, 1.0]), True
    launch.tell(context, np.array([fun(points[0]) + value]), grad(points[0])[None], None)
    return launch


def test_it_is_recognised():
    context = known()
    assert recognised(context, falling(context)) == 0


def test_another_value_is_another_mode():
    context = known()
    assert recognised(context, falling(context, value=0.05)) == -1
    assert recognised(context, falling(context, value=-0.05)) == -1


def test_nothing_is_recognised_by_an_empty_archive():
    context = make_context(DISC, order=1)
    assert recognised(context, falling(context)) == -1
