"""Pareto smoothing: exact tails, properties, and ArviZ's answer where it is installed."""

import numpy as np
import pytest

from allmodes.modes.pareto import quantiles, smooth, tail_of


def grid(n):
    return (np.arange(n) + 0.5) / n


def log_total(logs):
    return np.logaddexp.reduce(logs)


@pytest.mark.parametrize("k", [-0.5, 0.0, 0.3, 0.7, 1.2])
def test_the_shape_of_an_exact_tail_is_found(k):
    """Quantiles of the distribution itself in the place of draws; the prior draws k towards 1/2."""
    n = 20_000
    found, scale = tail_of(quantiles(grid(n), k, 2.0))
    assert found == pytest.approx(k, abs=0.03)
    assert scale == pytest.approx(2.0, rel=0.03)


def test_few_exceedances_are_drawn_towards_a_half():
    exact = quantiles(grid(20), 0.0, 1.0)
    k, _ = tail_of(exact)
    assert 0.0 < k < 0.5


def test_scale_changes_no_shape():
    logs = np.random.default_rng(0).standard_normal(1000)
    here, far = smooth(logs), smooth(logs + 700.0)
    assert here.k == pytest.approx(far.k, abs=1e-9)
    np.testing.assert_allclose(far.log_weights, here.log_weights + 700.0)


def test_of_weights_with_a_known_mean_the_smoothed_ones_err_less():
    """Ratios with a tail of 0.9: the raw mean of 2,000 has no variance to speak of; the smoothed one stays close."""
    rng, raw, smoothed = np.random.default_rng(1), [], []
    for _ in range(200):
        logs = -0.9 * np.log(rng.random(2000))  # their mean is 1 / (1 - 0.9) = 10
        raw.append(log_total(logs) - np.log(2000))
        smoothed.append(log_total(smooth(logs).log_weights) - np.log(2000))
    off = [float(np.sqrt(np.mean((np.array(each) - np.log(10.0)) ** 2))) for each in (raw, smoothed)]
    assert off[1] < off[0]


def test_only_the_tail_changes_and_order_is_kept():
    logs = np.random.default_rng(2).standard_normal(900)
    smoothed = smooth(logs).log_weights
    tail = 3 * 30
    kept = np.sort(logs)[: 900 - tail]
    np.testing.assert_array_equal(np.sort(smoothed)[: 900 - tail], kept)
    assert (np.diff(smoothed[np.argsort(logs)]) >= 0.0).all()
    assert smoothed.max() <= logs.max()


def test_of_a_handful_nothing_is_told():
    logs = np.array([0.0, 1.0, 2.0, 9.0])
    found = smooth(logs)
    assert np.isnan(found.k)
    np.testing.assert_array_equal(found.log_weights, logs)
    assert np.isnan(smooth(np.zeros(0)).k)


def test_equal_weights_have_no_tail():
    found = smooth(np.zeros(500))
    assert found.k == -np.inf
    np.testing.assert_array_equal(found.log_weights, np.zeros(500))


def test_ratios_that_span_all_of_float64():
    found = smooth(np.linspace(-2000.0, 0.0, 400))
    assert found.k > 1.0
    assert np.isfinite(found.log_weights).all()


def test_some_of_no_density():
    logs = np.random.default_rng(3).standard_normal(1000)
    logs[:300] = -np.inf
    found = smooth(logs)
    assert np.isfinite(found.k)
    assert np.isneginf(found.log_weights[:300]).all()
    assert np.isnan(smooth(np.full(100, -np.inf)).k)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [200, 999, 4000])
@pytest.mark.parametrize("tail", ["normal", "exponential", "power"])
def test_arviz_says_the_same(n, tail):
    """`arviz.psislw` of 0.23 takes log ratios and normalises; later versions negate what they are given."""
    arviz = pytest.importorskip("arviz")
    if not hasattr(arviz, "psislw"):
        pytest.skip("this arviz has no psislw")
    rng = np.random.default_rng(n)
    exponential = rng.exponential(size=n)
    logs = {"normal": rng.standard_normal(n), "exponential": 0.6 * exponential, "power": 0.9 * exponential}[tail]
    theirs, k = arviz.psislw(logs.copy())
    ours = smooth(logs)
    assert ours.k == pytest.approx(float(k), abs=1e-9)
    np.testing.assert_allclose(ours.log_weights - log_total(ours.log_weights), np.asarray(theirs), atol=1e-9)
