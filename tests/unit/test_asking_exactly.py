"""ask(n, exact=True): n points that were never asked for, whatever is in flight."""

import numpy as np
import pytest

from allmodes import ModeFinder
from allmodes.memory import keys_of
from allmodes.nva import presets

BOUNDS = [(-2.0, 2.0), (-1.5, 1.5)]
AS_THEY_COME = {"options": {"order": "completion"}}


def camel(x):
    a, b = x[..., 0] ** 2, x[..., 1] ** 2
    return (4.0 - 2.1 * a + a * a / 3.0) * a + x[..., 0] * x[..., 1] + (4.0 * b - 4.0) * b


def camel_gradient(x):
    x1, x2 = x[..., 0], x[..., 1]
    return np.stack([8.0 * x1 - 8.4 * x1**3 + 2.0 * x1**5 + x2, x1 - 8.0 * x2 + 16.0 * x2**3], axis=-1)


def steps(x):
    """Populations join the search."""
    return np.floor(20.0 * camel(x)) / 20.0


def half(x):
    return np.where(x[:, 0] > 1.0, np.nan, camel(x))


def finder_of(**options):
    return ModeFinder(options.pop("bounds", BOUNDS), **{"rng": 0, **options})


def told(finder, x, fun):
    finder.tell(x, fun(x), camel_gradient(x) if "gradient" in finder.needs else None)


def run(finder, n, fun=camel, delay=0):
    """Search in batches of n, so many of which are told late and in another order; all the points asked for."""
    asked, waiting, rng = [np.zeros((0, 2))], np.zeros((0, 2)), np.random.default_rng(1)
    short = 0
    while not finder.stop():
        x = finder.ask(n, exact=True)
        assert len(x) <= n
        is_short = len(x) < n  # it is over, unless what is still out tells otherwise
        short += is_short and len(x) > 0
        assert short <= 3
        asked.append(x)
        waiting = rng.permutation(np.concatenate([waiting, x]))
        kept = 0 if is_short else delay
        x, waiting = waiting[kept:], waiting[:kept]
        told(finder, x, fun)
    return np.concatenate(asked)


def is_new(points):
    keys = keys_of(points)
    return len(set(keys)) == len(keys)


@pytest.mark.parametrize("options", [{}, AS_THEY_COME, {"jac": True}, {"method": "multistart"}, {"target": "global"}],
                         ids=["auto", "as they come", "gradients", "multistart", "global"])  # fmt: skip
@pytest.mark.parametrize(("n", "delay"), [(1, 0), (5, 0), (4, 7), (16, 0)])
def test_points_are_as_many_as_asked_for_and_new(options, n, delay):
    finder = finder_of(**options)
    asked = run(finder, n, delay=delay)
    assert is_new(asked[:4000])  # that many are remembered
    assert len(asked) == finder.nfev
    assert finder.modes_found == (2 if finder.result.settings["target"] == "global" else 6)
    assert "nothing_new" in finder.stop()


def test_one_at_a_time_is_the_same_search_as_in_whole_rounds():
    plain, exact = finder_of(), finder_of()
    while not plain.stop():
        told(plain, plain.ask(), camel)
    run(exact, 1)
    assert exact.nfev == plain.nfev
    assert [mode.hits for mode in exact.result.modes] == [mode.hits for mode in plain.result.modes]


@pytest.mark.parametrize("fun", [steps, half], ids=["populations join", "failures"])
def test_of_functions_that_are_not_smooth(fun):
    finder = finder_of(maxfev=6000)
    asked = run(finder, 7, fun, delay=3)
    assert is_new(asked[:4000])  # that many are remembered
    assert finder.modes_found >= 3


def test_by_populations():
    finder = finder_of(method="black-box", maxfev=3000)
    assert is_new(run(finder, 16, delay=3))
    assert finder.result.fun == pytest.approx(-1.0316, abs=1e-3)


@pytest.mark.parametrize("noise", [None, 0.01], ids=["found out", "given"])
def test_a_noisy_function_is_evaluated_more_than_once_at_a_point(noise):
    rng = np.random.default_rng(0)

    def noisy(x):
        return camel(x) + 0.01 * rng.standard_normal(len(x))

    finder = finder_of(noise=noise, maxfev=12_000)
    asked = run(finder, 8, noisy)
    assert not is_new(asked)
    assert len(asked) == finder.nfev
    assert finder.modes_found >= 2
    assert finder.result.modes[0].standard_error is not None


def test_noise_is_seen_without_a_point_that_is_asked_for_twice():
    finder = finder_of()
    x = finder.ask(20, exact=True)
    assert is_new(x)
    finder.tell(x, camel(x) + 0.01 * np.random.default_rng(0).standard_normal(20))
    assert "The function is noisy" in finder.result.message


@pytest.mark.parametrize("bounds", [[(1e9, 1e9 + 1.0)] * 2, [(0.0, 1e-9)] * 2, [(-1e12, 1.0)] * 2])
def test_the_first_points_differ_in_any_box(bounds):
    assert is_new(finder_of(bounds=bounds).ask(11, exact=True))


class TestTheEnd:
    def test_of_a_budget(self):
        finder = finder_of(maxfev=21, method="multistart")
        assert [len(finder.ask(8, exact=True)) for _ in range(4)] == [8, 8, 5, 0]

    def test_of_rounds(self):
        finder = finder_of(maxiter=2)
        first = finder.ask(8, exact=True)
        told(finder, first, camel)
        while not finder.stop():
            told(finder, finder.ask(8, exact=True), camel)
        assert finder.nit == 2

    def test_enough_modes(self):
        finder = finder_of(n_modes=1, **AS_THEY_COME)
        asked = run(finder, 8, delay=8)
        assert len(finder.ask(8, exact=True)) == 0
        assert len(asked) < 600

    def test_a_single_point(self):
        finder = finder_of(bounds=[(1.0, 1.0)] * 2)
        assert len(finder.ask(3, exact=True)) == 1
        told(finder, np.ones((1, 2)), camel)
        assert len(finder.ask(3, exact=True)) == 0
        assert finder.stop()


def test_a_point_that_waits_twice_is_told_once():
    """Searches that begin at one corner."""
    finder = finder_of(x0=[[0.5, 0.5]] * 3, options={"width": 3, "check": False})
    x = finder.ask(3, exact=True)
    assert is_new(x)
    told(finder, x, camel)
    assert finder.nfev == 3
    run(finder, 4)
    assert finder.modes_found == 6


def test_a_search_is_saved_while_points_are_out(tmp_path):
    def after(finder, out):
        for _ in range(30):
            told(finder, out, camel)
            out = finder.ask(6, exact=True)
        return out

    finder = finder_of()
    out = after(finder, finder.ask(6, exact=True))
    finder.save(tmp_path / "half.npz")
    np.testing.assert_array_equal(after(ModeFinder.load(tmp_path / "half.npz"), out), after(finder, out))


def test_it_goes_together_with_points_asked_for_otherwise():
    finder = finder_of()
    first = finder.ask(3)
    rest = finder.ask(12, exact=True)
    assert not set(keys_of(first)) & set(keys_of(rest))
    told(finder, rest, camel)
    told(finder, first, camel)
    while not finder.stop():
        told(finder, finder.ask(5), camel)
    assert finder.modes_found == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "anneal"}, "annealing has to know all points of a step"),
        ({"method": presets.nva_gm(order=0)}, "annealing has to know all points of a step"),
        ({"integrality": [True, False]}, "it has to know whole rounds"),
        ({"constraints": {"type": "ineq", "fun": lambda x: x[0]}}, "it has to know whole rounds"),
    ],
    ids=["anneal", "assembly", "whole numbers", "constraints"],
)
def test_searches_that_cannot_begin_more_say_so(options, said):
    with pytest.raises(ValueError, match=said):
        finder_of(**options).ask(4, exact=True)


def test_without_a_number_it_is_what_is_due():
    plain, exact = finder_of(), finder_of()
    while not plain.stop():
        told(plain, plain.ask(), camel)
        told(exact, exact.ask(exact=True), camel)
    assert (plain.nfev, plain.nit) == (exact.nfev, exact.nit)
    assert exact.stop()


def test_without_a_number_there_is_always_something():
    finder = finder_of()
    assert is_new(np.concatenate([finder.ask(exact=True) for _ in range(20)]))


def test_the_end_is_known_while_points_are_out():
    finder = finder_of(n_modes=1, **AS_THEY_COME)
    while not finder.stop(waits=False):
        out = finder.ask(8, exact=True)
        told(finder, out[:7], camel)
    assert len(finder.ask(8, exact=True)) < 8  # what is left of rounds that have begun
    assert len(finder.ask(8, exact=True)) == 0
    assert "n_modes" in finder.stop(waits=False)


def test_points_that_never_come_back_count_as_failed():
    finder, lost = finder_of(**AS_THEY_COME), 0
    while not finder.stop(waits=False):
        x = finder.ask(8, exact=True)
        told(finder, x[lost < 12 :], camel)
        lost += 1
        assert finder.nfev < 4000
    assert finder.modes_found == 6
    assert 1 <= finder.result.nfail <= 12


def test_what_contradicts_itself_is_refused():
    with pytest.raises(ValueError, match="exact=True is given with again=True"):
        finder_of().ask(4, again=True, exact=True)


@pytest.mark.parametrize("n", [0, -1])
def test_numbers_below_one_are_refused(n):
    with pytest.raises(ValueError, match="n is"):
        finder_of().ask(n, exact=True)
