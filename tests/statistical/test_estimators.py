"""Estimators have the right expectation: z-tests with fixed seeds, each with a biased control that must fail.

One pass of `collect` hands the same sample to many estimators at once, through the real `ask` and `tell`, and keeps
what each of them says. The truth comes from closed forms and from quadrature, never from the library.
"""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy import special, stats

from allmodes import Objective
from allmodes.arrays import leaves
from allmodes.nva import Algorithm, control_variates, covariances, estimators, families, proposals, utilities
from allmodes.nva.annealing.control_variates import ControlVariate
from allmodes.nva.annealing.estimators import BlackBox, Estimator, FitnessShaped, Gradient, Hessian
from allmodes.nva.annealing.proposals import Importance, PerComponent
from allmodes.nva.annealing.utilities import Utility
from allmodes.nva.engine.step import Settings, ask, tell
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.families.gaussian import GaussianDirection

# About 3000 comparisons are made in this file: correct estimators exceed 5 somewhere with probability 0.002.
Z = 5.0
# A control has to be seen beyond doubt.
Z_CONTROL = 2 * Z


def z_scores(estimates, truth):
    """(mean - truth) / standard error over the first axis; 0 where both agree to rounding."""
    error = estimates.mean(axis=0) - truth
    standard_error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    exact = np.abs(error) < 1e-9  # a Hessian that is constant, the weight of the last component
    return np.where(exact, 0.0, error / np.maximum(standard_error, 1e-12))


def worst(estimates, truth):
    return np.abs(z_scores(estimates, truth)).max()


def concrete(module, base):
    """The members of an axis, found by walking its package."""
    found = {member for _, member in inspect.getmembers(module, inspect.isclass) if issubclass(member, base)}
    return sorted((member for member in found if not inspect.isabstract(member)), key=lambda member: member.__name__)


# --- what is tested -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorder(Estimator):
    """Asks several estimators about the same sample and keeps all answers."""

    inner: tuple[Estimator, ...]
    seen: list[Any] = field(default_factory=list)

    def needs(self, family):
        return frozenset().union(*(estimator.needs(family) for estimator in self.inner))

    def direction(self, family, components, sample, f):
        self.seen.append([leaves(e.direction(family, components, sample, f)) for e in self.inner])
        return self.inner[0].direction(family, components, sample, f)


def collect(family, proposal, mixture, objective, omega, inner, B, replicates, seed, copies=1):
    """(directions, weight_gradients): for every estimator a list of arrays (replicates, K, ...), and (replicates, K).

    Every component may be there in several equal copies, one after the other: q is the same, and the mean over the
    copies is one estimate from several independent ones at the price of one.
    """
    recorder = Recorder(tuple(inner))
    algorithm = Algorithm(family=family, estimator=recorder, proposal=proposal)
    settings = Settings(np.float64(omega), Rates(np.float64(1.0), np.float64(0.0)))
    rng = np.random.default_rng(seed)
    K, d = family.means(mixture.components).shape
    pi = []
    for _ in range(replicates):
        proposed = ask(algorithm, mixture, proposal.noise(rng, family, K, B, d))
        evaluation = objective.evaluate(proposed.points, algorithm.needs)
        with np.errstate(all="ignore"):  # a wild step does no harm: nothing but its direction is looked at
            new, _ = tell(algorithm, mixture, proposed, evaluation, None, settings)
        pi.append(new.log_ratios - mixture.log_ratios)
    merge = partial(merge_copies, copies=copies)
    directions = [[merge(leaf) for leaf in zip(*answers, strict=True)] for answers in zip(*recorder.seen, strict=True)]
    return directions, merge(pi)


def merge_copies(estimates, copies):
    """(replicates, K * copies, ...) as means over copies (replicates, K, ...)."""
    array = np.array(estimates)
    return array.reshape(len(array), -1, copies, *array.shape[2:]).mean(axis=2)


UNBIASED = {
    "black box": BlackBox(),
    "black box, leave one out": BlackBox(control_variates.LeaveOneOut()),
    "black box, constant": BlackBox(control_variates.Constant(2.0)),
    "gradient": Gradient(),
    "Hessian": Hessian(),
    "Hessian, black-box means": Hessian(mean=BlackBox()),
    "Hessian, leave-one-out means": Hessian(mean=BlackBox(control_variates.LeaveOneOut())),
}
PROPOSALS = {
    "per component": PerComponent(),
    "importance": Importance(),
    "importance, equal weights": Importance(equal_weights=True),
}
# (B, copies, replicates): two samples make the most of a baseline's bias, a shared sample wants more.
SIZES = {"per component": (2, 8, 400), "importance": (24, 1, 800), "importance, equal weights": (24, 1, 800)}


def test_every_estimator_control_variate_and_proposal_is_covered():
    covered = {type(estimator) for estimator in UNBIASED.values()} | {FitnessShaped}
    assert covered == set(concrete(estimators, Estimator))
    baselines = {type(e.baseline) for e in UNBIASED.values() if isinstance(e, BlackBox)}
    assert baselines == set(concrete(control_variates, ControlVariate))
    assert {type(proposal) for proposal in PROPOSALS.values()} == set(concrete(proposals, proposals.Proposal))


# --- biased variants, the controls ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanOfAll(ControlVariate):
    """A baseline that contains the sample itself."""

    def __call__(self, weights, f):
        return (weights * f).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Biased(Estimator):
    """Another estimator that is given a spoilt sample, or whose direction is computed in a wrong way."""

    inner: Estimator
    spoil_sample: Any = None
    wrong_direction: Any = None

    def needs(self, family):
        return self.inner.needs(family)

    def direction(self, family, components, sample, f):
        if self.wrong_direction is not None:
            return self.wrong_direction(family, components, sample, f)
        return self.inner.direction(family, components, self.spoil_sample(sample), f)


def without_weights(sample):
    """All points count the same for all components."""
    return sample._replace(weights=np.full_like(sample.weights, 1.0 / sample.weights.shape[1]))


def without_half(family, components, sample, f):
    """The precision update twice as long, as if Price's theorem had no 1/2."""
    g, G = Hessian().direction(family, components, sample, f)
    return GaussianDirection(g, 2.0 * G)


def without_transpose(family, components, sample, f):
    """S (xi - mu) grad f as printed: a number, times the identity."""
    g, _ = Gradient().direction(family, components, sample, f)
    h = family.structure.pull_back(components.factors, f.gradient)
    inner = np.einsum("kn,kni,kni->k", sample.weights, sample.local, h)
    return GaussianDirection(g, family.structure.identity(inner, g.shape[-1]))


def without_whitening(family, components, sample, f):
    """The gradient as it is, where A^T grad f belongs."""
    g = np.einsum("kn,kni->ki", sample.weights, np.broadcast_to(f.gradient, sample.local.shape))
    return GaussianDirection(g, Gradient().direction(family, components, sample, f).G)


def without_identity(family, components, sample, f):
    """G = mean(f z z^T), without - I."""
    g, _ = BlackBox().direction(family, components, sample, f)
    return GaussianDirection(
        g, family.structure.gram((sample.weights * f.value)[..., None] * sample.local, sample.local)
    )


CONTROLS = {
    "baseline with the sample itself": BlackBox(MeanOfAll()),
    "Price without the half": Biased(Hessian(), wrong_direction=without_half),
    "no transpose": Biased(Gradient(), wrong_direction=without_transpose),
    "no whitening": Biased(Gradient(), wrong_direction=without_whitening),
    "no identity": Biased(BlackBox(), wrong_direction=without_identity),
}
UNWEIGHTED = {
    f"{name}, unweighted": Biased(UNBIASED[name], spoil_sample=without_weights)
    for name in ("black box", "gradient", "Hessian")
}


# --- Gaussian components ----------------------------------------------------------------------------------------------

CONSTANT = 1.5
SLOPE = np.array([0.8, -0.5])
CURVATURE = np.array([[-1.2, 0.5], [0.5, -0.7]])
CUBIC = np.zeros((2, 2, 2))  # c_ijk x_i x_j x_k / 6, symmetric
CUBIC[0, 0, 0] = 0.6
CUBIC[0, 1, 1] = CUBIC[1, 0, 1] = CUBIC[1, 1, 0] = -0.5

POLYNOMIAL = Objective(
    lambda x: (
        CONSTANT
        + x @ SLOPE
        + np.einsum("ij,ni,nj->n", CURVATURE, x, x) / 2
        + np.einsum("ijk,ni,nj,nk->n", CUBIC, x, x, x) / 6
    ),
    lambda x: SLOPE + x @ CURVATURE + np.einsum("ijk,nj,nk->ni", CUBIC, x, x) / 2,
    lambda x: CURVATURE + np.einsum("ijk,nk->nij", CUBIC, x),
    vectorized=True,
)
MEANS = np.array([[0.4, -0.3], [-0.6, 0.5], [0.8, 0.9]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
COVARIANCES = (  # the most general first
    np.array([[[0.7, 0.3], [0.3, 0.9]], [[1.1, -0.4], [-0.4, 0.6]], [[0.6, 0.2], [0.2, 0.8]]]),
    np.array([[0.7, 0.9], [1.1, 0.6], [0.6, 0.8]])[:, :, None] * np.eye(2),
    np.array([0.8, 1.1, 0.6])[:, None, None] * np.eye(2),
)
STRUCTURES = {cls.__name__: cls() for cls in concrete(covariances, covariances.Covariance)}


def held_covariances(structure):
    """The most general of the test's covariances that a structure can hold."""
    for matrices in COVARIANCES:
        try:
            structure.start(matrices)
        except ValueError:
            continue
        return matrices
    raise AssertionError(f"{structure} holds none of the test's covariances")


def gaussian_mixture(family, K, copies=1):
    """(mixture, log q) of the first K components; log q by SciPy."""
    matrices, weights = held_covariances(family.structure)[:K], WEIGHTS[:K] / WEIGHTS[:K].sum()
    ratios, means, spreads = (np.repeat(a, copies, axis=0) for a in (weights / weights[-1], MEANS[:K], matrices))
    mixture = Mixture(np.log(ratios), family.start(means, spreads))
    laws = [stats.multivariate_normal(mean, matrix) for mean, matrix in zip(MEANS, matrices, strict=False)]

    def log_q(x):
        joint = [np.log(weight) + law.logpdf(x) for weight, law in zip(weights, laws, strict=True)]
        return special.logsumexp(joint, axis=0)

    return mixture, log_q


def dense_root(family, mixture):
    """A as matrices, with the check that A A^T is the covariance."""
    K, d = mixture.components.mu.shape
    columns = family.structure.colour(mixture.components.factors, np.broadcast_to(np.eye(d), (K, d, d)))
    A = np.swapaxes(columns, -1, -2)
    np.testing.assert_allclose(A @ np.swapaxes(A, -1, -2), held_covariances(family.structure)[:K], atol=1e-12)
    return A


def gaussian_truth(family, K, omega):
    """(E_k f, whitened g, whitened G) by Gauss-Hermite quadrature of the definitions, with 70 x 70 nodes."""
    mixture, log_q = gaussian_mixture(family, K)
    node, weight = hermegauss(70)
    z = np.stack(np.meshgrid(node, node, indexing="ij"), axis=-1).reshape(-1, 2)
    w = np.outer(weight, weight).ravel() / (2 * np.pi)
    rows = []
    for mean, A in zip(mixture.components.mu, dense_root(family, mixture), strict=True):
        points = mean + z @ A.T
        wf = w * (POLYNOMIAL.fun(points) - omega * log_q(points))
        rows.append((wf.sum(), wf @ z, np.einsum("n,ni,nj->ij", wf, z, z) - wf.sum() * np.eye(2)))
    value, g, G = (np.array(column) for column in zip(*rows, strict=True))
    return value, g, family.structure.project(G)


def closed_form(family, K, omega):
    """The same from the moments of a Gaussian: for omega = 0, or for one component, whose log q is quadratic."""
    assert omega == 0 or K == 1
    mixture, _ = gaussian_mixture(family, K)
    rows = []
    for mu, A in zip(mixture.components.mu, dense_root(family, mixture), strict=True):
        Sigma = A @ A.T
        hessian = CURVATURE + CUBIC @ mu
        gradient = POLYNOMIAL.jac(mu[None])[0] + np.einsum("ijk,jk->i", CUBIC, Sigma) / 2
        value = POLYNOMIAL.fun(mu[None])[0] + np.trace(hessian @ Sigma) / 2
        entropy = np.log(np.linalg.det(2 * np.pi * np.e * Sigma)) / 2
        # E[hess(-log q)] = S, which is the identity when whitened
        rows.append((value + omega * entropy, A.T @ gradient, A.T @ hessian @ A + omega * np.eye(2)))
    value, g, G = (np.array(column) for column in zip(*rows, strict=True))
    return value, g, family.structure.project(G)


@pytest.mark.parametrize(("K", "omega"), [(3, 0.0), (1, 0.0), (1, 0.7)])
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_quadrature_agrees_with_closed_forms(structure, K, omega):
    family = families.Gaussian(structure)
    for by_quadrature, exact in zip(gaussian_truth(family, K, omega), closed_form(family, K, omega), strict=True):
        np.testing.assert_allclose(by_quadrature, exact, rtol=1e-9, atol=1e-9)


# (K, omega, truth): closed forms where there are any, and quadrature for the mixture term.
SCENARIOS = {
    "no entropy": (3, 0.0, closed_form),
    "one component": (1, 0.7, closed_form),
    "mixture": (3, 0.7, gaussian_truth),
}
# The mixture term is the hard part and is tested with every structure; for the others one will do.
CASES = [
    pytest.param(scenario, structure, proposal, id=f"{scenario}-{structure}-{proposal}")
    for scenario in SCENARIOS
    for structure in (STRUCTURES if scenario == "mixture" else ["Full"])
    for proposal in PROPOSALS
]


@cache
def gaussian_estimates(scenario, structure, proposal):
    """(estimates by name, estimates of the weight gradient, truth)."""
    K, omega, truth = SCENARIOS[scenario]
    B, copies, replicates = SIZES[proposal]
    family = families.Gaussian(STRUCTURES[structure])
    mixture, _ = gaussian_mixture(family, K, copies)
    inner = UNBIASED | (CONTROLS if proposal == "per component" else UNWEIGHTED if scenario == "mixture" else {})
    # No case shares its noise with another.
    seed = [list(SCENARIOS).index(scenario), list(STRUCTURES).index(structure), list(PROPOSALS).index(proposal)]
    directions, pi = collect(
        family, PROPOSALS[proposal], mixture, POLYNOMIAL, omega, inner.values(), B, replicates, seed, copies
    )
    return dict(zip(inner, directions, strict=True)), pi, truth(family, K, omega)


@pytest.mark.parametrize("estimator", UNBIASED)
@pytest.mark.parametrize(("scenario", "structure", "proposal"), CASES)
def test_estimator_is_unbiased(scenario, structure, proposal, estimator):
    by_name, _, (_, g, G) = gaussian_estimates(scenario, structure, proposal)
    estimated_g, estimated_G = by_name[estimator]
    assert worst(estimated_g, g) < Z
    assert worst(estimated_G, G) < Z


@pytest.mark.parametrize(("scenario", "structure", "proposal"), CASES)
def test_weight_gradient_is_unbiased(scenario, structure, proposal):
    _, pi, (value, _, _) = gaussian_estimates(scenario, structure, proposal)
    assert worst(pi, value - value[-1]) < Z
    if len(value) > 1:
        assert worst(pi[:, :-1], value[:-1]) > Z_CONTROL  # as if the last component were not the reference


@pytest.mark.parametrize("control", CONTROLS)
def test_biased_estimator_is_found_out(control):
    by_name, _, (_, g, G) = gaussian_estimates("mixture", "Full", "per component")
    estimated_g, estimated_G = by_name[control]
    assert max(worst(estimated_g, g), worst(estimated_G, G)) > Z_CONTROL


@pytest.mark.parametrize("control", UNWEIGHTED)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("proposal", ["importance", "importance, equal weights"])
def test_forgotten_importance_weights_are_found_out(proposal, structure, control):
    by_name, _, (_, g, G) = gaussian_estimates("mixture", structure, proposal)
    estimated_g, estimated_G = by_name[control]
    assert max(worst(estimated_g, g), worst(estimated_G, G)) > Z_CONTROL


@pytest.mark.parametrize("structure", STRUCTURES)
def test_fixed_covariances_leave_the_mean_estimates_unbiased(structure):
    family = families.Gaussian(covariances.Fixed(STRUCTURES[structure]))
    mixture, _ = gaussian_mixture(family, 3)
    inner = UNBIASED | {"control": Biased(BlackBox(), spoil_sample=without_weights)}
    directions, _ = collect(family, Importance(), mixture, POLYNOMIAL, 0.7, inner.values(), 24, 800, seed=12)
    _, g, _ = gaussian_truth(family, 3, 0.7)
    *unbiased, control = directions
    for direction in unbiased:
        assert len(direction) == 1  # no G
        assert worst(direction[0], g) < Z
    assert worst(control[0], g) > Z_CONTROL


# --- self-normalised importance weights: consistent, with a bias that falls as 1 / B ----------------------------------


def self_normalised_errors(equal_weights, B, replicates):
    """Errors of (black box, the same unweighted) in all coordinates of all components, (2, replicates, numbers)."""
    family = families.Gaussian(covariances.Full())
    mixture, _ = gaussian_mixture(family, 3)
    inner = [BlackBox(), Biased(BlackBox(), spoil_sample=without_weights)]
    proposal = Importance(equal_weights, self_normalized=True)
    directions, _ = collect(family, proposal, mixture, POLYNOMIAL, 0.7, inner, B, replicates, [B, equal_weights])
    _, g, G = gaussian_truth(family, 3, 0.7)
    return [
        np.concatenate([(a - b).reshape(replicates, -1) for a, b in ((got_g, g), (got_G, G))], axis=1)
        for got_g, got_G in directions
    ]


def shrinkage_z(few, many, factor):
    """z-score of the claim that the bias of `many` is that of `few` divided by factor, along the bias of `few`."""
    along = few.mean(axis=0) / few.var(axis=0)
    a, b = few @ along / factor, many @ along
    return (b.mean() - a.mean()) / np.sqrt(a.var() / len(a) + b.var() / len(b))


@pytest.mark.parametrize("equal_weights", [False, True])
def test_self_normalised_bias_falls_as_one_over_the_sample(equal_weights):
    few, few_unweighted = self_normalised_errors(equal_weights, 4, 2500)
    many, many_unweighted = self_normalised_errors(equal_weights, 64, 1500)
    most, most_unweighted = self_normalised_errors(equal_weights, 4000, 150)
    assert worst(few, 0.0) > Z_CONTROL  # the bias is there, and the test can see it
    assert abs(shrinkage_z(few, many, 64 / 4)) < Z
    assert worst(most, 0.0) < Z
    assert abs(shrinkage_z(few, many, 1)) > Z_CONTROL
    assert abs(shrinkage_z(few_unweighted, many_unweighted, 64 / 4)) > Z_CONTROL
    assert worst(most_unweighted, 0.0) > Z_CONTROL


# --- fitness shaping: the expectation of ranks ------------------------------------------------------------------------

LINE = Objective(lambda x: np.sin(2.0 * x[:, 0]) - 0.2 * x[:, 0] ** 2, vectorized=True)
LINE_MEANS, LINE_SPREADS, LINE_WEIGHTS = np.array([-0.5, 0.9]), np.array([0.8, 1.2]), np.array([0.6, 0.4])
LINE_OMEGA = 0.4


@dataclass(frozen=True)
class Reversed(Utility):
    """The largest utility for the worst sample: a control."""

    utility: Utility = utilities.CMAES()

    def __call__(self, B):
        return self.utility(B)[::-1]


@dataclass(frozen=True)
class HalfShifted(Utility):
    """A shift of the better half alone, which is no shift: a control."""

    utility: Utility = utilities.CMAES()

    def __call__(self, B):
        return self.utility(B) - np.where(np.arange(B) < B // 2, 1.0, 0.0)


def selected(eta):
    return lambda q: np.where(q < eta, 1.0, 0.0)


# Every utility with its limit for large samples, a function of the fraction q of better points.
LIMITS = {
    "CMAES": lambda q: selected(0.25)(q) * np.log(0.25 / np.minimum(q, 0.25)) / 0.25,
    "Truncation": lambda q: selected(0.25)(q) / 0.25,
    "NormalOrderStatistics": lambda q: -special.ndtri(q),
    "Shifted": lambda q: LIMITS["CMAES"](q) - 1.0,
}
UTILITIES = {cls.__name__: cls() for cls in concrete(utilities, Utility)}


def line_mixture(copies=1):
    family = families.Gaussian()
    ratios, means, spreads = (np.repeat(a, copies) for a in (LINE_WEIGHTS / LINE_WEIGHTS[-1], LINE_MEANS, LINE_SPREADS))
    return family, Mixture(np.log(ratios), family.start(means[:, None], (spreads**2)[:, None, None]))


def line_fitness(x):
    """f = l - omega log q at points (n,), log q by SciPy."""
    laws = zip(LINE_WEIGHTS, LINE_MEANS, LINE_SPREADS, strict=True)
    log_q = special.logsumexp([np.log(pi) + stats.norm.logpdf(x, mean, spread) for pi, mean, spread in laws], axis=0)
    return LINE.fun(x[:, None]) - LINE_OMEGA * log_q


@cache
def line_nodes():
    """For both components: nodes z, probabilities, fitness, and the fraction q of points better than the node's."""
    z = np.linspace(-8.0, 8.0, 16_001)
    probability = stats.norm.pdf(z)
    probability /= probability.sum()
    f = np.array([line_fitness(mean + spread * z) for mean, spread in zip(LINE_MEANS, LINE_SPREADS, strict=True)])
    order = np.argsort(-f, axis=1)
    q = np.empty_like(f)
    np.put_along_axis(q, order, np.cumsum(probability[order], axis=1) - 0.5 * probability[order], axis=1)
    return z, probability, f, q


def shaped_truth(preference):
    """(g, G) of both components when a point with fraction q of better ones counts preference(q)."""
    z, probability, _, fractions = line_nodes()
    u = np.array([preference(q) for q in fractions]) * probability
    return (u @ z)[:, None], (u @ (z**2 - 1.0))[:, None, None]


def expected_utility(u):
    """What a point counts on average among B: a binomial number of the others are better."""
    B = len(u)
    return lambda q: u @ stats.binom.pmf(np.arange(B)[:, None], B - 1, q[None])


def test_every_utility_is_covered():
    assert set(LIMITS) == set(UTILITIES)


@cache
def shaped_estimates():
    """Estimates with B = 8 of every utility and the controls."""
    family, mixture = line_mixture(copies=8)
    inner = UTILITIES | {"reversed": Reversed(), "half shifted": HalfShifted()}
    shaped = [FitnessShaped(utility) for utility in inner.values()]
    directions, pi = collect(family, PerComponent(), mixture, LINE, LINE_OMEGA, shaped, 8, 700, seed=21, copies=8)
    return dict(zip(inner, directions, strict=True)), pi


@pytest.mark.parametrize("utility", UTILITIES)
def test_fitness_shaping_has_the_expectation_of_its_ranks(utility):
    truth = shaped_truth(expected_utility(UTILITIES[utility](8)))
    for estimated, exact in zip(shaped_estimates()[0][utility], truth, strict=True):
        assert worst(estimated, exact) < Z
    assert max(map(worst, shaped_estimates()[0]["reversed"], truth)) > Z_CONTROL


def test_fitness_shaping_leaves_the_weight_gradient_alone():
    _, probability, f, _ = line_nodes()
    value = f @ probability
    pi = shaped_estimates()[1]
    assert worst(pi, value - value[-1]) < Z
    assert worst(pi[:, :1], value[:1]) > Z_CONTROL


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_shift_of_the_utilities_does_not_change_the_expectation(proposal):
    _, copies, replicates = SIZES[proposal]
    family, mixture = line_mixture(copies)
    cma_es = utilities.CMAES()
    inner = [cma_es, utilities.Shifted(cma_es, -1.0), utilities.Shifted(cma_es, 2.5), HalfShifted(cma_es)]
    shaped = [FitnessShaped(utility) for utility in inner]
    seed = [22, list(PROPOSALS).index(proposal)]
    directions, _ = collect(
        family, PROPOSALS[proposal], mixture, LINE, LINE_OMEGA, shaped, 16, replicates, seed, copies
    )
    plain, *shifted, control = (np.concatenate([g, G[..., 0]], axis=-1) for g, G in directions)
    for other in shifted:
        assert worst(other - plain, 0.0) < Z
    assert worst(control - plain, 0.0) > Z_CONTROL


CONSISTENT = PROPOSALS | {
    "importance, self-normalised": Importance(self_normalized=True),
    "importance, equal weights, self-normalised": Importance(equal_weights=True, self_normalized=True),
}


@pytest.mark.parametrize("proposal", CONSISTENT)
def test_fitness_shaping_is_consistent(proposal):
    # With 100 replicates of 2000 samples a bias of order 1 / B is a fifth of a standard error.
    family, mixture = line_mixture()
    shaped = [FitnessShaped(utility) for utility in (*UTILITIES.values(), Reversed())]
    (*directions, control), _ = collect(
        family,
        CONSISTENT[proposal],
        mixture,
        LINE,
        LINE_OMEGA,
        shaped,
        2000,
        100,
        [23, list(CONSISTENT).index(proposal)],
    )
    for utility, direction in zip(UTILITIES, directions, strict=True):
        for estimated, exact in zip(direction, shaped_truth(LIMITS[utility]), strict=True):
            assert worst(estimated, exact) < Z
    assert max(map(worst, control, shaped_truth(LIMITS["CMAES"]))) > Z_CONTROL


# --- other families ---------------------------------------------------------------------------------------------------

FAMILY_OMEGA = 0.5


@dataclass(frozen=True)
class Case:
    """Two components of a family, an objective, and a rule that integrates over the components.

    E_k[h] = sum_n measure_n exp(log_density_kn) h(nodes_n), for nodes (n, d) and log-densities (2, n).
    """

    family: families.Family
    means: np.ndarray
    covariances: Any
    objective: Objective
    nodes: np.ndarray
    log_density: np.ndarray
    measure: np.ndarray

    def mixture(self, copies=1):
        ratios, means = (np.repeat(a, copies, axis=0) for a in (np.log([0.6 / 0.4, 1.0]), self.means))
        return Mixture(ratios, self.family.start(means, self.covariances))

    def fitness(self, omega):
        log_q = np.logaddexp(np.log(0.6) + self.log_density[0], np.log(0.4) + self.log_density[1])
        return self.objective.fun(self.nodes) - omega * log_q

    @property
    def probability(self):
        return np.exp(self.log_density) * self.measure


def smooth(x):
    return 1.0 + np.sin(1.5 * x[:, 0]) - 0.3 * x[:, 0] ** 2


def on_line(family, means, variance, laws, nodes, measure):
    """One coordinate; laws from scipy.stats."""
    log_density = np.array([law.logpdf(nodes) for law in laws])
    objective = Objective(smooth, vectorized=True)
    return Case(family, np.array(means)[:, None], variance, objective, nodes[:, None], log_density, measure)


def gamma_case():
    # Trapezoidal sums in log x: the integrands decay exponentially on both sides, and converge faster than any power.
    t = np.linspace(-30.0, 5.0, 7001)
    x = np.exp(t)
    laws = [stats.gamma(mean**2 / 0.6, scale=0.6 / mean) for mean in (1.3, 2.0)]
    return on_line(families.Gamma(), [1.3, 2.0], 0.6, laws, x, x * (t[1] - t[0]))


def beta_case():
    t = np.linspace(-30.0, 30.0, 6001)
    x = special.expit(t)
    laws = [
        stats.beta(mean * total, (1 - mean) * total) for mean in (0.3, 0.6) for total in (mean * (1 - mean) / 0.04 - 1,)
    ]
    return on_line(families.Beta(), [0.3, 0.6], 0.04, laws, x, x * special.expit(-t) * (t[1] - t[0]))


def von_mises_case():
    x = np.linspace(-np.pi, np.pi, 2000, endpoint=False)
    laws = [stats.vonmises(1 / 0.5, loc=mean) for mean in (-0.4, 1.0)]
    case = on_line(families.VonMises(), [-0.4, 1.0], 0.5, laws, x, np.full(2000, x[1] - x[0]))
    periodic = Objective(lambda x: 1.0 + np.sin(2.0 * x[:, 0]) - 0.8 * np.cos(x[:, 0] - 0.3), vectorized=True)
    return replace(case, objective=periodic)


def gaussian_case():
    z = np.linspace(-12.0, 12.0, 4001)
    laws = [stats.norm(mean, np.sqrt(0.7)) for mean in (-0.4, 1.0)]
    return on_line(families.Gaussian(), [-0.4, 1.0], 0.7, laws, z, np.full(4001, z[1] - z[0]))


def log_bernoulli(x, p):
    return np.sum(x * np.log(p) + (1 - x) * np.log1p(-p), axis=-1)


def bernoulli_case():
    cube = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    means = np.array([[0.3, 0.6, 0.5], [0.7, 0.4, 0.8]])
    coupled = Objective(lambda x: 1.0 + x[:, 0] * x[:, 1] - 1.5 * x[:, 1] * x[:, 2] + 0.5 * x[:, 2], vectorized=True)
    return Case(families.Bernoulli(), means, None, coupled, cube, log_bernoulli(cube, means[:, None]), np.ones(8))


def product_case():
    line, means = gaussian_case(), np.array([[-0.4, 0.3], [1.0, 0.6]])
    nodes = np.array([[x, bit] for bit in (0.0, 1.0) for x in line.nodes[:, 0]])
    log_density = np.tile(line.log_density, 2) + log_bernoulli(nodes[:, 1:], means[:, None, 1:])
    coupled = Objective(lambda x: smooth(x) * (1.0 - 1.7 * x[:, 1]), vectorized=True)
    family = families.Product((families.Gaussian(), 1), (families.Bernoulli(), 1))
    return Case(family, means, [0.7, None], coupled, nodes, log_density, np.tile(line.measure, 2))


FAMILIES = {
    "Bernoulli": bernoulli_case,
    "Beta": beta_case,
    "Gamma": gamma_case,
    "Gaussian": gaussian_case,
    "Product": product_case,
    "VonMises": von_mises_case,
}


def test_every_family_is_covered():
    assert set(FAMILIES) == {cls.__name__ for cls in concrete(families, families.Family)}


def statistics(family, x):
    """Sufficient statistics (n, p) of one coordinate, written down from the textbook."""
    name = type(family).__name__
    columns = {
        "Gaussian": lambda: [x, x**2],
        "Gamma": lambda: [np.log(x), -x],
        "Beta": lambda: [np.log(x), np.log1p(-x)],
        "VonMises": lambda: [np.cos(x), np.sin(x)],
        "Bernoulli": lambda: [x],
    }[name]()
    return np.stack(columns, axis=-1)


def natural_truth(family, x, probability, f, mean, variance):
    """F^-1 Cov(T, f) of one coordinate, in the order of the leaves of a direction."""
    T = statistics(family, x)
    centred = T - probability @ T
    F = (probability * centred.T) @ centred
    natural = np.linalg.solve(F, (probability * f) @ centred)
    if isinstance(family, families.Gaussian):
        # lambda = (S mu, -S / 2): gamma_Sigma is twice the second entry, gamma_mu the first plus gamma_Sigma mu.
        return [np.sqrt(variance) * (natural[0] + 2 * natural[1] * mean), 2 * natural[1] * variance]
    return list(natural)


def family_truth(case, f):
    """All numbers of the directions of both components, (2, numbers)."""
    blocks = getattr(case.family, "blocks", ((case.family, case.nodes.shape[1]),))
    variances = case.covariances if hasattr(case.family, "blocks") else [case.covariances]
    rows = []
    for k, probability in enumerate(case.probability):
        row, coordinate = [], 0
        for (family, size), variance in zip(blocks, variances, strict=True):
            for _ in range(size):
                x = case.nodes[:, coordinate]
                row += natural_truth(family, x, probability, f, case.means[k, coordinate], variance)
                coordinate += 1
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("name", FAMILIES)
def test_nodes_integrate_and_linear_functions_have_their_coefficients_as_natural_gradients(name):
    case = FAMILIES[name]()
    np.testing.assert_allclose(case.probability.sum(axis=1), 1.0, rtol=1e-10)
    np.testing.assert_allclose(
        case.family.log_components(case.mixture().components, case.nodes), case.log_density, rtol=1e-9
    )
    if name in ("Gaussian", "Product"):
        return  # their directions are not natural parameters; the closed forms above cover them
    # E[<c, T>] = <c, grad A>, whose natural gradient is F^-1 F c = c.
    T = statistics(case.family, case.nodes[:, 0])
    c = np.array([0.7, -1.3])[: T.shape[1]]
    np.testing.assert_allclose(family_truth(case, T @ c)[:, : len(c)], np.broadcast_to(c, (2, len(c))), rtol=1e-8)


BASELINES = {
    "no baseline": BlackBox(),
    "leave one out": BlackBox(control_variates.LeaveOneOut()),
    "constant": BlackBox(control_variates.Constant(1.0)),
}


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("name", FAMILIES)
def test_black_box_estimates_are_unbiased_for_every_family(name, proposal):
    case = FAMILIES[name]()
    is_shared = proposal != "per component"
    control = Biased(BlackBox(), spoil_sample=without_weights) if is_shared else BlackBox(MeanOfAll())
    inner = [*BASELINES.values(), control]
    B, copies, replicates = SIZES[proposal]
    seed = [31, list(FAMILIES).index(name), list(PROPOSALS).index(proposal)]
    directions, pi = collect(
        case.family,
        PROPOSALS[proposal],
        case.mixture(copies),
        case.objective,
        FAMILY_OMEGA,
        inner,
        B,
        replicates,
        seed,
        copies,
    )
    f = case.fitness(FAMILY_OMEGA)
    truth = family_truth(case, f)
    *unbiased, biased = (np.concatenate([a.reshape(replicates, 2, -1) for a in parts], axis=-1) for parts in directions)
    for estimated in unbiased:
        assert worst(estimated, truth) < Z
    assert worst(biased, truth) > Z_CONTROL
    value = case.probability @ f
    assert worst(pi, value - value[-1]) < Z
