"""find_fits and curve_fit: every explanation, with the errors that SciPy gives, within the budget."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

import allmodes
from allmodes import Result, curve_fit, find_fits
from allmodes.explaining import explained
from allmodes.objective.bounds import Box
from allmodes.objective.residuals import sum_of_squares

T = np.linspace(0.0, 3.0, 20)
BOX = [(0.0, 5.0), (0.0, 5.0)]


def decays(k):
    return np.exp(-k[0] * T) + np.exp(-k[1] * T) - np.exp(-0.5 * T) - np.exp(-2.0 * T)


def decays_jac(k):
    return np.stack([-T * np.exp(-k[0] * T), -T * np.exp(-k[1] * T)], axis=1)


def all_decays(k):
    return np.exp(-k[:, :1] * T) + np.exp(-k[:, 1:] * T) - np.exp(-0.5 * T) - np.exp(-2.0 * T)


def places(result):
    return sorted(np.round(mode.x, 4).tolist() for mode in result.modes)


def two_peaks(x, a, b, c, d):
    return a * np.exp(-((x - b) ** 2)) + c * np.exp(-((x - d) ** 2))


X = np.linspace(0.0, 10.0, 60)
NOISE = 0.1 * np.random.default_rng(1).standard_normal(len(X))
Y = two_peaks(X, 2.0, 3.0, 1.0, 6.0) + NOISE
PEAKS = ([0.0, 0.0, 0.0, 0.0], [4.0, 10.0, 4.0, 10.0])


@pytest.fixture(scope="module")
def spectrum():
    return curve_fit(two_peaks, X, Y, bounds=PEAKS, rng=0, maxfev=8000)


class TestFindFits:
    @pytest.mark.parametrize("jac", [None, "2-point", decays_jac])
    def test_both_orders_of_the_rates_are_found(self, jac):
        result = find_fits(decays, BOX, jac=jac, rng=0, maxfev=3000)
        assert places(result) == [[0.5, 2.0], [2.0, 0.5]]
        assert result.fun < 1e-12
        assert all(mode.kind == "minimum" and mode.is_global for mode in result.modes)
        assert result.nhev == 0
        assert (result.njev > 0) == callable(jac)

    def test_batches_give_the_same(self):
        one, many = (
            find_fits(decays, BOX, rng=0, maxfev=2000),
            find_fits(all_decays, BOX, vectorized=True, rng=0, maxfev=2000),
        )
        assert places(one) == places(many)
        assert one.nfev == many.nfev

    def test_jax_derives_the_jacobian(self):
        jnp = pytest.importorskip("jax").numpy
        data = np.exp(-0.5 * T) + np.exp(-2.0 * T)
        result = find_fits(lambda k: jnp.exp(-k[0] * T) + jnp.exp(-k[1] * T) - data, BOX, jac="jax", rng=0, maxfev=500)
        assert places(result) == [[0.5, 2.0], [2.0, 0.5]]
        assert result.njev > 0

    def test_further_arguments_are_passed_on(self):
        result = find_fits(lambda x, a, b: a * x - b, [(-9.0, 9.0)], args=(2.0, 6.0), rng=0, maxfev=200)
        assert result.x == pytest.approx([3.0])

    @pytest.mark.parametrize("jac", [None, decays_jac])
    @pytest.mark.parametrize("maxfev", [1, 7, 60, 150, 400])
    def test_no_residual_is_evaluated_beyond_the_budget(self, jac, maxfev):
        calls = []
        result = find_fits(lambda k: calls.append(1) or decays(k), BOX, jac=jac, rng=0, maxfev=maxfev)
        assert len(calls) == result.nfev <= maxfev

    def test_residuals_are_known_when_the_budget_is_spent(self):
        result = find_fits(decays, BOX, rng=0, maxfev=400)
        assert result.modes
        assert all(len(mode.residuals) == len(T) for mode in result.modes)

    def test_gauss_newton_needs_fewer_evaluations_than_gradients(self):
        def cost(k):
            return 0.5 * (decays(k) ** 2).sum()

        fits = find_fits(decays, BOX, jac=decays_jac, rng=0, effort=1)
        minima = allmodes.find_minima(cost, BOX, jac=lambda k: decays_jac(k).T @ decays(k), rng=0, effort=1)
        assert places(fits) == places(minima)
        assert max(mode.found_at for mode in fits.modes) < max(mode.found_at for mode in minima.modes)

    def test_a_saddle_between_two_fits_is_no_fit(self):
        """The matrix of Gauss and Newton has no negative eigenvalue; the Hessian at 0 has one."""
        result = find_fits(
            lambda x: np.array([x[0] ** 2 - 1.0, 0.1 * x[0], x[1]]),
            [(-2, 2), (-2, 2)],
            x0=[0.0, 0.0],
            rng=0,
            maxfev=2000,
        )
        assert len(result.modes) == 2
        assert np.abs(np.abs([mode.x[0] for mode in result.modes]) - np.sqrt(1.0 - 0.005)).max() < 1e-5

    def test_large_residuals_have_their_true_curvature(self):
        """Most of the Hessian comes from the curvature of a residual that cannot vanish."""
        result = find_fits(
            lambda x: np.array([x[0] ** 2 + 1.0, 0.5 * x[0] - 1.0]), [(-4.0, 4.0)],
            jac=lambda x: np.array([[2.0 * x[0]], [0.5]]), rng=0, maxfev=500,
        )  # fmt: skip
        (mode,), x = result.modes, result.x[0]
        assert 2.0 * x * (x * x + 1.0) + 0.5 * (0.5 * x - 1.0) == pytest.approx(0.0, abs=1e-5)
        assert mode.hessian[0, 0] == pytest.approx(6.0 * x * x + 2.25, rel=1e-3)
        assert mode.curvature_from == "differences"
        assert mode.covariance[0, 0] > 5.0 / mode.hessian[0, 0]  # of Gauss and Newton's part alone, as in SciPy

    def test_kinked_residuals_are_fitted(self):
        result = find_fits(
            lambda x: np.array([np.abs(x[0] - 1.0) + 0.5, np.abs(x[1]) + 0.1]), [(-3, 3), (-3, 3)], rng=0, maxfev=4000
        )
        assert result.x == pytest.approx([1.0, 0.0], abs=1e-4)

    def test_points_that_fail_are_survived(self):
        def undefined(k):
            r = decays(k)
            return np.full_like(r, np.nan) if k[0] > 4.0 else r

        result = find_fits(undefined, BOX, rng=0, maxfev=3000)
        assert places(result) == [[0.5, 2.0], [2.0, 0.5]]
        assert result.nfail > 0

    def test_workers_change_nothing(self):
        alone, helped = (find_fits(decays, BOX, rng=0, maxfev=800, workers=n) for n in (1, map))
        assert places(alone) == places(helped)
        assert alone.nfev == helped.nfev

    def test_a_search_that_is_resumed_goes_on_with_its_models(self, tmp_path):
        path = tmp_path / "fits.ckpt"
        whole = find_fits(decays, BOX, rng=0, maxfev=1200)
        find_fits(decays, BOX, rng=0, maxiter=5, checkpoint=path, maxfev=1200)
        resumed = find_fits(decays, BOX, rng=0, maxfev=1200, checkpoint=path)
        assert [mode.x.tolist() for mode in resumed.modes] == [mode.x.tolist() for mode in whole.modes]
        assert resumed.nfev == whole.nfev

    def test_a_checkpoint_of_a_function_is_refused(self, tmp_path):
        path = tmp_path / "minima.ckpt"
        allmodes.find_minima(
            lambda k: (decays(k) ** 2).sum(),
            BOX,
            jac=lambda k: 2 * decays_jac(k).T @ decays(k),
            rng=0,
            maxiter=2,
            checkpoint=path,
        )
        with pytest.raises(ValueError, match="another problem"):
            find_fits(decays, BOX, jac=decays_jac, rng=0, checkpoint=path)


def test_a_model_of_the_curvature_that_reaches_where_there_are_no_values_ends_a_search_and_nothing_else():
    """Where differences are not finite and the residuals themselves are."""
    t = np.linspace(0.0, 4.0, 60)
    data = 2.0 * np.sin(2.5 * t + 0.4) + np.random.default_rng(0).normal(0.0, 0.2, 60)

    def residuals(x):
        found = x[:, :1] * np.sin(x[:, 1:2] * t + x[:, 2:]) - data
        return np.where(x[:, 1:2] < 6.0, found, np.nan)

    bounds = [(0.1, 4.0), (0.2, 12.0), (-np.pi, np.pi)]
    result = find_fits(residuals, bounds, x0=[1.0, 1.0, 0.0], rng=0, maxfev=1500, vectorized=True)
    assert result.nfail > 0
    assert result.modes[0].x == pytest.approx([2.0514, 2.4847, 0.4415], abs=1e-3)


class TestLosses:
    @pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
    def test_cost_and_place_are_those_of_scipy(self, loss):
        data = np.r_[Y[:40], 9.0, Y[41:]]

        def residuals(p):
            return (two_peaks(X, *p) - data) / 0.1

        ours = find_fits(
            residuals, list(zip(*PEAKS, strict=True)), loss=loss, f_scale=2.0, rng=0, maxfev=4000, target="global"
        )
        theirs = optimize.least_squares(residuals, ours.x, loss=loss, f_scale=2.0, bounds=PEAKS, xtol=1e-12, ftol=1e-12)
        assert ours.fun == pytest.approx(theirs.cost, rel=1e-8)
        assert ours.modes[0].cost == ours.fun
        assert ours.x == pytest.approx(theirs.x, abs=1e-4)

    def test_a_loss_may_be_a_function(self):
        def cauchy(z):
            return np.array([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])

        one, other = (find_fits(decays, BOX, loss=loss, rng=0, maxfev=600) for loss in (cauchy, "cauchy"))
        assert places(one) == places(other)


class TestErrors:
    @pytest.mark.parametrize(
        "sigma", [None, 0.1, np.linspace(0.05, 0.2, len(X)), np.diag(np.linspace(0.05, 0.2, len(X)) ** 2)]
    )
    @pytest.mark.parametrize("absolute", [False, True])
    def test_errors_of_parameters_are_those_of_scipy(self, sigma, absolute):
        ours = curve_fit(
            two_peaks, X, Y, sigma=sigma, absolute_sigma=absolute, bounds=PEAKS, rng=0, n_modes=1, maxfev=4000
        )
        best = ours.modes[0]
        given = np.full(len(X), sigma) if isinstance(sigma, float) else sigma
        p, covariance = optimize.curve_fit(
            two_peaks, X, Y, p0=best.x, sigma=given, absolute_sigma=absolute, bounds=PEAKS
        )
        assert best.x == pytest.approx(p, rel=1e-4)
        assert best.covariance == pytest.approx(covariance, rel=1e-3, abs=1e-8)
        assert best.standard_errors == pytest.approx(np.sqrt(np.diagonal(covariance)), rel=1e-3)
        assert np.diagonal(best.correlations) == pytest.approx(1.0)
        assert best.dof == len(X) - 4
        assert best.chi2 == pytest.approx(2 * best.fun)
        assert best.reduced_chi2 == pytest.approx(best.chi2 / best.dof)

    def test_equal_explanations_share_the_posterior(self, spectrum):
        assert len(spectrum.modes) >= 2
        first, second = spectrum.modes[:2]
        assert np.allclose(first.x, second.x[[2, 3, 0, 1]], atol=1e-4)
        assert first.weight == pytest.approx(0.5, abs=0.01)
        assert sum(mode.weight for mode in spectrum.modes) == pytest.approx(1.0)
        assert spectrum.temperature == pytest.approx(first.reduced_chi2)

    def test_what_only_a_product_tells_is_said(self):
        def product(t, a, b, k):
            return a * b * np.exp(-k * t)

        def derivative(t, a, b, k):
            e = np.exp(-k * t)
            return np.stack([b * e, a * e, -t * a * b * e], axis=1)

        data = 3.0 * np.exp(-T) + 0.01 * np.sin(9 * T)
        result = curve_fit(product, T, data, bounds=([0.1] * 3, [9.0] * 3), jac=derivative, rng=0, maxfev=2000)
        assert "a and b only through their product" in result.modes[0].undetermined
        assert np.isinf(result.modes[0].standard_errors[:2]).all()
        assert result.modes[0].standard_errors[2] < 0.1
        assert "only through their product" in str(result)

    def test_a_valley_of_fits_is_found_without_a_jacobian(self):
        """Gradients from differences say that something is to be gained along it; that is their error."""
        result = find_fits(
            lambda k: k[0] * k[1] * np.exp(-k[2] * T) - 3.0 * np.exp(-T) + 0.01 * np.sin(9 * T), [(0.1, 9.0)] * 3,
            rng=0, maxfev=4000,
        )  # fmt: skip
        assert [mode.kind for mode in result.modes] == ["flat"]
        assert result.coverage.lost <= 0.5 * result.coverage.searches

    def test_a_fixed_parameter_has_no_error(self):
        result = find_fits(lambda k: decays(k) + 0.01 * np.cos(7 * T), [(0.5, 0.5), (0.0, 5.0)], rng=0, maxfev=500)
        assert result.modes[0].standard_errors[0] == 0.0
        assert result.modes[0].standard_errors[1] > 0.0
        assert result.modes[0].dof == len(T) - 1

    def test_criteria_are_those_of_gaussian_errors(self, spectrum):
        best, m = spectrum.modes[0], len(X)
        assert best.aic == pytest.approx(m * np.log(best.chi2 / m) + 2 * 4)
        assert best.bic == pytest.approx(m * np.log(best.chi2 / m) + np.log(m) * 4)


class TestResults:
    def test_the_table_fits_a_terminal(self, spectrum):
        lines = str(spectrum).splitlines()
        assert max(map(len, lines)) <= 80
        assert any(line.startswith("reduced chi2") for line in lines)
        assert sum("±" in line for line in lines) >= 4

    def test_names_are_those_of_the_model(self, spectrum):
        assert spectrum.names == ("a", "b", "c", "d")

    def test_results_are_stored_with_their_fits(self, spectrum, tmp_path):
        spectrum.save(tmp_path / "fits.npz")
        loaded = Result.load(tmp_path / "fits.npz")
        assert str(loaded) == str(spectrum)
        assert np.array_equal(loaded.modes[0].residuals, spectrum.modes[0].residuals)
        assert loaded.problem is None

    def test_results_travel_without_the_function(self, spectrum):
        assert pickle.loads(pickle.dumps(spectrum)).modes[0].chi2 == spectrum.modes[0].chi2

    def test_modes_of_functions_have_no_residuals(self):
        mode = allmodes.find_minima(lambda x: x @ x, [(-1, 1)], rng=0, maxfev=200).modes[0]
        with pytest.raises(AttributeError, match="only modes of find_fits and curve_fit"):
            mode.residuals  # noqa: B018


class TestCurveFit:
    @pytest.mark.parametrize("bounds", [PEAKS, list(zip(*PEAKS, strict=True)), optimize.Bounds(*PEAKS)])
    def test_bounds_may_be_scipys_or_pairs(self, bounds, spectrum):
        result = curve_fit(two_peaks, X, Y, bounds=bounds, rng=0, n_modes=1, maxfev=4000)
        assert (result.bounds == spectrum.bounds).all()

    def test_a_start_will_do_where_there_are_no_bounds(self):
        result = curve_fit(lambda t, a, b: a * t + b, T, 2.0 * T + 1.0, p0=[1.0, 1.0], rng=0, maxfev=500)
        assert result.x == pytest.approx([2.0, 1.0], abs=1e-6)
        assert result.names == ("a", "b")

    @pytest.mark.parametrize("absolute", [False, True])
    @pytest.mark.parametrize("errors", [None, 0.1, "vector", "matrix"])
    def test_the_best_explanation_is_scipys(self, errors, absolute):
        """Parameters and covariance, for every kind of sigma."""
        shares = 0.1 + 0.05 * np.cos(np.arange(30.0))
        band = np.diag(np.full(29, 0.3), 1)
        sigma = {"vector": shares, "matrix": np.outer(shares, shares) * (np.eye(30) + band + band.T)}.get(
            errors, errors
        )
        given = np.full(30, sigma) if errors == 0.1 else sigma
        popt, pcov = optimize.curve_fit(decay, DECAY_TIMES, decay_data(), [1, 1], given, absolute, bounds=(0, 5))
        ours = curve_fit(
            decay, DECAY_TIMES, decay_data(), [1, 1], sigma, absolute, bounds=(0, 5), rng=0, maxfev=600
        )  # fmt: skip
        assert ours.popt == pytest.approx(popt, rel=1e-4)
        assert ours.pcov == pytest.approx(pcov, rel=1e-3)
        assert ours.names == ("a", "k")

    def test_others_have_no_best_fit(self):
        result = allmodes.find_minima(lambda x: x @ x, [(-1, 1)], rng=0, maxfev=200)
        with pytest.raises(AttributeError, match="popt and pcov are those of explanations"):
            result.pcov  # noqa: B018

    def test_many_parameter_vectors_at_once(self, spectrum):
        result = curve_fit(two_peaks, X, Y, bounds=PEAKS, rng=0, maxfev=8000, vectorized=True)
        assert places(result) == places(spectrum)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: find_fits(3, BOX), TypeError, "residuals is 3 .int.; a function was wanted"),
        (lambda: find_fits(decays, BOX, jac="torch"), ValueError, 'jac is .torch.; wanted the Jacobian .* "jax"'),
        (lambda: find_fits(decays, BOX, loss="square"), ValueError, 'loss is .square.; wanted "linear", "soft_l1"'),
        (lambda: find_fits(decays, BOX, f_scale=0.0), ValueError, "f_scale is 0.0; it must be greater than 0"),
        (lambda: find_fits(decays, BOX, sigma=-1.0), ValueError, "sigma has -1.0; errors must be positive"),
        (lambda: find_fits(decays, BOX, sigma=np.ones(3)), ValueError, r"sigma has shape \(3,\) and there are 20 res"),
        (lambda: find_fits(decays, BOX, sigma=np.ones((2, 3))), ValueError, "a covariance must be square"),
        (lambda: find_fits(decays, BOX, sigma=-np.eye(20)), ValueError, "not positive definite"),
        (lambda: find_fits(lambda k: None, BOX), ValueError, "residuals returned None .*Is a return missing"),
        (lambda: find_fits(lambda k: np.ones((2, 2)), BOX), ValueError, r"shape \(2, 2\).* wanted a vector \(m,\)"),
        (lambda: find_fits(lambda k: np.ones(2 + (k[0] > 2)), BOX), ValueError, "residuals returned . numbers after ."),
        (lambda: find_fits(decays, BOX, jac=lambda k: np.ones((2, 20))), ValueError, r"\(20, 2\) was wanted"),
        (lambda: find_fits(decays, BOX, jac=lambda k: -decays_jac(k)), ValueError, "jac disagrees"),
        (lambda: find_fits(all_decays, BOX, vectorized=1), TypeError, "vectorized is 1 .int.; True or False"),
        (lambda: find_fits(decays, BOX, sigma=1.0, absolute_sigma="no"), TypeError, "absolute_sigma is .no."),
        (lambda: curve_fit(two_peaks, X, Y[:5], bounds=PEAKS), ValueError, r"f returned shape \(60,\) for 5 data"),
        (lambda: curve_fit(two_peaks, X, Y), ValueError, "a parameter has no bounds; give bounds=.* or a point p0"),
        (lambda: curve_fit(two_peaks, X, Y[None], bounds=PEAKS), ValueError, r"ydata has shape \(1, 60\)"),
        (lambda: curve_fit(two_peaks, X, Y, sigma=[1, 1], bounds=PEAKS), ValueError, r"sigma has shape \(2,\) for 60"),
        (lambda: curve_fit(two_peaks, X, Y, bounds=([0, 0], 1), p0=[1, 1, 1, 1]), ValueError, "has 2 lower bounds"),
        (lambda: curve_fit(lambda x, *p: x, X, Y), ValueError, "the number of parameters is not known; give p0"),
        (lambda: curve_fit(1, X, Y), TypeError, "f is 1 .int.; a function f"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- what was found by others trying it


DECAY_TIMES = np.linspace(0, 5, 30)


def decay(t, a, k):
    return a * np.exp(-k * t)


def decay_data(a=2.0, k=1.0):
    return decay(DECAY_TIMES, a, k) + 0.05 * np.random.default_rng(0).normal(size=30)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    """The old modes would be stated as explanations of the new data."""
    given = {"bounds": (0, 5), "rng": 0, "checkpoint": tmp_path / "c.npz"}
    allmodes.curve_fit(decay, DECAY_TIMES, decay_data(), **given)
    with pytest.raises(ValueError, match="written for other data"):
        allmodes.curve_fit(decay, DECAY_TIMES, decay_data(3.0, 0.4), **given)


def test_rounding_of_a_perfect_fit_is_not_taken_for_other_data():
    """A sum that is added up in another order differs by all of a cost that is rounding alone."""
    calls = itertools.count()
    fits = find_fits(lambda k: decays(k) + 1e-13 * (next(calls) % 2), BOX, jac=decays_jac, rng=0, maxfev=600)
    assert places(fits) == [[0.5, 2.0], [2.0, 0.5]]
    assert fits.modes[0].fit is not None


def test_no_errors_are_stated_where_differences_say_nothing():
    rng = np.random.default_rng(1)

    def model(t, a, k):
        return decay(t, a, k) + 0.001 * rng.normal(size=30)

    result = allmodes.curve_fit(model, DECAY_TIMES, decay_data(), bounds=(0, 5), rng=0)
    assert "noisy" in result.message
    assert np.isnan(result.modes[0].standard_errors).all()


@pytest.mark.parametrize("workers", [1, ThreadPoolExecutor(2)])
def test_a_model_in_float32_is_fitted_as_easily_as_an_exact_one(workers):
    """Differences are made over steps that tell more than its rounding."""

    def model(t, a, k):
        return decay(t, a, k).astype(np.float32)

    given = {"xdata": DECAY_TIMES, "ydata": decay_data(), "bounds": (0, 5), "rng": 0, "maxfev": 1000}
    exact, coarse = allmodes.curve_fit(decay, **given), allmodes.curve_fit(model, workers=workers, **given)
    assert "coarse" in coarse.message
    assert coarse.nfev <= 1.5 * exact.nfev
    np.testing.assert_allclose(coarse.x, exact.x, rtol=1e-4)
    np.testing.assert_allclose(coarse.modes[0].standard_errors, exact.modes[0].standard_errors, rtol=0.05)


def test_roots_in_float32_are_found():
    roots = allmodes.find_roots(lambda x: np.float32([x[0] ** 2 - x[1], x[1] - 2.0]), [(-3, 3)] * 2, rng=0, maxfev=1000)
    np.testing.assert_allclose(sorted(mode.x[0] for mode in roots.modes), [-(2**0.5), 2**0.5], atol=1e-4)


def test_fixed_parameters_leave_one_explanation():
    fits = allmodes.find_fits(lambda k: np.array([k[0], k[1], 1.0]), [(1, 1), (2, 2)], rng=0)
    assert fits.modes[0].chi2 == 6.0
    assert fits.modes[0].standard_errors.tolist() == [0.0, 0.0]


def test_as_many_parameters_as_data_say_nothing_of_combinations():
    t = np.arange(2.0)
    fits = allmodes.find_fits(lambda k: k[0] + k[1] * t - np.array([1.0, 2.0]), [(-5, 5)] * 2, rng=0)
    assert fits.modes[0].undetermined == ()
    assert np.isinf(fits.modes[0].standard_errors).all()
    assert "2 data for 2 parameters" in str(fits)


def test_long_names_are_told_apart_in_the_table():
    names = ["amplitude_of_the_component_one", "amplitude_of_the_component_two"]
    fits = allmodes.find_fits(lambda k: k - np.array([1.0, 2.0]), [(-5, 5)] * 2, names=names, rng=0)
    heads = [line.split()[0] for line in str(fits).splitlines() if line.startswith("amplitude")]
    assert len(set(heads)) == 2


def test_names_that_are_shortened_alike_are_numbered():
    names = [f"background_offset_of_detector_{number}_at_the_left_side" for number in ("one", "two")]
    fits = allmodes.find_fits(lambda k: k - np.array([1.0, 2.0]), [(-5, 5)] * 2, names=names, rng=0, maxfev=300)
    heads = [line[:24] for line in str(fits).splitlines() if line.startswith("background")]
    assert len(set(heads)) == 2


def test_fits_at_a_bound_with_names_exchanged_have_equal_errors():
    def two(t, a, b):
        return np.exp(-a * t) + np.exp(-b * t)

    data = two(T, 0.5, 3.0) + 0.03 * np.random.default_rng(3).standard_normal(len(T))
    first, second = curve_fit(two, T, data, bounds=(0, 2), rng=0, maxfev=2000).modes
    assert len(first.active) == 1
    assert first.standard_errors == pytest.approx(second.standard_errors[::-1], rel=1e-3)


def test_all_evaluations_are_counted_in_the_message():
    calls = itertools.count(1)

    def counted(k):
        counted.calls = next(calls)
        return decays(k) + 0.01 * np.cos(9 * T)

    fits = find_fits(counted, BOX, rng=0, maxfev=300)
    assert fits.nfev == counted.calls
    assert f"{fits.nfev} of 300 evaluations are made" in fits.message


def test_rounded_models_have_finite_errors():
    """Differences over short steps are 0, over long ones they are not."""

    def rounded(t, a, k):
        return np.array([float(f"{value:.4g}") for value in decay(t, a, k)])

    data = decay_data()
    exact = curve_fit(decay, DECAY_TIMES, data, bounds=(0, 5), rng=0, maxfev=600)
    box = Box.make([(0, 5)] * 2)
    part = sum_of_squares(lambda k: rounded(DECAY_TIMES, *k) - data, None, (), False, box, None, "linear", 1.0)
    mode = replace(exact.modes[0], fun=float(part.loss.cost(part.residuals(exact.x[None]))[0]))
    searched = replace(exact, modes=(mode,), message="most local searches ended in no mode: the function is rough")
    coarse = explained(searched, part, False, 100, False).modes[0]
    assert coarse.standard_errors == pytest.approx(exact.modes[0].standard_errors, rel=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_a_bent_level_valley_is_listed_once(seed):
    """a and b of a product that is all the data tell: a valley whose ends are far apart."""
    data = np.sin(3.0 * T) + 0.01 * np.sin(9.0 * T)
    fits = find_fits(
        lambda k: k[0] * k[1] * np.sin(k[2] * T) - data, [(0.1, 9.0), (0.1, 9.0), (2.0, 4.0)], rng=seed, maxfev=3000
    )
    best = [mode for mode in fits.modes if mode.is_global]
    assert len(best) == 1


def test_what_steps_alone_told_of_a_level_valley_makes_no_minimum_of_it():
    """One decay is fitted by two: the second has no amplitude and any rate, or they share one rate."""
    times = np.linspace(0, 10, 40)
    data = 2 * np.exp(-times) + 0.2 * np.sin(1.3 * times + 0.5)
    fits = find_fits(
        lambda k: k[0] * np.exp(-k[1] * times) + k[2] * np.exp(-k[3] * times) - data, [(0, 5)] * 4, rng=1, maxfev=2500
    )
    assert [mode.kind for mode in fits.modes] == ["flat"]


def test_a_search_may_be_told_sums_of_squares_with_their_models():
    finder = allmodes.ModeFinder(BOX, residuals=True, rng=0, maxfev=400)
    while not finder.stop():
        points = finder.ask()
        r, J = np.array([decays(x) for x in points]), np.array([decays_jac(x) for x in points])
        finder.tell(points, 0.5 * (r**2).sum(axis=1), np.einsum("nm,nmd->nd", r, J), J.mT @ J)
    assert places(finder.result) == [[0.5, 2.0], [2.0, 0.5]]
    with pytest.raises(ValueError, match="residuals=True is given with jac, hess or maximise"):
        allmodes.ModeFinder(BOX, residuals=True, jac=True)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_jacobians_are_asked_for_where_they_are_needed(sign):
    """The first look: values in a line, one pair of Jacobians, and two pairs where the first is wrong."""
    seen = []

    def residuals(k):
        seen.append((len(k), "r"))
        return all_decays(k)

    def jacobian(k):
        seen.append((len(k), "J"))
        return sign * np.stack([-T * np.exp(-k[:, :1] * T), -T * np.exp(-k[:, 1:] * T)], axis=2)

    def fit():
        return find_fits(residuals, BOX, jac=jacobian, vectorized=True, rng=0, maxfev=300)

    if sign < 0.0:
        with pytest.raises(ValueError, match="jac disagrees with fun"):
            fit()
        assert seen == [(8, "r"), (2, "r"), (2, "J"), (4, "r"), (4, "J")]
    else:
        assert fit().nfev > sum(n for n, what in seen if what == "J")
        assert seen[:4] == [(8, "r"), (2, "r"), (2, "J"), (1, "r")]
