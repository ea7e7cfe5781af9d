"""What a run costs: the counts of the paper's table, as reported and as counted from outside.

Paper: tab:complexity_algorithm
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

import jax
import numpy as np
import pytest

from allmodes import Objective, Status
from allmodes.nva import anneal, covariances, estimators, families, presets, schedules
from allmodes.nva.annealing.estimators import BlackBox, Hessian

K, B, T, D = 3, 5, 7, 2
# Where one variance for all coordinates is not what a family starts from.
COVARIANCES = {
    families.Bernoulli(): None,
    families.Product((families.Gaussian(), 1), (families.Bernoulli(), 1)): [0.02, None],
}
ETA = 0.25  # the fraction that CMA-ES utilities select: fitness shaping takes 1 / eta as many samples


@dataclass
class Counted:
    """A function with derivatives that counts the points at which each of them is evaluated."""

    vectorized: bool
    counts: dict[str, int] = field(default_factory=lambda: {"fun": 0, "jac": 0, "hess": 0})

    def _count(self, name, x):
        assert x.ndim == (2 if self.vectorized else 1)
        self.counts[name] += len(x) if self.vectorized else 1

    def fun(self, x):
        self._count("fun", x)
        return -0.5 * np.sum(x**2, axis=-1)

    def jac(self, x):
        self._count("jac", x)
        return -x

    def hess(self, x):
        self._count("hess", x)
        return -np.eye(x.shape[-1]) + 0.0 * x[..., None]

    @property
    def objective(self):
        return Objective(self.fun, self.jac, self.hess, self.vectorized)

    @property
    def triple(self):
        return tuple(self.counts.values())


def run(counted, algorithm, **settings):
    given = {
        "means": np.full((K, D), 0.4) + 0.1 * np.arange(K)[:, None],
        "covariances": COVARIANCES.get(algorithm.family, 0.02),
        "temperature": 0.1,
        "learning_rate": 0.01,
        "num_samples": B,
        "steps": T,
        "rng": 0,
    } | settings
    return anneal(counted.objective, algorithm=algorithm, **given)


def triple(result):
    return result.nfev, result.njev, result.nhev


FIXED = covariances.Fixed()
VALUES_AND_HESSIANS = Hessian(mean=BlackBox())
FAMILIES = [
    families.Gaussian(),
    families.Gamma(),
    families.Beta(),
    families.VonMises(),
    families.Bernoulli(),
    families.Product((families.Gaussian(), 1), (families.Bernoulli(), 1)),
]
EACH, SHARED = K * B * T, B * T

# (preset, its name, calls of l, of its gradient, of its Hessian), with the same mini-batch size B for all
TABLE = [
    ("nva_gm", "Hessian", presets.nva_gm(2), (EACH, EACH, EACH)),
    ("nva_gm", "Hessian, black-box means", presets.nva_gm(2, estimator=VALUES_AND_HESSIANS), (EACH, 0, EACH)),
    ("nva_gm", "gradient", presets.nva_gm(1), (EACH, EACH, 0)),
    ("nva_gm", "black-box", presets.nva_gm(0), (EACH, 0, 0)),
    ("nva_gm", "Hessian, fixed", presets.nva_gm(2, FIXED), (EACH, EACH, 0)),
    (
        "nva_gm",
        "Hessian, black-box means, fixed",
        presets.nva_gm(2, FIXED, estimator=VALUES_AND_HESSIANS),
        (EACH, 0, 0),
    ),
    ("nva_gm", "gradient, fixed", presets.nva_gm(1, FIXED), (EACH, EACH, 0)),
    ("nva_gm", "black-box, fixed", presets.nva_gm(0, FIXED), (EACH, 0, 0)),
    ("nva_gm_is", "Hessian", presets.nva_gm_is(2), (SHARED, SHARED, SHARED)),
    ("nva_gm_is", "Hessian, black-box means", presets.nva_gm_is(2, estimator=VALUES_AND_HESSIANS), (SHARED, 0, SHARED)),
    ("nva_gm_is", "gradient", presets.nva_gm_is(1), (SHARED, SHARED, 0)),
    ("nva_gm_is", "black-box", presets.nva_gm_is(0), (SHARED, 0, 0)),
    ("nva_gm_is", "Hessian, fixed", presets.nva_gm_is(2, FIXED), (SHARED, SHARED, 0)),
    ("nva_gm_is", "equal weights", presets.nva_gm_is(2, equal_weights=True), (SHARED, SHARED, SHARED)),
    ("nva_gm_is", "self-normalised", presets.nva_gm_is(2, self_normalized=True), (SHARED, SHARED, SHARED)),
    ("fs_nva_gm", "", presets.fs_nva_gm(), (EACH, 0, 0)),
    ("fs_nva_gm", "fixed", presets.fs_nva_gm(covariance=FIXED), (EACH, 0, 0)),
    ("fs_nva_gm_is", "", presets.fs_nva_gm_is(), (SHARED, 0, 0)),
    *[("snga_m", type(family).__name__, presets.snga_m(family), (EACH, 0, 0)) for family in FAMILIES],
    *[("nva_m", type(family).__name__, presets.nva_m(family), (EACH, 0, 0)) for family in FAMILIES],
]
ROWS = [pytest.param(algorithm, counts, id=f"{preset}-{name}") for preset, name, algorithm, counts in TABLE]


def concrete(module):
    return {cls for _, cls in inspect.getmembers(module, inspect.isclass) if not inspect.isabstract(cls)}


def test_every_preset_estimator_and_family_is_in_the_table():
    public = [name for name, _ in inspect.getmembers(presets, inspect.isfunction) if not name.startswith("_")]
    defined_there = {name for name in public if getattr(presets, name).__module__ == presets.__name__}
    assert defined_there == {preset for preset, *_ in TABLE}
    assert concrete(estimators) == {type(algorithm.estimator) for _, _, algorithm, _ in TABLE}
    assert concrete(families) == {type(algorithm.family) for _, _, algorithm, _ in TABLE}


@pytest.mark.parametrize("vectorized", [False, True], ids=["scalar", "vectorized"])
@pytest.mark.parametrize(("algorithm", "counts"), ROWS)
def test_counts_are_those_of_the_table(algorithm, counts, vectorized):
    counted = Counted(vectorized)
    result = run(counted, algorithm)
    assert result.status is Status.STEPS_DONE
    assert triple(result) == counts
    assert counted.triple == counts


@pytest.mark.parametrize(("preset", "calls"), [(presets.fs_nva_gm, K * T), (presets.fs_nva_gm_is, T)])
def test_fitness_shaping_takes_as_many_samples_more_as_it_does_not_select(preset, calls):
    selected = 4
    counted = Counted(True)
    result = run(counted, preset(), num_samples=round(selected / ETA))
    assert np.count_nonzero(result.algorithm.estimator.utility(16)) == selected
    assert triple(result) == counted.triple == (selected / ETA * calls, 0, 0)


@pytest.mark.parametrize(("algorithm", "counts"), ROWS)
def test_counts_with_the_default_sample_size(algorithm, counts):
    counted = Counted(True)
    result = run(counted, algorithm, num_samples=None)
    assert triple(result) == counted.triple == tuple(count // B * algorithm.num_samples for count in counts)


@pytest.mark.parametrize("vectorized", [False, True], ids=["scalar", "vectorized"])
@pytest.mark.parametrize(("algorithm", "counts"), ROWS)
def test_counts_follow_a_schedule_of_sample_sizes(algorithm, counts, vectorized):
    counted = Counted(vectorized)
    sizes = schedules.piecewise_constant((4.0, 9.0, 6.0), ends=(2, 3))
    result = run(counted, algorithm, num_samples=sizes)
    total = 2 * 4 + 1 * 9 + 4 * 6
    assert triple(result) == counted.triple == tuple(count // (B * T) * total for count in counts)


# --- budgets ----------------------------------------------------------------------------------------------------------

BUDGETS = [0, 1, B - 1, B, K * B - 1, K * B, K * B + 1, 3 * K * B + 2, EACH - 1, EACH, EACH + 1]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("algorithm", [presets.nva_gm(2), presets.nva_gm_is(1), presets.fs_nva_gm_is()])
def test_a_budget_is_never_exceeded_and_never_wasted(algorithm, budget):
    counted = Counted(False)
    result = run(counted, algorithm, max_evaluations=budget)
    per_step = algorithm.proposal.num_points(K, B)
    assert triple(result) == counted.triple
    assert result.nfev <= budget
    assert result.nit == result.nfev // per_step == min(T, budget // per_step)
    assert result.status is (Status.STEPS_DONE if result.nit == T else Status.BUDGET_SPENT)


@pytest.mark.parametrize("budget", range(0, 125, 7))
def test_a_budget_is_never_exceeded_with_a_schedule_of_sample_sizes(budget):
    counted = Counted(True)
    result = run(counted, presets.nva_gm(0), num_samples=lambda t: t, max_evaluations=budget)
    costs = K * np.arange(1, T + 1)
    assert result.nfev == counted.triple[0] == costs[: result.nit].sum() <= budget
    assert result.nit == T or result.nfev + costs[result.nit] > budget


def test_a_budget_holds_for_every_replicate():
    counted = Counted(True)
    results = run(counted, presets.nva_gm(2), max_evaluations=2 * K * B + 1, replicates=4)
    assert [each.nfev for each in results] == [2 * K * B] * 4
    assert triple(results) == counted.triple == (8 * K * B,) * 3


@pytest.mark.parametrize("budget", [0, K * B, EACH])
def test_the_jax_driver_reports_the_same_counts(budget):
    results = [
        anneal(
            Objective(lambda x: -(x**2).sum(), lambda x: -2 * x),
            algorithm=presets.nva_gm(1),
            means=np.zeros((K, D)) + np.arange(K)[:, None],
            covariances=1.0,
            temperature=0.1,
            learning_rate=0.01,
            num_samples=B,
            steps=T,
            rng=0,
            max_evaluations=budget,
            driver=driver,
        )
        for driver in ("numpy", "jax")
    ]
    for result in results:
        assert triple(result) == (budget, budget, 0)
    assert results[0].status is results[1].status


# --- runs that end early ----------------------------------------------------------------------------------------------


def test_a_callback_sees_the_count_so_far():
    counted = Counted(False)
    seen = []

    def callback(snapshot):
        seen.append((snapshot.nfev, counted.triple[0]))
        return len(seen) == 4

    result = run(counted, presets.nva_gm(2), callback=callback)
    assert seen == [(n, n) for n in K * B * np.arange(1, 5)]
    assert triple(result) == counted.triple == (4 * K * B,) * 3


def test_a_run_that_converges_counts_the_steps_it_made():
    counted = Counted(True)
    result = run(counted, presets.nva_gm(1), tolerance=1e3)
    assert result.status is Status.CONVERGED
    assert triple(result) == counted.triple == (K * B, K * B, 0)


def test_a_step_that_fails_is_counted_too():
    counted = Counted(True)

    def fun(x):
        values = counted.fun(x)
        return values if counted.triple[0] <= 3 * K * B else values + np.nan

    objective = Objective(fun, counted.jac, counted.hess, vectorized=True)
    result = anneal(
        objective,
        algorithm=presets.nva_gm(2),
        means=np.eye(K, D),
        covariances=1.0,
        temperature=0.1,
        learning_rate=0.01,
        num_samples=B,
        steps=T,
        rng=0,
    )
    assert result.status is Status.OBJECTIVE_NOT_FINITE
    assert result.nit == 3
    assert triple(result) == counted.triple == (4 * K * B,) * 3


def test_evaluations_of_a_prior_are_not_counted():
    counted, prior = Counted(False), Counted(False)
    result = run(counted, presets.nva_gm(2), log_prior=prior.objective)
    assert triple(result) == counted.triple == prior.triple == (EACH,) * 3


@pytest.mark.parametrize("budget", [K * B, EACH])
def test_a_jax_function_is_executed_as_often_as_reported(budget):
    """Counted while it is executed, not while it is traced."""
    executed = []

    def fun(x):
        jax.debug.callback(lambda x: executed.append(len(x)), x)
        return -0.5 * jax.numpy.sum(x**2, axis=-1)

    result = anneal(
        fun,
        algorithm=presets.nva_gm(0),
        means=np.eye(K, D),
        covariances=1.0,
        temperature=0.1,
        learning_rate=0.01,
        num_samples=B,
        steps=T,
        rng=0,
        vectorized=True,
        max_evaluations=budget,
    )
    jax.effects_barrier()
    assert result.nfev == budget
    assert sum(executed) == budget
