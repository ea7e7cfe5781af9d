import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.candidate import SCREENED
from allmodes.search.starts.queue import Queue
from allmodes.search.starts.screened import Screened

BOX = Box.make([(0, 1), (0, 1)])


def hills(z):
    """Two hills, the higher one at (0.3, 0.3), the other at (0.8, 0.7)."""
    return np.maximum(2.0 - 40.0 * ((z - 0.3) ** 2).sum(axis=-1), 1.0 - 40.0 * ((z - [0.8, 0.7]) ** 2).sum(axis=-1))


def a_screening(n=200, seed=1):
    points = np.random.default_rng(seed).random((n, 2))
    screened = Screened(Queue(BOX))
    screened.add(points, hills(points))
    return screened, points


def test_local_bests_are_taken_best_first_and_once():
    screened, points = a_screening()
    expected = points[screened.queue.local_bests()]
    first = screened.take(1)
    assert [start.kind for start in first] == [SCREENED]
    rest = screened.take(1000)
    np.testing.assert_array_equal([start.point for start in first + rest], expected)
    screened.add(np.zeros((0, 2)), np.zeros(0))
    assert screened.take(5) == []  # what was a start does not become one again


def test_after_three_searches_in_vain_new_points_are_wanted():
    screened, points = a_screening()
    for _ in range(3):
        assert len(screened.take(1)) == 1
        screened.report(False)
    assert screened.take(1) == []
    screened.add(points[:10] * 0.5, hills(points[:10] * 0.5))
    assert len(screened.take(1)) == 1


def test_a_success_starts_the_count_anew():
    screened, _ = a_screening()
    for is_success in (False, False, True, False, False):
        screened.report(is_success)
    assert len(screened.take(1)) == 1


@pytest.mark.parametrize(("before", "wanted"), [(0, 200), (1000, 200), (5000, 500)])
def test_a_screening_adds_a_tenth_and_at_least_a_hundred_for_each_coordinate(before, wanted):
    screened = Screened(Queue(BOX))
    screened.queue.add(np.zeros((before, 2)), np.zeros(before))
    assert screened.wanted == wanted
