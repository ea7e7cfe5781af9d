"""Noisy functions: the noise is measured, parabolas are fitted with honest errors, modes are looked at again."""

import numpy as np
import pytest

from allmodes import find_maxima, find_minima
from allmodes.nva.annealing import presets
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.comparison import Comparison
from allmodes.strategy.looks import LUCK, climb, fit_parabola
from allmodes.strategy.noisy import Noisy, _noise
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


def _fit(steps, values, noise):
    """Value, error, gradient, Hessian, and whether all curvatures are surely negative; None without points."""
    fit = fit_parabola(steps, values, noise)
    if fit is None:
        return None
    free = Box.make([(None, None)] * steps.shape[1], np.zeros(steps.shape[1]))
    return *fit[:4], climb(fit, np.full(steps.shape[1], 0.5), free).is_sure


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


def test_a_slope_is_climbed_to_the_bound():
    noisy = looking(((0.5, 0.5), 5.0))
    look(noisy, lambda z: 2.0 * z[:, 0])
    (found,) = noisy.search.archive.found
    assert found.kind == "unverified"
    assert noisy.search.archive.means[0, 0] > 0.6
    while noisy.stage != "done" and len(noisy.ask().points):
        look(noisy, lambda z: 2.0 * z[:, 0] - 8.0 * (z[:, 1] - 0.5) ** 2, seed=noisy.looking.looks)
    (found,) = noisy.search.archive.found
    assert (found.kind, found.active.tolist()) == ("boundary", [True, False])
    assert noisy.search.archive.means[0, 0] == 1.0


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


def test_where_the_function_is_no_parabola_the_look_is_narrower():
    rng = np.random.default_rng(11)
    steps = np.repeat(0.2 * rng.normal(size=(60, 2)), 2, axis=0)
    bent = [
        [fit_parabola(steps, f(steps) + 0.1 * rng.normal(size=120), 0.1).is_bent for _ in range(100)]
        for f in (parabola, lambda z: parabola(z) + 40.0 * z[:, 0] ** 3)
    ]
    assert np.mean(bent[0]) < 0.06
    assert np.mean(bent[1]) > 0.97


def test_the_top_of_a_parabola_in_the_box():
    steps = 0.1 * np.random.default_rng(12).normal(size=(60, 2))
    fit = fit_parabola(steps, -((steps[:, 0] - 0.05) ** 2) - (steps[:, 1] + 0.04) ** 2, 0.1)
    inside = climb(fit, np.array([0.5, 0.5]), BOX)
    np.testing.assert_allclose(inside.point, [0.55, 0.46], atol=1e-9)
    assert inside.rise == pytest.approx(0.05**2 + 0.04**2)
    assert not inside.active.any()
    held = climb(fit, np.array([0.98, 0.5]), BOX)
    np.testing.assert_allclose(held.point, [1.0, 0.46], atol=1e-9)
    assert held.active.tolist() == [True, False]
    assert held.gradient == pytest.approx([0.06, 0.0])
    assert held.is_sure


def test_a_saddle_is_left_uphill():
    rng = np.random.default_rng(13)
    steps = 0.1 * rng.normal(size=(60, 2))
    values = 20.0 * ((steps[:, 0] + 0.05) ** 2 - steps[:, 1] ** 2) + 0.01 * rng.normal(size=60)
    top = climb(fit_parabola(steps, values, 0.01), np.array([0.5, 0.5]), BOX)
    assert top.ascent > LUCK
    assert not top.is_sure
    assert top.point[0] > 0.55
    assert top.point[1] == pytest.approx(0.5, abs=0.02)


# ---- what is one


def sorted_out(function, places, noise, seed, box=BOX):
    """How many hills a comparison tells apart."""
    places, rng = np.array(places), np.random.default_rng(seed)
    comparison = Comparison.of(box, places, function(places))
    while len(rows := comparison.rows):
        points = np.repeat(comparison.points[rows], 6, axis=0)
        comparison.tell(rows, (function(points) + noise * rng.normal(size=len(points))).reshape(-1, 6), noise)
    return len(set(comparison.groups().tolist()))


def test_places_are_two_only_if_the_value_falls_between_them():
    places = [[0.3, 0.3], [0.7, 0.7]]
    deep = [sorted_out(hills, places, 0.3, seed) for seed in range(100)]  # falls by 1.6
    shallow = [sorted_out(hills, places, 30.0, seed) for seed in range(100)]
    level = [sorted_out(lambda z: np.zeros(len(z)), places, 1.0, seed) for seed in range(100)]
    assert np.mean(np.array(deep) == 2) > 0.97
    assert np.mean(np.array(shallow) == 1) > 0.97
    assert np.mean(np.array(level) == 1) > 0.97


def test_three_places_on_two_hills():
    places = [[0.3, 0.3], [0.68, 0.7], [0.33, 0.3]]
    assert [sorted_out(hills, places, 0.05, seed) for seed in range(20)] == [2] * 20


def test_the_way_round_is_looked_at_where_a_coordinate_is_periodic():
    def ridge(z):
        return np.cos(2 * np.pi * z[:, 0])

    places = [[0.02, 0.5], [0.98, 0.5]]
    assert sorted_out(ridge, places, 0.05, 1, Box.make([(0, 1), (0, 1)], periodic=[0])) == 1
    assert sorted_out(ridge, places, 0.05, 1) == 2


def test_repeats_that_never_differ_do_not_make_noise_vanish():
    """A function that is rough rather than random: the same value at the same point."""

    def rough(z):
        return 0.1 * np.sin(1e7 * z[:, 0] + 3e6 * z[:, 1])

    rng = np.random.default_rng(14)
    found = []
    for _ in range(50):
        places = rng.random((2, 2))
        comparison = Comparison.of(BOX, places, rough(places))
        while len(rows := comparison.rows):
            comparison.tell(rows, np.repeat(rough(comparison.points[rows])[:, None], 6, axis=1), 0.1)
        found.append(len(set(comparison.groups().tolist())))
    assert np.mean(np.array(found) == 1) > 0.9


def test_modes_are_global_unless_they_are_surely_worse():
    search = a_search(noise=1.0)
    for value in (5.0, 4.7, 3.0):
        known(search, (0.5, 0.5), value)
    search.archive.found = [Found(*_content(found), standard_error=0.2) for found in search.archive.found]
    assert search.is_best.tolist() == [True, True, False]  # 3.0 is 7 standard errors worse, and 2 noises
    search.archive.found = [Found(*_content(found), standard_error=1.0) for found in search.archive.found]
    assert search.is_best.all()


def _content(found):
    return found.gradient, found.hessian, found.active, found.kind, found.source, found.found_at


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


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


NINE = np.array([(a, b) for a in (-0.98, 0.0, 0.98) for b in (-0.98, 0.0, 0.98)])
CASES = {  # function, bounds, noise, its minima, how far from them the noise lets one be, budget
    "parabola, 1-d": (lambda x: 10 * (x[:, 0] - 0.3) ** 2, [(0, 1)], 0.1, [[0.3]], 0.15, 3000),
    "parabola": (lambda x: 10 * ((x - 0.3) ** 2).sum(axis=1), [(0, 1)] * 2, 0.1, [[0.3, 0.3]], 0.15, 4000),
    "slope": (lambda x: 3 * x.sum(axis=1), [(0, 1)] * 2, 0.1, [[0.0, 0.0]], 0.05, 4000),
    "edge": (lambda x: 3 * x[:, 0] + 5 * (x[:, 1] - 0.5) ** 2, [(0, 1)] * 2, 0.1, [[0.0, 0.5]], 0.15, 4000),
    "wells": (
        lambda x: 4 * (x[:, 0] ** 2 - 1) ** 2 + 2 * x[:, 1] ** 2, [(-2, 2)] * 2, 0.3, [[-1, 0], [1, 0]], 0.35, 5000,
    ),
    "himmelblau": (
        himmelblau, [(-6, 6)] * 2, 1.0,
        [[3, 2], [3.584428, -1.848126], [-3.779310, -3.283186], [-2.805118, 3.131312]], 0.4, 6000,
    ),
    "rastrigin": (lambda x: (x**2 - 3 * np.cos(2 * np.pi * x)).sum(axis=1), [(-1.5, 1.5)] * 2, 0.1, NINE, 0.15, 12_000),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_mode_is_listed_once_and_nothing_else(name):
    function, bounds, sigma, minima, near, maxfev = CASES[name]
    right = 0
    for seed in range(6):
        rng = np.random.default_rng(1000 + seed)
        result = find_minima(
            lambda x, rng=rng: function(x) + sigma * rng.normal(size=len(x)), bounds, noise=sigma, vectorized=True,
            rng=seed, maxfev=maxfev,
        )  # fmt: skip
        distance = np.abs(np.array([mode.x for mode in result.modes])[:, None] - np.array(minima)).max(axis=2)
        is_near = distance < near
        assert (is_near.sum(axis=0) <= 1).all(), "a mode is listed twice"
        right += len(result.modes) == len(minima) and bool(is_near.any(axis=0).all())
    assert right >= 5


def test_a_mode_at_the_seam_is_one():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        result = find_minima(
            lambda x, rng=rng: -2 * np.cos(x[:, 0]) + 2 * (x[:, 1] - 0.5) ** 2 + 0.1 * rng.normal(size=len(x)),
            [(0, 2 * np.pi), (0, 1)], periodic=[0], noise=0.1, vectorized=True, rng=seed, maxfev=4000,
        )  # fmt: skip
        (mode,) = result.modes
        assert abs(np.angle(np.exp(1j * mode.x[0]))) < 0.3


def test_a_bound_that_holds_a_noisy_minimum_is_named():
    rng = np.random.default_rng(16)
    result = find_minima(
        lambda x: 3 * x[:, 0] + 5 * (x[:, 1] - 0.5) ** 2 + 0.1 * rng.normal(size=len(x)), [(0, 1)] * 2, noise=True,
        vectorized=True, rng=1, maxfev=4000,
    )  # fmt: skip
    (mode,) = result.modes
    assert (mode.kind, mode.active, mode.x[0]) == ("boundary", (0,), 0.0)


@pytest.mark.parametrize("maxfev", [5, 60, 200, 600])
def test_little_budget_is_kept_to_and_nothing_is_listed_twice(maxfev):
    rng = np.random.default_rng(17)
    result = find_minima(
        lambda x: ((x - 0.3) ** 2).sum(axis=1) + 0.01 * rng.normal(size=len(x)), [(0, 1)] * 2, noise=True,
        vectorized=True, rng=2, maxfev=maxfev,
    )  # fmt: skip
    assert result.nfev <= maxfev
    assert len(result.modes) <= 1 or maxfev < 600


def test_an_exact_function_called_noisy_is_searched_all_the_same():
    result = find_minima(lambda x: himmelblau(x), [(-6, 6)] * 2, noise=True, vectorized=True, rng=0, maxfev=8000)
    assert len(result.modes) == 4
    assert max(himmelblau(np.array([mode.x for mode in result.modes]))) < 0.1


@pytest.mark.parametrize("method", ["launch", "anneal", "multistart", presets.nva_gm(order=1)])
@pytest.mark.parametrize("noise", [True, 0.1])
def test_methods_that_compare_single_values_refuse_noise(method, noise):
    with pytest.raises(ValueError, match=r'noise is set and method is ".*"auto" or "black-box"'):
        find_minima(lambda x: x[0] ** 2, [(-1, 1)], method=method, noise=noise)


def test_no_noise_is_fine_with_every_method():
    for noise in (None, False, 0.0):
        assert find_minima(lambda x: x[0] ** 2, [(-1, 2)], method="launch", noise=noise, maxfev=200, rng=0).modes
