"""Gradient and Hessian estimators, and the weights', by the formulas written out with dense matrices."""

import numpy as np
import pytest

from allmodes.nva.annealing.estimators import BlackBox, Gradient, Hessian
from allmodes.nva.annealing.estimators.weights import weight_gradient
from allmodes.nva.annealing.fitness import fitness
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.covariances import Diagonal, Full, Isotropic
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation

K, N, D = 2, 5, 3
STRUCTURES = pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)


def situation(structure, shared=False):
    """Components, a weighted sample and a fitness with derivatives; also the dense factors."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(K, D, D))
    sigma = M @ M.mT + np.eye(D)
    if not isinstance(structure, Full):
        sigma = sigma * np.eye(D)
    if isinstance(structure, Isotropic):
        sigma = sigma[:, :1, :1] * np.eye(D)
    family = Gaussian(structure)
    components = family.start(rng.normal(size=(K, D)), sigma)
    sample = Sample(rng.uniform(0.1, 1.0, size=(K, N)), rng.normal(size=(K, N, D)))
    H = rng.normal(size=(1 if shared else K, N, D, D))
    H = H + H.mT
    f = Evaluation(rng.normal(size=H.shape[:2]), rng.normal(size=H.shape[:3]), structure.project(H))
    A = structure.colour(components.factors, np.broadcast_to(np.eye(D), (K, D, D))).mT
    return family, components, sample, f, A, np.broadcast_to(H, (K, N, D, D))


@pytest.mark.parametrize("shared", [False, True])
@STRUCTURES
def test_gradient_estimates_are_bonnets(structure, shared):
    """g = A^T sum w grad f and G = sym sum w z (A^T grad f)^T, projected."""
    family, components, sample, f, A, _ = situation(structure, shared)
    found = Gradient().direction(family, components, sample, f)
    h = np.einsum("kji,knj->kni", A, np.broadcast_to(f.gradient, (K, N, D)))
    np.testing.assert_allclose(found.g, np.einsum("kn,kni->ki", sample.weights, h), rtol=1e-12)
    outer = np.einsum("kn,kni,knj->kij", sample.weights, sample.local, h)
    np.testing.assert_allclose(found.G, structure.project(0.5 * (outer + outer.mT)), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
@STRUCTURES
def test_hessian_estimates_are_prices(structure, shared):
    """G = A^T (sum w hess f) A; the means follow the gradient estimate."""
    family, components, sample, f, A, H = situation(structure, shared)
    found = Hessian().direction(family, components, sample, f)
    mean = np.einsum("kn,knij->kij", sample.weights, H)
    dense = mean if isinstance(structure, Full) else mean * np.eye(D)
    if isinstance(structure, Isotropic):
        dense = np.trace(mean, axis1=1, axis2=2)[:, None, None] / D * np.eye(D)
    np.testing.assert_allclose(found.G, structure.project(A.mT @ dense @ A), rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(found.g, Gradient().direction(family, components, sample, f).g)


def test_the_means_of_a_hessian_estimate_may_do_without_gradients():
    family, components, sample, f, *_ = situation(Full())
    estimator = Hessian(mean=BlackBox())
    assert estimator.needs(family) == {"hessian"}
    found = estimator.direction(family, components, sample, f._replace(gradient=None))
    np.testing.assert_array_equal(found.g, BlackBox().direction(family, components, sample, f).g)


def test_all_estimates_agree_on_a_linear_function():
    """f = b.x has gradient b and no Hessian: exact for a sample with mean 0 and covariance 1."""
    b = np.array([1.0, -2.0])
    family = Gaussian()
    components = family.start(np.zeros((1, 2)), [[2.0, 0.6], [0.6, 1.0]])
    z = np.sqrt(2.0) * np.array([[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]])
    sample = Sample(np.full((1, 4), 0.25), z)
    points = family.structure.colour(components.factors, z)
    f = Evaluation(points @ b, np.broadcast_to(b, (1, 4, 2)), np.zeros((1, 4, 2, 2)))
    for estimator in (BlackBox(), Gradient(), Hessian()):
        found = estimator.direction(family, components, sample, f)
        np.testing.assert_allclose(found.g[0], components.factors.A[0].T @ b, rtol=1e-12)
        np.testing.assert_allclose(found.G, 0.0, atol=1e-12)


def test_weights_follow_the_difference_from_the_last_component():
    weights = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    f = Evaluation(np.array([[1.0, 3.0], [4.0, 8.0], [5.0, 9.0]]))
    np.testing.assert_allclose(weight_gradient(Sample(weights, None), f), [2.0 - 5.0, 7.0 - 5.0, 0.0])
    shared = Evaluation(np.array([[1.0, 3.0]]))
    np.testing.assert_allclose(weight_gradient(Sample(weights, None), shared), [1.0, 1.5, 0.0])


def test_fitness_is_the_objective_less_the_tempered_log_density():
    l = Evaluation(np.array([1.0]), np.array([[2.0]]), None)
    log_q = Evaluation(np.array([10.0]), np.array([[20.0]]), np.array([[[30.0]]]))
    log_p = Evaluation(np.array([100.0]), np.array([[200.0]]), None)
    found = fitness(l, log_q, 0.5)
    np.testing.assert_allclose(found.value, [1.0 - 5.0])
    np.testing.assert_allclose(found.gradient, [[2.0 - 10.0]])
    assert found.hessian is None
    with_prior = fitness(l, log_q, 0.5, log_p)
    np.testing.assert_allclose(with_prior.value, [1.0 - 5.0 + 50.0])
    np.testing.assert_allclose(with_prior.gradient, [[2.0 - 10.0 + 100.0]])
