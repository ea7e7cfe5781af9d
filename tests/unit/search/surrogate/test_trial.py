"""Points around an optimum, and when what is seen there is what was expected."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.surrogate.trial import Trial, around

BOX = Box.make([(0, 1)] * 3)
BENT = -np.diag([200.0, 50.0, 300.0])
FREE = np.zeros(3, bool)


def test_points_surround_the_optimum():
    points = around(BOX, np.full(3, 0.5), np.zeros(3), BENT, FREE, 0.02, 0.02, np.random.default_rng(0))
    moves = points - 0.5
    assert len(points) == 4
    weights = np.linalg.lstsq(np.vstack([moves.T, np.ones(4)]), [0, 0, 0, 1.0], rcond=None)[0]
    assert (weights > 0.0).all()  # the optimum is inside
    lengths = np.linalg.norm(moves, axis=1)
    assert lengths.min() >= 0.01 - 1e-12
    assert lengths.max() <= 0.02 + 1e-12


def test_held_coordinates_are_left_one_by_one():
    centre, active = np.array([0.0, 0.5, 1.0]), np.array([True, False, True])
    points = around(BOX, centre, np.array([-3.0, 0.0, 3.0]), BENT, active, 0.02, 0.02, np.random.default_rng(0))
    assert len(points) == 4
    assert ((points >= 0.0) & (points <= 1.0)).all()
    assert (points[:2, [0, 2]] == [0.0, 1.0]).all()
    assert points[2, 0] > 0.0
    assert points[3, 2] < 1.0
    corner = around(BOX, np.zeros(3), np.full(3, -1.0), BENT, np.ones(3, bool), 0.02, 0.02, np.random.default_rng(0))
    assert len(corner) == 3


@pytest.mark.parametrize(
    ("falls", "is_passed"),
    [((1.1, 0.8, 1.9), True), ((1.1, 0.8, 2.1), False), ((1.1, 0.4, 1.0), False), ((1.1, -0.1, 1.0), False)],
)
def test_falls_are_as_expected_or_not(falls, is_passed):
    trial = Trial(np.zeros(2), np.zeros((3, 2)), np.ones(3))
    assert trial.is_passed(np.array(falls)) is is_passed


def test_what_failed_is_no_fall():
    assert not Trial(np.zeros(1), np.zeros((2, 1)), np.ones(2)).is_passed(np.array([1.0, np.inf]))
    assert not Trial(np.zeros(1), np.zeros((2, 1)), np.ones(2)).is_passed(np.array([1.0, np.nan]))
