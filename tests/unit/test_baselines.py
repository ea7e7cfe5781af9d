"""Baselines: K independent instances, counted, reproducible, and apart from each other."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

from allmodes import Objective, Status
from allmodes.baselines import parallel_cma_es, parallel_newton, parallel_sga
from allmodes.nva import schedules
from allmodes.problems import styblinski_tang, symmetric_mixture

TANG = styblinski_tang(2)
QUARTIC = Objective(
    lambda x: -(x**4 / 4 - x**2 / 2).sum(axis=1),
    lambda x: x - x**3,
    lambda x: (1 - 3 * x**2)[..., None] * np.eye(x.shape[1]),
    vectorized=True,
)  # maxima at -1 and 1 in every coordinate, a minimum at 0


def starts(problem, *shape):
    low, high = problem.bounds.T
    return np.random.default_rng(5).uniform(low, high, (*shape, len(low)))


# --- gradient ascent


def test_sga_makes_the_steps_of_gradient_ascent():
    run = parallel_sga(QUARTIC, [[0.5], [-2.0]], learning_rate=schedules.power(0.2, 0.55), steps=3)
    x = np.array([[0.5], [-2.0]])
    for t in (1, 2, 3):
        x = x + 0.2 * t**-0.55 * (x - x**3)
    np.testing.assert_allclose(run.points, x, rtol=1e-14)
    np.testing.assert_allclose(run.values, QUARTIC.fun(x), rtol=1e-14)
    assert run.status == Status.STEPS_DONE
    assert (run.nit, run.nfev, run.njev, run.nhev) == (3, 2, 6, 0)


def test_sga_climbs_to_the_mode_uphill():
    points = starts(TANG, 20)
    run = parallel_sga(TANG.objective, points, learning_rate=0.01, steps=2000)
    nearest = np.abs(run.points[:, None] - TANG.modes).max(axis=2).min(axis=1)
    assert nearest.max() < 1e-6
    assert (run.values >= TANG.objective.fun(points)).all()


def test_replicates_are_the_same_as_single_runs():
    points = starts(TANG, 3, 4)
    both = parallel_sga(TANG.objective, points, learning_rate=0.01, steps=50)
    assert both.points.shape == (3, 4, 2)
    assert both.values.shape == (3, 4)
    assert both.trace.shape == (51, 3, 4, 2)
    for given, ended in zip(points, both.points, strict=True):
        alone = parallel_sga(TANG.objective, given, learning_rate=0.01, steps=50)
        np.testing.assert_array_equal(alone.points, ended)


def test_plain_functions_and_batches_do_the_same():
    one = parallel_sga(
        lambda x: float(QUARTIC.fun(x[None])[0]), [[0.5], [-2.0]], jac=lambda x: x - x**3, learning_rate=0.1, steps=5
    )
    batch = parallel_sga(QUARTIC.fun, [[0.5], [-2.0]], jac=QUARTIC.jac, vectorized=True, learning_rate=0.1, steps=5)
    np.testing.assert_array_equal(one.points, batch.points)
    assert (one.nfev, one.njev) == (batch.nfev, batch.njev) == (2, 10)


def test_an_instance_that_diverges_is_nan_and_leaves_the_others_alone():
    run = parallel_sga(QUARTIC, [[0.5], [50.0], [-0.5]], learning_rate=0.5, steps=40)
    assert run.status == Status.DIVERGED
    assert run.has_diverged.tolist() == [False, True, False]
    np.testing.assert_allclose(run.points[[0, 2]], [[1.0], [-1.0]], atol=1e-9)
    assert np.isnan(run.values).tolist() == [False, True, False]
    assert "1 of 3 instances" in run.message
    assert "learning rate" in run.message
    assert 80 < run.njev < 90  # nothing is evaluated for it any more
    assert run.nfev == 2


def test_the_published_rate_diverges_on_styblinski_tang():
    problem = styblinski_tang(4)
    run = parallel_sga(problem.objective, starts(problem, 30), learning_rate=schedules.power(1.0, 0.55), steps=50)
    assert run.has_diverged.all()
    assert run.nit < 20
    assert run.nfev == 0


def test_without_end_values_the_objective_is_never_called():
    def fun(x):
        raise AssertionError("called")

    run = parallel_sga(fun, [[0.5]], jac=lambda x: x - x**3, learning_rate=0.1, steps=5, end_values=False)
    assert run.nfev == 0
    assert np.isnan(run.values).all()
    assert run.status == Status.STEPS_DONE


def test_an_instance_stops_when_it_hardly_moves():
    run = parallel_sga(QUARTIC, [[0.9], [1e-3]], learning_rate=0.2, steps=5000, tolerance=1e-8)
    assert run.status == Status.CONVERGED
    np.testing.assert_allclose(run.points, 1.0, atol=1e-7)
    assert run.nit < 100
    assert run.njev < 2 * run.nit  # the first one stopped earlier
    assert "stopped by itself" in run.message


def test_noisy_gradients_are_averaged():
    rng = np.random.default_rng(0)

    def noisy(x):
        return -x + rng.normal(size=x.shape)

    def spread(num_samples):
        run = parallel_sga(lambda x: -(x**2).sum(axis=1), np.zeros((4000, 1)), jac=noisy, vectorized=True,
                           learning_rate=1.0, steps=1, num_samples=num_samples)  # fmt: skip
        assert run.njev == 4000 * num_samples
        return run.points.std()

    # A standard deviation of 4000 normals has a relative error of 1 / sqrt(8000).
    assert spread(1) == pytest.approx(1.0, abs=5 / np.sqrt(8000))
    assert spread(16) == pytest.approx(0.25, abs=0.25 * 5 / np.sqrt(8000))


def test_smoothing_follows_the_gradient_of_the_smoothed_objective():
    # E[(x + s z) - (x + s z)^3] = x - x^3 - 3 s^2 x
    x, s, B = 1.5, 0.5, 100_000
    run = parallel_sga(QUARTIC, [[x]], learning_rate=1.0, steps=1, num_samples=B, smoothing=s, rng=1)
    z = np.random.default_rng(0).normal(size=100_000)
    error = 5 * np.std((x + s * z) ** 3) / np.sqrt(B)
    moved = run.points[0, 0] - x
    assert moved == pytest.approx(x - x**3 - 3 * s**2 * x, abs=error)
    assert moved != pytest.approx(x - x**3, abs=error)
    again = parallel_sga(QUARTIC, [[x]], learning_rate=1.0, steps=1, num_samples=B, smoothing=s, rng=1)
    np.testing.assert_array_equal(run.points, again.points)


def test_with_smoothing_a_diverging_instance_does_not_change_the_others():
    settings = {"learning_rate": 0.5, "steps": 10, "smoothing": 0.1, "num_samples": 2}
    good = parallel_sga(QUARTIC, [[0.5], [0.6]], rng=3, **settings)
    bad = parallel_sga(QUARTIC, [[0.5], [90.0]], rng=3, **settings)
    np.testing.assert_array_equal(good.points[0], bad.points[0])
    assert bad.has_diverged.tolist() == [False, True]


def test_the_trace_is_thinned_and_ends_at_the_end():
    run = parallel_sga(QUARTIC, [[0.5]], learning_rate=0.1, steps=25, trace_every=10)
    assert run.trace_steps.tolist() == [0, 10, 20, 25]
    np.testing.assert_array_equal(run.trace[0], [[0.5]])
    np.testing.assert_array_equal(run.trace[-1], run.points)
    assert len(parallel_sga(QUARTIC, [[0.5]], learning_rate=0.1, steps=2500).trace) <= 1001
    assert parallel_sga(QUARTIC, [[0.5]], learning_rate=0.1, steps=0).points.tolist() == [[0.5]]


def test_the_starts_are_not_changed():
    given = np.array([[0.5], [0.6]])
    parallel_sga(QUARTIC, given, learning_rate=0.1, steps=5)
    assert given.tolist() == [[0.5], [0.6]]


def test_jax_derives_what_was_not_given():

    def fun(x):
        return -jnp.sum(x**4 / 4 - x**2 / 2)

    given = [[0.5], [-2.0], [0.1]]
    wanted = parallel_sga(QUARTIC, given, learning_rate=0.1, steps=20)
    run = parallel_sga(fun, given, learning_rate=0.1, steps=20)
    np.testing.assert_allclose(run.points, wanted.points, rtol=1e-13)  # in float64
    assert (run.nfev, run.njev) == (wanted.nfev, wanted.njev)
    newton = parallel_newton(fun, given, steps=30)
    np.testing.assert_allclose(newton.points, parallel_newton(QUARTIC, given, steps=30).points, atol=1e-12)
    both = parallel_sga(fun, given, jac=lambda x: x - jnp.asarray(x) ** 3, learning_rate=0.1, steps=20)
    np.testing.assert_allclose(both.points, wanted.points, rtol=1e-13)


def test_what_is_missing_or_wrong_is_said():
    with pytest.raises(ValueError, match=r"pSGA needs jac, which the objective lacks"):
        parallel_sga(lambda x: float(np.asarray(x)[0]), [[0.5]], learning_rate=0.1)
    with pytest.raises(ValueError, match=r"x0 has shape \(2,\)"):
        parallel_sga(QUARTIC, [0.5, 1.0], learning_rate=0.1)
    with pytest.raises(ValueError, match="has its own jac"):
        parallel_sga(QUARTIC, [[0.5]], jac=QUARTIC.jac, learning_rate=0.1)
    with pytest.raises(TypeError, match="objective is 3"):
        parallel_sga(3, [[0.5]], learning_rate=0.1)
    with pytest.raises(ValueError, match="learning_rate is -1"):
        parallel_sga(QUARTIC, [[0.5]], learning_rate=-1.0)
    with pytest.raises(ValueError, match="num_samples is 0"):
        parallel_sga(QUARTIC, [[0.5]], learning_rate=0.1, num_samples=0)
    with pytest.raises(ValueError, match="rng is -4"):
        parallel_sga(QUARTIC, [[0.5]], learning_rate=0.1, rng=-4)


# --- Newton's method


def test_newton_solves_a_quadratic_in_one_step():
    H = np.array([[3.0, 1.0], [1.0, 2.0]])
    objective = Objective(lambda x: -0.5 * x @ H @ x, lambda x: -H @ x, lambda x: -H)
    run = parallel_newton(objective, [[5.0, -7.0], [1.0, 1.0]], steps=1)
    np.testing.assert_allclose(run.points, 0.0, atol=1e-14)
    assert (run.nfev, run.njev, run.nhev) == (2, 2, 2)


def test_newton_goes_to_any_stationary_point():
    run = parallel_newton(QUARTIC, [[0.1], [2.0], [-0.9]], steps=30)
    np.testing.assert_allclose(run.points, [[0.0], [1.0], [-1.0]], atol=1e-12)
    assert run.nhev == run.njev == 90


def test_a_singular_hessian_ends_one_instance_only():
    x = 3**-0.5  # 1 - 3 x^2 = 0
    objective = Objective(lambda x: 0.0, lambda x: x - x**3, lambda x: np.round(1 - 3 * x**2, 12)[None])
    run = parallel_newton(objective, [[x], [2.0]], steps=20)
    assert run.has_diverged.tolist() == [True, False]
    np.testing.assert_allclose(run.points[1], 1.0)
    assert run.nhev == 21


def test_newton_refuses_hessians_that_are_not_symmetric():
    objective = Objective(lambda x: 0.0, lambda x: x, lambda x: np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="not symmetric"):
        parallel_newton(objective, [[1.0, 1.0]])


# --- CMA-ES


def test_cma_es_finds_maxima_and_counts():
    problem = symmetric_mixture()
    points = starts(problem, 2, 3)
    run = parallel_cma_es(problem.objective, points, sigma0=0.5, num_samples=16, num_selected=4, rng=0)
    assert run.status == Status.CONVERGED
    assert run.points.shape == (2, 3, 2)
    near = np.abs(run.points[:, :, None] - problem.modes).max(axis=3).min(axis=2)
    assert near.max() < 0.01
    np.testing.assert_allclose(run.values, problem.objective.fun(run.points.reshape(-1, 2)).reshape(2, 3))
    assert run.nfev % 16 == 6  # whole populations, and the values at the end
    assert run.nfev < 6 + 16 * 6 * run.nit
    assert run.njev == run.nhev == 0
    assert "6 instances" in repr(run)


def test_cma_es_leaves_the_global_random_state_alone():
    before = np.random.get_state()  # noqa: NPY002
    parallel_cma_es(TANG.objective, starts(TANG, 2), sigma0=1.0, steps=30, rng=0)
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_cma_es_is_reproducible_and_instances_are_independent():
    points = starts(TANG, 3)
    settings = {"sigma0": 1.0, "steps": 25, "num_samples": 8}
    run = parallel_cma_es(TANG.objective, points, rng=4, **settings)
    np.testing.assert_array_equal(run.trace, parallel_cma_es(TANG.objective, points, rng=4, **settings).trace)
    np.testing.assert_array_equal(run.points[:2], parallel_cma_es(TANG.objective, points[:2], rng=4, **settings).points)
    assert not np.array_equal(run.points, parallel_cma_es(TANG.objective, points, rng=5, **settings).points)
    assert run.status == Status.STEPS_DONE
    assert run.trace.shape == (26, 3, 2)
    np.testing.assert_array_equal(run.trace[0], points)


def test_values_that_are_not_finite_rank_last():

    def fun(x):
        return np.where(x[:, 0] > 1.0, np.nan, -((x - 0.5) ** 2).sum(axis=1))

    run = parallel_cma_es(fun, [[0.9, 3.0]], sigma0=1.0, vectorized=True, steps=200, rng=0)
    np.testing.assert_allclose(run.points, 0.5, atol=1e-4)


def test_cma_es_takes_options_but_not_those_that_have_an_argument():
    points = starts(TANG, 1)
    early = parallel_cma_es(TANG.objective, points, sigma0=1.0, rng=0, options={"tolfun": 1.0, "tolfunhist": 1.0})
    late = parallel_cma_es(TANG.objective, points, sigma0=1.0, rng=0)
    assert early.nit < late.nit
    with pytest.raises(ValueError, match=r"options has popsize, seed"):
        parallel_cma_es(TANG.objective, points, sigma0=1.0, options={"seed": 3, "popsize": 8})
    with pytest.raises(ValueError, match="num_selected is 9 of num_samples 8"):
        parallel_cma_es(TANG.objective, points, sigma0=1.0, num_samples=8, num_selected=9)
    with pytest.raises(ValueError, match="sigma0 is 0"):
        parallel_cma_es(TANG.objective, points, sigma0=0.0)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(ImportError, match=r"allmodes\[reproduce\]"):
        parallel_cma_es(TANG.objective, [[0.0, 0.0]], sigma0=1.0)
