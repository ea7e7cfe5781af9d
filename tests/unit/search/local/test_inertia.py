"""Lanczos' method tells a maximum from a saddle, as often as it says it does."""

import numpy as np
import pytest

from allmodes.search.searchers.local.inertia import OVERLOOKED, is_falling, ritz

D = 60


def asked(eigenvalues, k, rng):
    """What k directions, one after the other, tell of a diagonal operator."""
    direction, tried = rng.standard_normal(len(eigenvalues)), []
    for _ in range(k):
        tried.append(direction / np.sqrt(direction @ direction))
        told = ritz(np.array(tried), np.array(tried) * eigenvalues)
        direction = told.next
    return told


def verdict(eigenvalues, chance, rng, most=D):
    """Whether it is taken for a maximum, and how many directions that took."""
    direction, tried = rng.standard_normal(len(eigenvalues)), []
    for k in range(1, most + 1):
        tried.append(direction / np.sqrt(direction @ direction))
        told = ritz(np.array(tried), np.array(tried) * eigenvalues)
        if told.values[-1] > 0.0:
            return False, k
        if is_falling(told.values, len(eigenvalues), chance):
            return True, k
        direction = told.next
    raise AssertionError("as many directions as there are dimensions tell everything")


def test_ritz_values_are_inside_the_spectrum_and_converge_to_its_ends():
    eigenvalues = np.linspace(-8.0, -1.0, D)
    few, many = (asked(eigenvalues, k, np.random.default_rng(0)) for k in (4, 25))
    for told in (few, many):
        assert -8.0 <= told.values[0] <= told.values[-1] <= -1.0
        np.testing.assert_allclose(told.vectors @ told.vectors.T, np.eye(len(told.values)), atol=1e-10)
    assert many.values[-1] == pytest.approx(-1.0, abs=0.05)
    assert few.values[-1] < many.values[-1]


def test_shares_combine_the_directions_into_vectors():
    rng, eigenvalues = np.random.default_rng(1), np.linspace(-8.0, -1.0, D)
    tried = rng.standard_normal((5, D))
    told = ritz(tried, tried * eigenvalues)
    np.testing.assert_allclose(told.shares @ tried, told.vectors, atol=1e-10)


def test_all_directions_tell_all_and_leave_none():
    eigenvalues = np.array([-3.0, -2.0, -1.0])
    told = asked(eigenvalues, 3, np.random.default_rng(2))
    np.testing.assert_allclose(told.values, eigenvalues)
    assert not told.next.any()


def test_the_geometric_mean_is_right_on_average():
    eigenvalues = -np.exp(np.linspace(-1.0, 1.0, D))
    logs = [np.log(asked(eigenvalues, 8, np.random.default_rng(seed)).rest) for seed in range(60)]
    assert abs(np.mean(logs)) < 4.0 * np.std(logs) / np.sqrt(60)
    assert np.std(logs) < 0.2


@pytest.mark.parametrize("rising", [0.02, 0.3, 3.0])
@pytest.mark.parametrize("chance", [OVERLOOKED, 0.5])
def test_a_saddle_is_taken_for_a_maximum_no_more_often_than_it_says(rising, chance):
    eigenvalues = np.append(np.linspace(-4.0, -1.0, D - 1), rising)
    wrong = [verdict(eigenvalues, chance, np.random.default_rng(seed))[0] for seed in range(100)]
    assert np.mean(wrong) <= chance


def test_a_round_maximum_takes_few_directions_and_a_long_one_more():
    rng = np.random.default_rng(3)
    is_round, few = verdict(np.linspace(-1.5, -1.0, D), OVERLOOKED, rng)
    is_long, many = verdict(np.linspace(-20.0, -1.0, D), OVERLOOKED, rng)
    assert is_round
    assert is_long
    assert few <= 8 < many <= 30


def test_less_than_all_directions_prove_nothing_of_a_level_one():
    assert not is_falling(np.array([-1.0, 0.0]), 2, 0.5)
    assert is_falling(np.array([-1e6, -1e-6]), 2, OVERLOOKED)
    assert not is_falling(np.array([-1e6, -1e-6]), 3, OVERLOOKED)
