"""The search of a model: what it finds with few evaluations, what it says of it, what it refuses."""

import numpy as np
import pytest

from allmodes import ModeFinder, find_maxima, find_minima
from allmodes.search.searchers.surrogate.surrogate import Surrogate

HIMMELBLAU = np.array([[3.0, 2.0], [-2.805118, 3.131312], [-3.779310, -3.283186], [3.584428, -1.848126]])


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def found(result, known=HIMMELBLAU, within=0.05):
    return sum(any(np.abs(mode.x - x).max() < within for mode in result.modes) for x in known)


@pytest.fixture(scope="module")
def hundred():
    return find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", maxfev=100, rng=0)


def test_all_minima_are_found_with_a_hundred_values(hundred):
    assert found(hundred) == len(hundred.modes) == 4
    assert hundred.nfev == 100
    assert all(mode.kind == "minimum" for mode in hundred.modes)
    assert all(mode.curvature_from == "model" for mode in hundred.modes)


def test_local_searches_find_fewer_with_as_many():
    """The control: it is not the function that is easy."""
    few = [find_minima(himmelblau, [(-6, 6)] * 2, method="local", maxfev=100, rng=seed) for seed in range(3)]
    assert sum(map(found, few)) < 11


def test_values_are_those_of_the_function(hundred):
    assert all(mode.fun == pytest.approx(himmelblau(mode.x), rel=1e-12) for mode in hundred.modes)
    assert hundred.fun == min(mode.fun for mode in hundred.modes)


def test_curvature_is_that_of_the_function(hundred):
    best = next(mode for mode in hundred.modes if np.abs(mode.x - HIMMELBLAU[0]).max() < 0.1)
    np.testing.assert_allclose(best.hessian, [[74.0, 20.0], [20.0, 34.0]], rtol=0.2, atol=3.0)


def test_it_says_what_it_did(hundred):
    assert "a model of " in hundred.message.lower()
    assert "verified by values around" in hundred.message
    assert hundred.settings["more"] >= 0.0
    shown = " ".join(str(hundred).split())
    assert "coverage: random functions that have all these values, too, have" in shown
    assert "local search" not in shown


def test_what_the_model_alone_says_is_told_apart():
    result = find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", maxfev=40, rng=1)
    assert any(mode.kind == "unverified" for mode in result.modes)
    assert "that the others are optima only the model says" in result.message
    assert "there may be as many that were not found" in " ".join(str(result).split())


def test_equal_minima_are_equally_good_though_none_is_polished(hundred):
    assert [mode.is_global for mode in hundred.modes] == [True] * 4
    best = find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", target="global", maxfev=100, rng=1)
    assert found(best) == 4


def test_unequal_ones_are_not():
    result = find_minima(
        lambda x: np.sum((x**2 - 1) ** 2 + 0.05 * x), [(-2, 2)] * 2, method="surrogate", maxfev=70, rng=0
    )
    assert len(result.modes) == 4
    assert [mode.is_global for mode in result.modes] == [True, False, False, False]


@pytest.mark.parametrize("width", [1, 16])
def test_rounds_of_any_width_leave_time_for_verifying(width):
    """With 16 points in a round none was verified: the budget had ended before it was looked at."""
    result = find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", maxfev=110, rng=11, options={"width": width})
    assert found(result) == 4
    assert sum(mode.kind == "minimum" for mode in result.modes) >= 3


@pytest.mark.parametrize(("deviation", "noise"), [(0.1, 0.1), (10.0, True)])
def test_noise_is_taken(deviation, noise):
    random = np.random.default_rng(5)
    result = find_minima(lambda x: himmelblau(x) + deviation * random.normal(), [(-6, 6)] * 2, method="surrogate",
                         noise=noise, maxfev=120, rng=3)  # fmt: skip
    assert found(result, within=0.3) == len(result.modes) == 4
    assert sum(mode.kind == "minimum" for mode in result.modes) >= 3
    for mode in result.modes:  # not the luckiest value
        assert abs(mode.fun) < 3.0 * mode.standard_error < 3.0 * deviation
    assert all(mode.is_global for mode in result.modes)


@pytest.mark.parametrize("maxfev", [1, 2, 5, 13, 30])
def test_a_budget_is_never_exceeded(maxfev):
    calls = []
    find_minima(lambda x: calls.append(1) or himmelblau(x), [(-6, 6)] * 2, method="surrogate", maxfev=maxfev, rng=0)
    assert len(calls) == maxfev


def test_without_a_budget_it_ends_by_itself():
    result = find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", rng=1)
    assert result.nfev < 300
    assert "brought no new mode" in result.message
    assert found(result) == 4


def test_at_bounds_and_around_circles():
    result = find_minima(lambda x: x[0] + 0.3 * np.cos(2 * x[1]), [(0, 1), (0, 2 * np.pi)], periodic=[1],
                         method="surrogate", maxfev=60, rng=0)  # fmt: skip
    assert found(result, [[0.0, np.pi / 2], [0.0, 3 * np.pi / 2]], 0.05) == len(result.modes) == 2
    assert all(mode.active == (0,) for mode in result.modes)
    assert all(mode.kind in ("boundary", "unverified") for mode in result.modes)


def test_failures_are_survived():
    def often(x):
        return np.nan if x[0] + x[1] > 6.0 else himmelblau(x)

    result = find_minima(often, [(-6, 6)] * 2, method="surrogate", maxfev=100, rng=0)
    assert found(result) == 4
    assert result.nfail > 0


def test_all_failing_is_said():
    result = find_minima(lambda x: np.nan, [(0, 1)], method="surrogate", maxfev=12, rng=0)
    assert result.status.name == "ALL_FAILED"


def test_a_constant_function_has_no_verified_mode():
    result = find_minima(lambda x: 1.0, [(0, 1)] * 2, method="surrogate", maxfev=30, rng=0)
    assert not any(mode.kind == "minimum" for mode in result.modes)


def test_the_global_ones_alone():
    wells = [(-2, 2)] * 2
    result = find_minima(lambda x: np.sum((x**2 - 1) ** 2 + 0.3 * x), wells, method="surrogate", target="global",
                         maxfev=60, rng=0)  # fmt: skip
    assert len(result.modes) == 1
    assert result.modes[0].x == pytest.approx([-1.0357] * 2, abs=0.02)


def test_it_goes_on_from_what_was_saved(tmp_path):
    def run(finder, until):
        while not finder.stop() and finder.nfev < until:
            x = finder.ask()
            finder.tell(x, [himmelblau(point) for point in x])
        return finder

    given = {"method": "surrogate", "maxfev": 48, "rng": 3}
    whole = run(ModeFinder([(-6, 6)] * 2, **given), 48).result
    run(ModeFinder([(-6, 6)] * 2, **given), 24).save(tmp_path / "half.npz")
    loaded = ModeFinder.load(tmp_path / "half.npz")
    assert isinstance(loaded._driver.state.search, Surrogate)
    resumed = run(loaded, 48).result
    assert [mode.x.tolist() for mode in whole.modes] == [mode.x.tolist() for mode in resumed.modes]
    assert whole.nfev == resumed.nfev == 48


def test_what_is_known_is_used():
    x = np.random.default_rng(0).uniform(-6, 6, (60, 2))
    known = x, np.array([himmelblau(point) for point in x])
    result = find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", warm_start=known, maxfev=30, rng=0)
    assert found(result, within=0.1) == 4
    assert result.nfev <= 30


def test_auto_takes_it_where_evaluations_are_few_or_dear():
    bounds = [(-6, 6)] * 2
    assert "a model of" in find_minima(himmelblau, bounds, maxfev=40, rng=0).message.lower()
    assert "a model of" not in find_minima(himmelblau, bounds, maxfev=400, rng=0).message.lower()
    noisy = find_minima(himmelblau, bounds, maxfev=40, noise=1.0, rng=0)
    assert "a model of" in noisy.message.lower()
    dear = find_maxima(lambda x: -himmelblau(x), bounds, cost=60.0, maxfev=90, rng=0)
    assert "a model of" in dear.message.lower()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jac": "2-point"}, None),
        ({"jac": lambda x: x}, "models values alone; leave jac and hess out"),
        ({"maxfev": 5000}, "at most 1000 values, and maxfev is 5000"),
        ({"symmetry": [[0], [1]]}, "takes no symmetry"),
        ({"constraints": {"type": "ineq", "fun": lambda x: x[0]}}, 'wanted "auto" or "local"'),
        ({"integrality": [1, 0]}, "needs real ones"),
        ({"cost": -1.0}, "cost is -1.0"),
    ],
)
def test_what_it_does_not_take_is_refused(given, words):
    given = {"maxfev": 40, **given}
    if words is None:
        find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", rng=0, **given)
        return
    with pytest.raises(ValueError, match=words):
        find_minima(himmelblau, [(-6, 6)] * 2, method="surrogate", rng=0, **given)


def test_other_methods_say_when_it_would_find_more():
    few = find_minima(himmelblau, [(-6, 6)] * 2, maxfev=100, rng=0)
    assert 'With 100 evaluations method="surrogate" often finds more' in few.message
    many = find_minima(himmelblau, [(-6, 6)] * 2, maxfev=400, rng=0)
    derived = find_minima(lambda x: x @ x, [(-6, 6)] * 2, jac=lambda x: 2 * x, maxfev=100, rng=0)
    assert not any("surrogate" in result.message for result in (many, derived))


def test_a_larger_budget_hands_over_to_other_searches(tmp_path):
    """What was evaluated counts, and is not evaluated again."""
    calls = []
    given = {"bounds": [(-6, 6)] * 2, "rng": 0, "checkpoint": tmp_path / "run.ckpt"}
    first = find_minima(lambda x: calls.append(1) or himmelblau(x), maxfev=40, **given)
    assert "a model of" in first.message.lower()
    result = find_minima(lambda x: calls.append(1) or himmelblau(x), maxfev=400, **given)
    assert found(result, within=1e-4) == 4
    assert len(calls) == result.nfev <= 400
    assert "a model of" not in result.message.lower()
