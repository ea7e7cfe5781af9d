"""Plots of fits: data, explanations, what is left; profiles; where searches ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from allmodes import Result, curve_fit, find_minima
from allmodes.report.accessor import OF_FITS
from allmodes.report.explanations import profile_of

T = np.linspace(0.0, 4.0, 25)


def decay(t, a, k, b, m):
    return a * np.exp(-k * t) + b * np.exp(-m * t)


DATA = decay(T, 2.0, 0.5, 1.5, 3.0) + 0.05 * np.random.default_rng(3).standard_normal(len(T))


@pytest.fixture(scope="module")
def fits():
    return curve_fit(decay, T, DATA, bounds=(0, [5, 6, 5, 6]), rng=0, maxfev=4000)


def axes():
    return Figure(figsize=(4.0, 4.0)).add_subplot()


def test_data_and_every_explanation_are_drawn(fits):
    ax = axes()
    assert fits.plot.fits(decay, T, DATA, sigma=0.05, ax=ax) is ax
    upper, lower = ax.child_axes
    assert len(fits.modes) == 2
    curves = [line for line in upper.get_lines() if len(line.get_xdata()) > len(T)]
    assert len(curves) == 2
    assert curves[0].get_ydata()[0] == pytest.approx(decay(0.0, *fits.modes[0].x))
    left = [line for line in lower.get_lines() if len(line.get_xdata()) == len(T)]
    assert left[0].get_ydata() == pytest.approx(DATA - decay(T, *fits.modes[0].x))


def test_a_model_that_knows_its_data_alone_is_drawn_there(fits):
    table = dict(zip(T.tolist(), range(len(T)), strict=True))

    def at_data(t, *p):
        return decay(T[[table[each] for each in t.tolist()]], *p)

    upper, _ = fits.plot.fits(at_data, T, DATA, ax=axes()).child_axes
    assert all(len(line.get_xdata()) == len(T) for line in upper.get_lines())


def test_data_without_places_are_drawn_in_their_order(fits):
    lower = fits.plot.fits(lambda x, *p: decay(T, *p), {"times": T}, DATA, ax=axes()).child_axes[1]
    assert lower.get_xlabel() == "number of the datum"


def test_a_profile_has_a_valley_at_every_explanation(fits):
    seen = profile_of(fits, "k", maxfev=3000)
    assert seen.nfev <= 3000
    rise = (seen.merged - fits.fun) / fits.temperature
    for mode in fits.modes:
        assert rise[np.abs(seen.values - mode.x[1]).argmin()] == pytest.approx(0.0, abs=1e-6)
    between = (seen.values > 1.0) & (seen.values < 2.0) & ~np.isnan(rise)
    assert (rise[between] > 3.84 / 2).all()


def test_a_profile_is_the_least_cost_with_the_parameter_held(fits):
    seen = profile_of(fits, "k", points=9)
    k = int(np.nanargmin(np.abs(seen.merged - fits.fun - 2.0 * fits.temperature)))
    held = curve_fit(
        lambda t, a, b, m: decay(t, a, seen.values[k], b, m), T, DATA, bounds=(0, [5, 5, 6]), rng=0, maxfev=2000
    )
    assert seen.merged[k] == pytest.approx(held.fun, rel=1e-4)


def test_a_profile_near_a_minimum_is_the_parabola_of_the_standard_error(fits):
    best = fits.modes[0]
    seen = profile_of(fits, 1)
    sides = [np.abs(seen.values - best.x[1] - side * best.standard_errors[1]).argmin() for side in (-0.5, 0.5)]
    rises = 2.0 * (seen.costs[0, sides] - best.fun) / fits.temperature
    assert rises.mean() == pytest.approx(0.25, rel=0.2)  # errors leave out the curvature of residuals


@pytest.mark.parametrize("maxfev", [1, 100, 700])
def test_a_profile_stays_within_its_budget(fits, maxfev):
    assert profile_of(fits, "k", maxfev=maxfev).nfev <= maxfev


def test_a_profile_of_a_result_that_was_loaded_needs_the_residuals(fits, tmp_path):
    fits.save(tmp_path / "fits.npz")
    loaded = Result.load(tmp_path / "fits.npz")
    with pytest.raises(ValueError, match=r"pass residuals= to plot\.profile"):
        loaded.plot.profile("k")
    ax = axes()
    assert loaded.plot.profile("k", lambda p: decay(T, *p) - DATA, points=5, ax=ax) is ax
    assert ax.get_xlabel() == "k"


def test_a_waterfall_has_a_point_for_every_search_that_ended_in_a_mode(fits):
    drawn = sum(len(line.get_xdata()) for line in fits.plot.waterfall(ax=axes()).get_lines())
    assert drawn == sum(mode.hits for mode in fits.modes)


def test_numbers_in_a_waterfall_do_not_hide_each_other_and_equal_values_are_level(fits):
    few, many = fits.modes[0], [replace(fits.modes[0], hits=1, fun=1.0 + k * 1e-16) for k in range(200)]
    ax = replace(fits, modes=(replace(few, hits=10, fun=0.5), *many)).plot.waterfall(ax=axes())
    ranks = [text.xy[0] for text in ax.texts]
    assert ranks[:2] == [1, 11]
    assert 15 < len(ranks) < 35
    assert np.diff(ranks).min() >= 6
    assert len({float(y) for line in ax.get_lines()[1:] for y in line.get_ydata()}) == 1


def test_results_of_functions_have_waterfalls_and_no_fits():
    result = find_minima(lambda x: (x @ x - 1.0) ** 2 + x[0], [(-2, 2), (-2, 2)], rng=0, maxfev=600)
    assert result.plot.waterfall(ax=axes()).get_ylabel() == "value"
    with pytest.raises(ValueError, match=r"plot\.profile draws results of find_fits and curve_fit"):
        result.plot.profile(0)
    with pytest.raises(ValueError, match=r"plot\.fits draws results"):
        result.plot.fits(decay, T, DATA)


def test_there_is_a_method_for_every_kind(fits):
    assert all(callable(getattr(fits.plot, kind)) for kind in OF_FITS)


def test_the_report_page_has_the_errors_of_parameters(fits, tmp_path):
    pytest.importorskip("plotly")
    page = fits.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<section id="fits"' in page
    assert "reduced chi2" in page
