"""Mixtures of many components: pairs that are far apart are left out, and nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.nva import Mixture, covariances
from allmodes.nva.mixture import log_density, log_weights, nearby
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import GRADIENT, HESSIAN, VALUE

D = 3
STRUCTURES = [covariances.Full(), covariances.Diagonal(), covariances.Isotropic()]


def settled(structure, K=200, widest=-1.5, seed=0):
    """Components of widths from e^-5 on, with points drawn from each."""
    rng = np.random.default_rng(seed)
    family = Gaussian(covariance=structure)
    widths = np.exp(rng.uniform(-5.0, widest, K))
    turned = np.linalg.qr(rng.normal(size=(K, D, D)))[0] * np.array([1.0, 0.5, 0.2])
    shapes = turned @ turned.mT if isinstance(structure, covariances.Full) else np.eye(D)
    components = family.start(rng.uniform(-10, 10, (K, D)), widths[:, None, None] ** 2 * shapes)
    mixture = Mixture(3.0 * rng.normal(size=K), components)
    points, _ = family.sample(components, family.noise(rng, (K, 4), D))
    return family, mixture, points.reshape(-1, D)


def pairs_of(family, mixture, points):
    return nearby.near_pairs(family, mixture.components, points, log_weights(mixture.log_ratios))


@pytest.mark.parametrize("needs", [VALUE, GRADIENT, GRADIENT | HESSIAN])
@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: type(structure).__name__)
def test_the_numbers_are_those_of_all_pairs(structure, needs):
    family, mixture, points = settled(structure)
    pairs = pairs_of(family, mixture, points)
    assert pairs is not None
    assert len(pairs.point) < 0.1 * len(points) * len(mixture.log_ratios)
    wanted = log_density(family, mixture, points, needs)
    found = log_density(family, mixture, points, needs, keeps_components=False)
    assert found.log_components is None
    assert wanted.log_components is not None
    for mine, every in zip(found.log_q, wanted.log_q, strict=True):
        assert (mine is None) == (every is None)
        if mine is not None:
            np.testing.assert_allclose(mine, every, rtol=1e-12, atol=1e-12 * np.abs(every).max())


def test_pairs_that_are_left_out_too_soon_would_be_seen(monkeypatch):
    """The control: without the margin the numbers are others."""
    family, mixture, points = settled(covariances.Full())
    monkeypatch.setattr(nearby, "_LEAST", 15.0)
    assert pairs_of(family, mixture, points) is not None
    wanted = log_density(family, mixture, points, GRADIENT).log_q.gradient
    found = log_density(family, mixture, points, GRADIENT, keeps_components=False).log_q.gradient
    assert np.abs(found - wanted).max() > 1e-9 * np.abs(wanted).max()


@pytest.mark.parametrize("given", [{"K": 20}, {"widest": 3.0}], ids=["few", "overlapping"])
def test_few_or_overlapping_components_are_summed_as_they_are(given):
    family, mixture, points = settled(covariances.Full(), **given)
    assert pairs_of(family, mixture, points) is None


def test_every_point_has_a_component_however_far_it_is():
    family, mixture, points = settled(covariances.Isotropic())
    far = np.concatenate([points, [[300.0, 0.0, 0.0]]])
    wanted = log_density(family, mixture, far, VALUE).log_q.value
    found = log_density(family, mixture, far, VALUE, keeps_components=False).log_q.value
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
