"""Draws of every family follow their law: moments and distribution functions against scipy.stats, with controls."""

from __future__ import annotations

import inspect
import itertools
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from allmodes.arrays import leaves, map_leaves
from allmodes.nva import covariances, families
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture import mixture as mixtures
from allmodes.nva.mixture.families.exponential_family import NaturalParameters

# Some 300 comparisons: correct samplers exceed 5 somewhere, or fall below the p-value of 5, with probability 2e-4.
Z = 5.0
P = 2 * stats.norm.sf(Z)
Z_CONTROL = 2 * Z
P_CONTROL = 2 * stats.norm.sf(Z_CONTROL)
N = 30_000


def z_of_mean(values, mean, variance):
    return abs(np.mean(values) - mean) / np.sqrt(variance / len(values))


def z_of_variance(values, mean, variance, excess_kurtosis):
    """|mean of squares - variance| in units of its own standard error."""
    return abs(np.mean((values - mean) ** 2) - variance) / (variance * np.sqrt((excess_kurtosis + 2.0) / len(values)))


def concrete_families():
    found = {cls for _, cls in inspect.getmembers(families, inspect.isclass) if issubclass(cls, families.Family)}
    return {cls.__name__ for cls in found if not inspect.isabstract(cls)}


# --- families with independent coordinates ----------------------------------------------------------------------------

GAMMA = [(0.05, 1.0), (0.7, 3.0), (1.0, 0.5), (4.0, 2.0), (1e6, 10.0)]
BETA = [(0.3, 0.3), (1.0, 1.0), (0.5, 4.0), (6.0, 2.0), (1e5, 2e5)]
VON_MISES = [(1e-9, 0.7), (0.3, -2.0), (1.0, 3.1), (20.0, 0.0), (1e6, -3.1)]  # concentration, direction
BERNOULLI = [1e-4, 0.2, 0.5, 0.9, 1 - 1e-4]


def von_mises_natural(pair):
    kappa, direction = pair
    return kappa * np.cos(direction), kappa * np.sin(direction)


# family: (its parameters, natural parameters from them)
TABLES = {
    families.Gamma(): (GAMMA, lambda p: p),
    families.Beta(): (BETA, lambda p: p),
    families.VonMises(): (VON_MISES, von_mises_natural),
    families.Bernoulli(): (BERNOULLI, special.logit),
}
# family: (the law in scipy.stats, a law that is a little off)
LAWS = {
    families.Gamma(): (
        lambda a, b: stats.gamma(a, scale=1 / b),
        lambda a, b: stats.gamma(a + (0.5 * a if a < 100 else np.sqrt(a)), scale=1 / b),
    ),
    families.Beta(): (
        stats.beta,
        lambda a, b: stats.beta(a * (1.3 if a < 100 else 1.01), b),
    ),
}
CONTINUOUS = [
    pytest.param(family, i, id=f"{type(family).__name__}-{parameters}")
    for family in LAWS
    for i, parameters in enumerate(TABLES[family][0])
]


def components_of(family):
    """One component for every entry of the table, and the same in reverse order in a second coordinate."""
    table, natural = TABLES[family]
    rows = np.array([np.atleast_1d(natural(p)) for p in table], dtype=float)
    return NaturalParameters(np.stack([rows, rows[::-1]], axis=1))


@cache
def draws(family):
    """(K, N, 2)."""
    components = components_of(family)
    noise = family.noise(np.random.default_rng(1), (len(components.natural), N), 2)
    return family.sample(components, noise)[0]


def both_coordinates(family, i):
    """The draws with the i-th parameters of the table, from either coordinate."""
    return draws(family)[i, :, 0], draws(family)[-1 - i, :, 1]


@pytest.mark.parametrize(("family", "i"), CONTINUOUS)
def test_moments_and_distribution(family, i):
    law, wrong = (law_of(*TABLES[family][0][i]) for law_of in LAWS[family])
    kurtosis = float(law.stats("k"))
    for x in both_coordinates(family, i):
        assert stats.kstest(x, law.cdf).pvalue > P
        assert z_of_mean(x, law.mean(), law.var()) < Z
        assert z_of_variance(x, law.mean(), law.var(), kurtosis) < Z
        assert stats.kstest(x, wrong.cdf).pvalue < P_CONTROL
        assert z_of_mean(x, wrong.mean(), wrong.var()) > Z_CONTROL


@pytest.mark.parametrize(("family", "i"), CONTINUOUS)
def test_draws_stay_inside_the_domain(family, i):
    low, high = LAWS[family][0](*TABLES[family][0][i]).support()
    for x in both_coordinates(family, i):
        assert ((x > low) & (x < high)).all()


@pytest.mark.parametrize("i", range(len(GAMMA)))
def test_small_gamma_draws_are_right_on_the_log_scale(i):
    # Half of the draws with shape 0.05 are below 1e-6, where no moment of x itself looks.
    a, b = GAMMA[i]
    for x in both_coordinates(families.Gamma(), i):
        variance = special.polygamma(1, a)
        assert z_of_mean(np.log(x), special.digamma(a) - np.log(b), variance) < Z
        assert z_of_mean(np.log(x), special.digamma(a) - np.log(b) + 0.2 * np.sqrt(variance), variance) > Z_CONTROL


def cosine_moments(kappa):
    """Mean and variance of 1 - cos x, and the variance of sin x, for direction 0."""
    if kappa > 1e3:  # the leading terms, right to 1 / kappa; the exact ones cancel
        return 0.5 / kappa, 0.5 / kappa**2, 1.0 / kappa
    r1, r2 = special.ive(1, kappa) / special.i0e(kappa), special.ive(2, kappa) / special.i0e(kappa)
    return 1.0 - r1, (1.0 + r2) / 2 - r1**2, (1.0 - r2) / 2


@pytest.mark.parametrize("i", range(len(VON_MISES)), ids=map(str, VON_MISES))
def test_von_mises_draws(i):
    kappa, direction = VON_MISES[i]
    wrong = 1.5 * kappa + 0.3
    mean, variance, sine_variance = cosine_moments(kappa)
    for x in both_coordinates(families.VonMises(), i):
        assert ((x > -np.pi) & (x <= np.pi)).all()
        turned = np.angle(np.exp(1j * (x - direction)))
        drop = 2.0 * np.sin(turned / 2) ** 2
        assert stats.kstest(turned, stats.vonmises(kappa).cdf).pvalue > P
        assert z_of_mean(drop, mean, variance) < Z
        assert z_of_mean(np.sin(turned), 0.0, sine_variance) < Z
        assert stats.kstest(turned, stats.vonmises(wrong).cdf).pvalue < P_CONTROL
        assert z_of_mean(drop, *cosine_moments(wrong)[:2]) > Z_CONTROL


@pytest.mark.parametrize("i", range(len(BERNOULLI)), ids=map(str, BERNOULLI))
def test_bernoulli_draws(i):
    p = BERNOULLI[i]
    for x in both_coordinates(families.Bernoulli(), i):
        assert set(np.unique(x)) <= {0.0, 1.0}
        assert stats.binomtest(int(x.sum()), N, p).pvalue > P
        wrong = p + 0.05 * (1 if p < 0.5 else -1)
        assert stats.binomtest(int(x.sum()), N, wrong).pvalue < P_CONTROL


def test_saturated_bernoulli_draws_are_certain():
    components = NaturalParameters(np.array([[[-800.0]], [[800.0]]]))
    family = families.Bernoulli()
    x, _ = family.sample(components, family.noise(np.random.default_rng(6), (2, 1000), 1))
    assert (x[0] == 0).all()
    assert (x[1] == 1).all()


# --- Gaussian components and products ---------------------------------------------------------------------------------

COVARIANCES = {
    "Full": np.array([[[1.0, 0.99], [0.99, 1.0]], [[1e-12, 3e-9], [3e-9, 1e-4]], [[1e8, -1e4], [-1e4, 4.0]]]),
    "Diagonal": np.array([[1.0, 9.0], [1e-12, 1e4], [1e-8, 1e-6]])[:, :, None] * np.eye(2),
    "Isotropic": np.array([1.0, 1e-12, 1e8])[:, None, None] * np.eye(2),
}
STRUCTURES = {
    name: cls()
    for name, cls in inspect.getmembers(covariances, inspect.isclass)
    if issubclass(cls, covariances.Covariance) and not inspect.isabstract(cls)
}
CENTRES = np.array([[1.0, -2.0], [0.0, 3.0], [-5.0, 0.5]])


def test_every_family_and_structure_is_covered():
    tested = {type(family).__name__ for family in TABLES} | {"Gaussian", "Product"}
    assert tested == concrete_families()
    assert set(COVARIANCES) == set(STRUCTURES)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("structure", STRUCTURES)
def test_gaussian_draws(structure, k, fixed):
    covariance = covariances.Fixed(STRUCTURES[structure]) if fixed else STRUCTURES[structure]
    family = families.Gaussian(covariance)
    components = family.start(CENTRES, COVARIANCES[structure])
    drawn, local = family.sample(components, family.noise(np.random.default_rng(7), (3, N), 2))
    residual, Sigma = drawn[k] - CENTRES[k], COVARIANCES[structure][k]
    scale = np.sqrt(np.diag(Sigma))
    for angle in (0.0, 0.6, 1.5, 2.4):
        a = np.array([np.cos(angle), np.sin(angle)]) / scale
        along = residual @ a / np.sqrt(a @ Sigma @ a)
        assert stats.kstest(along, stats.norm.cdf).pvalue > P
        assert z_of_mean(along, 0.0, 1.0) < Z
        assert z_of_variance(along, 0.0, 1.0, 0.0) < Z
        assert stats.kstest(1.3 * along, stats.norm.cdf).pvalue < P_CONTROL
    correlation = Sigma / np.outer(scale, scale)
    distance = np.einsum("ni,ni->n", residual / scale, np.linalg.solve(correlation, (residual / scale).T).T)
    assert stats.kstest(distance, stats.chi2(2).cdf).pvalue > P
    np.testing.assert_allclose(np.sum(local[k] ** 2, axis=-1), distance, rtol=1e-6)


def test_gaussian_draws_with_the_wrong_correlation_are_found_out():
    family = families.Gaussian()
    components = family.start(np.zeros((1, 2)), np.array([[1.0, 0.5], [0.5, 1.0]]))
    x, _ = family.sample(components, family.noise(np.random.default_rng(8), (1, N), 2))
    wrong = np.array([[1.0, 0.2], [0.2, 1.0]])
    distance = np.einsum("ni,ni->n", x[0], np.linalg.solve(wrong, x[0].T).T)
    assert z_of_mean(distance, 2.0, 4.0) > Z_CONTROL


def test_product_draws_have_their_marginals_and_are_independent():
    family = families.Product((families.Gaussian(), 1), (families.Gamma(), 1), (families.Bernoulli(), 1))
    components = family.start(np.array([[1.0, 2.0, 0.3]]), [4.0, 0.5, None])
    (x,), local = family.sample(components, family.noise(np.random.default_rng(9), (1, N), 3))
    assert len(local) == 3
    assert stats.kstest(x[:, 0], stats.norm(1.0, 2.0).cdf).pvalue > P
    assert stats.kstest(x[:, 1], stats.gamma(8.0, scale=0.25).cdf).pvalue > P
    assert stats.binomtest(int(x[:, 2].sum()), N, 0.3).pvalue > P
    assert stats.kstest(x[:, 0], stats.norm(1.0, 2.6).cdf).pvalue < P_CONTROL
    for i, j in itertools.combinations(range(3), 2):
        # sqrt(n) times the correlation of independent coordinates is standard normal
        assert abs(np.corrcoef(x[:, i], x[:, j])[0, 1]) * np.sqrt(N) < Z
    assert abs(np.corrcoef(x[:, 0], x[:, 0] + 5.0 * x[:, 1])[0, 1]) * np.sqrt(N) > Z_CONTROL


# --- mixtures ---------------------------------------------------------------------------------------------------------

PI = np.array([0.62, 0.3, 0.08])


def normal_law(m, v):
    return stats.norm(m, np.sqrt(v))


def beta_law(m, v):
    total = m * (1 - m) / v - 1
    return stats.beta(m * total, (1 - m) * total)


# family: means and variance of three components, and the law of one coordinate
MIXTURES = {
    families.Gaussian(): ([-2.0, 0.0, 4.0], 0.8, normal_law),
    families.Gamma(): ([0.5, 2.0, 6.0], 0.5, lambda m, v: stats.gamma(m**2 / v, scale=v / m)),
    families.Beta(): ([0.2, 0.5, 0.85], 0.02, beta_law),
    families.VonMises(): ([-1.5, 0.0, 1.2], 0.02, lambda m, v: stats.vonmises(1 / v, loc=m)),
}


def mixture_draws(family, means, variance, pi, seed, n=N):
    components = family.start(np.array(means)[:, None], variance)
    mixture = Mixture(np.log(pi / pi[-1]), components)
    return mixtures.sample(family, mixture, mixtures.noise(family, np.random.default_rng(seed), n, 1))[:, 0]


@pytest.mark.parametrize("family", MIXTURES, ids=lambda family: type(family).__name__)
def test_mixture_draws_follow_the_mixture(family):
    means, variance, law_of = MIXTURES[family]
    laws = [law_of(m, variance) for m in means]

    def cdf(x, pi):
        return sum(weight * law.cdf(x) for weight, law in zip(pi, laws, strict=True))

    x = mixture_draws(family, means, variance, PI, seed=10)
    assert stats.kstest(x, lambda x: cdf(x, PI)).pvalue > P
    assert stats.kstest(x, lambda x: cdf(x, PI[::-1])).pvalue < P_CONTROL
    assert stats.kstest(x, lambda x: cdf(x, np.full(3, 1 / 3))).pvalue < P_CONTROL


@pytest.mark.parametrize("pi", [PI, [1 / 3] * 3, [0.9, 0.0999, 0.0001], [0.002, 0.003, 0.995]])
def test_components_are_chosen_as_often_as_their_weights_say(pi):
    pi = np.array(pi)
    x = mixture_draws(families.Gaussian(), [0.0, 100.0, 200.0], 1.0, pi, seed=11)
    counts = np.bincount(np.rint(x / 100.0).astype(int), minlength=3)
    assert stats.chisquare(counts, N * pi).pvalue > P
    wrong = np.roll(pi, 1) if np.ptp(pi) > 0.01 else PI
    assert stats.chisquare(counts, N * wrong).pvalue < P_CONTROL


@pytest.mark.parametrize("log_ratios", [[-800.0, 0.0], [800.0, 0.0]])
def test_components_whose_weight_underflows_are_not_chosen(log_ratios):
    family = families.Gaussian()
    mixture = Mixture(np.array(log_ratios), family.start(np.array([[0.0], [100.0]]), 1.0))
    x = mixtures.sample(family, mixture, mixtures.noise(family, np.random.default_rng(12), 1000, 1))
    assert (np.abs(x - (100.0 if log_ratios[0] < 0 else 0.0)) < 10.0).all()


# --- JAX --------------------------------------------------------------------------------------------------------------


EXTREME = [(family, components_of(family)) for family in TABLES]
EXTREME += [
    (family, family.start(CENTRES, COVARIANCES[name]))
    for name, structure in STRUCTURES.items()
    for family in (families.Gaussian(structure),)
]


@pytest.mark.parametrize(("family", "components"), EXTREME, ids=[repr(family) for family, _ in EXTREME])
def test_jax_draws_are_the_same(family, components):
    d = family.means(components).shape[1]
    K = len(leaves(components)[0])
    noise = family.noise(np.random.default_rng(13), (K, 200), d)
    points, local = family.sample(components, noise)
    with jax.enable_x64(True):
        as_jax = [map_leaves(jnp.asarray, tree) for tree in (components, noise)]
        jax_points, jax_local = jax.jit(family.sample)(*as_jax)
    np.testing.assert_allclose(jax_points, points, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(jax_local, local, rtol=1e-9, atol=1e-300)


# --- the edge of the domain -------------------------------------------------------------------------------------------

EDGES = [
    pytest.param(families.Beta(), (0.02, 0.02), id="Beta-(0.02, 0.02)"),
    pytest.param(families.Gamma(), (0.002, 1.0), id="Gamma-(0.002, 1)"),
]


def z_of_statistics(family, parameters, local):
    """|mean of T - grad A| in standard errors, for every statistic."""
    centred = (local - family.mean_statistics(np.array(parameters, dtype=float)))[0, :, 0]
    return np.abs(centred.mean(axis=0)) / (centred.std(axis=0) / np.sqrt(len(centred)))


@pytest.mark.parametrize(("family", "parameters"), EDGES)
def test_statistics_are_unbiased_where_points_round_to_the_edge(family, parameters):
    components = NaturalParameters(np.array(parameters, dtype=float).reshape(1, 1, 2))
    noise = family.noise(np.random.default_rng(2), (1, N), 1)
    points, local = family.sample(components, noise)
    assert z_of_statistics(family, parameters, local).max() < Z
    # The control reads the statistics off the points, which are kept inside the domain.
    assert z_of_statistics(family, parameters, family.statistics(points)).max() > Z_CONTROL
