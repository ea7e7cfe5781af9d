"""Levels as numbers: neighbours, exchanges, leaps."""

from __future__ import annotations

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.searchers.discrete.space import Space, changes_in_words, no_change_in_words


def test_neighbours_are_one_level_off_or_any_other_choice():
    space = Space.of(Box.make([(0, 5), ["a", "b", "c"]], integrality=[1, 0]))
    found = {tuple(each) for each in space.neighbours(np.array([5, 1])).tolist()}
    assert found == {(4, 1), (5, 0), (5, 2)}
    assert space.size == 18


def test_points_are_numbered_both_ways():
    space = Space.of(Box.make([(0, 5), ["a", "b", "c"]], integrality=[1, 0]))
    np.testing.assert_array_equal(space.numbered(np.arange(18))[4], [1, 1])
    np.testing.assert_array_equal(space.numbers(space.numbered(np.arange(18))), np.arange(18))


def test_only_entries_with_the_same_levels_are_exchanged():
    box = Box.make([(0, 2), (0, 2), (3, 5), [1.0, 2.0, 4.0], [4.0, 1.0, 2.0]], integrality=[1, 1, 1, 0, 0])
    space = Space.of(box, swaps=True)
    assert space.exchanged.tolist() == [[0, 1], [3, 4]]
    new = {tuple(each) for each in space.neighbours(np.array([0, 2, 1, 1, 1])).tolist()}
    old = {tuple(each) for each in Space.of(box).neighbours(np.array([0, 2, 1, 1, 1])).tolist()}
    assert new - old == {(2, 0, 1, 1, 1)}  # equal entries are no neighbours


def test_words_name_the_changes_that_there_are():
    box = Box.make([(0, 2), [1.0, 2.0, 4.0], ["a", "b"]], integrality=[1, 0, 0])
    assert changes_in_words(box, Space.of(box, swaps=True)) == [
        "change of one whole number by one", "step of one size to the next", "other choice",
    ]  # fmt: skip
    bits = Box.make([(0, 1)] * 2, integrality=True)
    assert changes_in_words(bits, Space.of(bits, swaps=True))[-1] == "exchange of two"
    assert no_change_in_words(bits, Space.of(bits)) == "no change of one whole number by one"
    assert no_change_in_words(box, Space.of(box)).endswith("no step of one size to the next and no other choice")


def test_leaps_go_twice_as_far_and_stay_inside():
    space = Space.of(Box.make([(0, 9), (0, 9)], integrality=True))
    np.testing.assert_array_equal(space.leap(np.array([4, 3]), np.array([3, 3])), [6, 3])
    np.testing.assert_array_equal(space.leap(np.array([6, 3]), np.array([4, 3])), [9, 3])
    assert space.leap(np.array([9, 3]), np.array([8, 3])) is None


def test_kicks_change_at_least_two_entries():
    space, rng = Space.of(Box.make([(0, 1)] * 20, integrality=True)), np.random.default_rng(0)
    changed = [int((space.kicked(rng, np.zeros(20, np.int64)) != 0).sum()) for _ in range(50)]
    assert min(changed) == 2
    assert max(changed) == 3
