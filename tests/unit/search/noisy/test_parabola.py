"""Parabolas through noisy values: honest errors, and where they say the maximum is."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.verify.parabola import find_peak, first_factor, fit_parabola, next_factor

BOX = Box.make([(0, 1), (0, 1)])
CURVE = np.array([[-30.0, 8.0], [8.0, -20.0]])
SLOPE = np.array([0.4, -0.3])
HEIGHT = 1.7


def parabola(steps):
    return HEIGHT + steps @ SLOPE + 0.5 * np.einsum("nd,nd->n", steps, steps @ CURVE)


def widths(steps):
    return np.diag(np.abs(steps).max(axis=0, initial=1e-9))


def _fit(steps, values, noise):
    """Value, error, gradient, Hessian, and whether all curvatures are surely negative; None without points."""
    fit = fit_parabola(steps, values, noise, widths(steps))
    if fit is None:
        return None
    free = Box.make([(None, None)] * steps.shape[1], np.zeros(steps.shape[1]))
    return *fit[:4], find_peak(fit, np.full(steps.shape[1], 0.5), free).is_sure


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_parabola_without_noise_is_recovered_exactly(d):
    rng = np.random.default_rng(d)
    B = rng.normal(size=(d, d))
    H, g = -(B @ B.T + np.eye(d)), rng.normal(size=d)
    steps = rng.normal(size=(100, d)) * 10.0 ** -np.arange(d)  # of very different widths
    values = 3.0 + steps @ g + 0.5 * np.einsum("nd,nd->n", steps, steps @ H)
    value, error, gradient, hessian, is_sure = _fit(steps, values, 0.1)
    assert value == pytest.approx(3.0, abs=1e-12)
    assert error < 1e-12
    np.testing.assert_allclose(gradient, g, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(hessian, H, rtol=1e-6, atol=1e-6)
    assert is_sure


def fits(sigma, claimed, n=16, trials=400):
    """z-scores of the value in many fits of one parabola under noise."""
    rng = np.random.default_rng(5)
    z = []
    for _ in range(trials):
        steps = 0.2 * rng.normal(size=(n, 2))
        value, error, *_ = _fit(steps, parabola(steps) + sigma * rng.normal(size=n), claimed)
        z.append((value - HEIGHT) / error)
    return np.array(z)


def test_the_standard_error_is_right():
    """z-scores have the mean and the variance of Student's t with the degrees of freedom left."""
    z, freedom = fits(0.3, 0.3, trials=1000), 16 - 6
    assert abs(z.mean()) < 4.0 * z.std() / np.sqrt(len(z))

    def off(scores):
        squares = scores**2
        return abs(squares.mean() - freedom / (freedom - 2)) / (squares.std() / np.sqrt(len(z)))

    assert off(z) < 3.0
    assert off(1.25 * z) > 4.0  # the controls: errors that are wrong by a fifth
    assert off(0.8 * z) > 4.0


def test_the_standard_error_follows_what_is_seen_and_not_what_is_claimed():
    np.testing.assert_array_equal(fits(0.3, 0.3, trials=20), fits(0.3, 5.0, trials=20))


def test_the_derivatives_are_right_on_average():
    rng = np.random.default_rng(6)
    gradients, hessians = [], []
    for _ in range(300):
        steps = 0.2 * rng.normal(size=(60, 2))
        _, _, gradient, hessian, _ = _fit(steps, parabola(steps) + 0.3 * rng.normal(size=60), 0.3)
        gradients.append(gradient)
        hessians.append(hessian)
    for found, wanted in ((np.array(gradients), SLOPE), (np.array(hessians), CURVE)):
        error = found.std(axis=0) / np.sqrt(300)
        assert (np.abs(found.mean(axis=0) - wanted) < 4.0 * error).all()
        assert (np.abs(found.mean(axis=0) - 1.3 * wanted) > 4.0 * error).any()  # the control


def test_a_flat_function_is_not_surely_curved():
    rng = np.random.default_rng(7)
    sure = [
        [
            _fit(s := 0.2 * rng.normal(size=(60, 2)), bent * parabola(s) + rng.normal(size=60) * 0.1, 0.1)[4]
            for _ in range(200)
        ]
        for bent in (0.0, 1.0)
    ]
    assert np.mean(sure[0]) < 0.02
    assert np.mean(sure[1]) > 0.95


def test_a_saddle_is_never_sure():
    rng = np.random.default_rng(8)
    for _ in range(100):
        steps = 0.2 * rng.normal(size=(60, 2))
        values = 20.0 * (steps[:, 0] ** 2 - steps[:, 1] ** 2) + 0.01 * rng.normal(size=60)
        assert not _fit(steps, values, 0.01)[4]


def test_too_few_points_are_no_parabola():
    assert _fit(np.ones((4, 2)), np.array([1.0, 2.0, 3.0, 6.0]), 0.5) is None
    assert _fit(np.zeros((0, 2)), np.zeros(0), 0.5) is None


def test_where_the_function_is_no_parabola_the_fit_is_poor():
    rng = np.random.default_rng(11)
    steps = np.repeat(0.2 * rng.normal(size=(60, 2)), 2, axis=0)
    bent = [
        [fit_parabola(steps, f(steps) + 0.1 * rng.normal(size=120), 0.1, widths(steps)).is_poor for _ in range(100)]
        for f in (parabola, lambda z: parabola(z) + 40.0 * z[:, 0] ** 3)
    ]
    assert np.mean(bent[0]) < 0.1
    assert np.mean(bent[1]) > 0.97


def test_the_peak_of_a_parabola_in_the_box():
    steps = 0.1 * np.random.default_rng(12).normal(size=(60, 2))
    fit = fit_parabola(steps, -((steps[:, 0] - 0.05) ** 2) - (steps[:, 1] + 0.04) ** 2, 0.1, widths(steps))
    inside = find_peak(fit, np.array([0.5, 0.5]), BOX)
    np.testing.assert_allclose(inside.point, [0.55, 0.46], atol=1e-9)
    assert inside.rise == pytest.approx(0.05**2 + 0.04**2)
    assert not inside.active.any()
    held = find_peak(fit, np.array([0.98, 0.5]), BOX)
    np.testing.assert_allclose(held.point, [1.0, 0.46], atol=1e-9)
    assert held.active.tolist() == [True, False]
    assert held.gradient == pytest.approx([0.06, 0.0])
    assert held.is_sure


def test_a_saddle_is_left_uphill():
    rng = np.random.default_rng(13)
    steps = 0.1 * rng.normal(size=(60, 2))
    values = 20.0 * ((steps[:, 0] + 0.05) ** 2 - steps[:, 1] ** 2) + 0.01 * rng.normal(size=60)
    peak = find_peak(fit_parabola(steps, values, 0.01, widths(steps)), np.array([0.5, 0.5]), BOX)
    assert peak.ascent > TUNING.sure
    assert not peak.is_sure
    assert peak.point[0] > 0.55
    assert peak.point[1] == pytest.approx(0.5, abs=0.02)


def test_points_are_as_wide_as_the_curvature_asks_for():
    widths = np.linalg.svd(first_factor(-np.diag([1e3, 4e3]), 0.1, 1e-3), compute_uv=False)
    assert widths[0] == pytest.approx(2.0 * widths[1])
    assert TUNING.wider * np.sqrt(2.0 * TUNING.fall * 0.1 / 1e3) == pytest.approx(widths[0])
    flat = np.linalg.svd(first_factor(np.zeros((2, 2)), 0.1, 1e-3), compute_uv=False)
    np.testing.assert_allclose(flat, TUNING.widest)


def test_the_next_points_are_narrower_after_a_poor_fit_and_wider_where_nothing_was_seen():
    rng, factor = np.random.default_rng(3), 0.05 * np.eye(2)
    steps = np.repeat(0.05 * rng.normal(size=(60, 2)), 2, axis=0)
    level = fit_parabola(steps, rng.normal(size=120), 1.0, factor)
    assert (np.linalg.svd(next_factor(level, 1.0, False, 1e-3), compute_uv=False) > 0.05).all()
    poor = level._replace(is_poor=True)
    assert (np.linalg.svd(next_factor(poor, 1.0, True, 1e-3), compute_uv=False) < 0.05).all()
    again = next_factor(level, 1.0, True, 1e-3)
    np.testing.assert_allclose(np.linalg.svd(again, compute_uv=False), 0.05)
