"""Both drivers take the same steps for the same seed, end the same way, and leave the world as they found it."""

from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

from allmodes import Objective, Status
from allmodes.arrays import leaves, namespace
from allmodes.nva import anneal, covariances, estimators, families, presets, proposals, schedules, updates, utilities
from allmodes.nva.annealing.control_variates import LeaveOneOut
from allmodes.objective import GRADIENT, HESSIAN, VALUE, autodiff
from allmodes.problems import symmetric_mixture

STEPS = 100
TOLERANCE = 1e-9  # relative to 1, or to the number itself where that is larger
PROBLEM = symmetric_mixture()
MEANS = np.array([[-1.2, 0.7], [1.0, 1.4], [0.3, -1.1], [-0.2, 0.1]])


@pytest.fixture(scope="module", autouse=True)
def _compile_once(tmp_path_factory):
    """Programs that occur twice in this file are compiled once."""
    wanted = {
        "jax_compilation_cache_dir": str(tmp_path_factory.mktemp("compiled")),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
    }
    before = {name: getattr(jax.config, name) for name in wanted}
    configure(wanted)
    yield
    configure(before)


def configure(values):
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def settings(**changes):
    return {
        "algorithm": presets.nva_gm(order=2),
        "means": MEANS,
        "covariances": 1.0,
        "temperature": schedules.power(1.0, 1.0),
        "learning_rate": 0.05,
        "steps": STEPS,
        "rng": 3,
    } | changes


def both(objective=PROBLEM.objective, **changes):
    """The run under NumPy and the run under JAX."""
    return [anneal(objective, driver=driver, **settings(**changes)) for driver in ("numpy", "jax")]


def close(a, b):
    return np.allclose(np.asarray(a), np.asarray(b), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def assert_same(a, b):
    """Two runs that cannot be told apart."""
    assert (a.status, a.nit) == (b.status, b.nit)
    assert (a.nfev, a.njev, a.nhev) == (b.nfev, b.njev, b.nhev)
    for x, y in zip(leaves(a.mixture), leaves(b.mixture), strict=True):
        assert close(x, y)
    assert close(a.means, b.means)
    assert close(a.covariances, b.covariances)
    assert close(a.weights, b.weights)
    assert close(a.best_value, b.best_value)
    assert close(a.best_x, b.best_x)
    assert (a.failure_point is None) == (b.failure_point is None)
    assert a.failure_point is None or close(a.failure_point, b.failure_point)
    assert_same_trace(a.trace, b.trace)


def assert_same_trace(a, b):
    assert a.step.tolist() == b.step.tolist()
    for name in ("temperature", "learning_rate", "means", "weights", "mean_values", "best_value"):
        assert close(getattr(a, name), getattr(b, name)), name


# --- every preset, order, structure and family ------------------------------------------------------------------------


def walk(module, base):
    """The concrete members of an axis."""
    found = {cls for _, cls in inspect.getmembers(module, inspect.isclass) if issubclass(cls, base)}
    return [cls() for cls in sorted(found, key=lambda cls: cls.__name__) if not inspect.isabstract(cls)]


STRUCTURES = walk(covariances, covariances.Covariance)
FAMILIES = walk(families, families.Family)
PRESETS = {
    name: preset
    for name, preset in inspect.getmembers(presets, inspect.isfunction)
    if preset.__module__ == presets.__name__ and not name.startswith("_")
}


def choices(preset):
    """Every order, Hessians with every structure, and every family once."""
    parameters = inspect.signature(preset).parameters
    if preset is presets.nva_gm:
        # values and gradients with full covariances come in other presets
        lower = [{"order": order, "covariance": covariances.Isotropic()} for order in (0, 1)]
        return [*lower, *({"order": 2, "covariance": structure} for structure in STRUCTURES)]
    if "order" in parameters:
        return [{"order": order, "covariance": STRUCTURES[order % len(STRUCTURES)]} for order in (0, 1, 2)]
    # snga_m differs from nva_m in nothing but its constant temperature
    return [{"family": family} for family in FAMILIES] if preset is presets.nva_m else [{}]


ALGORITHMS = [preset(**choice) for preset in PRESETS.values() for choice in choices(preset)]
ALGORITHMS += [
    presets.nva_gm(2, covariances.Fixed(covariances.Diagonal())),
    presets.nva_gm(2, estimator=estimators.Hessian(mean=estimators.BlackBox(LeaveOneOut()))),
    presets.nva_gm(1, rule=updates.NaturalGradient()),
    presets.fs_nva_gm_is(
        utilities.NormalOrderStatistics(), covariances.Diagonal(), equal_weights=True, self_normalized=True
    ),
]


def label(algorithm):
    parts = (algorithm.name, algorithm.family, algorithm.estimator, algorithm.proposal, algorithm.rule)
    return "-".join(str(part) for part in parts).replace("covariance=", "").replace("ImprovedBLR()", "")


def waves(x):
    """Defined everywhere, with several modes."""
    return namespace(x).sum(namespace(x).sin(3.0 * x) - x**2, axis=-1)


# What a family can start from: coordinates between 0 and 1 suit all of them.
SPREADS = {"Bernoulli": None, "Product": [0.3, None]}


def starting_point(algorithm):
    name = type(algorithm.family).__name__
    if name == "Gaussian":
        return PROBLEM.objective, {"means": MEANS, "covariances": 1.0}
    means = np.array([[0.2, 0.6], [0.7, 0.3], [0.5, 0.5]])
    return Objective(waves, vectorized=True), {"means": means, "covariances": SPREADS.get(name, 0.02)}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=label)
def test_drivers_agree(algorithm):
    objective, start = starting_point(algorithm)
    temperature = schedules.power(0.5, 1.0) if algorithm.is_annealed else 0.05
    a, b = both(objective, algorithm=algorithm, temperature=temperature, learning_rate=0.02, **start)
    assert a.status is Status.STEPS_DONE
    assert a.nit == STEPS
    assert not close(a.means, start["means"])  # something happened
    assert_same(a, b)


def test_another_seed_gives_another_run():
    a, b = (anneal(PROBLEM.objective, **settings(rng=seed)) for seed in (3, 4))
    assert not close(a.means, b.means)


def test_every_member_of_every_axis_is_among_the_algorithms():
    assert {type(a.family) for a in ALGORITHMS} == {type(family) for family in FAMILIES}
    assert {type(a.estimator) for a in ALGORITHMS} == {type(e) for e in walk(estimators, estimators.Estimator)}
    assert {type(a.proposal) for a in ALGORITHMS} == {type(p) for p in walk(proposals, proposals.Proposal)}
    assert {type(a.rule) for a in ALGORITHMS} == {updates.ImprovedBLR, updates.NaturalGradient}
    gaussian = [a.family.covariance for a in ALGORITHMS if isinstance(a.family, families.Gaussian)]
    assert {type(c) for c in gaussian} == {type(structure) for structure in STRUCTURES} | {covariances.Fixed}


# --- what may be added to a run ---------------------------------------------------------------------------------------


def quadratic_prior(x):
    return -0.5 * namespace(x).sum((x - 0.5) ** 2, axis=-1)


PRIOR = Objective(
    quadratic_prior, lambda x: 0.5 - x, lambda x: -namespace(x).eye(2) + 0.0 * x[..., None], vectorized=True
)
# Three stretches of steps with one sample size each: JAX compiles and calls back stretch by stretch.
STRETCHES = {"num_samples": schedules.piecewise_constant((4.0, 6.0, 4.0), ends=(10, 20)), "steps": 30}
EXTRAS = {
    "log_prior, weights": {"log_prior": PRIOR, "weights": [0.1, 0.2, 0.3, 0.4]},
    "damping, burn_in, weight_limit": {"algorithm": presets.nva_gm(2, damping=1e-3, burn_in=20, weight_limit=0.3)},
    "damping, diagonal": {"algorithm": presets.nva_gm(1, covariances.Diagonal(), damping=1e-3)},
    "num_samples schedule": STRETCHES,
    "no steps": {"steps": 0},
    "no budget": {"max_evaluations": 15},
    "two chunks, the second one padded": {"algorithm": presets.nva_gm(1), "steps": 1001, "trace_every": 90},
}


@pytest.mark.parametrize("extra", EXTRAS)
def test_drivers_agree_on_extras(extra):
    a, b = both(**EXTRAS[extra])
    assert_same(a, b)
    assert a.trace.step[-1] == a.nit  # the last entry of a trace is the end
    plain = anneal(PROBLEM.objective, **settings())
    assert not (a.nit == plain.nit and close(a.means, plain.means))


def test_weight_limit_and_burn_in_do_what_they_say():
    run = anneal(PROBLEM.objective, **settings(algorithm=presets.nva_gm(2, burn_in=STEPS, weight_limit=0.01)))
    assert np.abs(run.mixture.log_ratios).max() == pytest.approx(0.01)
    assert close(run.covariances, np.broadcast_to(np.eye(2), (4, 2, 2)))


def test_budget_ends_both_alike():
    a, b = both(max_evaluations=STEPS * 16 + 7, steps=2 * STEPS)
    assert (a.status, a.nit, a.nfev) == (Status.BUDGET_SPENT, STEPS, STEPS * 16)
    assert_same(a, b)


def test_tolerance_stops_both_at_the_same_step():
    a, b = both(temperature=schedules.power(1.0, 1.5), tolerance=2e-3, steps=400)
    assert a.status is Status.CONVERGED
    assert 10 < a.nit < 400
    assert_same(a, b)


# --- replicates -------------------------------------------------------------------------------------------------------

STARTS = MEANS + 0.2 * np.arange(3)[:, None, None]


@pytest.mark.parametrize(
    "algorithm", [presets.nva_gm(2), presets.fs_nva_gm_is(covariance=covariances.Diagonal())], ids=label
)
def test_replicates_are_runs_with_spawned_generators(algorithm):
    a, b = both(algorithm=algorithm, means=STARTS, replicates=3, rng=8)
    children = np.random.default_rng(8).spawn(3)
    singles = [
        anneal(PROBLEM.objective, **settings(algorithm=algorithm, means=start, rng=child))
        for start, child in zip(STARTS, children, strict=True)
    ]
    assert len(a) == len(b) == 3
    for one, other, single in zip(a, b, singles, strict=True):
        assert_same(one, single)
        assert_same(other, single)
    assert a.means.shape == b.means.shape == (3, 4, 2)
    assert not close(a.means[0], a.means[1])


# --- runs that go wrong -----------------------------------------------------------------------------------------------


def cliff(x):
    """Uphill to the right, and not a number beyond 4."""
    return namespace(x).where(x[..., 0] > 4.0, np.nan, x[..., 0] - 0.1 * x[..., 1] ** 2)


def bowl(x):
    """Curved upwards: the plain rule lowers the precision until there is none left."""
    return 0.5 * namespace(x).sum(x**2, axis=-1)


BOWL = Objective(bowl, lambda x: x, lambda x: namespace(x).eye(2) + 0.0 * x[..., None], vectorized=True)
PLAIN = updates.NaturalGradient()
CLIFF = Objective(
    cliff, lambda x: namespace(x).stack([1.0 + 0.0 * x[..., 0], -0.2 * x[..., 1]], axis=-1), vectorized=True
)
WAVES = Objective(waves, lambda x: 3.0 * namespace(x).cos(3.0 * x) - 2.0 * x, vectorized=True)
DRIFT = {"algorithm": presets.nva_gm(1), "covariances": 0.1}
FAILURES = {
    "not finite": (CLIFF, DRIFT | {"temperature": 0.5}, Status.OBJECTIVE_NOT_FINITE),
    "prior not finite": (
        WAVES,
        DRIFT | {"temperature": 3.0, "log_prior": CLIFF},
        Status.PRIOR_NOT_FINITE,
    ),
    "left the domain": (
        BOWL,
        {"algorithm": presets.nva_gm(2, rule=PLAIN), "temperature": 0.01, "learning_rate": 0.02},
        Status.LEFT_DOMAIN,
    ),
    "diverged": (
        PROBLEM.objective,
        {"algorithm": presets.fs_nva_gm(), "learning_rate": 20.0, "steps": 400},
        Status.DIVERGED,
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_drivers_fail_alike(failure):
    objective, changes, status = FAILURES[failure]
    a, b = both(objective, **changes)
    assert a.status is status
    assert 3 <= a.nit < a.trace.step[-1] + 1
    assert np.isfinite(a.means).all()
    assert np.isfinite(a.covariances).all()
    assert_same(a, b)
    blames_a_point = status in (Status.OBJECTIVE_NOT_FINITE, Status.PRIOR_NOT_FINITE)
    assert (a.failure_point is not None) == blames_a_point
    # The mixture is the one before the step that failed.
    before = anneal(objective, **settings(**changes | {"steps": a.nit}))
    assert before.success
    assert close(before.means, a.means)


def test_replicates_fail_one_by_one():
    objective, changes, status = FAILURES["not finite"]
    a, b = both(objective, **changes, replicates=4)
    assert len({run.nit for run in a}) > 1
    assert status in a.status
    for one, other in zip(a, b, strict=True):
        assert_same(one, other)


def test_traces_of_failed_runs_agree_when_thinned():
    objective, changes, _ = FAILURES["not finite"]
    whole = anneal(objective, **settings(**changes))
    a, b = both(objective, **changes, trace_every=7)
    kept = np.flatnonzero((whole.trace.step % 7 == 0) | (whole.trace.step == whole.nit))
    for run in (b, a):
        assert run.trace.step.tolist() == whole.trace.step[kept].tolist()
        for name in ("means", "weights", "mean_values", "best_value"):
            assert close(getattr(run.trace, name), getattr(whole.trace, name)[kept]), name


def fails_for_many(x):
    """Not a number as soon as a batch has more than 20 points."""
    return waves(x) + (np.nan if len(x) > 20 else 0.0)


def test_a_failure_in_the_first_step_of_a_chunk_leaves_the_trace_complete():
    # The sample size changes after step 10, which is where one compiled stretch ends and the next begins.
    sizes = schedules.piecewise_constant((4.0, 6.0), ends=(10,))
    a, b = both(
        Objective(fails_for_many, vectorized=True), algorithm=presets.nva_gm(0), num_samples=sizes, trace_every=7,
        learning_rate=0.01,
    )  # fmt: skip
    for run in (a, b):
        assert (run.status, run.nit) == (Status.OBJECTIVE_NOT_FINITE, 10)
        assert run.trace.step.tolist() == [0, 7, 10]


def test_a_component_that_no_point_counts_for_stays_where_it_is():
    # A hundred spreads away from every point all importance weights of the second component underflow to 0.
    a, b = both(algorithm=presets.fs_nva_gm_is(), means=[[0.0, 0.0], [100.0, 0.0]], weights=[1 - 1e-12, 1e-12], steps=5)
    for run in (a, b):
        assert run.status is Status.STEPS_DONE
        assert run.means[1].tolist() == [100.0, 0.0]
    assert_same(a, b)


# --- callbacks and interruptions --------------------------------------------------------------------------------------


def raise_stop(snapshot):
    if snapshot.step >= 10:
        raise StopIteration


def raise_interrupt(snapshot):
    if snapshot.step >= 10:
        raise KeyboardInterrupt


CALLBACKS = {
    "returns True": (lambda snapshot: snapshot.step >= 10, Status.STOPPED),
    "raises StopIteration": (raise_stop, Status.STOPPED),
    "raises KeyboardInterrupt": (raise_interrupt, Status.INTERRUPTED),
}


@pytest.mark.parametrize("kind", CALLBACKS)
def test_callback_ends_both_alike(kind):
    callback, status = CALLBACKS[kind]
    a, b = both(callback=callback, **STRETCHES, trace_every=7)
    for run in (a, b):
        assert (run.status, run.nit, run.nfev) == (status, 10, 160)
        assert run.trace.step.tolist() == [0, 7, 10]
    assert_same(a, b)
    assert_same_trace(anneal(PROBLEM.objective, **settings(steps=10, trace_every=7)).trace, a.trace)


def test_callbacks_see_the_state_of_the_run():
    seen = {"numpy": [], "jax": []}
    for driver, snapshots in seen.items():
        anneal(PROBLEM.objective, **settings(callback=snapshots.append, **STRETCHES), driver=driver)
    assert [s.step for s in seen["numpy"]] == list(range(1, 31))
    assert [s.step for s in seen["jax"]] == [10, 20, 30]
    for snapshot in seen["jax"]:
        twin = seen["numpy"][snapshot.step - 1]
        assert all(close(x, y) for x, y in zip(snapshot, twin, strict=True))


def test_callbacks_are_not_told_of_steps_that_were_not_made():
    for driver in ("numpy", "jax"):
        seen = []
        changes = {"temperature": schedules.power(1.0, 1.5), "tolerance": 2e-3, "steps": 400}
        run = anneal(PROBLEM.objective, **settings(callback=seen.append, **changes), driver=driver)
        assert run.status is Status.CONVERGED
        assert (seen[-1].step, seen[-1].nfev) == (run.nit, run.nfev)


class Interrupted:
    """A function that is interrupted from the keyboard at its n-th evaluation."""

    def __init__(self, n):
        self.left = n

    def __call__(self, x):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return float(waves(x))


def test_interrupted_objective_returns_the_last_finished_step():
    changes = {"algorithm": presets.nva_gm(0), "learning_rate": 0.01}
    run = anneal(Interrupted(16 * 5 + 3), **settings(**changes))
    assert (run.status, run.nit) == (Status.INTERRUPTED, 5)
    assert not run.success
    before = anneal(waves, **settings(**changes, steps=5))
    assert close(run.means, before.means)
    assert_same_trace(run.trace, before.trace)


def test_objective_interrupted_at_once_returns_the_start():
    run = anneal(Interrupted(1), **settings(algorithm=presets.nva_gm(0)))
    assert (run.status, run.nit) == (Status.INTERRUPTED, 0)
    assert close(run.means, MEANS)


def test_an_interrupted_replicate_is_the_last():
    runs = anneal(Interrupted(16 * 10 + 16 * 5 + 3), **settings(algorithm=presets.nva_gm(0), steps=10, replicates=4))
    assert [(run.status, run.nit) for run in runs] == [(Status.STEPS_DONE, 10), (Status.INTERRUPTED, 5)]


# --- the world outside ------------------------------------------------------------------------------------------------


def in_jax(x):
    """A scalar function of one point, in JAX, with derivatives known below."""
    return jnp.sum(jnp.sin(3.0 * x)) - x @ x + 0.3 * x[0] * x[1] ** 2


def gradients(x):
    a, b = x[:, 0], x[:, 1]
    return 3.0 * np.cos(3.0 * x) - 2.0 * x + 0.3 * np.stack([b**2, 2 * a * b], axis=-1)


def hessians(x):
    a, b = x[:, 0], x[:, 1]
    off = 0.6 * b
    own = -9.0 * np.sin(3.0 * x) - 2.0 + np.stack([0.0 * a, 0.6 * a], axis=-1)
    return np.stack([np.stack([own[:, 0], off], axis=-1), np.stack([off, own[:, 1]], axis=-1)], axis=-2)


def values(x):
    return np.sum(np.sin(3.0 * x), axis=-1) - np.sum(x**2, axis=-1) + 0.3 * x[:, 0] * x[:, 1] ** 2


ANALYTIC = Objective(values, gradients, hessians, vectorized=True)
POINTS = np.random.default_rng(0).normal(size=(50, 2))


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(
    "needs", [VALUE, GRADIENT, HESSIAN, GRADIENT | HESSIAN], ids=lambda needs: "+".join(sorted(needs))
)
def test_derived_derivatives_are_exact(needs, vectorized):
    function = jax.vmap(in_jax) if vectorized else in_jax
    derived = autodiff.compiled(Objective(function, vectorized=vectorized), needs)(POINTS)
    for got, wanted in zip(derived, ANALYTIC.evaluate(POINTS, needs), strict=True):
        assert (got is None) == (wanted is None)
        if got is not None:
            assert isinstance(got, np.ndarray)
            assert got.dtype == np.float64
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", [0, 2])
def test_a_jax_function_needs_no_derivatives_under_either_driver(order):
    changes = {"algorithm": presets.nva_gm(order), "learning_rate": 0.01}
    by_hand = anneal(ANALYTIC, **settings(**changes))
    for run in both(in_jax, **changes):
        assert_same(run, by_hand)
        assert run.best_value == pytest.approx(values(run.best_x[None])[0], rel=1e-14)


def test_a_jax_function_is_evaluated_in_float64_from_the_first_point_on():
    run = anneal(in_jax, **settings(algorithm=presets.nva_gm(0), steps=1))
    assert run.best_value == pytest.approx(values(run.best_x[None])[0], rel=1e-14)


@pytest.mark.parametrize("driver", ["numpy", "jax"])
@pytest.mark.parametrize("x64", [False, True])
def test_flags_and_random_states_are_left_alone(driver, x64):
    with jax.enable_x64(x64):
        flag, state = jax.config.jax_enable_x64, np.random.get_state()  # noqa: NPY002
        generator = np.random.default_rng(5)
        result = anneal(in_jax, **settings(algorithm=presets.nva_gm(1), rng=generator, steps=5), driver=driver)
        assert jax.config.jax_enable_x64 is flag is x64
        assert jnp.asarray([1.0]).dtype == (jnp.float64 if x64 else jnp.float32)
        assert jnp.sin(jnp.ones(2)).dtype == (jnp.float64 if x64 else jnp.float32)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))
    # What is drawn from the caller's generator afterwards does not depend on the driver.
    twin = np.random.default_rng(5)
    twin.standard_normal((5, 4, 4, 2))
    assert generator.random() == twin.random()
    # Whatever a run returns is NumPy in float64.
    for leaf in [*leaves(result.mixture), result.best_x, result.trace.means, result.trace.best_value]:
        assert type(leaf) is np.ndarray
        assert leaf.dtype == np.float64


def test_flags_are_left_alone_when_the_objective_raises():
    def broken(x):
        raise RuntimeError("broken")

    for driver, error in (("numpy", RuntimeError), ("jax", ValueError)):
        with pytest.raises(error, match="broken"):
            anneal(broken, **settings(algorithm=presets.nva_gm(0)), driver=driver)
        assert not jax.config.jax_enable_x64


def test_the_same_call_again_compiles_nothing():
    """The function is traced once, and anew for another function object."""
    traces = []

    def function(x):
        traces.append(x)
        return -((x - 1.0) ** 2).sum()

    def run(fun, **given):
        settings = {"algorithm": presets.nva_gm(order=0), "means": MEANS, "covariances": 1.0, "steps": 5, "rng": 0}
        settings |= {"temperature": 0.1, "learning_rate": 0.05, "driver": "jax"} | given
        return anneal(fun, **settings)

    first = run(function)
    before = len(traces)
    again = run(function, rng=1)
    assert len(traces) - before < before  # it is looked at before it is compiled, no more than that
    once = len(traces) - before
    assert not np.array_equal(first.means, again.means)
    run(lambda x: function(x))
    assert len(traces) - before - once > once
