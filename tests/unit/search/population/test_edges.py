"""Minima where the function ends: they are found, they are verified, and they cost no more than half."""

from __future__ import annotations

import numpy as np
import pytest
from population_runs import make_context

from allmodes import find_minima
from allmodes.objective import Evaluation
from allmodes.search.candidate import EDGES, Origin
from allmodes.search.events import Arrived, NewMode, Rejected
from allmodes.search.searchers.population.edges import Edges
from allmodes.storage import pack, unpack

PLACE = np.array([0.5, 0.5])


def failing():
    """A context whose function has failed somewhere."""
    context = make_context()
    context.observe_level(np.linspace(-2.0, 0.0, 9))
    context.observe(PLACE[None], np.array([-np.inf]), 100)
    return context


def cut(points):
    """Ends at x[0] = 0.5, best at (0.5, 0.7)."""
    return np.where(points[:, 0] < 0.5, -np.inf, -(points[:, 0] - 0.5) - (points[:, 1] - 0.7) ** 2)


def play(edges, function):
    points = edges.ask(is_settled=True).points
    return edges.tell(Evaluation(function(points)))


def test_where_nothing_failed_there_is_no_edge():
    edges = Edges(make_context())
    edges.add_stuck(PLACE, 1.0)
    assert edges.ending


def test_a_population_goes_along_the_edge():
    edges = Edges(failing())
    edges.context.nfev = 10_000
    edges.add_stuck(PLACE, 0.0)
    assert not edges.ending
    events = next(said for _ in range(400) if (said := play(edges, cut)))
    assert isinstance(events[0], Arrived)
    assert events[0].candidate.origin.member == EDGES
    assert events[0].candidate.point == pytest.approx([0.5, 0.7], abs=1e-3)
    restored = unpack(*pack(edges))
    for each in (edges, restored):
        assert not each.ending  # it waits
        each.judged(NewMode(events[0].candidate.origin, 0))
        assert each.ending


def test_a_place_without_failures_beside_it_is_none():
    edges = Edges(failing())
    edges.add_stuck(PLACE, 0.0)
    assert not play(edges, lambda points: -points.sum(axis=1))
    assert not len(edges.components)
    assert edges.ending


def test_after_some_in_vain_or_half_of_the_evaluations_it_is_over():
    edges = Edges(failing())
    for k in range(8):
        edges.add_stuck(PLACE + 0.05 * k, -float(k))
    assert edges.heights.tolist() == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]
    assert not edges.ending
    for _ in range(4):
        edges.judged(Rejected(Origin(EDGES, "pool", -1), PLACE, 0.0, "it is none"))
    assert edges.ending
    edges.in_vain, edges.spent = 0, edges.context.nfev
    assert edges.ending


@pytest.mark.parametrize("seed", [0, 1])
def test_both_minima_beside_a_gap_are_found_and_verified(seed):
    def fun(x):
        return (x[0] - 1) ** 2 if x[0] >= 1.2 else (x[0] + 1) ** 2 + 0.1 if x[0] < -1.3 else np.nan

    found = find_minima(fun, [(-2, 2)], rng=seed, maxfev=1500)
    assert [(float(mode.x[0]), mode.kind) for mode in found.modes] == [
        (pytest.approx(1.2, abs=1e-5), "boundary"), (pytest.approx(-1.3, abs=1e-5), "boundary"),
    ]  # fmt: skip


@pytest.mark.parametrize("has_jac", [False, True])
def test_a_minimum_on_the_rim_of_a_disc_is_found_beside_those_inside(has_jac):
    """Himmelblau's function where it is defined within sqrt(20) of the origin."""

    def fun(x):
        return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2 if x @ x <= 20 else np.nan

    def jac(x):
        a, b = x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7
        return np.array([4 * x[0] * a + 2 * b, 2 * a + 4 * x[1] * b]) * (1.0 if x @ x <= 20 else np.nan)

    found = find_minima(fun, [(-6, 6)] * 2, rng=0, jac=jac if has_jac else None, maxfev=4000)
    assert [mode.kind for mode in found.modes] == ["minimum"] * 3 + ["boundary"]
    assert found.modes[-1].x == pytest.approx([-3.4276, -2.8725], abs=2e-3)
    assert not found.modes[-1].active
