"""Proposals: samples per component, and one sample that all components share."""

import numpy as np
import pytest
from scipy.stats import norm

from allmodes.nva.annealing.proposals import Importance, PerComponent
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.mixture import Mixture, log_density
from allmodes.objective import Evaluation

FAMILY = Gaussian()
MEANS = np.array([[-1.0], [0.5], [2.0]])
VARIANCES = np.array([0.5, 1.0, 2.0])
MIXTURE = Mixture(np.array([0.4, -0.3, 0.0]), FAMILY.start(MEANS, VARIANCES[:, None, None]))
WEIGHTS = np.exp(MIXTURE.log_ratios) / np.exp(MIXTURE.log_ratios).sum()


def weighed(proposal, mixture=MIXTURE, B=50, seed=0):
    noise = proposal.noise(np.random.default_rng(seed), FAMILY, 3, B, 1)
    proposed = proposal.propose(FAMILY, mixture, noise)
    density = log_density(FAMILY, mixture, proposed.points, frozenset())
    return proposed.points, proposal.weigh(FAMILY, mixture, proposed, density)


def densities(points):
    return np.stack([norm(m, np.sqrt(v)).pdf(points[:, 0]) for m, v in zip(MEANS[:, 0], VARIANCES, strict=True)])


def test_every_component_has_its_own_samples_of_equal_weight():
    proposal = PerComponent()
    assert proposal.num_points(3, 50) == 150
    points, sample = weighed(proposal)
    np.testing.assert_array_equal(sample.weights, np.full((3, 50), 1 / 50))
    own = points.reshape(3, 50)
    np.testing.assert_allclose(own, MEANS + np.sqrt(VARIANCES)[:, None] * sample.local[..., 0], rtol=1e-12)
    arranged = proposal.arrange(Evaluation(points[:, 0]), 3)
    np.testing.assert_array_equal(arranged.value, own)


def test_importance_weights_are_density_ratios_over_the_number_of_samples():
    proposal = Importance()
    assert proposal.num_points(3, 50) == 50
    points, sample = weighed(proposal)
    q_k = densities(points)
    np.testing.assert_allclose(sample.weights, q_k / (WEIGHTS @ q_k) / 50, rtol=1e-10)
    np.testing.assert_allclose(WEIGHTS @ sample.weights, 1 / 50, rtol=1e-12)  # the mixture of them is q itself


def test_self_normalized_weights_sum_to_one():
    points, sample = weighed(Importance(self_normalized=True))
    q_k = densities(points)
    ratios = q_k / (WEIGHTS @ q_k)
    np.testing.assert_allclose(sample.weights, ratios / ratios.sum(axis=1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(sample.weights.sum(axis=1), 1.0, rtol=1e-12)


def test_equal_weights_bound_the_importance_weights_by_the_number_of_components():
    points, sample = weighed(Importance(equal_weights=True))
    q_k = densities(points)
    np.testing.assert_allclose(sample.weights, q_k / q_k.mean(axis=0) / 50, rtol=1e-10)
    assert sample.weights.max() * 50 <= 3.0
    np.testing.assert_allclose(sample.weights.sum(axis=0), 3 / 50, rtol=1e-12)


def test_a_component_without_weight_still_gets_samples_under_equal_weights():
    gone = Mixture(np.array([-1e4, 0.0, 0.0]), FAMILY.start(np.array([[-50.0], [0.0], [50.0]]), 1.0))
    points, sample = weighed(Importance(equal_weights=True), gone, B=300)
    assert np.mean(points < -40.0) == pytest.approx(1 / 3, abs=0.1)
    assert sample.weights[0].sum() == pytest.approx(1.0, abs=0.3)
    points, sample = weighed(Importance(), gone, B=300)
    assert not (points < -40.0).any()
    assert np.isfinite(sample.weights).all()


def test_shared_points_are_located_in_every_component():
    points, sample = weighed(Importance())
    wanted = (points[None, :, 0] - MEANS) / np.sqrt(VARIANCES)[:, None]
    np.testing.assert_allclose(sample.local[..., 0], wanted, rtol=1e-10)


def test_the_same_noise_gives_the_same_points():
    for proposal in (PerComponent(), Importance(), Importance(equal_weights=True)):
        np.testing.assert_array_equal(weighed(proposal)[0], weighed(proposal)[0])
        assert np.abs(weighed(proposal)[0] - weighed(proposal, seed=1)[0]).max() > 0.1
