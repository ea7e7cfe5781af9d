"""Every estimator, with every covariance structure and family it can serve, and every proposal."""

import jax
import jax.numpy as jnp
import members
import numpy as np
import pytest

from allmodes.arrays import leaves, map_leaves
from allmodes.nva.annealing import Algorithm
from allmodes.nva.annealing.updates import ImprovedBLR
from allmodes.nva.mixture.covariances import Fixed
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.mixture import Mixture, log_density
from allmodes.objective import Evaluation

ESTIMATORS = members.estimators()
STRUCTURES = members.covariances()
GAUSSIANS = [Gaussian(wrapped) for s in STRUCTURES for wrapped in (s, Fixed(s))]
OTHERS = [family for family in members.families() if not isinstance(family, Gaussian)]
K, D, N = 3, 2, 6


def label(part):
    return repr(part.covariance) if isinstance(part, Gaussian) else members.name_of(part)


PAIRS = [
    pytest.param(estimator, family, id=f"{members.name_of(estimator)}-{label(family)}")
    for estimator in ESTIMATORS
    for family in GAUSSIANS + ([] if estimator.is_gaussian_only else OTHERS)
]
every_pair = pytest.mark.parametrize(("estimator", "family"), PAIRS)
every_proposal = pytest.mark.parametrize("proposal", members.proposals(), ids=members.name_of)


def situation(family, proposal, seed):
    """Components, a sample as the estimator sees it, and a fitness that knows its value and both derivatives."""
    rng = np.random.default_rng(seed)
    components, _, _ = members.start(family, K, D, rng)
    mixture = Mixture(np.append(rng.standard_normal(K - 1), 0.0), components)
    proposed = proposal.propose(family, mixture, proposal.noise(rng, family, K, N, D))
    density = log_density(family, mixture, proposed.points, frozenset())
    sample = proposal.weigh(family, mixture, proposed, density)
    n = len(proposed.points)
    H = rng.standard_normal((n, D, D))
    hessian = family.structure.project(H + H.mT) if isinstance(family, Gaussian) else H + H.mT
    f = Evaluation(rng.standard_normal(n), rng.standard_normal((n, D)), hessian)
    return components, sample, proposal.arrange(f, K)


def only_needed(estimator, family, f):
    """The fitness with what the estimator asked for, and None for the rest."""
    needs = estimator.needs(family)
    return Evaluation(f.value, f.gradient if "gradient" in needs else None, f.hessian if "hessian" in needs else None)


def assert_same(found, wanted, rtol=1e-10):
    for ours, theirs in zip(leaves(found), leaves(wanted), strict=True):
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * np.abs(theirs).max())


@every_proposal
@every_pair
def test_what_it_says_it_needs_is_enough(estimator, family, proposal):
    components, sample, f = situation(family, proposal, 1)
    assert estimator.needs(family) <= {"gradient", "hessian"}
    direction = estimator.direction(family, components, sample, only_needed(estimator, family, f))
    assert all(np.isfinite(leaf).all() for leaf in leaves(direction))
    moved = family.step(components, direction, Rates(0.01, 0.01), ImprovedBLR())
    for new, old in zip(leaves(moved), leaves(components), strict=True):
        assert new.shape == old.shape
        assert np.isfinite(new).all()


@every_proposal
@every_pair
def test_it_reads_all_that_it_asks_for(estimator, family, proposal):
    """An objective's derivatives are expensive: each one asked for changes the result."""
    components, sample, f = situation(family, proposal, 2)
    given = only_needed(estimator, family, f)
    direction = estimator.direction(family, components, sample, given)
    for name in estimator.needs(family):
        other = given._replace(**{name: 2.0 * getattr(given, name)})
        changed = estimator.direction(family, components, sample, other)
        pairs = zip(leaves(direction), leaves(changed), strict=True)
        assert any(np.abs(a - b).max() > 1e-6 for a, b in pairs), name


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=members.name_of)
@pytest.mark.parametrize("structure", STRUCTURES, ids=members.name_of)
def test_fixed_covariances_ask_for_no_more_and_move_the_means_alike(estimator, structure):
    free, fixed = Gaussian(structure), Gaussian(Fixed(structure))
    assert estimator.needs(fixed) <= estimator.needs(free)
    components, sample, f = situation(free, members.proposals()[0], 3)
    whole = estimator.direction(free, components, sample, only_needed(estimator, free, f))
    means = estimator.direction(fixed, components, sample, only_needed(estimator, fixed, f))
    assert means.G is None
    np.testing.assert_allclose(means.g, whole.g, rtol=1e-12)
    assert whole.g.shape == (K, D)
    assert whole.G.shape == structure.precision(components.factors).shape


@every_proposal
@every_pair
def test_the_order_of_the_samples_does_not_matter(estimator, family, proposal):
    components, sample, f = situation(family, proposal, 4)
    f = only_needed(estimator, family, f)
    order = np.random.default_rng(0).permutation(sample.weights.shape[1])
    assert (order != np.arange(len(order))).any()
    shuffled, shuffled_f = map_leaves(lambda leaf: leaf[:, order], (sample, f))
    assert_same(
        estimator.direction(family, components, shuffled, shuffled_f),
        estimator.direction(family, components, sample, f),
    )


@every_proposal
@every_pair
def test_the_order_of_the_components_does_not_matter(estimator, family, proposal):
    components, sample, f = situation(family, proposal, 5)
    f = only_needed(estimator, family, f)
    direction = estimator.direction(family, components, sample, f)
    order = np.array([2, 0, 1])

    def reorder(leaf):
        return leaf[order] if len(leaf) == K else leaf  # what all components share has a first axis of 1

    found = estimator.direction(family, *(map_leaves(reorder, part) for part in (components, sample, f)))
    assert_same(found, map_leaves(lambda leaf: leaf[order], direction))
    assert any(np.abs(leaf - leaf[order]).max() > 1e-6 for leaf in leaves(direction))


@every_pair
def test_components_do_not_see_each_other(estimator, family):
    """The direction of a component depends on its own weights and fitness alone."""
    components, sample, f = situation(family, members.proposals()[-1], 6)
    f = only_needed(estimator, family, map_leaves(lambda leaf: np.repeat(leaf[:1], K, axis=0), f))
    direction = estimator.direction(family, components, sample, f)
    other = f._replace(value=f.value + np.array([[0.0], [1.0], [2.0]]) * np.arange(f.value.shape[1]))
    other = map_leaves(lambda leaf, kept: np.concatenate([kept[:1], 3.0 * leaf[1:]]), other, f)
    changed = estimator.direction(family, components, sample, other)
    for kept, new in zip(leaves(direction), leaves(changed), strict=True):
        np.testing.assert_allclose(new[0], kept[0], rtol=1e-12)
        assert np.abs(new[1:] - kept[1:]).max() > 1e-6


# Structures whose blocks are matrices: in the others nothing could be unsymmetric.
DENSE = [structure for structure in STRUCTURES if structure.identity(np.ones(1), D).shape == (1, D, D)]


@every_proposal
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=members.name_of)
@pytest.mark.parametrize("structure", DENSE, ids=members.name_of)
def test_precisions_move_along_symmetric_matrices(estimator, structure, proposal):
    family = Gaussian(structure)
    components, sample, f = situation(family, proposal, 8)
    G = estimator.direction(family, components, sample, only_needed(estimator, family, f)).G
    np.testing.assert_allclose(G, G.mT, rtol=1e-12, atol=1e-14)
    assert np.abs(G).max() > 0.01


JAX_PAIRS = [
    pytest.param(estimator, family, id=f"{members.name_of(estimator)}-{label(family)}")
    for estimator in ESTIMATORS
    for family in [Gaussian(s) for s in STRUCTURES] + ([] if estimator.is_gaussian_only else OTHERS[:1])
]


@pytest.mark.parametrize(("estimator", "family"), JAX_PAIRS)
def test_numpy_and_jax_agree(estimator, family):
    components, sample, f = situation(family, members.proposals()[-1], 7)
    f = only_needed(estimator, family, f)
    wanted = estimator.direction(family, components, sample, f)
    with jax.enable_x64(True):
        arguments = (map_leaves(jnp.asarray, part) for part in (components, sample, f))
        found = jax.jit(lambda *parts: estimator.direction(family, *parts))(*arguments)
    assert all(leaf.dtype == np.float64 for leaf in leaves(found))
    assert_same(map_leaves(np.asarray, found), wanted)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=members.name_of)
@pytest.mark.parametrize("family", OTHERS, ids=members.name_of)
def test_algorithms_refuse_estimators_that_want_gaussians_for_other_families(estimator, family):
    if not estimator.is_gaussian_only:
        assert Algorithm(estimator=estimator, family=family).needs == frozenset()
        return
    with pytest.raises(ValueError, match="needs Gaussian components") as caught:
        Algorithm(estimator=estimator, family=family)
    assert type(estimator).__name__ in str(caught.value)
    assert type(family).__name__ in str(caught.value)
    assert "use BlackBox()" in str(caught.value)
