import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.strategy.pool import CYCLE, FIRST_RADIUS, NEXT_RADIUS, Pool


def two_hills(points):
    centres = np.array([[0.2, 0.2], [0.8, 0.7]])
    return -((points[:, None] - centres) ** 2).sum(axis=2).min(axis=1)


def filled(box, values_of=two_hills, known=None):
    pool = Pool(box)
    points = pool.draw(np.random.default_rng(0), 0)
    pool.add(points, values_of(points))
    pool.begin_round(np.zeros((0, box.d)) if known is None else known)
    return pool


def test_the_first_starts_are_the_tops_of_the_hills():
    pool = filled(Box.make([(0, 1), (0, 1)]))
    starts = np.array([pool.take()[0], pool.take()[0]])
    assert np.abs(starts[np.argsort(starts[:, 0])] - [[0.2, 0.2], [0.8, 0.7]]).max() < 0.1


def test_starts_keep_away_from_what_is_known_and_from_each_other():
    pool = filled(Box.make([(0, 1), (0, 1)]), known=np.array([[0.2, 0.2]]))
    taken = [np.array([0.2, 0.2])]
    while (start := pool.take()) is not None:
        distance = np.sqrt(((np.array(taken) - start[0]) ** 2).mean(axis=1))
        assert distance.min() >= pool.radius
        taken.append(start[0])
    assert len(taken) > 1


def test_a_start_is_used_once():
    pool = filled(Box.make([(0, 1), (0, 1)]))
    first = pool.take()
    for _ in range(3):
        pool.begin_round(np.zeros((0, 2)))
        while (start := pool.take()) is not None:
            assert not np.array_equal(start[0], first[0])


def test_the_radius_shrinks_and_begins_again():
    pool = filled(Box.make([(0, 1), (0, 1)]))
    radii = [pool.radius]
    for _ in range(2 * CYCLE):
        pool.begin_round(np.zeros((0, 2)))
        radii.append(pool.radius)
    assert radii[0] == FIRST_RADIUS
    assert radii.count(NEXT_RADIUS) >= 1
    assert min(radii) >= 0.004


def test_periodic_coordinates_are_close_across_the_end():
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    pool = filled(box, known=np.array([[0.999, 0.5]]))
    while (start := pool.take()) is not None:
        apart = box.difference(start[0], np.array([0.999, 0.5]))
        assert np.sqrt((apart**2).mean()) >= 0.8 * pool.radius  # chords are a little shorter than arcs


def test_failures_are_never_starts():
    pool = filled(Box.make([(0, 1), (0, 1)]), values_of=lambda points: np.full(len(points), -np.inf))
    assert pool.take() is None


@pytest.mark.parametrize("d", [1, 3, 8, 50])
def test_any_dimension_has_starts(d):
    pool = filled(Box.make([(0, 1)] * d), values_of=lambda points: -((points - 0.5) ** 2).sum(axis=1))
    point, spread, value = pool.take()
    assert point.shape == (d,)
    assert 0 < spread <= 0.1
    assert value == pool.values.max()
