"""Mean shift: its step, its ends, and the modes of mixtures where they are known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from allmodes.objective import GRADIENT, HESSIAN
from allmodes.problems import mixture_objective, symmetric_mixture
from allmodes.problems.ascent import climb, distinct
from allmodes.problems.gllim import GaussianMixture
from allmodes.problems.mean_shift import mixture_modes, shift


def random_gaussians(K=12, d=3, seed=0):
    rng = np.random.default_rng(seed)
    roots = 0.5 * rng.standard_normal((K, d, d)) + 0.3 * np.eye(d)
    return GaussianMixture(rng.dirichlet(np.ones(K)), rng.uniform(-3.0, 3.0, (K, d)), roots @ roots.mT)


def objective_of(mixture):
    return mixture_objective(mixture.means, mixture.covariances, mixture.weights)


def test_a_step_is_the_weighted_mean():
    mixture = random_gaussians()
    points = np.random.default_rng(1).normal(size=(5, 3))
    moved = shift(*mixture, points, steps=1)
    for before, after in zip(points, moved, strict=True):
        shares = np.array([w * multivariate_normal(m, c).pdf(before) for w, m, c in zip(*mixture, strict=True)])
        precisions = np.linalg.inv(mixture.covariances)
        total = np.einsum("k,kij->ij", shares, precisions)
        pull = np.einsum("k,kij,kj->i", shares, precisions, mixture.means)
        np.testing.assert_allclose(after, np.linalg.solve(total, pull), rtol=1e-9)


def test_the_density_never_falls():
    mixture = random_gaussians()
    density = objective_of(mixture).fun
    points = np.random.default_rng(1).normal(size=(50, 3)) * 3.0
    for _ in range(30):
        moved = shift(*mixture, points, steps=1)
        assert (density(moved) >= density(points) - 1e-12).all()
        points = moved


def test_modes_are_maxima_and_best_first():
    mixture = random_gaussians()
    modes = mixture_modes(*mixture)
    here = objective_of(mixture).evaluate(modes, GRADIENT | HESSIAN)
    assert len(modes) > 3
    assert np.abs(here.gradient).max() < 1e-8
    assert np.linalg.eigvalsh(here.hessian).max() < 0.0
    assert (np.diff(here.value) <= 0.0).all()


def test_a_mode_that_no_mean_leads_to_needs_more_starts():
    """Between the three components of the paper's symmetric mixture there is a fourth mode."""
    problem = symmetric_mixture()
    angle = np.pi / 2 + 2 * np.pi * np.arange(1, 4) / 3
    means = np.column_stack([np.sin(angle), np.cos(angle)])
    mixture = GaussianMixture(np.full(3, 1 / 3), means, np.tile(0.54 * np.eye(2), (3, 1, 1)))
    assert problem.found(mixture_modes(*mixture), 1e-6).tolist() == [True, True, True, False]
    complete = mixture_modes(*mixture, mixture.draw(100, np.random.default_rng(0)))
    assert len(complete) == 4
    assert problem.found(complete, 1e-6).all()


def test_saddles_are_dropped():
    mixture = GaussianMixture(np.array([0.5, 0.5]), np.array([[-2.0, 0.0], [2.0, 0.0]]), np.tile(np.eye(2), (2, 1, 1)))
    middle = np.zeros((1, 2))
    np.testing.assert_allclose(shift(*mixture, middle), middle)  # mean shift stands still there
    assert len(mixture_modes(*mixture, middle)) == 2


def test_close_components_have_one_mode():
    mixture = GaussianMixture(np.array([0.5, 0.5]), np.array([[-0.5], [0.5]]), np.ones((2, 1, 1)))
    np.testing.assert_allclose(mixture_modes(*mixture), [[0.0]], atol=1e-9)


def test_components_of_tiny_weight_do_no_harm():
    weights = np.array([1.0, np.finfo(float).tiny])
    modes = mixture_modes(weights, np.array([[0.0], [1.0]]), np.ones((2, 1, 1)))
    np.testing.assert_allclose(modes, [[0.0]], atol=1e-9)


def test_finds_what_climbs_find():
    """Another algorithm, Newton's method with shorter steps, from hundreds of starts."""
    mixture = random_gaussians(K=15, d=2, seed=4)
    starts = np.vstack([mixture.means, np.random.default_rng(0).uniform(-4.0, 4.0, (500, 2))])
    climbed = distinct(climb(objective_of(mixture), starts, 0.1), 1e-4)
    found = mixture_modes(*mixture, starts[15:])
    assert len(found) == len(climbed) > 4
    assert np.abs(found[:, None] - climbed[None]).max(axis=2).min(axis=1).max() < 1e-7


def test_steps_must_be_a_number():
    with pytest.raises(ValueError, match="steps is 0"):
        shift(*random_gaussians(), np.zeros((1, 3)), steps=0)
