import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.starts.queue import Queue
from allmodes.storage import pack, unpack


def hills(z):
    return np.maximum(2.0 - 40.0 * ((z - 0.3) ** 2).sum(axis=-1), 1.0 - 40.0 * ((z - [0.8, 0.7]) ** 2).sum(axis=-1))


def a_queue(n=200, d=2, seed=1, periodic=None):
    queue = Queue(Box.make([(0, 1)] * d, periodic=periodic))
    points = np.random.default_rng(seed).random((n, d))
    queue.add(points, hills(points) if d == 2 else points.sum(axis=1))
    return queue


def test_local_bests_are_better_than_their_neighbours_and_come_best_first():
    queue = a_queue()
    apart = np.linalg.norm(queue.points[:, None] - queue.points[None], axis=2)
    near = np.argsort(apart, axis=1)[:, :7]  # the point itself and its 2 d + 2 neighbours
    expected = np.flatnonzero(queue.values >= queue.values[near].max(axis=1))
    bests = queue.local_bests()
    assert set(bests) == set(expected)
    assert len(bests) >= 2
    assert (np.diff(queue.values[bests]) <= 0).all()


def test_neighbours_are_found_round_periodic_coordinates():
    places = np.linspace(0.0, 0.95, 20)[:, None]
    values = np.cos(2 * np.pi * (places[:, 0] - 0.01))  # one hill, around the seam
    bests = []
    for periodic in (None, [0]):
        queue = Queue(Box.make([(0, 1)], periodic=periodic))
        queue.add(places, values)
        bests.append(queue.local_bests().tolist())
    assert bests == [[0, 19], [0]]


def test_in_many_dimensions_every_point_is_listed():
    queue = a_queue(30, 6)
    assert queue.local_bests().tolist() == np.argsort(-queue.values).tolist()


def test_as_many_neighbours_are_looked_at_as_is_said():
    queue = a_queue(30, 6)
    assert queue.local_bests(neighbours=29).tolist() == [queue.values.argmax()]
    assert 1 < len(queue.local_bests(neighbours=3)) < 30


def test_modes_count_as_neighbours():
    queue = a_queue()
    best = queue.local_bests()[0]
    beaten = queue.local_bests(queue.points[best][None] + 1e-3, np.array([3.0]))
    assert best not in beaten
    np.testing.assert_array_equal(queue.local_bests(np.array([[0.5, 0.0]]), np.array([-50.0])), queue.local_bests())


def test_used_points_are_not_listed_but_still_beat_their_neighbours():
    queue = a_queue()
    bests = queue.local_bests()
    queue.use(bests[:1])
    np.testing.assert_array_equal(queue.local_bests(), bests[1:])
    queue.use(bests)
    assert len(queue.local_bests()) == 0


def test_failures_are_left_out():
    queue = Queue(Box.make([(0, 1)] * 2))
    queue.add(np.random.default_rng(2).random((4, 2)), np.array([1.0, -np.inf, np.nan, 0.5]))
    assert queue.values.tolist() == [1.0, 0.5]
    assert len(queue) == len(queue.points) == 2


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_points(n):
    queue = a_queue(n)
    assert len(queue.local_bests()) == min(n, 1)


def test_the_oldest_points_are_forgotten():
    queue = Queue(Box.make([(0, 1)]))
    many = 2**17
    queue.add(np.zeros((many, 1)), np.zeros(many))
    queue.use(0)
    queue.add(np.ones((5, 1)), np.ones(5))
    assert (len(queue), queue.forgotten) == (many, 5)
    assert queue.values[-5:].tolist() == [1.0] * 5
    assert not queue.is_used.any()


def test_a_queue_is_saved():
    queue = a_queue()
    queue.use(3)
    copy = unpack(*pack(queue))
    np.testing.assert_array_equal(copy.local_bests(), queue.local_bests())
    assert copy.is_used[3]
