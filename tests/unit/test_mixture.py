"""Mixtures: weights, log q and its derivatives, responsibilities, draws; also where numbers get very small."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from allmodes.arrays import map_leaves
from allmodes.nva.mixture import Mixture, log_density, log_weights, responsibilities
from allmodes.nva.mixture.covariances import Diagonal, Full, Isotropic
from allmodes.nva.mixture.families import Gamma, Gaussian
from allmodes.nva.mixture.mixture import noise, sample
from allmodes.objective import GRADIENT, HESSIAN, VALUE

BOTH = GRADIENT | HESSIAN


def random_mixture(structure, scale=1.0, K=3, d=2, seed=0):
    """A mixture, and its means, covariances and log-weights as plain arrays."""
    rng = np.random.default_rng(seed)
    means = np.sqrt(scale) * rng.normal(size=(K, d))
    M = rng.normal(size=(K, d, d))
    covariances = scale * (M @ M.mT + 0.5 * np.eye(d))
    if not isinstance(structure, Full):
        covariances = covariances * np.eye(d)
    if isinstance(structure, Isotropic):
        covariances = covariances[:, :1, :1] * np.eye(d)
    v = np.append(rng.normal(size=K - 1), 0.0)
    family = Gaussian(structure)
    mixture = Mixture(v, family.start(means, covariances))
    return family, mixture, means, covariances, v - logsumexp(v)


def log_q_of(means, covariances, log_pi, x):
    parts = [multivariate_normal(m, S).logpdf(x) for m, S in zip(means, covariances, strict=True)]
    return logsumexp(log_pi + np.array(parts))


STRUCTURES = pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)


@STRUCTURES
def test_log_q_is_the_mixture_of_scipys_normals(structure):
    family, mixture, means, covariances, log_pi = random_mixture(structure)
    points = np.random.default_rng(1).normal(scale=3.0, size=(20, 2))
    found = log_density(family, mixture, points, BOTH)
    wanted = [log_q_of(means, covariances, log_pi, x) for x in points]
    np.testing.assert_allclose(found.log_q.value, wanted, rtol=1e-12)
    np.testing.assert_allclose(log_density(family, mixture, points, VALUE).log_q.value, wanted, rtol=1e-12)
    for k in range(3):
        np.testing.assert_allclose(
            found.log_components[k], multivariate_normal(means[k], covariances[k]).logpdf(points), rtol=1e-12
        )


def _log_q(x, means, precisions, constants):
    apart = x - means
    return jax.scipy.special.logsumexp(constants - 0.5 * jnp.einsum("ki,kij,kj->k", apart, precisions, apart))


_derivatives = jax.jit(jax.vmap(lambda *a: (jax.grad(_log_q)(*a), jax.hessian(_log_q)(*a)), (0, None, None, None)))


def dense_derivatives(means, covariances, log_pi, points):
    """Gradient and Hessian of log q by automatic differentiation of a formula that is not the library's."""
    constants = log_pi - 0.5 * np.linalg.slogdet(covariances)[1]
    with jax.enable_x64(True):
        return [np.asarray(part) for part in _derivatives(points, means, np.linalg.inv(covariances), constants)]


@STRUCTURES
def test_derivatives_are_those_of_log_q(structure):
    family, mixture, means, covariances, log_pi = random_mixture(structure)
    points = np.random.default_rng(2).normal(scale=2.0, size=(8, 2))
    found = log_density(family, mixture, points, BOTH).log_q
    gradient, hessian = dense_derivatives(means, covariances, log_pi, points)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.hessian, structure.project(hessian), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("needs", [VALUE, GRADIENT, HESSIAN, BOTH], ids=sorted)
def test_derivatives_come_when_they_are_needed(needs):
    family, mixture, *_ = random_mixture(Full())
    found = log_density(family, mixture, np.zeros((4, 2)), needs).log_q
    assert found.value.shape == (4,)
    if "gradient" in needs:
        assert found.gradient.shape == (4, 2)
    if "hessian" in needs:
        assert found.hessian.shape == (4, 2, 2)
    else:
        assert found.hessian is None


@STRUCTURES
def test_tiny_covariances_cost_no_digits(structure):
    """Covariances of 1e-24: the same numbers as for covariances of 1, in other units."""
    wide = random_mixture(structure, 1.0)
    tiny = random_mixture(structure, 1e-24)
    points = np.random.default_rng(3).normal(scale=2.0, size=(8, 2))
    far = log_density(*wide[:2], points, BOTH).log_q
    near = log_density(*tiny[:2], 1e-12 * points, BOTH).log_q
    np.testing.assert_allclose(near.value, far.value + 24.0 * np.log(10.0), rtol=1e-12)
    np.testing.assert_allclose(near.gradient * 1e-12, far.gradient, rtol=1e-10)
    np.testing.assert_allclose(near.hessian * 1e-24, far.hessian, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gone", [0, 1, 2])
@pytest.mark.parametrize("v", [-800.0, -1e4])
def test_a_component_without_weight_is_as_good_as_absent(gone, v):
    """Also when it is the last one, against which the log-ratios are taken."""
    family, mixture, means, covariances, _ = random_mixture(Full())
    ratios = np.array([0.3, -0.2, 0.1])
    ratios[gone] = v
    mixture = Mixture(ratios - ratios[-1], mixture.components)
    kept = [k for k in range(3) if k != gone]
    log_pi = ratios[kept] - logsumexp(ratios[kept])
    points = np.random.default_rng(4).normal(size=(5, 2))
    found = log_density(family, mixture, points, BOTH).log_q
    wanted = [log_q_of(means[kept], covariances[kept], log_pi, x) for x in points]
    gradient, hessian = dense_derivatives(means[kept], covariances[kept], log_pi, points)
    np.testing.assert_allclose(found.value, wanted, rtol=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.hessian, hessian, rtol=1e-9, atol=1e-10)
    assert responsibilities(family, mixture, points)[gone].max() < 1e-300


def test_log_weights_stay_finite_where_weights_underflow():
    found = log_weights(np.array([-1e4, 5.0, 0.0]))
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(-1e4 - np.logaddexp(5.0, 0.0))
    assert np.exp(found).sum() == pytest.approx(1.0)
    assert log_weights(np.array([1e4, 0.0]))[1] == pytest.approx(-1e4)
    assert log_weights(np.array([0.0])).tolist() == [0.0]


@STRUCTURES
def test_responsibilities_sum_to_one_and_are_bayes_rule(structure):
    family, mixture, means, covariances, log_pi = random_mixture(structure)
    points = np.random.default_rng(5).normal(scale=3.0, size=(30, 2))
    r = responsibilities(family, mixture, points)
    assert r.shape == (3, 30)
    np.testing.assert_allclose(r.sum(axis=0), 1.0, rtol=1e-14)
    joint = np.stack([np.exp(log_pi[k]) * multivariate_normal(means[k], covariances[k]).pdf(points) for k in range(3)])
    np.testing.assert_allclose(r, joint / joint.sum(axis=0), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("distance", [1e3, 1e8, 1e150])
def test_points_far_away_have_finite_densities_and_derivatives(distance):
    """The densities themselves are 0 there; the component that is widest in that direction owns the point."""
    family = Gaussian()
    mixture = Mixture(np.zeros(2), family.start(np.zeros((2, 2)), np.array([np.eye(2), 4.0 * np.eye(2)])))
    points = np.array([[distance, 0.0], [-distance, distance]])
    found = log_density(family, mixture, points, BOTH).log_q
    assert np.isfinite(found.value).all()
    np.testing.assert_allclose(found.value, -(points**2).sum(axis=1) / 8.0, rtol=1e-4)
    np.testing.assert_allclose(found.gradient, -points / 4.0, rtol=1e-12)
    np.testing.assert_allclose(found.hessian, np.broadcast_to(-0.25 * np.eye(2), (2, 2, 2)), atol=1e-9)
    np.testing.assert_array_equal(responsibilities(family, mixture, points), [[0.0, 0.0], [1.0, 1.0]])


def test_one_component_is_its_own_mixture():
    family, mixture, means, covariances, _ = random_mixture(Full(), K=1)
    points = np.random.default_rng(6).normal(size=(4, 2))
    found = log_density(family, mixture, points, BOTH).log_q
    np.testing.assert_allclose(found.value, multivariate_normal(means[0], covariances[0]).logpdf(points), rtol=1e-12)
    np.testing.assert_allclose(found.hessian, np.broadcast_to(-np.linalg.inv(covariances[0]), (4, 2, 2)), rtol=1e-10)
    np.testing.assert_array_equal(responsibilities(family, mixture, points), np.ones((1, 4)))


def test_draws_come_from_the_components_in_proportion_to_their_weights():
    family = Gaussian()
    means = np.array([[-100.0], [0.0], [100.0]])
    weights = np.array([0.5, 0.2, 0.3])
    mixture = Mixture(np.log(weights / weights[-1]), family.start(means, 1.0))
    n = 20_000
    points = sample(family, mixture, noise(family, np.random.default_rng(7), n, 1))
    assert points.shape == (n, 1)
    chosen = np.abs(points - means.T).argmin(axis=1)
    shares = np.bincount(chosen, minlength=3) / n
    assert (np.abs(shares - weights) < 4.5 * np.sqrt(weights * (1 - weights) / n)).all()
    assert np.std(points[:, 0] - means[chosen, 0]) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_component_without_weight_is_never_drawn(gone):
    family = Gaussian()
    means = np.array([[-100.0], [0.0], [100.0]])
    v = np.zeros(3)
    v[gone] = -1e4
    mixture = Mixture(v - v[-1], family.start(means, 1.0))
    points = sample(family, mixture, noise(family, np.random.default_rng(8), 500, 1))
    assert set(np.abs(points - means.T).argmin(axis=1)) == {0, 1, 2} - {gone}


def test_a_choice_of_exactly_zero_does_not_draw_a_component_without_weight():
    family = Gaussian()
    mixture = Mixture(np.array([-1e4, 0.0]), family.start(np.array([[-100.0], [100.0]]), 1.0))
    drawn = noise(family, np.random.default_rng(0), 1, 1)._replace(choice=np.array([0.0]))
    assert sample(family, mixture, drawn)[0, 0] > 0


def test_the_last_component_takes_what_rounding_leaves():
    """Ten times a tenth is less than 1 in floating point; a choice beyond it is still a choice."""
    family = Gaussian()
    mixture = Mixture(np.zeros(10), family.start(100.0 * np.arange(10.0)[:, None], 1.0))
    drawn = noise(family, np.random.default_rng(0), 1, 1)._replace(choice=np.array([np.nextafter(1.0, 0.0)]))
    assert sample(family, mixture, drawn)[0, 0] > 850.0


def test_mixtures_of_other_families_have_values():
    family = Gamma()
    mixture = Mixture(np.array([1.0, 0.0]), family.start(np.array([[1.0], [3.0]]), 0.5))
    points = np.array([[0.5], [2.0], [9.0]])
    found = log_density(family, mixture, points, VALUE)
    joint = log_weights(mixture.log_ratios)[:, None] + family.log_components(mixture.components, points)
    np.testing.assert_allclose(found.log_q.value, logsumexp(joint, axis=0), rtol=1e-13)
    np.testing.assert_allclose(responsibilities(family, mixture, points).sum(axis=0), 1.0)


def test_numpy_and_jax_agree():
    family, mixture, *_ = random_mixture(Full())
    points = np.random.default_rng(9).normal(size=(6, 2))
    drawn = noise(family, np.random.default_rng(10), 6, 2)
    wanted = log_density(family, mixture, points, BOTH)
    with jax.enable_x64(True):
        theirs = map_leaves(jnp.asarray, mixture)
        found = jax.jit(lambda m, x: log_density(family, m, x, BOTH))(theirs, points)
        points_found = jax.jit(lambda m, z: sample(family, m, z))(theirs, map_leaves(jnp.asarray, drawn))
    for ours, given in zip((*wanted.log_q, wanted.log_components), (*found.log_q, found.log_components), strict=True):
        np.testing.assert_allclose(given, ours, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(points_found, sample(family, mixture, drawn), rtol=1e-12)
