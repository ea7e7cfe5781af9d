"""Algorithms 2 and 3: the library and the plain transcript take the same path from the same draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import transcript as plain
from golden_cases import (
    MEANS,
    OBJECTIVE,
    OMEGA,
    PI,
    PRIOR,
    PROPOSALS,
    RHO,
    RULES,
    SEED,
    B,
    K,
    T,
    covariances,
    d,
    ell,
    grad_ell,
    hess_ell,
    library_path,
    num_samples,
    start_mixture,
)

from allmodes.nva import Algorithm, Run, anneal
from allmodes.nva.annealing.estimators import BlackBox, FitnessShaped, Gradient, Hessian
from allmodes.nva.annealing.utilities import CMAES
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Gaussian

VALUE = plain.Function(ell)
GRADIENT = plain.Function(ell, grad_ell)
HESSIAN = plain.Function(ell, grad_ell, hess_ell)
VALUE_AND_HESSIAN = plain.Function(ell, None, hess_ell)
SHAPED = FitnessShaped(CMAES(0.5))

# name: (the library's, gamma_mu, gamma_Sigma, what the transcript is given of the target)
ESTIMATORS = {
    "black-box": (BlackBox(), plain.G_mu_bb, plain.G_Sigma_bb, VALUE),
    "fitness-shaped": (SHAPED, plain.G_mu_fs, plain.G_Sigma_fs, VALUE),
    "gradient": (Gradient(), plain.G_mu_grad, plain.G_Sigma_grad, GRADIENT),
    "Hessian": (Hessian(), plain.G_mu_grad, plain.G_Sigma_hess, HESSIAN),
}
MIXED = {
    "Hessian, black-box means": (Hessian(BlackBox()), plain.G_mu_bb, plain.G_Sigma_hess, VALUE_AND_HESSIAN),
    "Hessian, shaped means": (Hessian(SHAPED), plain.G_mu_fs, plain.G_Sigma_hess, VALUE_AND_HESSIAN),
}
# name: (the library's, how the transcript restricts gamma_Sigma; None when it has none)
STRUCTURES = {
    "full": (Full(), plain.full),
    "diagonal": (Diagonal(), plain.diagonal),
    "isotropic": (Isotropic(), plain.isotropic),
    "fixed": (Fixed(Full()), None),
}
FIXED = {"fixed diagonal": (Fixed(Diagonal()), None), "fixed isotropic": (Fixed(Isotropic()), None)}

Path = tuple[Any, Any, Any]  # means (T, K, d), covariances (T, K, d, d), weights (T, K)


class Case(NamedTuple):
    """One assembly of parts, for the library and for the transcript."""

    algorithm: Algorithm
    parts: plain.Parts
    target: plain.Function
    covariances: Any
    rho: Any

    def with_parts(self, **parts: Any) -> Case:
        """The same with other parts of the library's algorithm."""
        return self._replace(algorithm=self.algorithm.with_parts(**parts))


def make_case(estimator: str, structure: str, rule: str = "improved", proposal: str = "per component") -> Case:
    library, gamma_mu, gamma_Sigma, target = (ESTIMATORS | MIXED)[estimator]
    covariance, restrict = (STRUCTURES | FIXED)[structure]
    n = num_samples(proposal)
    algorithm = Algorithm(
        family=Gaussian(covariance),
        estimator=library,
        proposal=PROPOSALS[proposal][0],
        rule=RULES[rule][0],
        num_samples=n,
    )
    parts = plain.Parts(
        gamma_mu,
        gamma_Sigma if restrict else None,
        restrict or plain.full,
        RULES[rule][1],
        u=plain.cma_es_utilities(n, n // 2) if gamma_mu is plain.G_mu_fs else None,
        importance=PROPOSALS[proposal][1],
    )
    used = target if restrict else target._replace(hessian=None)
    return Case(algorithm, parts, used, covariances(structure), RHO[rule])


def plain_path(case: Case, noises: list[Any], parts: plain.Parts) -> Path:
    """The transcript's."""
    z = [noise if case.parts.importance is None else (noise.choice, noise.within[:, 0]) for noise in noises]
    S = np.linalg.inv(case.covariances)
    path = plain.nva_gm(case.target, MEANS, S, PI, z, OMEGA[: len(z)], case.rho, parts)
    mu, S, pi = (np.array(column) for column in zip(*path, strict=True))
    return mu, np.linalg.inv(S), pi


def both_paths(case: Case, parts: plain.Parts, steps: int = T) -> tuple[Path, Path]:
    """The library's by ask and tell, and the transcript's."""
    algorithm, family = case.algorithm, case.algorithm.family
    start = start_mixture(family, MEANS, case.covariances)
    path = library_path(algorithm, start, algorithm.num_samples, OMEGA[:steps], case.rho)
    mu = np.array([family.means(step.mixture.components) for step in path])
    Sigma = np.array([family.covariances(step.mixture.components) for step in path])
    library = mu, Sigma, np.array([step.weights for step in path])
    return library, plain_path(case, [step.noise for step in path], parts)


def assert_same(found: Path, wanted: Path) -> None:
    for name, a, b in zip(("means", "covariances", "weights"), found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12, err_msg=name)


def assert_moved(path: Path, case: Case) -> None:
    """A path that stands still would agree with anything."""
    mu, Sigma, pi = (part[-1] for part in path)
    assert (np.abs(mu - MEANS).max(axis=-1) > 1e-2).all()
    assert np.abs(pi - PI).max() > 1e-3
    moved = np.abs(Sigma - case.covariances).max(axis=(1, 2))
    assert (moved > 1e-4).all() if case.algorithm.family.moves_spread else (moved < 1e-12).all()


# ---- Every estimator, structure, rule and proposal -------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_same_path(estimator: str, structure: str, rule: str, proposal: str) -> None:
    case = make_case(estimator, structure, rule, proposal)
    library, wanted = both_paths(case, case.parts)
    assert_same(library, wanted)
    assert_moved(wanted, case)


@pytest.mark.parametrize("proposal", ["per component", "from equal, normalised"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("estimator", MIXED)
def test_same_path_with_one_estimator_for_means_and_another_for_covariances(
    estimator: str, structure: str, rule: str, proposal: str
) -> None:
    case = make_case(estimator, structure, rule, proposal)
    library, wanted = both_paths(case, case.parts)
    assert_same(library, wanted)
    assert_moved(wanted, case)


@pytest.mark.parametrize("structure", FIXED)
@pytest.mark.parametrize("estimator", ESTIMATORS | MIXED)
def test_same_path_with_fixed_covariances_of_any_structure(estimator: str, structure: str) -> None:
    case = make_case(estimator, structure)
    library, wanted = both_paths(case, case.parts)
    assert_same(library, wanted)
    assert_moved(wanted, case)


# ---- Options, through the driver -------------------------------------------------------------------------------------


def annealed(case: Case, **options: Any) -> tuple[Run, list[Any]]:
    """A run, and the noise it drew."""
    algorithm, n = case.algorithm, case.algorithm.num_samples
    run = anneal(
        OBJECTIVE,
        algorithm=algorithm,
        means=MEANS,
        covariances=case.covariances,
        weights=PI,
        temperature=lambda t: OMEGA[t - 1],
        learning_rate=lambda t: case.rho[t - 1],
        steps=T,
        rng=SEED,
        **options,
    )
    assert run.success
    rng = np.random.default_rng(SEED)
    return run, [algorithm.proposal.noise(rng, algorithm.family, K, n, d) for _ in range(T)]


def compare_run(case: Case, run: Run, noises: list[Any], **options: Any) -> None:
    """The run is the transcript with these parts, and these parts matter."""
    mu, Sigma, pi = plain_path(case, noises, case.parts._replace(**options))
    assert_same((run.trace.means[1:], run.covariances, run.trace.weights[1:]), (mu, Sigma[-1], pi))
    without = plain_path(case, noises, case.parts)
    assert max(np.abs(a - b).max() for a, b in zip((mu, Sigma, pi), without, strict=True)) > 1e-3


@pytest.mark.parametrize("structure", ["full", "diagonal", "isotropic"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_burn_in(estimator: str, structure: str) -> None:
    case = make_case(estimator, structure)
    compare_run(case, *annealed(case.with_parts(burn_in=T // 2)), kappa=T // 2)


# The precision matrix is damped as soon as it is updated: the means move with the damped one.
@pytest.mark.parametrize(("rule", "burn_in"), [("plain", 0), ("improved", 0), ("improved", T // 2)])
@pytest.mark.parametrize("structure", ["full", "diagonal", "isotropic"])
@pytest.mark.parametrize("estimator", ["fitness-shaped", "Hessian"])
def test_damping(estimator: str, structure: str, rule: str, burn_in: int) -> None:
    case = make_case(estimator, structure, rule)
    compare_run(case, *annealed(case.with_parts(damping=0.02, burn_in=burn_in)), tau=0.02, kappa=burn_in)


@pytest.mark.parametrize("proposal", ["per component", "from q"])
def test_weight_limit(proposal: str) -> None:
    case = make_case("Hessian", "full", proposal=proposal)
    compare_run(case, *annealed(case.with_parts(weight_limit=0.5)), v_max=0.5)


@pytest.mark.parametrize(("structure", "proposal"), [("full", "per component"), ("isotropic", "from equal")])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_log_prior(estimator: str, structure: str, proposal: str) -> None:
    case = make_case(estimator, structure, proposal=proposal)
    compare_run(case, *annealed(case, log_prior=PRIOR), log_p=plain.Function(PRIOR.fun, PRIOR.jac, PRIOR.hess))


# ---- Controls: the paper's slips would be seen -----------------------------------------------------------------------


def price_without_the_half(sample: Any, mu: Any, S: Any) -> Any:
    return 2.0 * plain.G_Sigma_hess(sample, mu, S)


def gradient_without_its_symmetric_part(sample: Any, mu: Any, S: Any) -> Any:
    return S @ sum(b.w * np.outer(b.xi - mu, b.grad_f) for b in sample)


SLIPS = {
    "Price's theorem as printed": ("Hessian", {"gamma_Sigma": price_without_the_half}),
    "G_Sigma-grad as printed": ("gradient", {"gamma_Sigma": gradient_without_its_symmetric_part}),
    "utilities in the order of the text": ("fitness-shaped", {"u": plain.cma_es_utilities(B, B // 2)[::-1]}),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_would_be_seen(slip: str) -> None:
    estimator, wrong = SLIPS[slip]
    case = make_case(estimator, "full")
    # Few steps: a precision matrix that loses its symmetry does not stay positive definite for long.
    library, slipped = both_paths(case, case.parts._replace(**wrong), steps=5)
    with pytest.raises(AssertionError, match="means"):
        assert_same(library, slipped)
    assert np.abs(library[0][-1] - slipped[0][-1]).max() > 1e-3
    assert np.abs(library[1][-1] - slipped[1][-1]).max() > 1e-2
