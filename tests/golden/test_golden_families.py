"""Algorithms A and 1, for every family: the library and the transcript take the same path from the same points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import transcript as plain
import transcript_families as families
from golden_cases import (
    MEANS,
    OMEGA,
    PI,
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
    library_path,
    log_p,
    num_samples,
    start_mixture,
)

from allmodes.nva import Algorithm, anneal, presets
from allmodes.nva.annealing.estimators import BlackBox, FitnessShaped
from allmodes.nva.annealing.utilities import CMAES
from allmodes.nva.mixture.families import Bernoulli, Beta, Family, Gamma, Gaussian, Product, VonMises

POSITIVE = np.array([[1.0, 2.0, 0.7], [2.5, 0.6, 1.4], [1.2, 1.1, 3.0]])
UNIT = np.array([[0.3, 0.6, 0.5], [0.7, 0.2, 0.4], [0.5, 0.5, 0.8]])


class Components(NamedTuple):
    """A family, where it starts, and the same family in the transcript."""

    family: Family
    means: Any
    covariances: Any
    blocks: families.Blocks


def every_coordinate(family: families.Family) -> families.Blocks:
    return [(family, i) for i in range(d)]


FAMILIES = {
    "Gaussian": Components(Gaussian(), MEANS, covariances("full"), [(families.gaussian(d), slice(0, d))]),
    "Gamma": Components(Gamma(), POSITIVE, [0.3, 0.5, 0.2], every_coordinate(families.gamma)),
    "Beta": Components(Beta(), UNIT, [0.03, 0.05, 0.02], every_coordinate(families.beta)),
    "von Mises": Components(VonMises(), MEANS, [0.3, 0.5, 0.8], every_coordinate(families.von_mises)),
    "Bernoulli": Components(Bernoulli(), UNIT, None, every_coordinate(families.bernoulli)),
    "Gaussian and Bernoulli": Components(
        Product((Gaussian(), 2), (Bernoulli(), 1)),
        np.hstack([MEANS[:, :2], UNIT[:, 2:]]),
        [covariances("full")[:, :2, :2], None],
        [(families.gaussian(2), slice(0, 2)), (families.bernoulli, 2)],
    ),
    "Gamma, Beta and von Mises": Components(
        Product((Gamma(), 1), (Beta(), 1), (VonMises(), 1)),
        np.hstack([POSITIVE[:, :1], UNIT[:, :1], MEANS[:, :1]]),
        [0.3, 0.03, 0.5],
        [(families.gamma, 0), (families.beta, 1), (families.von_mises, 2)],
    ),
}
RETRACTIONS = {"plain": families.straight, "improved": families.bent}
# For Gaussian components the improved rule does more than add to lambda; Algorithm 2 has it.
FAMILIES_AND_RULES = [(name, rule) for name in FAMILIES for rule in RULES if rule == "plain" or "Gaussian" not in name]
ESTIMATORS = {"black-box": BlackBox(), "fitness-shaped": FitnessShaped(CMAES(0.5))}


def natural(family: Family, components: Any) -> Any:
    """The library's components as lam[k][j] of the transcript."""
    if isinstance(family, Product):
        parts = [natural(f, part) for (f, _), part in zip(family.blocks, components, strict=True)]
        return [[lam for part in parts for lam in part[k]] for k in range(K)]
    if isinstance(family, Gaussian):
        S = np.linalg.inv(family.covariances(components))
        return [[families.gaussian_natural(components.mu[k], S[k])] for k in range(K)]
    return [list(lam) for lam in components.natural]


def flat(lam: Any) -> Any:
    return np.array([np.concatenate(component) for component in lam])


def compare(algorithm: Algorithm, name: str, rule: str, omega: Any, parts: plain.Parts) -> None:
    family, means, spread, blocks = FAMILIES[name]
    start = start_mixture(family, means, spread)
    library = library_path(algorithm, start, algorithm.num_samples, omega, RHO[rule])
    xi = [step.points if parts.importance else step.points.reshape(K, -1, d) for step in library]
    lam = natural(family, start.components)
    path = families.nva_m(plain.Function(ell), blocks, lam, PI, xi, omega, RHO[rule], RETRACTIONS[rule], parts)
    for step, (lam_t, pi_t) in zip(library, path, strict=True):
        np.testing.assert_allclose(
            flat(natural(family, step.mixture.components)), flat(lam_t), rtol=1e-9, atol=1e-11, err_msg="lambda"
        )
        np.testing.assert_allclose(step.weights, pi_t, rtol=1e-10, err_msg="weights")
    moved = np.abs(flat(path[-1][0]) - flat(lam))
    assert (moved.max(axis=-1) > 1e-2).all()  # a path that stands still would agree with anything


@pytest.mark.parametrize("proposal", ["per component", "from q", "from equal, normalised"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("name", "rule"), FAMILIES_AND_RULES)
def test_nva_m(name: str, rule: str, estimator: str, proposal: str) -> None:
    n = num_samples(proposal)
    algorithm = presets.nva_m(
        FAMILIES[name].family,
        estimator=ESTIMATORS[estimator],
        proposal=PROPOSALS[proposal][0],
        rule=RULES[rule][0],
        num_samples=n,
    )
    u = plain.cma_es_utilities(n, n // 2) if estimator == "fitness-shaped" else None
    compare(algorithm, name, rule, OMEGA, plain.Parts(u=u, importance=PROPOSALS[proposal][1]))


@pytest.mark.parametrize(("name", "rule"), FAMILIES_AND_RULES)
def test_snga_m(name: str, rule: str) -> None:
    algorithm = presets.snga_m(FAMILIES[name].family, rule=RULES[rule][0], num_samples=B)
    compare(algorithm, name, rule, np.full(T, 0.7), plain.Parts())


def test_nva_m_with_a_prior_and_a_weight_limit_through_the_driver() -> None:
    family, means, spread, blocks = FAMILIES["Gamma"]
    seen = []

    def watched(x: Any) -> float:
        seen.append(x.copy())
        return ell(x)

    run = anneal(
        watched,
        algorithm=presets.nva_m(family, weight_limit=0.3),
        means=means,
        covariances=spread,
        weights=PI,
        temperature=lambda t: OMEGA[t - 1],
        learning_rate=lambda t: RHO["improved"][t - 1],
        num_samples=B,
        steps=T,
        rng=SEED,
        log_prior=log_p,
    )
    xi = np.array(seen).reshape(T, K, B, d)
    lam = natural(family, family.start(means, spread))

    def transcribed(parts: plain.Parts) -> Any:
        return families.nva_m(plain.Function(ell), blocks, lam, PI, xi, OMEGA, RHO["improved"], families.bent, parts)

    path = transcribed(plain.Parts(log_p=plain.Function(log_p), v_max=0.3))
    np.testing.assert_allclose(flat(natural(family, run.mixture.components)), flat(path[-1][0]), rtol=1e-9)
    np.testing.assert_allclose(run.trace.weights[1:], [pi for _, pi in path], rtol=1e-10)
    for without in (plain.Parts(log_p=plain.Function(log_p)), plain.Parts(v_max=0.3)):
        assert np.abs(flat(transcribed(without)[-1][0]) - flat(path[-1][0])).max() > 1e-3


def test_a_wrong_fisher_matrix_would_be_seen() -> None:
    gamma = families.gamma
    wrong = gamma._replace(F=lambda lam: np.diag(np.diag(gamma.F(lam))))
    family, means, spread, _ = FAMILIES["Gamma"]
    algorithm = presets.nva_m(family, num_samples=B)
    library = library_path(algorithm, start_mixture(family, means, spread), B, OMEGA[:5], RHO["improved"])
    xi = [step.points.reshape(K, B, d) for step in library]
    lam = natural(family, family.start(means, spread))
    path = families.nva_m(
        plain.Function(ell), every_coordinate(wrong), lam, PI, xi, OMEGA[:5], RHO["improved"], families.bent
    )
    assert np.abs(flat(natural(family, library[-1].mixture.components)) - flat(path[-1][0])).max() > 1e-2
