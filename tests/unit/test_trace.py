"""How a run went: which steps are kept, and that the first and the last entry are the start and the end."""

import numpy as np
import pytest
from functions import bowl

from allmodes import Status
from allmodes.nva import anneal, presets, schedules
from allmodes.nva.mixture.covariances import Fixed, Isotropic

drivers = pytest.mark.parametrize("driver", ["numpy", "jax"])
MEANS = np.array([[1.0, 0.5], [-1.0, 0.0]])


def run_with(driver="numpy", fun=bowl, **changes):
    settings = {
        "algorithm": presets.nva_gm(order=0),
        "means": MEANS,
        "covariances": 0.5,
        "weights": [0.25, 0.75],
        "temperature": schedules.power(2.0, 1.0),
        "learning_rate": schedules.coupled(0.01, 0.5),
        "steps": 25,
        "rng": 0,
        "driver": driver,
    }
    return anneal(fun, **settings | changes)


@pytest.fixture(scope="module", params=["numpy", "jax"])
def run(request):
    return run_with(request.param)


def test_the_first_entry_is_the_start_and_the_last_is_the_end(run):
    trace = run.trace
    assert len(trace) == 26
    np.testing.assert_array_equal(trace.step, np.arange(26))
    np.testing.assert_array_equal(trace.means[0], MEANS)
    np.testing.assert_allclose(trace.weights[0], [0.25, 0.75], rtol=1e-14)
    assert np.isnan(trace.mean_values[0]).all()
    assert trace.best_value[0] == -np.inf
    np.testing.assert_allclose(trace.means[-1], run.means, rtol=1e-14)
    np.testing.assert_allclose(trace.weights[-1], run.weights, rtol=1e-14)
    assert trace.best_value[-1] == run.best_value


def test_entries_carry_the_temperature_and_learning_rate_that_led_to_them(run):
    t = np.maximum(run.trace.step, 1)
    np.testing.assert_allclose(run.trace.temperature, 2.0 / t, rtol=1e-14)
    np.testing.assert_allclose(run.trace.learning_rate, 0.01 * np.sqrt(t), rtol=1e-14)


def test_shapes_and_orders(run):
    trace = run.trace
    assert trace.means.shape == (26, 2, 2)
    assert trace.weights.shape == (26, 2)
    assert trace.mean_values.shape == (26, 2)
    np.testing.assert_allclose(trace.weights.sum(axis=1), 1.0)
    assert (np.diff(trace.best_value) >= 0).all()
    assert np.isfinite(trace.mean_values[1:]).all()
    assert (trace.mean_values[1:].max(axis=1) <= trace.best_value[1:]).all()


@pytest.mark.parametrize(
    ("every", "kept"),
    [
        (1, list(range(26))),
        (5, [0, 5, 10, 15, 20, 25]),
        (7, [0, 7, 14, 21, 25]),
        (25, [0, 25]),
        (1000, [0, 25]),
    ],
)
def test_every_so_many_steps_are_kept_and_always_the_last(every, kept):
    whole, thin = run_with().trace, run_with(trace_every=every).trace
    assert thin.step.tolist() == kept
    for name in ("temperature", "learning_rate", "means", "weights", "mean_values", "best_value"):
        np.testing.assert_array_equal(getattr(thin, name), getattr(whole, name)[kept])


def test_both_drivers_keep_the_same_steps():
    ours, theirs = (run_with(driver, trace_every=7).trace for driver in ("numpy", "jax"))
    assert theirs.step.tolist() == [0, 7, 14, 21, 25]
    for name in ("temperature", "learning_rate", "means", "weights", "mean_values", "best_value"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-9, atol=1e-12, err_msg=name)


@drivers
def test_a_run_of_no_steps_has_a_trace_of_one_entry(driver):
    trace = run_with(driver, steps=0).trace
    assert trace.step.tolist() == [0]
    np.testing.assert_array_equal(trace.means[0], MEANS)
    assert np.isnan(trace.temperature).all()


@drivers
def test_a_run_cut_short_by_its_budget_ends_its_trace_there(driver):
    run = run_with(driver, max_evaluations=8 * 9 + 3, trace_every=4)
    assert run.status is Status.BUDGET_SPENT
    assert run.trace.step.tolist() == [0, 4, 8, 9]


@drivers
def test_a_run_that_converges_ends_its_trace_there(driver):
    run = run_with(driver, tolerance=1e6, trace_every=4)
    assert run.status is Status.CONVERGED
    assert run.trace.step.tolist() == [0, 1]


@drivers
def test_a_run_stopped_by_its_callback_ends_its_trace_there(driver):
    run = run_with(driver, steps=2500, trace_every=300, callback=lambda seen: seen.step >= 1000)
    assert run.status is Status.STOPPED
    assert run.trace.step[-1] == run.nit
    np.testing.assert_allclose(run.trace.means[-1], run.means, rtol=1e-14)


def trap(x):
    """Not a number once a sample strays: the run fails after a few good steps."""
    return np.nan if x[0] > 2.2 else -(x**2).sum()


def test_a_run_that_fails_ends_its_trace_with_its_last_good_step():
    """The last entry is the same whether or not the steps before it are kept."""
    whole, thin = run_with(fun=trap, steps=200), run_with(fun=trap, steps=200, trace_every=1000)
    assert whole.status is thin.status is Status.OBJECTIVE_NOT_FINITE
    assert 1 < whole.nit < 200
    assert thin.trace.step.tolist() == [0, whole.nit]
    for name in ("temperature", "learning_rate", "means", "weights", "mean_values", "best_value"):
        np.testing.assert_array_equal(getattr(thin.trace, name)[-1], getattr(whole.trace, name)[-1], err_msg=name)


def test_a_run_that_fails_at_once_has_a_trace_of_its_start():
    run = run_with(fun=lambda x: np.nan)
    assert run.nit == 0
    assert run.trace.step.tolist() == [0]


@drivers
def test_replicates_have_traces_of_their_own(driver):
    runs = run_with(driver, replicates=3, trace_every=10)
    assert [trace.step.tolist() for trace in runs.trace] == [[0, 10, 20, 25]] * 3
    for run in runs:
        np.testing.assert_allclose(run.trace.means[-1], run.means, rtol=1e-14)


def test_a_trace_that_would_be_too_large_is_thinned():
    """At most 2^23 numbers (64 MB), K (d + 2) of them per step, and no fewer than half of that."""
    K, d, steps = 2000, 2, 1100
    run = run_with(
        fun=bowl,
        algorithm=presets.nva_gm_is(0, Fixed(Isotropic())),
        means=np.random.default_rng(0).normal(size=(K, d)),
        weights=None,
        num_samples=1,
        steps=steps,
        learning_rate=1e-6,
    )
    assert run.trace.step[:3].tolist() == [0, 2, 4]
    assert run.trace.step[-1] == steps
    assert 2**22 <= len(run.trace) * K * (d + 2) <= 2**23


@pytest.mark.parametrize(
    ("budget", "steps"), [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2), (10, 3), (11, 3), (12, 4), (99, 4)]
)
def test_a_budget_allows_whole_steps(budget, steps):
    sizes = schedules.piecewise_constant((2, 1), ends=(2,))  # 4, 4, 2, 2 points in four steps of two components
    run = run_with(steps=4, num_samples=sizes, max_evaluations=budget)
    assert run.nit == steps
    assert run.nfev <= budget
    assert run.status is (Status.STEPS_DONE if steps == 4 else Status.BUDGET_SPENT)
