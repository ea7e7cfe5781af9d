"""Every family: densities, draws, natural gradients and steps, in NumPy and in JAX."""

from itertools import product

import jax
import jax.numpy as jnp
import members
import numpy as np
import pytest
from scipy.integrate import quad

from allmodes.arrays import leaves, map_leaves
from allmodes.nva.annealing.updates import ImprovedBLR, NaturalGradient
from allmodes.nva.mixture.families import Family
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily, NaturalParameters
from allmodes.nva.mixture.families.family import Rates

FAMILIES = members.families()
EXPONENTIAL = [family for family in FAMILIES if isinstance(family, ExponentialFamily)]
# Every size in which a family can be started (a product has one dimension only).
CASES = [
    pytest.param(family, K, d, id=f"{members.name_of(family)}-{K}-{d}")
    for family, K, d in product(FAMILIES, (1, 3), (1, 2, 5))
    if members.start(family, K, d, np.random.default_rng(0)) is not None
]
every_size = pytest.mark.parametrize(("family", "K", "d"), CASES)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=members.name_of)


def started(family, K, d, seed):
    """Components, and the generator they came from."""
    rng = np.random.default_rng(seed)
    return members.start(family, K, d, rng)[0], rng


def one_size(family):
    """The largest dimension in which a family can be started."""
    return max(d for d in (1, 2, 5) if members.start(family, 3, d, np.random.default_rng(0)) is not None)


def same(found, wanted, rtol):
    """All leaves equal up to rtol of the largest entry of each."""
    for ours, theirs in zip(leaves(found), leaves(wanted), strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype == np.float64
        assert np.abs(ours - theirs).max() <= rtol * np.abs(theirs).max()


@every_size
def test_components_have_the_means_and_covariances_they_start_with(family, K, d):
    components, means, spread = members.start(family, K, d, np.random.default_rng(1))
    np.testing.assert_allclose(family.means(components), means, rtol=1e-12)
    covariances = family.covariances(components)
    assert covariances.shape == (K, d, d)
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    if isinstance(spread, float):
        np.testing.assert_allclose(covariances, np.broadcast_to(spread * np.eye(d), (K, d, d)), rtol=1e-12, atol=1e-17)
    assert all(len(leaf) == K for leaf in leaves(components))


@every_size
def test_draws_lie_in_the_domain_and_know_their_local_coordinates(family, K, d):
    components, rng = started(family, K, d, 2)
    points, local = family.sample(components, family.noise(rng, (K, 50), d))
    assert points.shape == (K, 50, d)
    log_q = family.log_components(components, points.reshape(-1, d))
    assert log_q.shape == (K, K * 50)
    assert np.isfinite(log_q).all()
    same(local, family.locate(components, points), rtol=1e-10)


@every_size
def test_draws_have_the_stated_mean(family, K, d):
    """The mean of local statistics is stated for narrow components: 5 standard errors cover the rest."""
    components, rng = started(family, K, d, 3)
    n = 4000
    points, _ = family.sample(components, family.noise(rng, (K, n), d))
    wanted, spread = family.means(components), np.sqrt(np.diagonal(family.covariances(components), axis1=1, axis2=2))
    z = (points.mean(axis=1) - wanted) / (spread / np.sqrt(n))
    assert np.abs(z).max() < 5
    # A control: half a standard deviation away is noticed.
    assert np.abs((points.mean(axis=1) - wanted - 0.5 * spread) / (spread / np.sqrt(n))).min() > 20


@pytest.mark.parametrize(
    "family", [f for f in FAMILIES if members.start(f, 1, 1, np.random.default_rng(0))], ids=members.name_of
)
def test_densities_are_those_of_the_draws(family):
    """A tenth to nine tenths: as much probability by quadrature as by counting. For a finite set: the sum is 1."""
    components, rng = started(family, 1, 1, 4)
    n = 40_000
    points = np.sort(family.sample(components, family.noise(rng, (1, n), 1))[0].reshape(-1))
    values, counts = np.unique(points, return_counts=True)

    def density(x):
        return np.exp(family.log_components(components, np.reshape(x, (-1, 1)))[0])

    if len(values) < n / 100:
        p = density(values)
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        assert (np.abs(counts / n - p) < 4.5 * np.sqrt(p * (1 - p) / n)).all()
    else:
        low, middle, high = points[n // 10], points[n // 2], points[9 * n // 10]
        for a, b, share in ((low, high, 0.8), (low, middle, 0.4)):
            found = quad(lambda x: density(x)[0], a, b)[0]
            assert abs(found - share) < 4.5 * np.sqrt(share * (1 - share) / n)


@every_size
def test_log_densities_do_not_depend_on_the_company(family, K, d):
    components, rng = started(family, K, d, 5)
    points = family.sample(components, family.noise(rng, (K, 4), d))[0].reshape(-1, d)
    whole = family.log_components(components, points)
    for k, n in product(range(K), range(len(points))):
        alone = map_leaves(lambda leaf, k=k: leaf[k : k + 1], components)
        assert family.log_components(alone, points[n : n + 1])[0, 0] == pytest.approx(whole[k, n], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("family", EXPONENTIAL, ids=members.name_of)
def test_mean_statistics_and_fisher_matrix_are_derivatives_of_the_log_partition(family):
    components, rng = started(family, 3, 2, 6)
    natural = np.array([0.1, 1.0, 10.0])[:, None, None] * components.natural
    vectors = rng.standard_normal(natural.shape)
    flat = natural.reshape(-1, natural.shape[-1])

    def partition(parameters):
        return family.log_partition(parameters[None])[0]

    with jax.enable_x64(True):
        gradient = jax.jit(jax.vmap(jax.grad(partition)))(flat)
        fisher = np.asarray(jax.jit(jax.vmap(jax.hessian(partition)))(flat))
    np.testing.assert_allclose(family.mean_statistics(natural).reshape(flat.shape), gradient, rtol=1e-9, atol=1e-12)
    solved = family.solve_fisher(natural, vectors).reshape(flat.shape)
    wanted = np.linalg.solve(fisher, vectors.reshape(*flat.shape, 1))[..., 0]
    # Autodiff loses seven digits to cancellation where components are narrow.
    assert (np.abs(solved - wanted).max(axis=1) <= 1e-6 * np.abs(wanted).max(axis=1)).all()


@pytest.mark.parametrize("family", EXPONENTIAL, ids=members.name_of)
def test_natural_gradients_are_the_fisher_inverse_of_the_gradients(family):
    components, rng = started(family, 3, 2, 7)
    points, local = family.sample(components, family.noise(rng, (3, 6), 2))
    scores = rng.standard_normal((3, 6))
    centred = family.statistics(points) - family.mean_statistics(components.natural)[:, None]
    gradient = np.einsum("kn,kndp->kdp", scores, centred)
    wanted = family.solve_fisher(components.natural, gradient)
    same(family.natural_gradient(components, local, scores), NaturalParameters(wanted), rtol=1e-9)


def rates_of_change(family, components, points, direction):
    """How log q_k(x_n) changes for a plain step along a direction, (K, n) for points (n, d)."""

    @jax.jit
    def along(here, there, direction):
        def log_q(rho):
            return family.log_components(family.step(here, direction, Rates(rho, rho), NaturalGradient()), there)

        return jax.jvp(log_q, (0.0,), (1.0,))[1]

    with jax.enable_x64(True):
        return np.asarray(along(*(map_leaves(jnp.asarray, tree) for tree in (components, points, direction))))


@every_family
def test_natural_gradients_are_reciprocal(family):
    """Following the natural gradient for scores a changes sum_n b_n log q(x_n) as the reverse does, by a^T F^-1 b."""
    d = one_size(family)
    components, rng = started(family, 3, d, 8)
    points = family.sample(components, family.noise(rng, (3, 4), d))[0].reshape(-1, d)
    local = family.locate(components, points[None])
    a, b = rng.standard_normal((2, 3, len(points)))
    along_a, along_b = (
        rates_of_change(family, components, points, family.natural_gradient(components, local, scores))
        for scores in (a, b)
    )
    np.testing.assert_allclose((along_a * b).sum(axis=1), (along_b * a).sum(axis=1), rtol=1e-8)
    assert ((along_a * a).sum(axis=1) > 0).all()


@every_family
def test_natural_gradients_undo_the_fisher_matrix(family):
    """With the rates of change along v as scores it is F^-1 mean(score score^T) v, which tends to v."""
    d = one_size(family) if members.start(family, 1, 1, np.random.default_rng(0)) is None else 1
    components, rng = started(family, 1, d, 9)
    n = 40_000
    points, local = family.sample(components, family.noise(rng, (1, n), d))
    some = map_leaves(lambda leaf: leaf[:, :5], local)
    wanted = family.natural_gradient(components, some, rng.standard_normal((1, 5)))
    wanted = map_leaves(lambda leaf: leaf / np.abs(leaf).max(), wanted)  # none is lost in the noise of another
    found = family.natural_gradient(components, local, rates_of_change(family, components, points[0], wanted) / n)
    same(found, wanted, rtol=0.15)  # a missing factor of two would be noticed


@pytest.mark.parametrize("size", [1e2, 1e6])
@every_size
def test_the_improved_rule_keeps_the_domain_for_huge_directions(family, K, d, size):
    components, rng = started(family, K, d, 9)
    noise = family.noise(rng, (K, 8), d)
    _, local = family.sample(components, noise)
    for sign in (1.0, -1.0):
        direction = family.natural_gradient(components, local, sign * size * rng.standard_normal((K, 8)))
        moved = family.step(components, direction, Rates(1.0, 1.0), ImprovedBLR())
        assert all(np.isfinite(leaf).all() for leaf in leaves(moved))
        assert np.isfinite(family.means(moved)).all()
        assert np.isfinite(family.covariances(moved)).all()
        drawn, _ = family.sample(moved, noise)
        assert np.isfinite(drawn).all()
        assert np.isfinite(family.log_components(moved, drawn.reshape(-1, d))).all()
        if getattr(family, "has_positive_parameters", False):
            assert (moved.natural > 0).all()
        else:
            assert (np.linalg.eigvalsh(family.covariances(moved)) >= 0).all()


@every_family
def test_both_rules_agree_for_small_steps(family):
    d = one_size(family)
    components, rng = started(family, 3, d, 10)
    _, local = family.sample(components, family.noise(rng, (3, 8), d))
    direction = family.natural_gradient(components, local, rng.standard_normal((3, 8)))

    def apart(rho):
        plain = family.step(components, direction, Rates(rho, rho), NaturalGradient())
        improved = family.step(components, direction, Rates(rho, rho), ImprovedBLR())
        pairs = zip(leaves(plain), leaves(improved), strict=True)
        return max(np.abs(ours - theirs).max() for ours, theirs in pairs)

    assert apart(1e-6) <= 2e-2 * apart(1e-5)  # second order in the step


@pytest.mark.parametrize("family", [f for f in EXPONENTIAL if f.has_positive_parameters], ids=members.name_of)
def test_the_plain_rule_gives_nan_where_it_leaves_the_domain(family):
    components, _ = started(family, 3, 2, 11)
    away = NaturalParameters(-2.0 * components.natural)
    assert np.isnan(family.step(components, away, Rates(1.0, 1.0), NaturalGradient()).natural).all()
    near = family.step(components, away, Rates(0.4, 0.4), NaturalGradient()).natural
    np.testing.assert_allclose(near, 0.2 * components.natural)


@every_family
def test_a_step_of_length_zero_changes_nothing(family):
    d = one_size(family)
    components, rng = started(family, 3, d, 12)
    _, local = family.sample(components, family.noise(rng, (3, 8), d))
    direction = family.natural_gradient(components, local, rng.standard_normal((3, 8)))
    for rule in members.rules():
        same(family.step(components, direction, Rates(0.0, 0.0), rule), components, rtol=1e-14)


@every_family
def test_numpy_and_jax_agree(family):
    d = one_size(family)
    components, rng = started(family, 3, d, 13)
    noise, scores = family.noise(rng, (3, 5), d), rng.standard_normal((3, 5))

    def operations(components, noise, scores):
        points, local = family.sample(components, noise)
        direction = family.natural_gradient(components, local, scores)
        return (
            points,
            local,
            family.means(components),
            family.log_components(components, points.reshape(-1, d)),
            direction,
            family.step(components, direction, Rates(0.01, 0.01), ImprovedBLR()),
        )

    wanted = operations(components, noise, scores)
    with jax.enable_x64(True):
        found = jax.jit(operations)(*(map_leaves(jnp.asarray, part) for part in (components, noise, scores)))
    same(found, wanted, rtol=1e-10)


@every_family
def test_points_outside_the_domain_are_refused_by_name(family):
    """What check_points refuses, start refuses too, and both say which argument and which value."""
    d = one_size(family)
    _, means, spread = members.start(family, 3, d, np.random.default_rng(14))
    for outside in (-1.5, 0.0, 1.0, 1.5):
        wrong = means.copy()
        wrong[1, -1] = outside
        refusal = members.refusal(family.check_points, "things", wrong)
        if refusal is None:
            family.start(wrong, spread)
        else:
            assert "things" in refusal
            assert f"{outside:g}" in refusal
            with pytest.raises(ValueError, match=rf"means contains {outside:g}"):
                family.start(wrong, spread)


@every_family
@pytest.mark.parametrize("wrong", [-1.0, 0.0, float("nan"), np.ones(7), np.zeros((1, 2, 3, 4))], ids=str)
def test_covariances_that_make_no_sense_are_refused_by_name(family, wrong):
    means = np.full((3, one_size(family)), 0.5)
    with pytest.raises(ValueError, match="covariances"):
        family.start(means, wrong)


@every_family
def test_members_are_frozen_and_comparable(family):
    assert isinstance(family, Family)
    assert family == type(family)()
    assert hash(family) == hash(type(family)())
