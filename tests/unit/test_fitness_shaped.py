"""Ranks in place of values: which sample gets which utility, and what that is invariant under."""

import numpy as np
import pytest

from allmodes.nva.annealing.estimators import BlackBox, FitnessShaped
from allmodes.nva.annealing.estimators.fitness_shaped import shape
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.annealing.utilities import CMAES, NormalOrderStatistics, Truncation
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation

U = np.array([4.0, 2.0, 1.0, -3.0])


def test_with_equal_weights_the_b_th_best_scores_its_utility_over_n():
    f = np.array([[10.0, 30.0, 20.0, 40.0], [-1.0, -2.0, -3.0, -4.0]])
    found = shape(U, np.full((2, 4), 0.25), f)
    np.testing.assert_allclose(found, [[-3.0 / 4, 2.0 / 4, 1.0 / 4, 4.0 / 4], [4.0 / 4, 2.0 / 4, 1.0 / 4, -3.0 / 4]])


@pytest.mark.parametrize("B", [2, 3, 7, 16, 49, 100])
def test_rounding_of_equal_weights_does_not_mix_ranks(B):
    """Sums of 1/B are not multiples of 1/B in floating point."""
    rng = np.random.default_rng(B)
    f = rng.normal(size=(1, B))
    u = np.sort(rng.normal(size=B))[::-1]
    found = shape(u, np.full((1, B), 1.0 / B), f)
    np.testing.assert_allclose(found[0][np.argsort(-f[0])], u / B, rtol=1e-9, atol=1e-12)


def step_integral(u, a, b):
    """The integral of the step function of the quantile from a to b, the slow way."""
    edges = np.linspace(0.0, 1.0, len(u) + 1)
    overlaps = np.minimum(b, edges[1:]) - np.maximum(a, edges[:-1])
    return float((u * np.maximum(overlaps, 0.0)).sum())


def test_with_importance_weights_a_sample_gets_the_integral_over_the_quantiles_it_covers():
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.01, 1.0, size=(3, 6))
    f = rng.normal(size=(1, 6))
    u = np.sort(rng.normal(size=6))[::-1]
    found = shape(u, weights, f)
    for k in range(3):
        total, before = weights[k].sum(), 0.0
        for n in np.argsort(-f[0]):
            after = before + weights[k, n] / total
            assert found[k, n] == pytest.approx(total * step_integral(u, before, after), abs=1e-12)
            before = after


def test_scores_sum_to_the_total_weight_times_the_mean_utility():
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.0, 1.0, size=(4, 9))
    u = NormalOrderStatistics()(9) + 0.7
    np.testing.assert_allclose(shape(u, weights, rng.normal(size=(1, 9))).sum(axis=1), 0.7 * weights.sum(axis=1))


def test_a_sample_without_weight_scores_nothing_and_takes_nobodys_place():
    weights = np.array([[0.25, 0.0, 0.25, 0.25, 0.25]])
    f = np.array([[1.0, 99.0, 3.0, 2.0, 4.0]])
    u = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    found = shape(u, weights, f)[0]
    assert found[1] == 0.0
    assert found[[4, 2, 3, 0]].tolist() == sorted(found[[4, 2, 3, 0]].tolist(), reverse=True)
    assert found.sum() == pytest.approx(3.0)


def test_one_sample_that_carries_all_the_weight_gets_the_mean_utility():
    found = shape(U, np.array([[0.0, 2.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 3.0, 4.0]]))
    np.testing.assert_allclose(found, [[0.0, 2.0 * U.mean(), 0.0, 0.0]], atol=1e-15)


def test_ties_are_broken_by_position():
    found = shape(U, np.full((1, 4), 0.25), np.zeros((1, 4)))
    np.testing.assert_allclose(found, [U / 4])


MONOTONE = {
    "shifted": lambda f: f + 1e3,
    "scaled": lambda f: 1e-3 * f,
    "cubed": lambda f: f**3,
    "exponential": np.exp,
    "squashed": np.arctan,
}


@pytest.mark.parametrize("name", MONOTONE)
def test_any_increasing_function_of_the_fitness_gives_the_same_direction(name):
    rng = np.random.default_rng(3)
    family = Gaussian()
    components = family.start(np.zeros((2, 3)), 1.0)
    sample = Sample(rng.uniform(0.1, 1.0, size=(2, 8)), rng.normal(size=(2, 8, 3)))
    f = rng.normal(size=(1, 8))
    estimator = FitnessShaped(CMAES())
    plain = estimator.direction(family, components, sample, Evaluation(f))
    changed = estimator.direction(family, components, sample, Evaluation(MONOTONE[name](f)))
    np.testing.assert_array_equal(plain.g, changed.g)
    np.testing.assert_array_equal(plain.G, changed.G)
    reversed_order = estimator.direction(family, components, sample, Evaluation(-f))
    assert np.abs(reversed_order.g - plain.g).max() > 0.1


def test_the_direction_is_the_black_box_one_with_utilities_for_values():
    """g = mean(u z), G = mean(u (z z^T - I)), every sample with the utility of its rank."""
    rng = np.random.default_rng(4)
    family = Gaussian()
    components = family.start(np.zeros((1, 2)), 1.0)
    z = rng.normal(size=(1, 6, 2))
    f = rng.normal(size=(1, 6))
    sample = Sample(np.full((1, 6), 1 / 6), z)
    utility = Truncation(0.5)
    found = FitnessShaped(utility).direction(family, components, sample, Evaluation(f))
    u = np.empty(6)
    u[np.argsort(-f[0])] = utility(6)
    np.testing.assert_allclose(found.g[0], (u[:, None] * z[0]).mean(axis=0))
    outer = z[0][:, :, None] * z[0][:, None, :] - np.eye(2)
    np.testing.assert_allclose(found.G[0], (u[:, None, None] * outer).mean(axis=0), atol=1e-15)
    same = BlackBox().direction(family, components, sample, Evaluation(u[None]))
    np.testing.assert_allclose(found.G, same.G, atol=1e-15)


def test_any_function_of_the_number_of_samples_is_a_utility():
    estimator = FitnessShaped(lambda B: np.linspace(1.0, -1.0, B))
    family = Gaussian()
    components = family.start(np.zeros((1, 1)), 1.0)
    z = np.array([[[1.0], [2.0], [4.0]]])
    found = estimator.direction(
        family, components, Sample(np.full((1, 3), 1 / 3), z), Evaluation(np.array([[0.0, 5.0, 1.0]]))
    )
    np.testing.assert_allclose(found.g, [[(-1.0 * 1.0 + 1.0 * 2.0 + 0.0 * 4.0) / 3]])
