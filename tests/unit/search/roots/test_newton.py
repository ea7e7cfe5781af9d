"""Local searches for roots on their own: they arrive, give up where no root is ahead, and know roots again."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import EQUATIONS, SPACE_FILLING, Start
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Recognised, Stuck
from allmodes.search.searchers.roots.newton import RootSearches
from allmodes.storage import pack, unpack

BOX = Box.make([(0, 1), (0, 1)])
ROOT = np.array([0.3, 0.6])


def circle_and_line(z):
    """Two roots, (0.3, 0.6) and its image across the diagonal."""
    x, y = z[:, 0], z[:, 1]
    F = np.stack([x**2 + y**2 - 0.45, x + y - 0.9], axis=1)
    J = np.stack([np.stack([2 * x, 2 * y], axis=1), np.ones_like(z)], axis=1)
    return F, J


def rootless(z):
    """A circle beyond the line: |F| is least where nothing is zero."""
    F, J = circle_and_line(z)
    return F + np.array([0.4, 0.0]), J


def a_search(updates=False):
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), order=2, is_system=True)
    context.observe_level(-np.linspace(0.0, 1.0, 9))
    return RootSearches(context, updates)


def run(searches, function, most=200):
    """All events until no search is left, and the points evaluated."""
    events, points = [], []
    while len(searches):
        rows, z, with_jacobian = searches.ask()
        assert BOX.inside(z).all()
        F, J = function(z)
        told = Evaluation(-0.5 * (F**2).sum(axis=1), F, J if with_jacobian else None)
        points += z.tolist()
        events += searches.tell(rows, told, 1)
        assert len(points) <= most
    return events, points


def open_at(searches, points):
    searches.open([Start(np.array(point), SPACE_FILLING) for point in points])


@pytest.mark.parametrize("updates", [False, True])
def test_searches_arrive_at_roots(updates):
    searches = a_search(updates)
    open_at(searches, [[0.2, 0.9], [0.9, 0.1]])
    events, points = run(searches, circle_and_line)
    assert all(isinstance(event, Arrived) for event in events)
    assert {event.candidate.source for event in events} == {EQUATIONS}
    places = sorted(event.candidate.point.tolist() for event in events)
    np.testing.assert_allclose(places, [ROOT, ROOT[::-1]], atol=1e-7)
    assert len(points) < 40


@pytest.mark.parametrize("updates", [False, True])
def test_searches_give_up_where_no_root_is_ahead(updates):
    searches = a_search(updates)
    open_at(searches, [[0.2, 0.9], [0.9, 0.1], [0.5, 0.5]])
    events, points = run(searches, rootless)
    assert len(events) == 3
    assert all(isinstance(event, Stuck) for event in events)
    assert len(points) < 120


def test_a_search_that_falls_into_a_known_root_is_stopped():
    searches = a_search()
    context = searches.context
    J = circle_and_line(ROOT[None])[1][0]
    mode = context.archive.add(ROOT, 0.0, Frozen(np.zeros(2), -J.T @ J, np.zeros(2, bool), "optimum", EQUATIONS, 1))
    searches.at_roots[str(mode)] = J
    open_at(searches, [[0.33, 0.62]])
    events, points = run(searches, circle_and_line)
    assert [type(event) for event in events] == [Recognised]
    assert events[0].mode == mode
    assert len(points) == 1


def test_the_jacobian_of_a_new_root_is_kept_and_of_another_forgotten():
    searches = a_search()
    open_at(searches, [[0.2, 0.9], [0.9, 0.1]])
    events, _ = run(searches, circle_and_line)
    first, second = (event.candidate.origin.number for event in events)
    searches.judged(first, 0)
    searches.judged(second, -1)
    assert list(searches.at_roots) == ["0"]


def test_equations_of_unlike_sizes_lead_to_the_same_roots():
    sizes = np.array([1e8, 1e-8])

    def unlike(z):
        F, J = circle_and_line(z)
        return sizes * F, sizes[:, None] * J

    searches = a_search()
    open_at(searches, [[0.2, 0.9]])
    (event,), _ = run(searches, unlike)
    np.testing.assert_allclose(event.candidate.point, ROOT, atol=1e-7)


def test_searches_that_are_saved_go_on_alike():
    once, again = a_search(), a_search()
    for each in (once, again):
        open_at(each, [[0.2, 0.9], [0.9, 0.1]])
    rows, z, with_jacobian = again.ask()
    F, J = circle_and_line(z)
    again.tell(rows, Evaluation(-0.5 * (F**2).sum(axis=1), F, J if with_jacobian else None), 1)
    again = unpack(*pack(again))
    expected, found = run(once, circle_and_line)[0], run(again, circle_and_line)[0]
    assert [event.candidate.point.tolist() for event in found] == [event.candidate.point.tolist() for event in expected]
