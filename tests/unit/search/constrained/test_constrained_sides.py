"""Points that show what curvature along the active set does not: kinks, inflections, minima beside logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from constrained_runs import CIRCLE, DISC, MIDDLE, constraints_of, make_context, verify

from allmodes import find_minima
from allmodes.problems import constrained_problems
from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.arrival import NEW, ON
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.optimality import bend_width, hold_of
from allmodes.search.searchers.constrained.sides import beside, where_steep, where_weak

RIGHT = MIDDLE + np.array([0.3, 0.0])
PUSH = np.array([-1.0, 0.0])


def test_the_point_beside_is_on_the_active_set():
    constraints = constraints_of(CIRCLE)
    found = beside(constraints, RIGHT, hold_of(constraints, RIGHT, PUSH), np.array([0.0, 0.01]))
    assert np.linalg.norm(found - MIDDLE) == pytest.approx(0.3, abs=1e-12)
    assert found[1] == pytest.approx(0.51, abs=1e-4)
    free = hold_of(constraints_of(DISC), MIDDLE, np.zeros(2))
    assert beside(constraints_of(DISC), MIDDLE, free, np.array([0.1, 0.0])) == pytest.approx([0.6, 0.5])


def test_both_sides_of_what_is_steep_and_of_what_is_nearly_level_are_looked_at():
    context = make_context(DISC)
    hold = hold_of(context.constraints, MIDDLE, np.zeros(2))
    reduced = hold.tangent.T @ np.diag([100.0, 1e-3]) @ hold.tangent
    steep = where_steep(context, MIDDLE, 1.0, hold, reduced, 1e-4)
    assert steep - MIDDLE == pytest.approx(np.array([[-1e-3, 0.0], [1e-3, 0.0]])[:: 1 if steep[0, 0] < 0.5 else -1])
    weak = where_weak(context, MIDDLE, hold, reduced)
    assert sorted((weak - MIDDLE)[:, 1]) == pytest.approx([-3e-3, 3e-3])
    nearer = where_weak(context, MIDDLE, hold, hold.tangent.T @ np.diag([1e4, 1e2]) @ hold.tangent)
    assert np.abs(nearer - MIDDLE).max(axis=0) == pytest.approx([0.0, 3e-3 * (0.1 * context.scale / 1e2) ** 0.5])


def test_a_stiff_function_is_measured_over_shorter_steps():
    context = make_context(DISC)
    soft, stiff = (bend_width(context, 1.0, size * np.eye(2)) for size in (1e-2, 1e6))
    assert stiff < 0.2 * soft
    assert bend_width(context, 1.0, np.zeros((2, 2))) == soft


@pytest.mark.parametrize("order", [0, 1])
def test_a_search_that_rests_beside_an_inflection_goes_on(order):
    """The function rises along the circle on one side and falls on the other, by the third power."""
    context = make_context(CIRCLE, order=order)
    beyond = MIDDLE + 0.3 * np.array([np.cos(4e-4), np.sin(4e-4)])
    fun, grad = (lambda z: (z[1] - 0.5) ** 3), (lambda z: np.array([0.0, 3.0 * (z[1] - 0.5) ** 2]))
    launch = Launch(
        0, beyond, SPACE_FILLING, stage="arrived", value=fun(beyond), gradient=grad(beyond), hessian=np.zeros((2, 2))
    )
    assert verify(launch, context, fun, grad).verdict == ON
    assert launch.point[1] < 0.5


def test_a_narrow_valley_with_little_curvature_along_it_is_new():
    context = make_context(DISC)
    fun = lambda z: 30.0 * (z[0] - 0.5) ** 2 + 1e-3 * (z[1] - 0.5) ** 2  # noqa: E731
    launch = Launch(0, MIDDLE, SPACE_FILLING, stage="arrived", value=0.0, gradient=np.zeros(2), hessian=np.eye(2))
    arrival = verify(launch, context, fun)
    assert (arrival.verdict, arrival.kind) == (NEW, "optimum")


@pytest.mark.parametrize("seed", [0, 1])
def test_the_inflection_of_hs33_is_not_listed(seed):
    problem = constrained_problems()["HS33"]
    found = find_minima(problem.value, problem.bounds, constraints=problem.constraints, rng=seed, maxfev=480)
    assert [mode.fun for mode in found.modes] == pytest.approx([problem.best])


def test_a_minimum_beside_logarithms_is_no_saddle():
    problem = constrained_problems()["g14"]
    found = find_minima(problem.value, problem.bounds, constraints=problem.constraints, rng=0, maxfev=1100)
    assert problem.found([mode.x for mode in found.modes]).all()


def test_a_corner_where_nothing_is_known_of_the_scale_yet_is_no_minimum():
    """At first all starts are next to a corner where the function vanishes to third order; rounding holds nothing."""
    rows = [{"type": "ineq", "fun": lambda x: x[0] - 0.2}, {"type": "ineq", "fun": lambda x: x[1] - 0.3}]
    context = make_context(rows)
    context.sampled = np.zeros(0)
    context.observe_level(np.linspace(0.0, 1e-50, 4))
    context.observe(MIDDLE[None], np.array([1.0]), 1)
    corner, rounding = np.array([0.2, 0.3]), np.array([1e-20, 1e-20])
    launch = Launch(0, corner, SPACE_FILLING, stage="arrived", value=0.0, gradient=rounding, hessian=np.zeros((2, 2)))
    assert verify(launch, context, lambda z: -((z[0] - 0.2) ** 3)).verdict == ON
