"""One hill or two: by what lies straight between."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.verify.same_mode import is_one_hill, points_between

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
    ("between", "slack", "is_one"),
    [
        ([1.0, 1.5, 2.0], 0.0, True),
        ([1.0, 0.9, 2.0], 0.0, False),
        ([1.0, 0.9, 2.0], 0.2, True),
        ([1.0, np.nan, 2.0], 0.2, False),
        ([1.0, -np.inf, 2.0], 0.2, False),
    ],
)
def test_a_fall_below_the_lower_end_makes_two(between, slack, is_one):
    assert is_one_hill(1.0, np.array(between), slack) == is_one


def test_many_pairs_are_compared_at_once():
    between = np.array([[2.0, 2.0], [2.0, 0.5], [0.5, 2.0]])
    assert is_one_hill(np.array([1.0, 1.0, 0.2]), between).tolist() == [True, False, True]
