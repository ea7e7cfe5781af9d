"""Which modes of a noisy function are on one hill."""

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.verify.noisy_pairs import Sorting, nearest_better

BOX = Box.make([(0, 1), (0, 1)])


def hills(z):
    """Peaks of height 1 at (0.3, 0.3) and (0.7, 0.7)."""
    return np.maximum(1.0 - 20.0 * ((z - 0.3) ** 2).sum(axis=1), 1.0 - 20.0 * ((z - 0.7) ** 2).sum(axis=1))


def sorted_out(function, places, noise, seed, box=BOX, claimed=None):
    """How many hills are told apart."""
    claimed = noise if claimed is None else claimed
    context, rng = Context(box, Archive(box), np.random.default_rng(0), noise=claimed), np.random.default_rng(seed)
    for place, value in zip(np.array(places), function(np.array(places)), strict=True):
        record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "unverified", "component", 1, claimed)
        context.archive.add(place, value, record)
    sorting = Sorting(context, is_final=True)
    while len(points := sorting.ask()):
        sorting.tell(function(points) + noise * rng.normal(size=len(points)))
    return len(context.archive)


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
    found = [sorted_out(rough, rng.random((2, 2)), 0.0, 0, claimed=0.1) for _ in range(50)]
    assert np.mean(np.array(found) == 1) > 0.9


def test_every_place_has_the_nearest_better_one_as_its_rival():
    places = np.array([[0.1, 0.1], [0.2, 0.1], [0.9, 0.9], [0.8, 0.9]])
    assert nearest_better(BOX, places, np.array([4.0, 3.0, 2.0, 1.0])).tolist() == [0, 0, 1, 2]
    assert nearest_better(BOX, places[:1], np.zeros(1)).tolist() == [0]


def test_failures_between_two_places_part_them_and_one_at_a_place_joins_it():
    def failing(low, high):
        return lambda z: np.where((z[:, 0] > low) & (z[:, 0] < high), -np.inf, 1.0 - z[:, 0])

    places = [[0.2, 0.5], [0.8, 0.5]]
    assert sorted_out(failing(0.4, 0.6), places, 0.1, 0) == 2
    assert sorted_out(failing(0.7, 0.9), places, 0.1, 0) == 1
