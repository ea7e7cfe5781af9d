import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.population.pool import Pool
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts import queue

SQUARE = Box.make([(0, 1), (0, 1)])


def two_hills(points):
    centres = np.array([[0.2, 0.2], [0.8, 0.7]])
    return -((points[:, None] - centres) ** 2).sum(axis=2).min(axis=1)


def filled(box=SQUARE, values_of=two_hills, known=None):
    pool = Pool(box)
    points = np.random.default_rng(0).random((pool.wanted, pool.box.d))
    pool.queue.add(points, values_of(points))
    pool.begin_round(np.zeros((0, box.d)) if known is None else known)
    return pool


def all_starts(pool):
    while (start := pool.take()) is not None:
        yield start


def test_the_first_starts_are_the_tops_of_the_hills():
    pool = filled()
    starts = np.array([pool.take().point, pool.take().point])
    assert np.abs(starts[np.argsort(starts[:, 0])] - [[0.2, 0.2], [0.8, 0.7]]).max() < 0.1


def test_starts_keep_away_from_what_is_known_and_from_each_other():
    pool = filled(known=np.array([[0.2, 0.2]]))
    taken = [np.array([0.2, 0.2])]
    for start in all_starts(pool):
        assert np.sqrt(((np.array(taken) - start.point) ** 2).mean(axis=1)).min() >= pool.radius
        taken.append(start.point)
    assert len(taken) > 1


def test_a_start_is_used_once():
    pool = filled()
    first = pool.take()
    for _ in range(3):
        pool.begin_round(np.zeros((0, 2)))
        assert not any(np.array_equal(start.point, first.point) for start in all_starts(pool))


def test_points_may_be_added_and_forgotten_during_a_round(monkeypatch):
    """The oldest points go when there are too many: starts stay what they were, and are used up."""
    monkeypatch.setattr(queue, "_MOST_POINTS", 250)
    pool = filled()
    wanted = pool.points.copy()
    new = np.random.default_rng(1).random((150, 2))
    pool.queue.add(new, two_hills(new) - 10.0)
    first = pool.take()
    np.testing.assert_array_equal(first.point, wanted[0])
    used = pool.queue.points[pool.queue.is_used]
    assert all(np.array_equal(point, first.point) for point in used)


def test_the_radius_shrinks_and_begins_again_after_a_cycle():
    pool = filled()
    radii = [pool.radius]
    for _ in range(2 * pool.cycle):
        pool.begin_round(np.zeros((0, 2)))
        radii.append(pool.radius)
    assert np.flatnonzero(np.array(radii) == TUNING.first_radius).tolist()[:2] == [0, pool.cycle - 1]
    assert min(radii) >= TUNING.first_step


def test_rounds_grow():
    assert filled().wanted > TUNING.round_points * 2


def test_periodic_coordinates_are_close_across_the_end():
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    pool = filled(box, known=np.array([[0.999, 0.5]]))
    starts = list(all_starts(pool))
    assert starts
    for start in starts:
        apart = box.difference(start.point, np.array([0.999, 0.5]))
        assert np.sqrt((apart**2).mean()) >= 0.8 * pool.radius  # chords are a little shorter than arcs


def test_failures_are_never_starts():
    pool = filled(values_of=lambda points: np.full(len(points), -np.inf))
    assert pool.take() is None


@pytest.mark.parametrize("d", [1, 3, 8, 50])
def test_any_dimension_has_starts(d):
    pool = filled(Box.make([(0, 1)] * d), values_of=lambda points: -((points - 0.5) ** 2).sum(axis=1))
    start = pool.take()
    assert start.point.shape == (d,)
    assert 0 < start.spread <= TUNING.widest
    np.testing.assert_array_equal(start.point, pool.queue.points[pool.queue.values.argmax()])
