"""Noisy functions: the noise is measured, parabolas are fitted with honest errors, modes are looked at again."""

import numpy as np
import pytest

from allmodes import find_maxima, find_minima
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.noisy import Noisy, _fit, _noise
from allmodes.strategy.search import Search

BOX = Box.make([(0, 1), (0, 1)])
CURVE = np.array([[-30.0, 8.0], [8.0, -20.0]])
SLOPE = np.array([0.4, -0.3])
HEIGHT = 1.7


def parabola(steps):
    return HEIGHT + steps @ SLOPE + 0.5 * np.einsum("nd,nd->n", steps, steps @ CURVE)


def a_search(noise=0.1, maxfev=4000):
    search = Search(BOX, Archive(BOX), np.random.default_rng(0), noise=noise, maxfev=maxfev)
    search.add_levels(np.linspace(-1.0, 1.0, 101))
    return search


def known(search, point, value=HEIGHT, hessian=CURVE, kind="unverified"):
    found = Found(np.zeros(2), hessian, np.zeros(2, bool), kind, "component", 1, search.noise)
    j = search.archive.add(np.array(point), value, found)
    search.archive.hits[j] = 1


# ---- the fit


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
    z, freedom = fits(0.3, 0.3, trials=2000), 16 - 6
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


def test_a_level_function_is_not_surely_curved():
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


def test_few_points_give_their_mean_and_none_nothing():
    value, error, gradient, hessian, is_sure = _fit(np.ones((4, 2)), np.array([1.0, 2.0, 3.0, 6.0]), 0.5)
    assert (value, error, is_sure) == (3.0, 0.25, False)
    assert not gradient.any()
    assert not hessian.any()
    assert _fit(np.zeros((0, 2)), np.zeros(0), 0.5) is None


# ---- the noise


def test_the_noise_is_pooled_over_places():
    rng = np.random.default_rng(9)
    squares = [_noise(rng.normal([[0.0], [100.0], [-7.0], [3.0]], 0.3, (4, 6))) ** 2 for _ in range(2000)]
    z = (np.mean(squares) - 0.09) / (np.std(squares) / np.sqrt(2000))
    assert abs(z) < 4.0
    biased = np.mean(squares) * 5 / 6  # the control: dividing by n
    assert abs(biased - 0.09) / (np.std(squares) / np.sqrt(2000)) > 4.0


def test_places_that_failed_do_not_count():
    values = np.array([[1.0, 2.0, 3.0], [np.nan, 5.0, 50.0], [4.0, 4.0, -np.inf]])
    with np.errstate(invalid="ignore"):
        assert _noise(values) == pytest.approx(1.0)
        assert _noise(values[1:]) == 0.0


def test_the_noise_is_measured_first_unless_it_is_known():
    search = a_search(noise=float("nan"))
    noisy = Noisy(search)
    points = noisy.ask().points
    assert len(np.unique(points, axis=0)) == 4
    assert len(points) == 24
    values = points.sum(axis=1) + 0.2 * np.random.default_rng(3).normal(size=24)
    noisy.tell(Evaluation(values, None, None))
    assert 0.1 < search.noise < 0.3
    assert noisy.stage == "search"
    assert Noisy(a_search(noise=0.1)).stage == "search"


# ---- looking again


def looking(*modes, noise=0.1, maxfev=4000):
    search = a_search(noise, maxfev)
    for mode in modes:
        known(search, *mode)
    noisy = Noisy(search)
    noisy.stage = "look"
    return noisy


def hill(z):
    """A top at (0.6, 0.5)."""
    return parabola(z - [0.6, 0.5]) - (z - [0.6, 0.5]) @ SLOPE


def look(noisy, function=hill, seed=1):
    points = noisy.ask().points
    rng = np.random.default_rng(seed)
    noisy.tell(Evaluation(function(points) + noisy.search.noise * rng.normal(size=len(points)), None, None))
    return points


def test_looking_again_moves_a_mode_to_its_top_and_verifies_it():
    noisy = looking(((0.57, 0.52), 5.0))
    points = look(noisy)
    assert BOX.inside(points).all()
    while noisy.stage in ("look", "confirm"):
        look(noisy, seed=2)
    archive = noisy.search.archive
    (found,) = archive.found
    assert found.kind == "optimum"
    assert np.abs(archive.means[0] - [0.6, 0.5]).max() < 0.02
    assert abs(archive.values[0] - HEIGHT) < 4.0 * found.standard_error
    assert 0.0 < found.standard_error < 0.05
    assert noisy.stage == "done"
    assert noisy.ending
    assert len(noisy.ask().points) == 0


def test_a_slope_stays_unverified():
    noisy = looking(((0.5, 0.5), 5.0))
    look(noisy, lambda z: 2.0 * z[:, 0])
    (found,) = noisy.search.archive.found
    assert found.kind == "unverified"
    assert noisy.search.archive.means.tolist() == [[0.5, 0.5]]
    assert noisy.search.archive.values[0] == pytest.approx(1.0, abs=0.1)


def test_failed_evaluations_are_left_out_of_a_look():
    noisy = looking(((0.6, 0.5), 5.0))
    look(noisy, lambda z: np.where(z[:, 0] > 0.65, -np.inf, hill(z)))
    assert np.isfinite(noisy.search.archive.values).all()
    assert noisy.search.archive.values[0] == pytest.approx(HEIGHT, abs=0.2)


def test_a_slope_is_forgotten_when_there_is_a_top():
    noisy = looking(((0.6, 0.5), 5.0), ((0.2, 0.2), 4.0))
    while noisy.stage == "look":
        look(noisy, lambda z: np.where(z[:, 0] > 0.4, hill(z), 20.0 * z[:, 0] - 20.0))
    assert len(noisy.search.archive) == 1
    assert np.abs(noisy.search.archive.means[0] - [0.6, 0.5]).max() < 0.05


def compared(function, *modes, noise=0.1):
    """Modes that are left when candidates are compared."""
    noisy = looking(*modes, noise=noise)
    noisy.stage = "compare"
    points = noisy.ask().points
    rng = np.random.default_rng(4)
    noisy.tell(Evaluation(function(points) + noise * rng.normal(size=len(points)), None, None))
    assert noisy.stage == "look"
    return noisy.search.archive


def hills(z):
    """Tops of height 1 at (0.3, 0.3) and (0.7, 0.7), and a ridge down from the first."""
    return np.maximum(1.0 - 20.0 * ((z - 0.3) ** 2).sum(axis=1), 1.0 - 20.0 * ((z - 0.7) ** 2).sum(axis=1))


def test_candidates_on_one_hill_become_the_better_one():
    archive = compared(hills, ((0.3, 0.3), 1.4), ((0.4, 0.32), 1.3), ((0.7, 0.7), 1.2), noise=0.02)
    assert archive.means.tolist() == [[0.3, 0.3], [0.7, 0.7]]


def test_candidates_are_not_told_apart_by_a_fall_that_may_be_luck():
    assert len(compared(hills, ((0.3, 0.3), 1.4), ((0.7, 0.7), 1.2), noise=0.02)) == 2
    assert len(compared(hills, ((0.3, 0.3), 1.4), ((0.7, 0.7), 1.2), noise=5.0)) == 1


def test_values_that_were_lucky_are_measured_again():
    archive = compared(hills, ((0.3, 0.3), 9.0), ((0.7, 0.7), 8.0))
    np.testing.assert_allclose(archive.values, 1.0, atol=0.2)


@pytest.mark.parametrize("maxfev", [10, 40, 300])
def test_looking_again_keeps_to_the_budget(maxfev):
    noisy = looking(((0.3, 0.3), 1.0), ((0.9, 0.9), 1.5), maxfev=maxfev)
    spent = 0
    while noisy.stage == "look":
        points = look(noisy)
        spent += len(points)
        noisy.search.nfev += len(points)
    assert 0 < spent <= maxfev


# ---- whole searches


def camel(x, rng, sigma):
    a, b = x[..., 0] ** 2, x[..., 1] ** 2
    exact = (4.0 - 2.1 * a + a * a / 3.0) * a + x[..., 0] * x[..., 1] + (4.0 * b - 4.0) * b
    return exact + sigma * rng.normal(size=exact.shape)


TOPS = np.array([[0.08984201, -0.71265640], [-0.08984201, 0.71265640]])


@pytest.mark.parametrize(("find", "sign"), [(find_minima, 1.0), (find_maxima, -1.0)])
@pytest.mark.parametrize("noise", [True, 0.1])
def test_global_modes_of_a_noisy_function_are_found_with_standard_errors(find, sign, noise):
    rng = np.random.default_rng(15)
    result = find(
        lambda x: sign * camel(x, rng, 0.1), [(-2, 2), (-1.5, 1.5)], noise=noise, vectorized=True, rng=4, maxfev=6000
    )
    assert result.nfev <= 6000
    for top in TOPS:
        (close,) = [m for m in result.modes if np.abs(m.x - top).max() < 0.15]
        assert close.is_global
        assert 0.0 < close.standard_error < 0.1
        assert sign * close.fun == pytest.approx(-1.0316285, abs=0.15)
    assert "noisy" in result.message


def test_exact_functions_have_no_standard_error():
    result = find_minima(lambda x: (x[0] ** 2 - 1) ** 2, [(-2, 2)], rng=0, maxfev=300)
    assert [mode.standard_error for mode in result.modes] == [None, None]
