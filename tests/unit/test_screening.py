"""Screening: which of many evaluated points are worth a launch."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search

BOX = Box.make([(0, 1), (0, 1)])


def hills(z):
    """Two hills, the higher one at (0.3, 0.3), the other at (0.8, 0.7)."""
    return np.maximum(2.0 - 40.0 * ((z - 0.3) ** 2).sum(axis=-1), 1.0 - 40.0 * ((z - [0.8, 0.7]) ** 2).sum(axis=-1))


def a_search(box=BOX, values=()):
    search = Search(box, Archive(box), np.random.default_rng(0), order=2, is_global=True)
    search.add_levels(np.asarray(values, dtype=float))
    return search


def archived(search, point, value):
    d = search.box.d
    found = Found(np.zeros(d), -80.0 * np.eye(d), np.zeros(d, bool), "optimum", "derivatives", 1)
    search.archive.add(np.asarray(point), value, found)


def screened(n=200, seed=1):
    points = np.random.default_rng(seed).random((n, 2))
    search, screen = a_search(values=hills(points)), Screen(np.zeros((0, 2)))
    screen.add(points, hills(points), search)
    return search, screen, points


def test_the_queue_holds_the_bests_of_their_neighbourhoods_best_first():
    _, screen, points = screened()
    values = hills(points)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.argsort(apart, axis=1)[:, :7]  # the point itself and its 2 d + 2 neighbours
    expected = np.flatnonzero(values >= values[near].max(axis=1))
    assert set(screen.queue) == set(expected)
    assert (np.diff(values[screen.queue]) <= 0).all()
    assert screen.queue[0] == values.argmax()


def test_in_many_dimensions_every_point_waits():
    box = Box.make([(0, 1)] * 6)
    points = np.random.default_rng(0).random((30, 6))
    values = points.sum(axis=1)
    screen = Screen(np.zeros((0, 6)))
    screen.add(points, values, a_search(box, values))
    assert screen.queue == np.argsort(-values).tolist()


def test_points_are_taken_best_first_and_once():
    search, screen, points = screened()
    expected = list(screen.queue)
    taken = [screen.take(search) for _ in expected]
    np.testing.assert_array_equal(taken, points[expected])
    assert screen.take(search) is None
    screen.add(np.zeros((0, 2)), np.zeros(0), search)
    assert screen.queue == []  # what was launched from is not launched from again


def test_points_on_the_slopes_of_known_modes_are_passed_over():
    search, screen, _ = screened()
    archived(search, [0.3, 0.3], 2.0)
    taken = []
    while (point := screen.take(search)) is not None:
        taken.append(point)
    assert len(taken) > 0
    assert min(np.linalg.norm(point - [0.3, 0.3]) for point in taken) > 0.1
    assert min(np.linalg.norm(point - [0.8, 0.7]) for point in taken) < 0.1


def test_a_point_too_high_for_the_known_mode_is_taken():
    """A narrow peak on the slope of a known hill: its value is not what the hill explains."""
    search, screen, points = screened()
    archived(search, [0.3, 0.3], 2.0)
    values = hills(points)
    peak = int(np.argmin(np.abs(np.linalg.norm(points - 0.3, axis=1) - 0.1)))
    values[peak] += 1.5
    screen = Screen(np.zeros((0, 2)))
    screen.add(points, values, search)
    np.testing.assert_array_equal(screen.take(search), points[peak])


def test_after_three_launches_in_vain_new_points_are_wanted():
    search, screen, _ = screened()
    for _ in range(3):
        assert screen.take(search) is not None
        screen.report(False)
    assert screen.take(search) is None


def test_a_success_starts_the_count_anew():
    search, screen, _ = screened()
    for is_success in (False, False, True, False, False):
        screen.report(is_success)
    assert screen.take(search) is not None


def test_new_points_start_the_count_anew():
    search, screen, points = screened()
    for _ in range(3):
        screen.report(False)
    screen.add(points[:10] * 0.5, hills(points[:10] * 0.5), search)
    assert screen.take(search) is not None


def test_failed_points_are_left_out():
    search, screen = a_search(), Screen(np.zeros((0, 2)))
    values = np.array([1.0, -np.inf, np.nan, 0.5])
    screen.add(np.random.default_rng(2).random((4, 2)), values, search)
    assert screen.values.tolist() == [1.0, 0.5]
    assert screen.queue == [0, 1]


@pytest.mark.parametrize(("screened_before", "wanted"), [(0, 200), (1000, 200), (5000, 500)])
def test_a_screening_adds_a_tenth_and_at_least_a_hundred_for_each_coordinate(screened_before, wanted):
    search, screen = a_search(), Screen(np.zeros((0, 2)))
    screen.add(np.random.default_rng(3).random((screened_before, 2)), np.zeros(screened_before), search)
    assert screen.wanted(search) == wanted


def test_long_queues_of_explained_points_are_passed_over_to_the_end():
    """More points than are compared at once lie on the known hill before one that does not."""
    box = Box.make([(0, 1)] * 6)
    search = a_search(box, np.linspace(-2, 2, 100))
    archived(search, np.full(6, 0.5), 2.0)
    on_hill = 0.5 + 0.02 * np.random.default_rng(4).normal(size=(300, 6))
    values = 2.0 - 40.0 * ((on_hill - 0.5) ** 2).sum(axis=1)
    points = np.concatenate([on_hill, np.full((1, 6), 0.95)])
    screen = Screen(np.zeros((0, 6)))
    screen.add(points, np.append(values, 0.0), search)
    assert len(screen.queue) == 301
    np.testing.assert_array_equal(screen.take(search), np.full(6, 0.95))
