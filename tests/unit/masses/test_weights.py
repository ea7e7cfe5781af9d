"""Weights, their smoothing by mode, effective draws, and standard errors by strata."""

import numpy as np
import pytest

from allmodes.masses.weights import Weighed


def weighed(log_weights, owner, stratum=None, num_drawn=None):
    owner = np.array(owner)
    stratum = owner if stratum is None else np.array(stratum)
    num_drawn = np.bincount(stratum) if num_drawn is None else np.array(num_drawn)
    logs = np.asarray(log_weights, dtype=float)
    return Weighed(np.zeros((len(logs), 1)), logs, logs, owner, stratum, num_drawn)


def test_sums_and_effective_draws_by_mode():
    each = weighed(np.log([1.0, 1.0, 2.0, 2.0, 4.0]), [0, 0, 1, 1, 1])
    np.testing.assert_allclose(each.totals * np.exp(each.top), [2.0, 8.0])
    np.testing.assert_allclose(each.ess, [2.0, 64.0 / 24.0])
    np.testing.assert_array_equal(each.num_draws, [2, 3])
    assert np.isnan(each.pareto_k).all()  # of so few nobody can tell


def test_a_mode_without_density_has_nothing():
    each = weighed([-np.inf, -np.inf, 0.0], [0, 0, 1])
    np.testing.assert_array_equal(each.totals, [0.0, 1.0])
    np.testing.assert_array_equal(each.ess, [0.0, 1.0])
    nothing = weighed([-np.inf], [0])
    assert nothing.top == 0.0
    assert nothing.totals.sum() == 0.0


def test_tails_are_smoothed_mode_by_mode():
    rng = np.random.default_rng(0)
    light, heavy = 0.1 * rng.standard_normal(2000), -0.9 * np.log(rng.random(2000))
    each = weighed(np.concatenate([light, heavy]), np.repeat([0, 1], 2000))
    assert each.pareto_k[0] < 0.3
    assert each.pareto_k[1] == pytest.approx(0.9, abs=0.3)


def test_only_variance_within_strata_is_an_error():
    """Equal weights within each stratum, however different between them."""
    each = weighed(np.log([1.0] * 50 + [9.0] * 50), np.repeat([0, 1], 50))
    assert each.deviation(each.weights) == pytest.approx(0.0, abs=1e-12)


def test_draws_outside_the_bounds_count_as_zeros():
    """60 of 100 draws inside, of weight 1 each: the sum is binomial."""
    each = weighed(np.zeros(60), np.zeros(60, int), num_drawn=[100])
    assert each.deviation(each.weights) == pytest.approx(np.sqrt(100 * 0.6 * 0.4), rel=0.01)


def test_the_error_is_that_of_repeated_draws():
    rng = np.random.default_rng(1)
    sums, errors = [], []
    for _ in range(300):
        weights = np.concatenate([rng.uniform(0.0, 1.0, 80), rng.uniform(2.0, 6.0, 20)])
        each = weighed(np.log(weights), np.repeat([0, 1], [80, 20]))
        sums.append(weights.sum())
        errors.append(each.deviation(np.exp(each.log_weights)))
    assert np.mean(errors) == pytest.approx(np.std(sums), rel=0.15)
