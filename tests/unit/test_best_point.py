"""The result is never worse than the best point evaluated, whatever the modes are."""

import numpy as np
import pytest

from allmodes import ModeFinder, find_maxima, find_minima


def rosenbrock(x):
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def rugged(seed):
    """A sum of waves, steps, kinks and a quartic, each with a random share."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    shares, waves, centre = (
        rng.exponential(size=4) * 10.0 ** rng.uniform(-6, 6),
        rng.normal(size=(3, d)),
        rng.normal(size=d),
    )
    shares[rng.random(4) < 0.4] = 0.0

    def fun(x):
        parts = [
            np.sin(4.0 * waves @ x).sum(), np.abs(waves @ (x - centre)).sum(), np.floor(3.0 * x).sum(),
            ((x - centre) ** 4).sum(),
        ]  # fmt: skip
        return float(shares @ parts)

    return fun, [(-3.0, 3.0)] * d


def searched(fun, bounds, find=find_minima, **given):
    values = []

    def counted(x):
        values.append(fun(x))
        return values[-1]

    return find(counted, bounds, **given), np.array(values)


@pytest.mark.parametrize("seed", range(40))
def test_the_value_is_the_best_that_was_seen(seed):
    fun, bounds = rugged(seed)
    method = ("auto", "local", "multistart", "black-box", "anneal")[seed % 5]
    find, best = ((find_minima, np.min), (find_maxima, np.max))[seed % 2]
    given = {"target": "global"} if seed % 3 == 0 else {"polish": seed % 7 != 0}
    result, values = searched(fun, bounds, find, method=method, maxfev=int(37 * (seed + 1)), rng=seed, **given)
    assert result.fun == best(values)
    assert fun(result.x) == result.fun
    if result.modes and not np.array_equal(result.x, result.modes[0].x):
        assert "x is the best point evaluated, better than every mode, and not verified" in result.message.lower()


@pytest.mark.parametrize("seed", range(3))
def test_of_a_valley_that_is_not_followed_to_its_end_the_best_point_is_returned(seed):
    """Its values differ by less than what is a tie on the scale of this function."""
    result, values = searched(rosenbrock, [(-30.0, 30.0)] * 2, rng=seed, maxfev=10_000)
    assert result.fun == values.min() == rosenbrock(result.x)


def test_a_better_point_right_beside_a_mode_is_where_the_mode_is():
    result, values = searched(lambda x: float(np.cosh(x).sum()), [(-1.0, 2.0)] * 2, rng=0, maxfev=400)
    assert result.fun == result.modes[0].fun == values.min()
    np.testing.assert_array_equal(result.x, result.modes[0].x)
    assert "not verified" not in result.message
    assert result.modes[0].kind == "minimum"


def test_the_best_value_of_a_noisy_function_is_an_estimate():
    rng = np.random.default_rng(0)
    finder = ModeFinder([(-1.0, 1.0)], noise=0.5, rng=0, maxfev=2000)
    lowest = np.inf
    while not finder.stop():
        x = finder.ask()
        values = x[:, 0] ** 2 + 0.5 * rng.normal(size=len(x))
        lowest = values.min(initial=lowest)
        finder.tell(x, values)
    assert finder.result.fun == finder.result.modes[0].fun > lowest + 0.5
