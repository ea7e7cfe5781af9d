import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.candidate import SCREENED, Start
from allmodes.search.starts.queue import Queue
from allmodes.search.starts.screened import Screened, is_explained

BOX = Box.make([(0, 1), (0, 1)])


def hills(z):
    """Two hills, the higher one at (0.3, 0.3), the other at (0.8, 0.7)."""
    return np.maximum(2.0 - 40.0 * ((z - 0.3) ** 2).sum(axis=-1), 1.0 - 40.0 * ((z - [0.8, 0.7]) ** 2).sum(axis=-1))


def a_screening(n=200, seed=1):
    points = np.random.default_rng(seed).random((n, 2))
    screened = Screened(Queue(BOX))
    screened.add(points, hills(points))
    return screened, points


@pytest.fixture
def higher_known(make_context):
    """The higher hill is known."""
    return make_context([[0.3, 0.3]], curvature=80.0, is_global=True)


def all_of(screened, context):
    taken = []
    while (start := screened.take(context)) is not None:
        taken.append(start.point)
    return np.array(taken)


def test_local_bests_are_taken_best_first_and_once(make_context):
    screened, points = a_screening()
    expected = points[screened.queue.local_bests()]
    context = make_context()
    first = screened.take(context)
    assert isinstance(first, Start)
    assert first.kind == SCREENED
    np.testing.assert_array_equal([first.point, *all_of(screened, context)], expected)
    screened.add(np.zeros((0, 2)), np.zeros(0))
    assert screened.take(context) is None  # what was a start does not become one again


def test_points_on_the_slopes_of_known_modes_are_passed_over(higher_known):
    screened, _ = a_screening()
    taken = all_of(screened, higher_known)
    assert len(taken) > 0
    assert np.linalg.norm(taken - [0.3, 0.3], axis=1).min() > 0.1
    assert np.linalg.norm(taken - [0.8, 0.7], axis=1).min() < 0.1


def test_a_point_too_high_for_the_known_mode_is_taken(higher_known):
    """A narrow peak on the slope of a known hill: its value is not what the hill explains."""
    _, points = a_screening()
    values = hills(points)
    peak = int(np.argmin(np.abs(np.linalg.norm(points - 0.3, axis=1) - 0.1)))
    values[peak] += 1.5
    screened = Screened(Queue(BOX))
    screened.add(points, values)
    np.testing.assert_array_equal(screened.take(higher_known).point, points[peak])


def test_what_a_parabola_says_is_explained_and_the_rest_is_not(higher_known):
    points = np.array([[0.4, 0.3], [0.4, 0.3], [0.4, 0.3], [0.95, 0.95]])
    on_hill = 2.0 - 40.0 * 0.01
    values = np.array([on_hill, on_hill - 0.8, 2.1, hills(points[3])])  # as it should be, too low, too high, far away
    assert is_explained(higher_known, points, values).tolist() == [True, False, False, False]


def test_nothing_is_explained_without_a_mode(make_context):
    assert not is_explained(make_context(), np.random.default_rng(0).random((5, 2)), np.zeros(5)).any()


def test_after_three_searches_in_vain_new_points_are_wanted(make_context):
    (screened, points), context = a_screening(), make_context()
    for _ in range(3):
        assert screened.take(context) is not None
        screened.report(False)
    assert screened.take(context) is None
    screened.add(points[:10] * 0.5, hills(points[:10] * 0.5))
    assert screened.take(context) is not None


def test_a_success_starts_the_count_anew(make_context):
    screened, _ = a_screening()
    for is_success in (False, False, True, False, False):
        screened.report(is_success)
    assert screened.take(make_context()) is not None


@pytest.mark.parametrize(("before", "wanted"), [(0, 200), (1000, 200), (5000, 500)])
def test_a_screening_adds_a_tenth_and_at_least_a_hundred_for_each_coordinate(before, wanted):
    screened = Screened(Queue(BOX))
    screened.queue.add(np.zeros((before, 2)), np.zeros(before))
    assert screened.wanted == wanted


def test_a_point_behind_a_hundred_explained_ones_is_found(make_context):
    box = Box.make([(0, 1)] * 6)
    context = make_context([np.full(6, 0.5)], box=box, curvature=80.0)
    on_hill = 0.5 + 0.02 * np.random.default_rng(4).normal(size=(300, 6))
    screened = Screened(Queue(box))
    screened.add(on_hill, 2.0 - 40.0 * ((on_hill - 0.5) ** 2).sum(axis=1))
    screened.add(np.full((1, 6), 0.95), np.zeros(1))
    assert len(screened.waiting) == 301
    np.testing.assert_array_equal(screened.take(context).point, np.full(6, 0.95))
