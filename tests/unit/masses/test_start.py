"""Laplace's masses and the first components, from what a search has measured."""

import dataclasses

import numpy as np
import pytest
from weighed_targets import found, two_gaussians

from allmodes import find_maxima, find_minima
from allmodes.masses.start import factor, start, uncorrelated
from allmodes.masses.target import Target


def started(result, log_density, vectorized=False):
    with Target(result, log_density, (), vectorized, None, 1, "raise") as target:
        return start(result, target), target


def test_of_gaussians_laplace_is_exact():
    begun, target = started(found(two_gaussians), two_gaussians, True)
    np.testing.assert_allclose(np.exp(begun.log_evidence), [0.8, 0.2], rtol=1e-3)
    np.testing.assert_allclose(begun.laplace(), [0.8, 0.2], rtol=1e-3)
    assert begun.highest == pytest.approx(two_gaussians(np.array([-1.0, 0.0])), abs=1e-6)
    assert [part.owner for part in begun.components] == [0, 0, 1, 1]
    np.testing.assert_allclose(begun.components[2].L * target.box.scale[:, None], np.diag([0.1, 0.3]), atol=1e-4)


def test_a_slope_at_a_bound_leaves_its_one_sided_integral():
    def falling(x):
        return -5.0 * x[0] - 0.5 * (x[1] / 0.3) ** 2

    result = find_maxima(falling, [(0.0, 4.0), (-3.0, 3.0)], rng=0, maxfev=400)
    begun, _ = started(result, falling)
    assert begun.log_evidence[0] == pytest.approx(np.log(0.3 * np.sqrt(2.0 * np.pi) / 5.0), abs=1e-3)
    np.testing.assert_array_equal(begun.components[0].side, [1.0, 0.0])
    assert begun.components[0].mean[0] == 0.0


def test_without_the_slope_laplace_says_nothing():
    result = find_maxima(lambda x: -5.0 * x[0], [(0.0, 4.0)], rng=0, maxfev=200)
    mode = dataclasses.replace(result.modes[0], gradient=None)
    begun, _ = started(dataclasses.replace(result, modes=(mode,)), lambda x: -5.0 * x[0])
    assert np.isnan(begun.log_evidence).all()
    np.testing.assert_array_equal(begun.shares(), [1.0])


def test_of_a_level_valley_laplace_says_nothing_and_components_stay_in_the_box():
    result = find_maxima(lambda x: -0.5 * (x[0] / 0.2) ** 2, [(-2.0, 2.0)] * 2, rng=0, maxfev=300)
    begun, _ = started(result, lambda x: -0.5 * (x[0] / 0.2) ** 2)
    assert result.modes[0].kind == "flat"
    assert np.isnan(begun.log_evidence).all()
    assert 0.1 < begun.components[0].L[1, 1] <= 1.0


def test_a_narrow_valley_has_a_component_as_long_as_itself():
    """Of condition 1e6: with the floor of `Result.mixture` it would be thirty times too short."""
    sizes = np.array([1e-3, 1.0])
    result = find_minima(lambda x: 0.5 * ((x / sizes) ** 2).sum(), [(-4.0, 4.0)] * 2, rng=0, maxfev=600)
    begun, target = started(result, lambda x: -0.5 * ((x / sizes) ** 2).sum())
    widths = np.sqrt(np.diag(begun.components[0].L @ begun.components[0].L.T)) * target.box.scale
    np.testing.assert_allclose(widths, sizes, rtol=0.05)


def test_in_logarithms_components_are_around_the_maximum_by_logarithm():
    """x^2 exp(-x / 0.01): its maximum is at 0.02, that of x times it at 0.03."""

    def gamma(x):
        return 2.0 * np.log(x[0]) - x[0] / 0.01

    result = find_maxima(gamma, [(1e-6, 10.0)], scale="log", rng=0, maxfev=400)
    begun, target = started(result, gamma)
    assert result.modes[0].x[0] == pytest.approx(0.02, rel=1e-3)
    assert 0.025 < float(target.box.to_user(begun.components[0].mean[None])[0, 0]) < 0.035


def test_curvature_that_nobody_knows_is_refused():
    result = found(two_gaussians)
    mode = dataclasses.replace(result.modes[0], hessian=np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match=r"curvature at .* is not known"):
        started(dataclasses.replace(result, modes=(mode,)), two_gaussians, True)


def test_folded_coordinates_are_correlated_with_nothing():
    covariance = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 0.5], [0.5, 0.5, 2.0]])
    cut = uncorrelated(covariance, np.array([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(cut, [[2.0, 0.0, 0.5], [0.0, 2.0, 0.0], [0.5, 0.0, 2.0]])
    np.testing.assert_allclose(factor(cut) @ factor(cut).T, cut)
