"""Flatness and weights of modes, against integrals and the paper's limits."""

import numpy as np
import pytest
from scipy.integrate import quad

from allmodes import problems
from allmodes.modes.laplace import flatness, limit_weights, log_inside, log_weights, temperature_for
from allmodes.objective import HESSIAN


def weights(*args, **kwargs):
    return np.exp(log_weights(*args, **kwargs))


# ---- flatness


def test_flatness_of_a_normal_density_at_its_mode():
    """The paper's example: zeta = det(Sigma)^((d + 2) / 2d) for a density without its factor (2 pi)^(-d/2)."""
    Sigma = np.diag([0.5, 2.0, 3.0])
    eigenvalues = -(np.linalg.det(Sigma) ** -0.5) / np.diag(Sigma)
    assert flatness(eigenvalues) == pytest.approx(np.linalg.det(Sigma) ** (5 / 6))


def test_flatness_takes_stacks_of_either_sign_and_any_size():
    eigenvalues = np.array([[-2.0, -8.0], [2.0, 8.0], [1e300, 1e300], [1e-300, 1e-300]])
    np.testing.assert_allclose(flatness(eigenvalues), [0.25, 0.25, 1e-300, 1e300])
    assert flatness(np.ones((2, 3, 4))).shape == (2, 3)


def test_degenerate_modes_are_infinitely_flat_and_unknown_ones_unknown():
    found = flatness(np.array([[-1.0, 0.0], [-1.0, 1e-17], [0.0, 0.0], [-1.0, np.nan], [0.0, np.nan], [1.0, 1e-6]]))
    np.testing.assert_array_equal(found, [np.inf, np.inf, np.inf, np.nan, np.nan, found[-1]])
    assert found[-1] == pytest.approx(1e3)
    assert flatness(np.array([1.0, 1e-6]), tolerance=1e-5) == np.inf
    assert np.isnan(flatness(np.zeros(0)))


# ---- weights at a temperature


def test_weights_of_gaussian_wells_are_their_integrals():
    """Quadratic wells are what Laplace's approximation is exact for."""
    values, eigenvalues, omega = np.array([0.0, -0.3]), np.array([[-2.0], [-0.5]]), 0.2
    integrals = np.array(
        [
            quad(lambda x, v=v, h=h: np.exp((v + 0.5 * h * x * x) / omega), -20, 20)[0]
            for v, (h,) in zip(values, eigenvalues, strict=True)
        ]
    )
    np.testing.assert_allclose(weights(values, eigenvalues, omega), integrals / integrals.sum())


@pytest.mark.parametrize("slope", [0.0, 0.01, 0.5, 3.0, 100.0])
def test_a_bound_cuts_the_integral(slope):
    """One free mode, one at a bound at 0: against the integrals themselves."""
    omega, h = 0.2, 1.5
    free = quad(lambda x: np.exp(-0.5 * h * x * x / omega), -20, 20)[0]
    cut = quad(lambda x: np.exp(-(slope * x + 0.5 * h * x * x) / omega), 0, 40 * omega / max(slope, 0.4))[0]
    found = weights(
        np.zeros(2), np.full((2, 1), -h), omega, is_free=np.array([[True], [False]]), slopes=np.array([[5.0], [slope]])
    )
    np.testing.assert_allclose(found, np.array([free, cut]) / (free + cut))


def test_a_steep_bound_contributes_the_temperature_over_the_slope():
    """With one coordinate free and one at a bound, and its curvature not known."""
    omega, s = 1e-3, 20.0
    found = weights(
        np.zeros(2),
        np.array([[-1.0, -4.0], [-9.0, 0.0]]),
        omega,
        is_free=np.array([[True, True], [True, False]]),
        slopes=np.array([[0.0, 0.0], [0.0, -s]]),
    )
    exact = np.array([2 * np.pi * omega / 2.0, np.sqrt(2 * np.pi * omega / 9.0) * omega / s])
    np.testing.assert_allclose(found, exact / exact.sum(), rtol=1e-4)


def test_free_coordinates_do_not_need_the_bounds():
    values, eigenvalues = np.array([0.0, 1.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    plain = log_weights(values, eigenvalues, 0.5)
    free = log_weights(values, eigenvalues, 0.5, is_free=np.ones((2, 2), bool), slopes=np.full((2, 2), np.nan))
    np.testing.assert_array_equal(free, plain)


def test_log_weights_are_normalised_and_survive_underflow():
    found = log_weights(np.array([0.0, -1.0, -1e6]), -np.ones((3, 2)), 1e-3)
    assert np.logaddexp.reduce(found) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found[1:], [-1e3, -1e9])


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_units_of_the_function_do_not_matter(scale):
    values, eigenvalues = np.array([1.0, 0.9, 0.5]), np.array([[1.0, 5.0], [2.0, 0.1], [1.0, 1.0]])
    slopes, is_free = np.array([[0, 0], [0, 3.0], [1.0, 0.0]]), np.array([[1, 1], [1, 0], [0, 0]], bool)
    expected = log_weights(values, eigenvalues, 0.1, is_free=is_free, slopes=slopes)
    found = log_weights(scale * values, scale * eigenvalues, scale * 0.1, is_free=is_free, slopes=scale * slopes)
    np.testing.assert_allclose(found, expected)


def test_degenerate_eigenvalues_are_floored_at_a_thousandth_of_the_largest():
    found = weights(np.zeros(2), np.array([[-4.0, 0.0], [-4.0, -4.0]]), 1.0)
    assert found[0] / found[1] == pytest.approx(np.sqrt(1000.0))
    # a mode without any curvature is measured by the others; modes of a constant function weigh the same
    found = weights(np.zeros(2), np.array([[0.0], [-4.0]]), 1.0)
    assert found[0] / found[1] == pytest.approx(np.sqrt(1000.0))
    np.testing.assert_allclose(weights(np.zeros(4), np.zeros((4, 2)), 1.0), 0.25)


def test_modes_that_are_not_known_do_not_count():
    values = np.array([0.0, np.nan, 0.0, -np.inf])
    eigenvalues = np.array([[1.0], [1.0], [np.nan], [1.0]])
    np.testing.assert_array_equal(log_weights(values, eigenvalues, 1.0), [0.0, np.nan, np.nan, np.nan])
    assert np.isnan(log_weights(values[1:2], eigenvalues[1:2], 1.0)).all()


def test_no_modes_have_no_weights():
    assert log_weights(np.zeros(0), np.zeros((0, 2)), 1.0).shape == (0,)
    assert limit_weights(np.zeros(0), np.zeros((0, 2)), 1.0).shape == (0,)


def test_a_slope_without_end_leaves_no_weight():
    found = weights(
        np.zeros(2), np.full((2, 1), 1e-300), 1e-8, is_free=np.array([[True], [False]]), slopes=np.full((2, 1), 1e300)
    )
    np.testing.assert_array_equal(found, [1.0, 0.0])


# ---- the limit


def test_weights_tend_to_the_limit():
    values, eigenvalues = np.array([1.0, 1.0, 0.9]), np.array([[1.0, 2.0], [3.0, 4.0], [0.1, 0.1]])
    limit = limit_weights(values, eigenvalues, 1e-9)
    np.testing.assert_allclose(limit, np.array([2.0**-0.5, 12.0**-0.5, 0.0]) / (2.0**-0.5 + 12.0**-0.5))
    np.testing.assert_allclose(weights(values, eigenvalues, 1e-3), limit, atol=1e-12)
    assert weights(values, eigenvalues, 1.0)[2] > 0.5


def test_the_limit_goes_with_flatness_to_half_the_dimension():
    eigenvalues = np.random.default_rng(0).uniform(1.0, 9.0, size=(5, 3))
    powers = flatness(eigenvalues) ** 1.5
    np.testing.assert_allclose(limit_weights(np.zeros(5), eigenvalues, 0.0), powers / powers.sum())


def test_the_tolerance_says_which_modes_are_global():
    values, eigenvalues = np.array([1.0, 1.0 - 1e-4, np.nan]), np.ones((3, 1))
    np.testing.assert_array_equal(limit_weights(values, eigenvalues, 1e-6), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(limit_weights(values, eigenvalues, 1e-3), [0.5, 0.5, np.nan])


def test_the_papers_asymmetric_mixture():
    """The paper's example: 0.586 and 0.414 for the two global modes, nothing for the local one."""
    problem = problems.asymmetric_mixture()
    here = problem.objective.evaluate(problem.modes, HESSIAN)
    found = limit_weights(here.value, np.linalg.eigvalsh(here.hessian), 1e-6)
    np.testing.assert_allclose(np.sort(found), [0.0, 0.414, 0.586], atol=1e-3)


# ---- the rest


def test_the_default_temperature_is_a_hundredth_of_the_spread():
    assert temperature_for(5.0) == pytest.approx(0.05)
    assert temperature_for(1e-300) == pytest.approx(1e-302)
    assert temperature_for(0.0) == temperature_for(5e-324) == 1.0
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="spread is"):
            temperature_for(bad)


def test_wrong_arguments_are_said():
    with pytest.raises(ValueError, match=r"temperature is 0.0; it must be greater than 0"):
        log_weights(np.zeros(1), np.ones((1, 1)), 0.0)
    with pytest.raises(
        ValueError, match=r"values has shape \(2,\) and eigenvalues \(1, 3\); wanted \(J,\) and \(J, d\)"
    ):
        log_weights(np.zeros(2), np.ones((1, 3)), 1.0)
    with pytest.raises(ValueError, match=r"is_free has shape \(3,\); wanted that of eigenvalues, \(1, 3\)"):
        log_weights(np.zeros(1), np.ones((1, 3)), 1.0, is_free=np.ones(3, bool), slopes=np.ones((1, 3)))
    with pytest.raises(ValueError, match="slopes is missing"):
        log_weights(np.zeros(1), np.ones((1, 3)), 1.0, is_free=np.ones((1, 3), bool))
    with pytest.raises(ValueError, match="tolerance is -1"):
        limit_weights(np.zeros(1), np.ones((1, 1)), -1.0)


# ---- what is inside the bounds


@pytest.mark.parametrize("below", [0.0, 0.1, 0.7, 3.0, np.inf])
@pytest.mark.parametrize("above", [0.0, 0.4, np.inf])
def test_the_share_inside_is_an_integral(below, above):
    curvature, omega = 3.0, 0.2
    sides = [max(-below, -40.0), min(above, 40.0)]
    inside = quad(lambda x: np.exp(-0.5 * curvature * x * x / omega), *sides, points=[0.0])[0]
    expected = inside / np.sqrt(2.0 * np.pi * omega / curvature)
    with np.errstate(divide="ignore"):
        found = log_inside(np.array([[-curvature]]), np.array([below]), np.array([above]), omega)
    assert np.exp(found) == pytest.approx(expected, rel=1e-6)


def test_the_share_inside_is_one_far_from_all_bounds_and_a_quarter_on_two_of_them():
    hessian = -np.diag([1.0, 5.0])
    far, none = np.full(2, 1e3), np.full(2, np.inf)
    assert log_inside(hessian, far, none, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert np.exp(log_inside(hessian, np.zeros(2), none, 1.0)) == pytest.approx(0.25)


def test_the_width_across_a_bound_is_that_of_all_coordinates_together():
    """Correlated coordinates are wider than the curvature along one of them says."""
    hessian = -np.linalg.inv([[1.0, 0.9], [0.9, 1.0]])
    found = log_inside(hessian, np.array([1.0, np.inf]), np.full(2, np.inf), 1.0)
    assert np.exp(found) == pytest.approx(0.8413447)
