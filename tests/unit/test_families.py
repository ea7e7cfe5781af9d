"""Families one by one: densities against SciPy, extreme parameters against long arithmetic, products of families."""

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from allmodes.nva.annealing.updates import ImprovedBLR, NaturalGradient
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Bernoulli, Beta, Gamma, Gaussian, Product, VonMises
from allmodes.nva.mixture.families.exponential_family import NaturalParameters
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.families.gaussian import GaussianDirection

# Components that SciPy knows: family, mean, variance, its distribution there, and its domain.
KNOWN = [
    pytest.param(Gaussian(), 0.7, 0.3, stats.norm(0.7, np.sqrt(0.3)), (-np.inf, np.inf), id="Gaussian"),
    pytest.param(Gamma(), 1.5, 0.5, stats.gamma(4.5, scale=1 / 3.0), (0.0, np.inf), id="Gamma"),
    pytest.param(Gamma(), 0.2, 0.1, stats.gamma(0.4, scale=0.5), (0.0, np.inf), id="Gamma-unbounded"),
    pytest.param(Beta(), 0.3, 0.02, stats.beta(2.85, 6.65), (0.0, 1.0), id="Beta"),
    pytest.param(Beta(), 0.5, 0.125, stats.beta(0.5, 0.5), (0.0, 1.0), id="Beta-arcsine"),
    pytest.param(VonMises(), 2.5, 0.25, stats.vonmises(4.0, loc=2.5), (-np.pi, np.pi), id="VonMises"),
    pytest.param(VonMises(), -3.0, 4.0, stats.vonmises(0.25, loc=-3.0), (-np.pi, np.pi), id="VonMises-wide"),
]


@pytest.mark.parametrize(("family", "mean", "variance", "known", "domain"), KNOWN)
def test_densities_are_scipys_and_integrate_to_one(family, mean, variance, known, domain):
    components = family.start(np.array([[mean]]), variance)

    def log_density(x):
        return family.log_components(components, np.reshape(x, (-1, 1)))[0]

    inside = known.ppf(np.linspace(0.01, 0.99, 15))
    if isinstance(family, VonMises):
        inside = np.linspace(-3.1, 3.1, 15)
    np.testing.assert_allclose(log_density(inside), known.logpdf(inside), rtol=1e-10, atol=1e-12)
    total = sum(
        quad(lambda x: np.exp(log_density(x)[0]), a, b, epsabs=1e-11)[0]
        for a, b in ((domain[0], 0.4), (0.4, domain[1]))
    )
    assert total == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize(("family", "mean", "variance", "known", "domain"), KNOWN)
def test_draws_lie_strictly_inside_the_domain_and_follow_scipys_distribution(family, mean, variance, known, domain):
    components = family.start(np.array([[mean]]), variance)
    noise = family.noise(np.random.default_rng(1), (1, 4000), 1)
    points = family.sample(components, noise)[0].reshape(-1)
    assert (points > domain[0]).all()
    assert (points <= domain[1]).all() if isinstance(family, VonMises) else (points < domain[1]).all()
    if isinstance(family, VonMises):  # SciPy's support is centred on the mean
        points = (points - mean + np.pi) % (2 * np.pi) - np.pi + mean
    assert stats.kstest(points, known.cdf).pvalue > 1e-3
    assert stats.kstest(points + 0.3 * known.std(), known.cdf).pvalue < 1e-6  # the control


def test_a_bernoulli_component_is_a_table_of_probabilities():
    family = Bernoulli()
    components = family.start(np.array([[0.2, 0.9]]), None)
    points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(np.exp(family.log_components(components, points)[0]), [0.08, 0.72, 0.02, 0.18])
    np.testing.assert_allclose(family.covariances(components)[0], np.diag([0.16, 0.09]))
    drawn = family.sample(components, family.noise(np.random.default_rng(2), (1, 4000), 2))[0][0]
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (np.abs(drawn.mean(axis=0) - [0.2, 0.9]) < 4.5 * np.sqrt([0.16 / 4000, 0.09 / 4000])).all()


@pytest.mark.parametrize("log_odds", [-1e4, -800.0, -40.0, 40.0, 800.0, 1e4])
def test_a_bernoulli_component_that_has_made_up_its_mind_stays_finite(log_odds):
    family = Bernoulli()
    components = NaturalParameters(np.array([[[log_odds]]]))
    points = np.array([[0.0], [1.0]])
    log_q = family.log_components(components, points)[0]
    wanted = [-np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)]
    np.testing.assert_allclose(log_q, wanted, rtol=1e-14, atol=1e-14)
    likely = points[None, [int(log_odds > 0)]]
    direction = family.natural_gradient(components, likely, np.ones((1, 1)))
    np.testing.assert_allclose(direction.natural, [[[np.sign(log_odds)]]], rtol=1e-12)


BERNOULLI_NUMBERS = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6))


@pytest.fixture(autouse=True)
def _sixty_digits():
    with localcontext(prec=60):
        yield


def trigamma(x):
    """psi'(x) to 45 digits: the recurrence up to 1000, then the asymptotic series."""
    x, total = Decimal(x), Decimal(0)
    while x < 1000:
        total, x = total + 1 / x**2, x + 1
    series = (Decimal(n) / d / x ** (2 * k + 3) for k, (n, d) in enumerate(BERNOULLI_NUMBERS))
    return total + 1 / x + 1 / (2 * x**2) + sum(series)


def solve(matrix, vector):
    """The solution of two equations, in as many digits as there are."""
    (a, b), (c, d) = matrix
    v, w = (Decimal(float(x)) for x in vector)
    determinant = a * d - b * c
    return [float((d * v - b * w) / determinant), float((a * w - c * v) / determinant)]


def bessel_ratio(kappa):
    """I_1(kappa) / I_0(kappa) by Perron's continued fraction, from far enough inside."""
    kappa, ratio = Decimal(kappa), Decimal(0)
    for n in range(100 + 30 * int(kappa.sqrt()), 0, -1):
        ratio = 1 / (2 * n / kappa + ratio)
    return ratio


def assert_solves(family, natural, matrix, rtol=1e-9):
    vectors = np.random.default_rng(3).normal(size=(4, 2))
    wanted = np.array([solve(matrix, v) for v in vectors])
    np.testing.assert_allclose(family.solve_fisher(np.broadcast_to(natural, (4, 2)), vectors), wanted, rtol=rtol)
    with jax.enable_x64(True):
        found = family.solve_fisher(jnp.broadcast_to(jnp.asarray(natural), (4, 2)), jnp.asarray(vectors))
    np.testing.assert_allclose(found, wanted, rtol=rtol)


@pytest.mark.parametrize("a", [1e-6, 1e-3, 0.5, 3.0, 49.0, 51.0, 1e4, 1e7, 1e12])
@pytest.mark.parametrize("b", [1e-6, 1.0, 1e7])
def test_the_fisher_matrix_of_a_gamma_component_is_inverted_to_nine_digits(a, b):
    off = -1 / Decimal(b)
    assert_solves(Gamma(), np.array([a, b]), ((trigamma(a), off), (off, Decimal(a) / Decimal(b) ** 2)))


BETA_PARAMETERS = [(0.5, 0.5), (2.0, 3.0), (999.0, 1001.0), (1e4, 2.0), (1e7, 1e7), (1e7, 1e-3), (1e-3, 1e-3)]


@pytest.mark.parametrize(("a", "b"), [*BETA_PARAMETERS, (1e-6, 1e-6), (1e-6, 1.0), (1e-8, 1e-8)])
def test_the_fisher_matrix_of_a_beta_component_is_inverted_to_nine_digits(a, b):
    both = trigamma(Decimal(a) + Decimal(b))
    assert_solves(Beta(), np.array([a, b]), ((trigamma(a) - both, -both), (-both, trigamma(b) - both)))


def test_the_fisher_matrix_of_a_very_lopsided_beta_component_is_inverted_to_seven_digits():
    """What is left of double precision when a tiny parameter stands beside an ordinary one."""
    a, b = 1e-8, 1.0
    both = trigamma(Decimal(a) + Decimal(b))
    matrix = ((trigamma(a) - both, -both), (-both, trigamma(b) - both))
    assert_solves(Beta(), np.array([a, b]), matrix, rtol=1e-7)


KAPPAS = [1e-9, 1e-4, 0.01, 1.0, 20.0, 149.0, 151.0, 1e3, 1e6]


@pytest.mark.parametrize("kappa", KAPPAS)
def test_the_fisher_matrix_of_a_von_mises_component_is_inverted_to_nine_digits(kappa):
    r = bessel_ratio(kappa)
    across, along = r / Decimal(kappa), 1 - r / Decimal(kappa) - r**2
    # The mean direction is the first axis, so that the matrix is diagonal.
    assert_solves(VonMises(), np.array([kappa, 0.0]), ((along, Decimal(0)), (Decimal(0), across)))


@pytest.mark.parametrize("kappa", KAPPAS)
def test_the_mean_statistics_of_a_von_mises_component_are_right_to_twelve_digits(kappa):
    angles = np.array([0.0, 1.0, -2.5, np.pi])
    direction = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    found = VonMises().mean_statistics(kappa * direction)
    np.testing.assert_allclose(found, float(bessel_ratio(kappa)) * direction, rtol=1e-12)


def test_a_uniform_von_mises_component_has_no_mean_statistics_and_a_known_fisher_matrix():
    uniform = np.zeros(2)
    np.testing.assert_allclose(VonMises().mean_statistics(uniform), [0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(VonMises().solve_fisher(uniform, np.array([3.0, -1.0])), [6.0, -2.0])


def test_the_fisher_matrix_of_a_von_mises_component_turns_with_its_direction():
    turn = np.array([[np.cos(0.8), -np.sin(0.8)], [np.sin(0.8), np.cos(0.8)]])
    natural, vector = np.array([5.0, 0.0]), np.array([1.0, 2.0])
    found = VonMises().solve_fisher(turn @ natural, turn @ vector)
    np.testing.assert_allclose(found, turn @ VonMises().solve_fisher(natural, vector), rtol=1e-12)


@pytest.mark.parametrize(
    ("family", "natural", "spread"),
    [
        (Gamma(), [1e7, 1e7], 1e-7),
        (Beta(), [1e7, 1e7], 1 / 8e7),
        (VonMises(), [1e6, 0.0], 1e-6),
        (VonMises(), [1e-9, 0.0], np.pi**2 / 3),
    ],
    ids=["Gamma", "Beta", "VonMises", "VonMises-uniform"],
)
def test_draws_from_extreme_components_have_the_right_spread(family, natural, spread):
    components = NaturalParameters(np.array([[natural]]))
    points = family.sample(components, family.noise(np.random.default_rng(4), (1, 20_000), 1))[0].reshape(-1)
    assert points.var() == pytest.approx(spread, rel=0.05)
    assert np.isfinite(family.log_components(components, points[:, None])).all()


def test_draws_from_a_nearly_binary_beta_component_are_near_the_ends():
    """Beta(a, a) with a = 0.001 has mass a log(99) + O(a^2) between 0.01 and 0.99: less than one draw in a hundred."""
    components = NaturalParameters(np.array([[[1e-3, 1e-3]]]))
    points = Beta().sample(components, Beta().noise(np.random.default_rng(5), (1, 5000), 1))[0]
    assert np.mean((points > 0.01) & (points < 0.99)) < 0.02
    assert np.mean(points < 0.5) == pytest.approx(0.5, abs=0.05)


def test_draws_from_a_tiny_gamma_component_do_not_underflow():
    components = NaturalParameters(np.array([[[1e-4, 1.0]]]))
    points = Gamma().sample(components, Gamma().noise(np.random.default_rng(6), (1, 1000), 1))[0]
    assert (points > 0).all()
    assert np.isfinite(Gamma().log_components(components, points.reshape(-1, 1))).all()


@pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)
def test_gaussian_directions_are_whitened_natural_gradients(structure):
    """gamma_mu = sum s S (xi - mu), gamma_Sigma = sum s (S (xi - mu)(xi - mu)^T S - S), and g, G are those whitened."""
    rng = np.random.default_rng(7)
    family = Gaussian(structure)
    components = family.start(rng.normal(size=(2, 3)), 0.3)
    factors = structure.advance(
        components.factors, structure.root(structure.identity(np.array([2.0, 5.0]), 3)), np.zeros((2, 3))
    )[0]
    components = components._replace(factors=factors)
    points, local = family.sample(components, family.noise(rng, (2, 6), 3))
    scores = rng.normal(size=(2, 6))
    found = family.natural_gradient(components, local, scores)
    sigma = family.covariances(components)
    S = np.linalg.inv(sigma)
    y = np.einsum("kij,knj->kni", S, points - components.mu[:, None])
    gamma_mu = np.einsum("kn,kni->ki", scores, y)
    gamma_sigma = np.einsum("kn,kni,knj->kij", scores, y, y) - scores.sum(axis=1)[:, None, None] * S
    np.testing.assert_allclose(structure.lift(factors, found.g[:, None])[:, 0], gamma_mu, rtol=1e-10)
    whitened = structure.sandwich(factors, structure.project(gamma_sigma))
    np.testing.assert_allclose(found.G, whitened, rtol=1e-10)


def test_a_gaussian_step_is_the_published_one():
    """S - rho gamma_Sigma, bent by rho^2 gamma Sigma gamma / 2 or not; then mu + rho Sigma_new gamma_mu."""
    rng = np.random.default_rng(8)
    family, rho = Gaussian(), 0.1
    M = rng.normal(size=(1, 3, 3))
    components = family.start(rng.normal(size=(1, 3)), M @ M.mT + np.eye(3))
    G = rng.normal(size=(1, 3, 3))
    direction = GaussianDirection(rng.normal(size=(1, 3)), G + G.mT)
    sigma = family.covariances(components)[0]
    S, C = np.linalg.inv(sigma), components.factors.C[0]
    gamma_mu, gamma = C @ direction.g[0], C @ direction.G[0] @ C.T
    for rule, bend in ((NaturalGradient(), 0.0), (ImprovedBLR(), 0.5)):
        moved = family.step(components, direction, Rates(rho, rho), rule)
        S_new = S - rho * gamma + bend * rho**2 * gamma @ sigma @ gamma
        np.testing.assert_allclose(family.covariances(moved)[0], np.linalg.inv(S_new), rtol=1e-10)
        wanted = components.mu[0] + rho * np.linalg.solve(S_new, gamma_mu)
        np.testing.assert_allclose(moved.mu[0], wanted, rtol=1e-10)


def test_a_gaussian_step_during_burn_in_moves_the_means_alone():
    family = Gaussian()
    components = family.start(np.zeros((1, 2)), 2.0)
    direction = GaussianDirection(np.ones((1, 2)), np.full((1, 2, 2), 3.0))
    moved = family.step(components, direction, Rates(0.1, 0.0), ImprovedBLR())
    np.testing.assert_allclose(family.covariances(moved), family.covariances(components), rtol=1e-14)
    np.testing.assert_allclose(moved.mu, 0.1 * np.sqrt(2.0) * np.ones((1, 2)))


@pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)
def test_a_gaussian_step_damps_the_covariance_before_the_means_follow_it(structure):
    """Sigma_new + tau I, and mu + rho (Sigma_new + tau I) gamma_mu."""
    family, rho, tau = Gaussian(structure), 0.1, 0.5
    components = family.start(np.zeros((1, 2)), 4.0)
    g, G = np.array([[1.0, -3.0]]), structure.identity(np.array([2.0]), 2)
    plain = family.step(components, GaussianDirection(g, G), Rates(rho, rho), ImprovedBLR())
    damped = family.step(components, GaussianDirection(g, G), Rates(rho, rho, tau), ImprovedBLR())
    wanted = family.covariances(plain)[0] + tau * np.eye(2)
    np.testing.assert_allclose(family.covariances(damped)[0], wanted, rtol=1e-12)
    gamma_mu = g[0] / 2.0  # C g with C = I / 2
    np.testing.assert_allclose(damped.mu[0], rho * wanted @ gamma_mu, rtol=1e-12)


@pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)
def test_fixed_covariances_do_not_move(structure):
    free, fixed = Gaussian(structure), Gaussian(Fixed(structure))
    assert free.moves_spread
    assert not fixed.moves_spread
    components = fixed.start(np.zeros((1, 2)), 4.0)
    direction = fixed.natural_gradient(components, np.ones((1, 3, 2)), np.ones((1, 3)))
    assert direction.G is None
    moved = fixed.step(components, direction, Rates(0.1, 0.1), ImprovedBLR())
    assert moved.factors is components.factors
    np.testing.assert_allclose(moved.mu, 0.1 * 2.0 * 3.0 * np.ones((1, 2)))


@pytest.mark.parametrize("structure", [Full(), Diagonal(), Isotropic()], ids=repr)
def test_the_plain_rule_gives_nan_for_a_gaussian_where_the_improved_one_does_not(structure):
    family = Gaussian(structure)
    components = family.start(np.zeros((2, 3)), 1.0)
    G = structure.identity(np.array([0.5, 3.0]), 3) + 0.0 * structure.precision(components.factors)
    direction = GaussianDirection(np.ones((2, 3)), G)
    plain = family.step(components, direction, Rates(1.0, 1.0), NaturalGradient())
    assert np.isfinite(plain.mu[0]).all()
    assert np.isnan(plain.mu[1]).all()
    improved = family.step(components, direction, Rates(1.0, 1.0), ImprovedBLR())
    assert all(np.isfinite(part).all() for part in (improved.mu, improved.factors.C, improved.factors.A))


BLOCKS = ((Gaussian(Diagonal()), 2), (Gamma(), 1), (Bernoulli(), 2), (VonMises(), 1), (Beta(), 1))
SLICES = (slice(0, 2), slice(2, 3), slice(3, 5), slice(5, 6), slice(6, 7))


def started_product():
    family = Product(*BLOCKS)
    rng = np.random.default_rng(9)
    means = rng.uniform(0.2, 0.8, size=(3, 7))
    spreads = [np.array([0.5, 2.0]), 0.1, None, 0.3, 0.01]
    parts = [f.start(means[:, s], spread) for (f, _), s, spread in zip(BLOCKS, SLICES, spreads, strict=True)]
    return family, family.start(means, spreads), parts, means, rng


def test_a_product_is_its_blocks_side_by_side():
    family, components, parts, means, rng = started_product()
    np.testing.assert_allclose(family.means(components), means, rtol=1e-12)
    covariances = family.covariances(components)
    total = np.zeros((3, 7, 7))
    for (block, _), s, part in zip(BLOCKS, SLICES, parts, strict=True):
        total[:, s, s] = block.covariances(part)
    np.testing.assert_allclose(covariances, total, rtol=1e-12)
    noise = family.noise(rng, (3, 6), 7)
    points, local = family.sample(components, noise)
    assert points.shape == (3, 6, 7)
    scores = rng.normal(size=(3, 6))
    direction = family.natural_gradient(components, local, scores)
    moved = family.step(components, direction, Rates(0.01, 0.01), ImprovedBLR())
    flat = points.reshape(-1, 7)
    log_q = 0.0
    for i, ((block, _), s) in enumerate(zip(BLOCKS, SLICES, strict=True)):
        own, own_local = block.sample(parts[i], noise[i])
        np.testing.assert_array_equal(points[..., s], own)
        log_q = log_q + block.log_components(parts[i], flat[:, s])
        own_direction = block.natural_gradient(parts[i], own_local, scores)
        own_moved = block.step(parts[i], own_direction, Rates(0.01, 0.01), ImprovedBLR())
        np.testing.assert_allclose(family.means(moved)[:, s], block.means(own_moved), rtol=1e-12)
        np.testing.assert_allclose(family.covariances(moved)[:, s, s], block.covariances(own_moved), rtol=1e-12)
    np.testing.assert_allclose(family.log_components(components, flat), log_q, rtol=1e-12)


def test_a_product_of_one_block_is_that_block():
    whole, block = Product((Gamma(), 2)), Gamma()
    means = np.array([[1.0, 2.0]])
    points = np.array([[0.5, 3.0], [2.0, 1.0]])
    np.testing.assert_array_equal(
        whole.log_components(whole.start(means, [0.3]), points), block.log_components(block.start(means, 0.3), points)
    )


def test_a_product_checks_points_block_by_block():
    family = started_product()[0]
    good = np.full((1, 7), 0.5)
    assert family.check_points("points", good) is None
    for column in (2, 3, 4, 6):
        wrong = good.copy()
        wrong[0, column] = -0.25
        with pytest.raises(ValueError, match=r"points contains -0\.25"):
            family.check_points("points", wrong)


def test_products_nest():
    inner = Product((Gaussian(), 1), (Bernoulli(), 1))
    outer = Product((inner, 2), (Gamma(), 1))
    components = outer.start(np.array([[0.1, 0.5, 2.0]]), [[1.0, None], 0.5])
    np.testing.assert_allclose(outer.means(components), [[0.1, 0.5, 2.0]])
    points, _ = outer.sample(components, outer.noise(np.random.default_rng(0), (1, 4), 3))
    assert np.isfinite(outer.log_components(components, points[0])).all()


def test_angles_are_brought_to_one_turn():
    family = VonMises()
    components = family.start(np.array([[4.0, -np.pi, 7.0]]), 0.1)
    np.testing.assert_allclose(np.cos(family.means(components)), np.cos([[4.0, np.pi, 7.0]]), rtol=1e-12)
    assert (np.abs(family.means(components)) <= np.pi).all()
