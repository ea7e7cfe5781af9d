"""One hill or two: by what lies straight between, exact or noisy."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.verify.same_mode import Relation, compare, compare_noisy, points_between

BOX = Box.make([(0, 1), (0, 1)])


def test_points_lie_between_and_are_evenly_spaced():
    start, end = np.array([0.2, 0.1]), np.array([0.8, 0.4])
    points = points_between(BOX, start, end)
    assert points.shape == (5, 2)
    np.testing.assert_allclose(np.diff(np.vstack([start, points, end]), axis=0), np.tile((end - start) / 6, (6, 1)))


def test_points_between_many_pairs_at_once():
    starts, ends = np.random.default_rng(0).random((2, 7, 2))
    together = points_between(BOX, starts, ends)
    for each, start, end in zip(together, starts, ends, strict=True):
        np.testing.assert_allclose(each, points_between(BOX, start, end))


def test_the_way_goes_round_in_periodic_coordinates():
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    points = points_between(box, np.array([0.97, 0.5]), np.array([0.03, 0.5]))
    assert box.inside(points).all()
    assert (np.abs(box.difference(points, np.array([0.0, 0.5]))) < 0.03).all()


@pytest.mark.parametrize(
    ("between", "slack", "relation"),
    [
        ([1.0, 1.5, 2.0], 0.0, Relation.ONE),
        ([1.0, 0.9, 2.0], 0.0, Relation.TWO),
        ([1.0, 0.9, 2.0], 0.2, Relation.ONE),
        ([1.0, np.nan, 2.0], 0.2, Relation.TWO),
        ([1.0, -np.inf, 2.0], 0.2, Relation.TWO),
    ],
)
def test_a_fall_below_the_lower_end_makes_two(between, slack, relation):
    assert compare(1.0, np.array(between), slack) == relation


def test_many_pairs_are_compared_at_once():
    between = np.array([[2.0, 2.0], [2.0, 0.5], [0.5, 2.0]])
    assert compare(np.array([1.0, 1.0, 0.2]), between).tolist() == [Relation.ONE, Relation.TWO, Relation.ONE]


def test_noisy_hills_are_two_when_the_function_surely_falls():
    between, errors = np.array([1.0, 0.6]), np.array([0.1, 0.1])
    assert compare_noisy(1.0, between, errors, is_enough=False) == Relation.TWO
    assert compare_noisy(1.0, between, 2 * errors, is_enough=False) == Relation.UNDECIDED
    assert compare_noisy(1.0, between, 2 * errors, is_enough=True) == Relation.ONE
