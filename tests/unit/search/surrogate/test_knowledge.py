"""What was evaluated: failures, repeats, and where the best of it lies."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.surrogate.knowledge import Knowledge


@pytest.fixture
def known():
    made = Knowledge(Box.make([(0, 1)] * 2, periodic=[0]))
    made.add(np.array([[0.1, 0.1], [0.5, 0.5], [0.98, 0.5], [0.3, 0.3]]), np.array([1.0, 3.0, -np.inf, 2.0]))
    return made


def test_failures_are_as_bad_as_the_worst_value(known):
    assert known.values.tolist() == [1.0, 3.0, 1.0, 2.0]
    assert known.is_enough(4)
    assert not known.is_enough(5)


def test_repeats_say_nothing_new(known):
    known.add(np.array([[0.5, 0.5], [0.6, 0.6]]), np.array([3.0, 4.0]))
    assert len(known) == 5


def test_nearest_goes_round_where_coordinates_do(known):
    which, apart = known.nearest(np.array([[0.02, 0.5], [0.5, 0.9]]))
    assert which.tolist() == [2, 1]
    np.testing.assert_allclose(apart, [0.04, 0.4])


def test_the_best_nearby_counts_and_failures_do_not(known):
    which, apart = known.best_near(np.array([[0.4, 0.4], [0.97, 0.5]]), 0.12)
    assert which[0] == 1
    np.testing.assert_allclose(apart, [0.1, np.inf])


def test_the_model_is_the_same_when_it_is_made_again():
    rng = np.random.default_rng(0)
    made = Knowledge(Box.make([(0, 1)] * 2))
    points = rng.random((20, 2))
    made.add(points, -np.sum((points - 0.4) ** 2, axis=1))
    first, again = made.model(), made.model()
    assert made.fitted_at == 20
    assert np.array_equal(first.weights, again.weights)
    assert made.steepness(float(made.values.max())) == 1.0
