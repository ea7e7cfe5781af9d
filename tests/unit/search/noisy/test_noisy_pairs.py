"""Which places of a noisy function are on one hill."""

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.verify.noisy_pairs import Pairs, nearest_better

BOX = Box.make([(0, 1), (0, 1)])


def hills(z):
    """Peaks of height 1 at (0.3, 0.3) and (0.7, 0.7)."""
    return np.maximum(1.0 - 20.0 * ((z - 0.3) ** 2).sum(axis=1), 1.0 - 20.0 * ((z - 0.7) ** 2).sum(axis=1))


def sorted_out(function, places, noise, seed, box=BOX):
    """How many hills are told apart."""
    places, rng = np.array(places), np.random.default_rng(seed)
    pairs = Pairs.of(box, places, function(places))
    while len(rows := pairs.rows):
        points = np.repeat(pairs.points[rows], 6, axis=0)
        pairs.tell(rows, (function(points) + noise * rng.normal(size=len(points))).reshape(-1, 6), noise)
    return len(set(pairs.groups().tolist()))


def test_places_are_two_only_if_the_value_falls_between_them():
    places = [[0.3, 0.3], [0.7, 0.7]]
    deep = [sorted_out(hills, places, 0.3, seed) for seed in range(100)]  # falls by 1.6
    shallow = [sorted_out(hills, places, 30.0, seed) for seed in range(100)]
    level = [sorted_out(lambda z: np.zeros(len(z)), places, 1.0, seed) for seed in range(100)]
    assert np.mean(np.array(deep) == 2) > 0.97
    assert np.mean(np.array(shallow) == 1) > 0.97
    assert np.mean(np.array(level) == 1) > 0.97


def test_three_places_on_two_hills():
    places = [[0.3, 0.3], [0.68, 0.7], [0.33, 0.3]]
    assert [sorted_out(hills, places, 0.05, seed) for seed in range(20)] == [2] * 20


def test_the_way_round_is_looked_at_where_a_coordinate_is_periodic():
    def ridge(z):
        return np.cos(2 * np.pi * z[:, 0])

    places = [[0.02, 0.5], [0.98, 0.5]]
    assert sorted_out(ridge, places, 0.05, 1, Box.make([(0, 1), (0, 1)], periodic=[0])) == 1
    assert sorted_out(ridge, places, 0.05, 1) == 2


def test_repeats_that_never_differ_do_not_make_noise_vanish():
    """A function that is rough rather than random: the same value at the same point."""

    def rough(z):
        return 0.1 * np.sin(1e7 * z[:, 0] + 3e6 * z[:, 1])

    rng = np.random.default_rng(14)
    found = []
    for _ in range(50):
        places = rng.random((2, 2))
        pairs = Pairs.of(BOX, places, rough(places))
        while len(rows := pairs.rows):
            pairs.tell(rows, np.repeat(rough(pairs.points[rows])[:, None], 6, axis=1), 0.1)
        found.append(len(set(pairs.groups().tolist())))
    assert np.mean(np.array(found) == 1) > 0.9


def test_every_place_is_paired_with_the_nearest_better_ones():
    places = np.array([[0.1, 0.1], [0.2, 0.1], [0.9, 0.9], [0.8, 0.9]])
    values = np.array([4.0, 3.0, 2.0, 1.0])
    assert nearest_better(BOX, places, values, 1).tolist() == [[1, 0], [2, 1], [3, 2]]
    assert len(nearest_better(BOX, places, values, 2)) == 1 + 2 + 2
    assert nearest_better(BOX, places[:1], values[:1], 2).shape == (0, 2)


def test_failures_between_two_places_part_them_and_one_at_a_place_joins_it():
    pairs = Pairs.of(BOX, np.array([[0.2, 0.5], [0.8, 0.5]]), np.array([1.0, 0.9]))
    values = np.ones((len(pairs.rows), 4))
    values[2:] = -np.inf
    pairs.tell(pairs.rows, values, 0.1)
    assert len(set(pairs.groups().tolist())) == 2
    pairs = Pairs.of(BOX, np.array([[0.2, 0.5], [0.8, 0.5]]), np.array([1.0, 0.9]))
    values = np.ones((len(pairs.rows), 4))
    values[1] = np.nan
    pairs.tell(pairs.rows, values, 0.1)
    assert len(set(pairs.groups().tolist())) == 1
