"""What a search sees of a function before it begins."""

import numpy as np
import pytest

from allmodes import ModeFinder, Status, find_maxima, find_minima
from allmodes.objective import Evaluation
from allmodes.search.diagnosis import Diagnosis, noise_level

BOX = [(-6.0, 6.0)] * 2
WELL = [(-2.0, 2.0)] * 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def slope(x):
    a, b = x[0] ** 2 + x[1] - 11.0, x[0] + x[1] ** 2 - 7.0
    return np.array([4.0 * x[0] * a + 2.0 * b, 2.0 * a + 4.0 * x[1] * b])


def bend(x):
    mixed = 4.0 * (x[0] + x[1])
    return np.array([[12.0 * x[0] ** 2 + 4.0 * x[1] - 42.0, mixed], [mixed, 12.0 * x[1] ** 2 + 4.0 * x[0] - 26.0]])


def camel(x):
    return (4.0 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3.0) * x[0] ** 2 + x[0] * x[1] + (4.0 * x[1] ** 2 - 4.0) * x[1] ** 2


def styblinski_tang(x):
    return 0.5 * (x**4 - 16.0 * x**2 + 5.0 * x).sum()


def double_well(x):
    return (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2


def single(fun):
    """The function in float32: NumPy keeps that type through products with Python's numbers."""
    return lambda x: float(fun(x.astype(np.float32)))


def noisy(fun, deviation):
    rng = np.random.default_rng(7)
    return lambda x: fun(x) + deviation * rng.standard_normal()


# ---- noise levels


@pytest.mark.parametrize("deviation", [1e-12, 1e-3])
def test_the_level_of_noise_on_a_slope_is_seen(deviation):
    rng = np.random.default_rng(0)
    values = 30.0 * deviation * np.arange(7.0) + deviation * rng.standard_normal((500, 7))
    levels = np.array([noise_level(row) for row in values]) / deviation
    assert (levels > 0.0).mean() > 0.98
    assert 0.7 < np.median(levels) < 1.2
    assert 0.1 < np.quantile(levels, 0.02) < levels.max() < 3.0


@pytest.mark.parametrize("fun", [lambda t: t**2, np.exp, np.sin, np.zeros_like], ids=range(4))
def test_smooth_functions_have_no_noise(fun):
    assert noise_level(fun(0.01 * np.arange(-3.0, 4.0))) < 1e-15


# ---- coarse functions


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("fun", "box", "modes"),
    [(himmelblau, BOX, 4), (camel, [(-3.0, 3.0), (-2.0, 2.0)], 6), (styblinski_tang, [(-5.0, 5.0)] * 3, 8)],
    ids=["himmelblau", "camel", "styblinski-tang"],
)
def test_functions_in_float32_are_searched_like_those_in_float64(fun, box, modes, seed):
    coarse, fine = find_minima(single(fun), box, rng=seed), find_minima(fun, box, rng=seed)
    assert [mode.kind for mode in coarse.modes] == ["minimum"] * modes
    assert "The function is coarse" in coarse.message
    assert coarse.nfev < 2.0 * fine.nfev
    exact = np.array([mode.x for mode in fine.modes])
    for mode in coarse.modes:
        assert np.abs(exact - mode.x).max(axis=1).min() < 1e-3 * 12.0


@pytest.mark.parametrize("digits", [4, 8])
def test_rounded_values_are_no_obstacle(digits):
    result = find_minima(lambda x: round(himmelblau(x), digits), BOX, rng=0)
    assert len(result.modes) == 4
    assert result.nfev < 2000


@pytest.mark.parametrize("fun", [himmelblau, camel, lambda x: 1e8 + himmelblau(x), lambda x: 1e-9 * camel(x)])
@pytest.mark.parametrize("order", [0, 1])
def test_a_function_in_float64_is_searched_as_without_a_look(fun, order):
    given = {"rng": 3, "maxfev": 400}
    if order:
        fun, given["jac"] = himmelblau, slope
    cost = 11 if order else 8
    plain = find_minima(fun, BOX, options={"check": False}, **given)
    looked = find_minima(fun, BOX, **given | {"maxfev": 400 + cost})
    assert looked.nfev == plain.nfev + cost
    assert [mode.x.tolist() for mode in looked.modes] == [mode.x.tolist() for mode in plain.modes]
    assert "coarse" not in looked.message


# ---- constants that are added


@pytest.mark.parametrize("constant", [1e9, 1e12])
def test_with_gradients_a_constant_changes_nothing(constant):
    plain = find_minima(himmelblau, BOX, jac=slope, rng=1)
    result = find_minima(lambda x: himmelblau(x) + constant, BOX, jac=slope, rng=1)
    assert [mode.kind for mode in result.modes] == 4 * ["minimum"]
    exact = np.array([mode.x for mode in plain.modes])
    assert max(np.abs(exact - mode.x).max(axis=1).min() for mode in result.modes) < 1e-6
    assert "hides" not in result.message


def waves(x):
    """Minima inside and at the bounds."""
    return float(np.cos(13.0 * x + [0.0, 1.0]).sum() - x[0])


def slope_of_waves(x):
    return -13.0 * np.sin(13.0 * x + [0.0, 1.0]) - [1.0, 0.0]


def test_with_gradients_a_constant_hides_no_minimum_at_a_bound():
    """Where the rise is lost in rounding a step counts by the slope that is left, without that against the bound."""
    box = [(0.0, 1.0)] * 2
    counts = []
    for constant in (0.0, 1e12):
        result = find_minima(lambda x, c=constant: waves(x) + c, box, jac=slope_of_waves, maxfev=2000, rng=0)
        counts.append([mode.kind for mode in result.modes].count("boundary"))
    assert counts[0] == counts[1] > 2


@pytest.mark.parametrize(("constant", "accuracy"), [(1e9, 1e-3), (1e12, 0.02)])
def test_by_values_a_constant_costs_digits_and_no_modes(constant, accuracy):
    box = [(0.02, 0.98)] * 2
    exact = np.array([mode.x for mode in find_minima(waves, box, jac=slope_of_waves, maxfev=2000, rng=0).modes])
    result = find_minima(lambda x: waves(x) + constant, box, maxfev=5000, rng=0)
    found = np.array([mode.x for mode in result.modes])
    apart = np.abs(found[:, None] - exact).max(axis=2)
    assert len(found) == len(exact)
    assert apart.min(axis=0).max() < accuracy
    assert f"A constant of about {constant:.0e} hides the function" in result.message


# ---- random functions


@pytest.mark.parametrize("method", ["auto", "black-box"])
@pytest.mark.parametrize(
    ("fun", "deviation", "box", "modes"), [(double_well, 1e-6, WELL, 2), (himmelblau, 0.01, BOX, 4)]
)
def test_noise_that_nobody_mentioned_is_noticed(fun, deviation, box, modes, method):
    result = find_minima(noisy(fun, deviation), box, method=method, rng=0)
    assert len(result.modes) == modes
    assert all(mode.standard_error is not None for mode in result.modes)
    assert "noisy: two values at one point are" in result.message
    assert "searched as with noise=True" in result.message
    assert "rough" not in result.message


def test_methods_that_compare_single_values_say_what_to_use():
    result = find_minima(noisy(himmelblau, 0.01), BOX, method="local", rng=0, maxfev=2000)
    assert 'method "local" compares single values: use "auto" or "black-box"' in result.message
    assert "rough" not in result.message


def test_sums_in_another_order_are_no_noise():
    result = find_minima(noisy(lambda x: 1.0 + double_well(x), 1e-14), WELL, rng=0)
    assert len(result.modes) == 2
    assert "noisy" not in result.message


@pytest.mark.parametrize("given", [{"noise": False}, {"noise": 0.0}, {"options": {"check": False}}])
def test_nobody_looks_where_the_user_says_so(given):
    result = find_minima(noisy(double_well, 0.1), WELL, rng=0, maxfev=300, **given)
    assert "noisy" not in result.message


def test_known_points_reach_a_search_that_proves_noisy():
    x = np.random.default_rng(1).uniform(-2.0, 2.0, (50, 2))
    finder = ModeFinder(WELL, rng=0, warm_start=(x, [double_well(point) for point in x]))
    asked = finder.ask()
    finder.tell(asked, np.arange(float(len(asked))))
    assert np.isnan(finder._driver.state.context.noise)
    assert len(finder._driver.state.search.population.pool.queue) == 50


# ---- derivatives


WRONG = {
    "sign": (lambda x: -slope(x), bend, r"jac disagrees with fun at x = \[.*\]: along a random direction jac says -"),
    "scale": (lambda x: 2.0 * slope(x), bend, "jac disagrees with fun"),
    "order": (lambda x: slope(x)[::-1], bend, "jac disagrees with fun"),
    "sign of hess": (slope, lambda x: -bend(x), "hess disagrees with jac"),
    "only sign": (slope, lambda x: -bend(x), "It has the wrong sign: return the negative, or leave hess out"),
    "scale of hess": (slope, lambda x: 0.5 * bend(x), "hess disagrees with jac"),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_derivatives_are_refused(name):
    jac, hess, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        find_minima(himmelblau, BOX, jac=jac, hess=hess, rng=0)
    with pytest.raises(ValueError, match=message):
        find_maxima(himmelblau, BOX, jac=jac, hess=hess, rng=0)
    result = find_minima(himmelblau, BOX, jac=jac, hess=hess, rng=0, maxfev=50, options={"check": False})
    assert result.nfev == 50


def test_a_hessian_by_gauss_and_newton_is_refused_with_advice_that_works():
    t = np.linspace(0.0, 4.0, 20)

    def residuals(x):
        return np.sin(x[0] * t) + x[1] * t - 3.0

    def jacobian(x):
        return np.stack([t * np.cos(x[0] * t), t], axis=1)

    def fun(x):
        return 0.5 * float(residuals(x) @ residuals(x))

    def jac(x):
        return jacobian(x).T @ residuals(x)

    with pytest.raises(ValueError, match=r"J\^T J of a fit, will not do.*leave hess out"):
        find_minima(fun, [(-3.0, 3.0)] * 2, jac=jac, hess=lambda x: jacobian(x).T @ jacobian(x), rng=0)
    assert "minimum" in {mode.kind for mode in find_minima(fun, [(-3.0, 3.0)] * 2, jac=jac, rng=0).modes}


def test_wrong_derivatives_are_refused_again_when_the_search_is_resumed(tmp_path):
    for _ in range(2):
        with pytest.raises(ValueError, match="jac disagrees"):
            find_minima(himmelblau, BOX, jac=lambda x: -slope(x), rng=0, checkpoint=tmp_path / "search.npz")


def test_wrong_derivatives_that_are_told_are_refused():
    finder = ModeFinder(BOX, jac=True, rng=0)
    x = finder.ask()
    with pytest.raises(ValueError, match="jac disagrees"):
        finder.tell(x, [himmelblau(point) for point in x], [-slope(point) for point in x])


def penalty(x):
    return x @ x + 1e6 * max(0.0, x[0] - 1.0) ** 2


RIGHT = {
    "smooth": (himmelblau, slope, bend),
    "float32": (single(himmelblau), lambda x: slope(x.astype(np.float32)), None),
    "kinks": (lambda x: np.abs(x).sum(), np.sign, None),
    "ripples": (lambda x: np.cos(300.0 * x).sum(), lambda x: -300.0 * np.sin(300.0 * x), None),
    "penalty": (penalty, lambda x: 2.0 * x + np.array([2e6 * max(0.0, x[0] - 1.0), 0.0]), None),
    "level": (lambda x: 0.0, np.zeros_like, lambda x: np.zeros((2, 2))),
    "failures": (lambda x: np.nan, lambda x: -x, None),
}


@pytest.mark.parametrize("name", list(RIGHT))
def test_right_derivatives_are_accepted(name):
    fun, jac, hess = RIGHT[name]
    assert find_minima(fun, BOX, jac=jac, hess=hess, rng=0, maxfev=40).nfev <= 40


@pytest.mark.parametrize("seed", range(20))
def test_right_derivatives_are_accepted_wherever_one_looks(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((5, 5)), rng.uniform(1.0, 30.0, 5)
    fun = lambda x: np.abs(A @ x).sum() + np.cos(b * x).sum()  # noqa: E731
    jac = lambda x: A.T @ np.sign(A @ x) - b * np.sin(b * x)  # noqa: E731
    assert find_minima(fun, [(-1.0, 1.0)] * 5, jac=jac, rng=0, maxfev=20).nfev == 20


# ---- the machine


def test_the_first_point_is_asked_for_twice_and_all_are_inside():
    finder = ModeFinder([(0.0, 1.0), (10.0, np.inf)], rng=0)
    x = finder.ask()
    assert len(x) == 8
    assert x[0].tolist() == x[-1].tolist()
    assert len({tuple(point) for point in x.tolist()}) == 7
    assert np.isfinite(x).all()
    assert (x >= [0.0, 10.0]).all()


def test_a_search_saved_in_the_middle_of_the_look_goes_on_exactly(tmp_path):
    whole, cut = (ModeFinder(BOX, rng=0, maxfev=300) for _ in range(2))
    x = cut.ask(3)
    cut.tell(x, [himmelblau(point) for point in x])
    cut.save(tmp_path / "search.npz")
    cut = ModeFinder.load(tmp_path / "search.npz")
    for finder in (whole, cut):
        while not finder.stop():
            x = finder.ask()
            finder.tell(x, [himmelblau(point) for point in x])
    assert cut.result.message == whole.result.message
    assert [mode.x.tolist() for mode in cut.result.modes] == [mode.x.tolist() for mode in whole.result.modes]


def test_failures_say_nothing():
    context = ModeFinder(BOX, rng=0)._driver.state.context
    diagnosis = Diagnosis(context)
    points = diagnosis.ask().points
    diagnosis.tell(points, Evaluation(np.where(np.arange(8) == 3, np.nan, np.arange(8.0))))
    assert diagnosis.is_over
    assert diagnosis.account == ""
    assert context.rounding == 0.0


def test_a_point_and_noisy_functions_are_not_looked_at():
    for given in ({"bounds": [(1.0, 1.0)]}, {"bounds": BOX, "noise": 0.1}):
        assert ModeFinder(rng=0, **given)._driver.state.diagnosis.is_over


@pytest.mark.parametrize("check", [1, None, "no"])
def test_check_is_true_or_false(check):
    with pytest.raises(TypeError, match=r'options\["check"\]'):
        find_minima(himmelblau, BOX, options={"check": check})


def test_a_narrow_valley_is_not_called_rough():
    result = find_minima(lambda x: 1e6 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2, [(-3.0, 3.0)] * 2, rng=0)
    assert result.status is Status.BUDGET_SPENT
    assert "in narrow valleys" in result.message
    assert "rough" not in result.message


def test_a_plateau_around_a_pit_is_level_and_not_rough():
    found = find_minima(lambda x: min(1.0, float(((x - 1) ** 2).sum())), [(-3, 3)] * 2, rng=0, maxfev=1500)
    assert found.modes[0].x == pytest.approx([1.0, 1.0], abs=1e-5)
    assert "on level ground" in found.message
    assert "rough" not in found.message
