"""Points where local searches got stuck: which of them components go on from."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.population.stuck import StuckPoints
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import pack, unpack

BOX = Box.make([(0, 1), (0, 1)])
NONE = np.zeros((0, 2)), np.zeros(0)


def add(made, points, values):
    for point, value in zip(np.array(points, dtype=float), values, strict=True):
        made.add(point, value)
    return made


def stuck(points, values, box=BOX):
    return add(StuckPoints(box), points, values)


def taken(made, modes=NONE):
    """All that are taken, one after the other."""
    starts = []
    while (start := made.take(*modes)) is not None:
        starts.append(start.point.tolist())
    return starts


def cluster(centre, n=4):
    """Points close to a centre, the first in it."""
    return np.array(centre) + 1e-3 * np.arange(n)[:, None]


def test_without_any_there_is_nothing_to_take():
    assert not StuckPoints(BOX).is_open
    assert not stuck([[0.5, 0.5]], [np.nan]).is_open


def test_of_those_on_one_hill_the_best_is_taken_and_better_hills_come_first():
    points = np.concatenate([cluster((0.2, 0.2)), cluster((0.8, 0.8))])
    made = stuck(points, [2.0, 1.9, 1.8, 1.7, 3.0, 2.9, 2.8, 2.7])
    assert taken(made) == [[0.8, 0.8], [0.2, 0.2]]
    assert not made.is_open


def test_those_on_the_hill_of_a_mode_are_not_taken():
    made = stuck(np.concatenate([cluster((0.2, 0.2)), cluster((0.8, 0.8))]), [2.0, 1.9, 1.8, 1.7] * 2)
    assert taken(made, (np.array([[0.2, 0.2005]]), np.array([2.5]))) == [[0.8, 0.8]]


def test_one_that_was_passed_over_gets_its_turn_when_its_hill_is_seen_to_be_another():
    """Next to a mode, with nothing in between as long as there are few."""
    mode = np.array([[0.5, 0.5]]), np.array([2.0])
    made = stuck([[0.57, 0.5]], [1.9])
    assert taken(made, mode) == []
    assert not made.is_open
    add(made, np.array([0.57, 0.5]) + 1e-3 * np.array([[1, 0], [0, 1], [1, 1]]), [1.5, 1.4, 1.3])
    assert made.is_open
    assert taken(made, mode) == [[0.57, 0.5]]


def test_the_next_better_one_on_the_same_hill_is_taken_again():
    made = stuck(cluster((0.2, 0.2)), [2.0, 1.9, 1.8, 1.7])
    assert taken(made) == [[0.2, 0.2]]
    add(made, [[0.2005, 0.2], [0.2, 0.2005]], [2.5, 1.0])
    assert taken(made) == [[0.2005, 0.2]]


def test_components_begin_small_and_smaller_next_to_something_better():
    made = stuck([[0.2, 0.2]], [1.0])
    assert made.take(*NONE).spread == TUNING.apart * TUNING.first_step
    made = stuck(cluster((0.2, 0.2)), [1.0, 0.9, 0.8, 0.7])
    assert made.take(np.array([[0.2, 0.21]]), np.array([2.0])).spread == pytest.approx(TUNING.apart * 0.01 / np.sqrt(2))


def test_periodic_coordinates_have_no_ends():
    box = Box.make([(0, 1), (0, 1)], periodic=[True, False])
    first = [0.001, 0.999, 0.998, 0.997, 0.5, 0.501, 0.502, 0.503]
    values = [2.0, 3.0, 1.0, 0.9, 1.5, 1.4, 1.3, 1.2]
    assert taken(stuck([[x, 0.5] for x in first], values, box)) == [[0.999, 0.5], [0.5, 0.5]]


def test_many_dimensions_have_neighbours_too():
    """One is on the hill of a better one next to it."""
    points = np.random.default_rng(0).random((12, 8)) * 1e-3 + np.repeat([[0.2], [0.8]], 6, axis=0)
    made = stuck(points, [2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 3.0, 2.9, 2.8, 2.7, 2.6, 2.5], Box.make([(0, 1)] * 8))
    modes = np.full((1, 8), 0.2), np.array([2.5])
    np.testing.assert_allclose(taken(made, modes), [points[6]])


def test_they_are_stored():
    made = stuck(cluster((0.2, 0.2)), [2.0, 1.9, 1.8, 1.7])
    again = unpack(*pack(made))
    assert taken(again) == taken(made) == [[0.2, 0.2]]
