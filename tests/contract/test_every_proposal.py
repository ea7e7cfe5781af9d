"""Every proposal: as many points as it says, and weights under which samples stand for components."""

import jax
import jax.numpy as jnp
import members
import numpy as np
import pytest

from allmodes.arrays import leaves, map_leaves
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.mixture import Mixture, log_density
from allmodes.objective import Evaluation

every_proposal = pytest.mark.parametrize("proposal", members.proposals(), ids=members.name_of)
every_family = pytest.mark.parametrize("family", members.families(), ids=members.name_of)
K, B, D = 3, 8, 2


def situation(family, seed, num_components=K):
    rng = np.random.default_rng(seed)
    components, _, _ = members.start(family, num_components, D, rng)
    return Mixture(np.append(rng.standard_normal(num_components - 1), 0.0), components), rng


def proposed_and_weighed(proposal, family, mixture, noise):
    proposed = proposal.propose(family, mixture, noise)
    density = log_density(family, mixture, proposed.points, frozenset())
    return proposed, proposal.weigh(family, mixture, proposed, density)


@every_family
@every_proposal
@pytest.mark.parametrize("num_components", [1, 3])
def test_points_are_as_many_as_it_says(proposal, family, num_components):
    mixture, rng = situation(family, 1, num_components)
    noise = proposal.noise(rng, family, num_components, B, D)
    proposed, sample = proposed_and_weighed(proposal, family, mixture, noise)
    N = proposal.num_points(num_components, B)
    assert proposed.points.shape == (N, D)
    assert np.isfinite(proposed.points).all()
    assert sample.weights.shape[0] == num_components
    assert np.isfinite(sample.weights).all()
    assert (sample.weights >= 0).all()


@every_proposal
def test_arranging_keeps_every_number_in_place(proposal):
    rng = np.random.default_rng(2)
    N = proposal.num_points(K, B)
    given = Evaluation(rng.standard_normal(N), rng.standard_normal((N, D)), None)
    arranged = proposal.arrange(given, K)
    n = arranged.value.shape[1]
    assert arranged.value.shape[0] * n == N
    assert arranged.gradient.shape == (*arranged.value.shape, D)
    assert arranged.hessian is None
    np.testing.assert_array_equal(arranged.value.reshape(-1), given.value)
    np.testing.assert_array_equal(arranged.gradient.reshape(-1, D), given.gradient)


@every_family
@every_proposal
def test_local_coordinates_belong_to_the_arranged_points(proposal, family):
    mixture, rng = situation(family, 3)
    noise = proposal.noise(rng, family, K, B, D)
    proposed, sample = proposed_and_weighed(proposal, family, mixture, noise)
    arranged = proposal.arrange(Evaluation(np.zeros(len(proposed.points)), proposed.points), K).gradient
    wanted = family.locate(mixture.components, arranged)
    for ours, theirs in zip(leaves(sample.local), leaves(wanted), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@every_proposal
def test_weighted_samples_have_the_mean_of_every_component(proposal):
    """sum_n w_kn h(xi_n) estimates E_qk[h]: for h = 1 and h = xi, over many steps, within 5 standard errors."""
    family = Gaussian()
    mixture, rng = situation(family, 4)
    ones, means = [], []
    for _ in range(1500):
        proposed, sample = proposed_and_weighed(proposal, family, mixture, proposal.noise(rng, family, K, B, D))
        arranged = proposal.arrange(Evaluation(np.zeros(len(proposed.points)), proposed.points), K).gradient
        ones.append(sample.weights.sum(axis=1))
        means.append((sample.weights[..., None] * arranged).sum(axis=1))
    for found, wanted in ((ones, np.ones(K)), (means, family.means(mixture.components))):
        error = np.std(found, axis=0) / np.sqrt(len(found))
        assert (np.abs(np.mean(found, axis=0) - wanted) <= 5 * error + 1e-12).all()
    # A control: the same weights do not give the means of the next component.
    error = np.std(means, axis=0) / np.sqrt(len(means))
    wrong = np.roll(family.means(mixture.components), 1, axis=0)
    assert (np.abs(np.mean(means, axis=0) - wrong) > 5 * error).any(axis=1).all()


@every_proposal
def test_numpy_and_jax_agree(proposal):
    family = Gaussian()
    mixture, rng = situation(family, 5)
    noise = proposal.noise(rng, family, K, B, D)

    def operations(mixture, noise):
        proposed, sample = proposed_and_weighed(proposal, family, mixture, noise)
        return proposed.points, sample

    wanted = operations(mixture, noise)
    with jax.enable_x64(True):
        found = jax.jit(operations)(map_leaves(jnp.asarray, mixture), map_leaves(jnp.asarray, noise))
    for ours, theirs in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
