"""Every explanation of data as lmfit's own results."""

import pickle

import numpy as np
import pytest

lmfit = pytest.importorskip("lmfit")

from allmodes.adapters import lmfit as adapter  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what lmfit is made of
    pytest.mark.filterwarnings("ignore:Using UFloat objects"),  # of lmfit 1.3.3 itself, with parameters that are fixed
]

TIMES = np.linspace(0.0, 4.0, 60)
DATA = 2.0 * np.sin(2.5 * TIMES + 0.4) + np.random.default_rng(0).normal(0.0, 0.2, 60)
PLACES = np.linspace(0.0, 10.0, 50)


def wave(p, t, y=None, *, factor=1.0):
    found = p["a"] * np.sin(p["w"] * t + p["phi"]) + p["level"]
    return found if y is None else factor * (found - y)


def wave_parameters():
    p = lmfit.Parameters()
    p.add("a", 1.0, min=0.1, max=4.0)
    p.add("level", 0.0, vary=False)
    p.add("w", 1.0, min=0.2, max=12.0, brute_step=0.1)
    p.add("phi", 0.0, min=-np.pi, max=np.pi)
    p.add("f", expr="w / 6.283185")
    return p


@pytest.fixture(scope="module")
def found():
    return adapter.minimize(wave, wave_parameters(), args=(TIMES, DATA), rng=0, maxfev=2500)


def test_there_is_a_result_for_every_explanation(found):
    assert len(found) == len(found.allmodes.modes) > 5
    assert all(isinstance(one, lmfit.minimizer.MinimizerResult) for one in found)
    assert [one.chisqr for one in found] == sorted(one.chisqr for one in found)
    for one, mode in zip(found, found.allmodes.modes, strict=True):
        assert one.mode is mode
        assert one.var_names == ["a", "w", "phi"]
        assert [one.params[name].value for name in one.var_names] == pytest.approx(mode.x)
        assert one.params["level"].value == 0.0
        assert not one.params["level"].vary
        assert one.params["f"].value == pytest.approx(mode.x[1] / 6.283185)
        assert one.residual == pytest.approx(wave(one.params, TIMES, DATA))
        assert one.nfev == found.allmodes.nfev
    assert repr(found) == repr(found.allmodes)


def test_the_best_one_is_what_lmfit_finds_from_there_with_its_errors_and_statistics(found):
    best = found[0]
    refit = lmfit.minimize(wave, best.params, args=(TIMES, DATA))
    for name in ("chisqr", "redchi", "aic", "bic", "ndata", "nvarys", "nfree"):
        assert getattr(best, name) == pytest.approx(getattr(refit, name), rel=1e-8), name
    assert best.errorbars
    assert best.covar == pytest.approx(refit.covar, rel=1e-3, abs=1e-6)
    for name, parameter in refit.params.items():
        assert best.params[name].stderr == pytest.approx(parameter.stderr, rel=1e-3), name
    assert best.params["w"].correl["phi"] == pytest.approx(refit.params["w"].correl["phi"], rel=1e-3)
    assert best.uvars["f"].std_dev == pytest.approx(refit.params["f"].stderr, rel=1e-3)


def test_each_has_errors_of_its_own_curvature_and_stays_in_its_basin(found):
    inside = [one for one in found if not one.mode.active and one.mode.kind == "minimum"]
    assert len(inside) >= 3
    for one in inside:
        errors = [one.params[name].stderr for name in one.var_names]
        assert errors == pytest.approx(one.mode.standard_errors)
        frequency = one.params["w"].value
        assert frequency == one.mode.x[1]
    assert len({round(one.params["w"].value, 3) for one in inside}) == len(inside)


def test_lmfit_prints_them(found):
    report = lmfit.fit_report(found[0])
    assert "fitting method   = allmodes" in report
    assert "2.48467" in report
    assert "== 'w / 6.283185'" in report
    assert "(fixed)" in report
    assert "C(w, phi)" in report
    for one in found:
        assert lmfit.fit_report(one)
    assert "<table" in found[0]._repr_html_()


def test_lmfit_goes_on_from_them(found):
    minimizer = lmfit.Minimizer(wave, wave_parameters(), fcn_args=(TIMES, DATA))
    intervals = lmfit.conf_interval(minimizer, found[0], sigmas=[1])
    low, best, high = (value for _, value in intervals["w"])
    assert best == found[0].params["w"].value
    assert 0.5 * (high - low) == pytest.approx(found[0].params["w"].stderr, rel=0.1)
    copied = pickle.loads(pickle.dumps(found))
    assert [one.chisqr for one in copied] == [one.chisqr for one in found]
    assert copied.allmodes.nfev == found.allmodes.nfev


def test_rates_are_searched_in_logarithms_by_name():
    params = lmfit.create_params(k={"value": 1.0, "min": 1e-4, "max": 1e3})
    params.add("half", expr="log(2) / k")
    data = np.exp(-0.3 * TIMES)
    given = {"args": (TIMES, data), "rng": 0, "maxfev": 400}
    fits = adapter.minimize(lambda p, t, y: np.exp(-p["k"] * t) - y, params, **given, scale={"k": "log"})
    assert fits.allmodes.settings["scale"] == ["log"]
    assert fits[0].params["k"].value == pytest.approx(0.3)
    assert fits[0].params["half"].value == pytest.approx(np.log(2.0) / 0.3)


def test_the_parameters_given_are_left_alone(found):
    params = wave_parameters()
    adapter.minimize(wave, params, args=(TIMES, DATA), rng=0, maxfev=100)
    assert params == wave_parameters()
    assert [one.params["w"].init_value for one in found[:2]] == [1.0, 1.0]


def test_errors_of_data_that_are_known():
    given = {"args": (TIMES, DATA), "kws": {"factor": 5.0}, "rng": 0, "maxfev": 1500}
    known, unknown = (adapter.minimize(wave, wave_parameters(), **given, scale_covar=s)[0] for s in (False, True))
    assert known.covar * known.redchi == pytest.approx(unknown.covar, rel=1e-6)
    refit = lmfit.minimize(wave, known.params, args=(TIMES, DATA), kws={"factor": 5.0}, scale_covar=False)
    assert known.params["a"].stderr == pytest.approx(refit.params["a"].stderr, rel=1e-3)


def line(p, x, y):
    return p["slope"] * x + p["start"] - y


def test_a_jacobian_is_used():
    params = lmfit.create_params(slope={"value": 0.0, "min": -5, "max": 5}, start={"value": 0.0, "min": -5, "max": 5})
    called = []

    def jacobian(p, x, y):
        called.append(p["slope"].value)
        return np.stack([x, np.ones_like(x)], axis=1)

    data = 2.0 * TIMES + 1.0
    (fit,) = adapter.minimize(line, params, args=(TIMES, data), Dfun=jacobian, rng=0, maxfev=300)
    assert [fit.params["slope"].value, fit.params["start"].value] == pytest.approx([2.0, 1.0])
    assert called
    with pytest.raises(ValueError, match="Dfun is the Jacobian of residuals, and fcn returned one number"):
        adapter.minimize(lambda p: p["slope"] ** 2 + p["start"] ** 2, params, Dfun=jacobian)


def test_parameters_without_bounds_are_looked_for_around_their_values():
    params = lmfit.create_params(slope=0.0, start=100.0)
    data = 2.0 * TIMES + 97.0
    (fit,) = adapter.minimize(line, params, args=(TIMES, data), rng=0, spread={"start": 20.0}, maxfev=300)
    assert [fit.params["slope"].value, fit.params["start"].value] == pytest.approx([2.0, 97.0])
    settings = adapter.minimize(line, params, args=(TIMES, data), spread=3.0, maxfev=50).allmodes.settings
    assert settings["spread"] == 3.0
    assert settings["x0"] == [0.0, 100.0]
    params.add("unknown")
    with pytest.raises(ValueError, match=r"'unknown' has value -inf and open bounds; give it a value to look around"):
        adapter.minimize(line, params, args=(TIMES, data))
    with pytest.raises(ValueError, match="spread names 'stat'; the parameters that vary are slope, start"):
        adapter.minimize(line, lmfit.create_params(slope=0.0, start=1.0), args=(TIMES, data), spread={"stat": 1.0})


def test_one_number_is_minimised():
    params = lmfit.create_params(u={"value": 0.5, "min": -3, "max": 3}, v={"value": 0.0, "min": -3, "max": 3})
    fits = adapter.minimize(lambda p: (p["u"] ** 2 - 1) ** 2 + 4 * p["v"] ** 2, params, rng=0)
    assert sorted(round(fit.params["u"].value, 4) for fit in fits) == [-1.0, 1.0]
    for fit in fits:  # as of a chi-square: 2 H^-1, and H = diag(8, 8)
        assert fit.params["u"].stderr == pytest.approx(0.5, rel=0.02)
        assert fit.params["v"].stderr == pytest.approx(0.5, rel=0.02)
        assert fit.params["u"].correl["v"] == pytest.approx(0.0, abs=0.02)
        assert "u:" in lmfit.fit_report(fit)
    (held,) = adapter.minimize(lambda p: p["u"].value + p["v"].value ** 2, params, rng=0)
    assert held.params["u"].value == -3.0
    assert held.params["u"].stderr is None
    assert held.params["v"].stderr == pytest.approx(1.0, rel=0.02)
    assert not held.errorbars


def test_complex_residuals_are_taken_apart():
    params = lmfit.create_params(a={"value": 1.0, "min": 0, "max": 3}, b={"value": 1.0, "min": 0, "max": 3})
    (fit,) = adapter.minimize(lambda p: (p["a"] - 2.0 + 1j * (p["b"] - 1.5)) * np.ones(3), params, rng=0, maxfev=300)
    assert fit.ndata == 6
    assert [fit.params["a"].value, fit.params["b"].value] == pytest.approx([2.0, 1.5])


def test_what_data_leave_open_has_no_error():
    params = lmfit.create_params(a={"value": 1.0, "min": 0.5, "max": 3}, b={"value": 1.0, "min": 0.5, "max": 3})
    fits = adapter.minimize(lambda p: (p["a"] * p["b"] - 2.0) * np.ones(5), params, rng=0, maxfev=600)
    assert fits[0].params["a"].stderr is None
    assert not fits[0].errorbars
    assert fits[0].covar is None
    assert fits[0].mode.undetermined
    assert "uncertainties could not be estimated" in lmfit.fit_report(fits[0])


def two_peaks():
    model = lmfit.models.GaussianModel(prefix="g1_") + lmfit.models.GaussianModel(prefix="g2_")
    params = model.make_params()
    for i, centre in ((1, 3.0), (2, 6.0)):
        params[f"g{i}_amplitude"].set(value=2.0, min=0.0, max=10.0)
        params[f"g{i}_center"].set(value=centre, min=0.0, max=10.0)
        params[f"g{i}_sigma"].set(value=1.0, vary=False)
    data = model.eval(params, x=PLACES) + np.random.default_rng(1).normal(0.0, 0.02, len(PLACES))
    return model, params, data


def test_a_model_is_fitted_in_every_way():
    model, params, data = two_peaks()
    fits = adapter.fit(model, data, params, x=PLACES, fit_kws={"rng": 0, "maxfev": 3000})
    assert len(fits) >= 2
    plain = model.fit(data, params, x=PLACES)
    for one in fits[:2]:  # the peaks exchange their names
        assert isinstance(one, lmfit.model.ModelResult)
        assert one.chisqr == pytest.approx(plain.chisqr)
        assert one.rsquared == pytest.approx(plain.rsquared)
        assert one.best_fit == pytest.approx(plain.best_fit, abs=1e-5)
        assert one.mode in fits.allmodes.modes
        assert "Model(gaussian, prefix='g1_')" in one.fit_report()
        assert one.eval_uncertainty(x=PLACES).shape == PLACES.shape
        assert set(one.eval_components()) == {"g1_", "g2_"}
    centres = sorted(sorted([one.params["g1_center"].value, one.params["g2_center"].value]) for one in fits[:2])
    assert centres[0] == pytest.approx([3.0, 6.0], abs=0.1)
    assert {round(one.params["g1_center"].value) for one in fits[:2]} == {3, 6}
    fits[1].fit(method="leastsq")  # a result fits again as any other of lmfit's
    assert fits[1].method == "leastsq"
    assert fits[1].chisqr == pytest.approx(plain.chisqr)


def test_values_of_parameters_may_be_given_to_a_model_by_name():
    model = lmfit.models.LinearModel()
    data = list(3.0 * PLACES - 1.0)
    (one,) = adapter.fit(
        model, data, x=PLACES, weights=2.0, slope=0.0, intercept=0.0, fit_kws={"rng": 0, "maxfev": 300}
    )
    assert [one.params["slope"].value, one.params["intercept"].value] == pytest.approx([3.0, -1.0])
    assert one.init_params["slope"].value == 0.0


def test_in_processes_it_is_the_same():
    function = adapter._Called(wave, wave_parameters(), ["a", "w", "phi"], (TIMES, DATA), {})
    x = np.array([2.0, 2.5, 0.4])
    assert pickle.loads(pickle.dumps(function))(x) == pytest.approx(function(x))


def test_what_cannot_be_fitted():
    params = wave_parameters()
    for name in ("a", "w", "phi"):
        params[name].vary = False
    with pytest.raises(ValueError, match="no parameter varies: all of params are fixed or expressions"):
        adapter.minimize(wave, params, args=(TIMES, DATA))
    with pytest.raises(ValueError, match="no parameter varies"):
        adapter.minimize(wave, lmfit.Parameters())
    with pytest.raises(TypeError, match=r"params is a dict; wanted lmfit\.Parameters"):
        adapter.minimize(wave, {"a": 1.0})
    with pytest.raises(ValueError, match="method is 'leastsq'"):
        adapter.minimize(wave, wave_parameters(), "leastsq", args=(TIMES, DATA))
    with pytest.raises(TypeError, match="did you mean 'maxfev'"):
        adapter.minimize(wave, wave_parameters(), args=(TIMES, DATA), max_nfev=3)


def test_functions_that_fail():
    def sometimes(p, t, y):
        return wave(p, t, y) if p["w"] < 6.0 else np.full(len(y), np.nan)

    fits = adapter.minimize(sometimes, wave_parameters(), args=(TIMES, DATA), rng=0, maxfev=1500)
    assert fits[0].params["w"].value == pytest.approx(2.4847, abs=1e-3)
    assert fits.allmodes.nfail > 0
    nothing = adapter.minimize(lambda p, t: np.full(len(t), np.nan), wave_parameters(), args=(TIMES,), maxfev=60)
    assert nothing == []
    assert "no finite value" in nothing.allmodes.message

    def fails(p, t):
        raise RuntimeError("no convergence")

    with pytest.raises(RuntimeError, match="no convergence"):
        adapter.minimize(fails, wave_parameters(), args=(TIMES,))


def test_the_interface_of_lmfit_is_the_one_that_the_adapter_was_written_for():
    minimizer = lmfit.Minimizer(wave, wave_parameters(), fcn_args=(TIMES, DATA), nan_policy="propagate")
    prepared = minimizer.prepare_fit(wave_parameters())
    for name in ("params", "var_names", "init_vals", "errorbars", "covar", "_calculate_statistics"):
        assert hasattr(prepared, name), (
            f"lmfit's MinimizerResult has no {name} any more: see allmodes/adapters/lmfit.py"
        )
    assert hasattr(prepared.params, "create_uvars"), "lmfit.Parameters has no create_uvars any more"
    assert lmfit.minimizer.coerce_float64([1j], nan_policy="propagate").tolist() == [0.0, 1.0]
    model = lmfit.models.LinearModel()
    for name in ("_residual", "param_names", "make_params", "components"):
        assert hasattr(model, name), f"lmfit.Model has no {name} any more"
