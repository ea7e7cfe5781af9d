"""Frozen components in q: log-densities and derivatives, in every structure and around periodic coordinates."""

import numpy as np
import pytest
from playing import frozen
from scipy.stats import multivariate_normal

from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.covariances import Diagonal, Full, Isotropic
from allmodes.nva.mixture.families import Beta, Gaussian
from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.searchers.annealing.repulsion import log_share

OMEGA = 0.3
HESSIANS = [-np.array([[30.0, 8.0], [8.0, 20.0]]), -np.diag([5.0, 60.0])]
MODES = [[0.2, 0.3], [0.7, 0.6]]


def an_archive(periodic=None):
    archive = Archive(Box.make([(0, 1), (0, 1)], periodic=periodic))
    for mode, hessian in zip(MODES, HESSIANS, strict=True):
        archive.add(np.array(mode), 0.0, frozen(hessian))
    return archive


def a_mixture(covariance):
    family = Gaussian(covariance)
    means = np.array([[0.5, 0.5], [0.1, 0.8], [0.9, 0.2]])
    return family, Mixture(np.array([0.4, -0.2, 0.0]), family.start(means, 0.05))


POINTS = np.random.default_rng(0).uniform(-0.1, 1.1, (12, 2))
EVERYTHING = GRADIENT | HESSIAN


def test_it_is_the_share_of_live_components_in_the_whole_mixture():
    family, live = a_mixture(Full())
    weights = np.exp([0.4, -0.2, 0.0]) / np.exp([0.4, -0.2, 0.0]).sum()
    q_live = sum(
        w * multivariate_normal(m, 0.05 * np.eye(2)).pdf(POINTS)
        for w, m in zip(weights, live.components.mu, strict=True)
    )
    q_known = sum(
        0.5 * multivariate_normal(m, OMEGA * np.linalg.inv(-H)).pdf(POINTS)
        for m, H in zip(MODES, HESSIANS, strict=True)
    )
    share = log_share(family, live, an_archive(), OMEGA, POINTS, VALUE)
    known = share.value - np.log(q_live)  # - log q
    total = np.exp(-known)
    a = (total - q_live) / (q_known - q_live)  # q = (1 - a) q_live + a q_known
    np.testing.assert_allclose(a, a[0], rtol=1e-6)
    assert 0.0 < a[0] < 1.0
    assert share.gradient is None


@pytest.mark.parametrize("covariance", [Full(), Diagonal(), Isotropic()])
@pytest.mark.parametrize("periodic", [None, [0]])
def test_its_derivatives_are_those_of_its_values(covariance, periodic):
    family, live = a_mixture(covariance)
    archive, step = an_archive(periodic), 1e-5
    here = log_share(family, live, archive, OMEGA, POINTS, EVERYTHING)
    assert here.hessian.shape == (len(POINTS), 2, 2)
    for i, way in enumerate(step * np.eye(2)):
        there, back = (log_share(family, live, archive, OMEGA, POINTS + s * way, EVERYTHING) for s in (1, -1))
        slope, bend = (there.value - back.value) / (2 * step), (there.gradient - back.gradient) / (2 * step)
        np.testing.assert_allclose(here.gradient[:, i], slope, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(here.hessian[:, i], bend, rtol=1e-4, atol=1e-4)


def test_it_falls_towards_a_known_mode():
    family, live = a_mixture(Full())
    points = np.array([MODES[0], [0.2, 0.95]])
    near, far = log_share(family, live, an_archive(), OMEGA, points, VALUE).value
    assert near < far


def test_a_mode_repels_round_a_periodic_coordinate():
    family, live = a_mixture(Full())
    archive = Archive(Box.make([(0, 1), (0, 1)], periodic=[0]))
    archive.add(np.array([0.02, 0.5]), 0.0, frozen(-200.0 * np.eye(2)))
    left, right = log_share(family, live, archive, OMEGA, np.array([[0.98, 0.5], [0.5, 0.5]]), VALUE).value
    assert left < right


def test_components_of_other_families_are_repelled_by_values():
    family = Beta()
    live = Mixture(np.zeros(2), family.start(np.array([[0.4, 0.5], [0.6, 0.5]]), 0.02))
    inside = np.clip(POINTS, 0.01, 0.99)
    assert np.isfinite(log_share(family, live, an_archive(), OMEGA, inside, VALUE).value).all()


def test_it_stays_finite_far_away_and_in_the_cold():
    family, live = a_mixture(Full())
    share = log_share(family, live, an_archive(), 1e-12, POINTS, EVERYTHING)
    for part in share:
        assert np.isfinite(part).all()
