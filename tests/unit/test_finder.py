"""The search as an object: whoever evaluates, in whatever order, gets the same search."""

import time
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from allmodes import ModeFinder, Status, find_maxima, find_minima
from allmodes.nva import presets
from allmodes.progress import Progress, line, progress_of
from allmodes.search.verify.comparison import LevelPath

BOUNDS = [(-2.0, 2.0), (-1.5, 1.5)]
QUICK = {"maxfev": 250, "rng": 7}


def camel(x):
    """Six-hump camel: six minima, two of them global."""
    a, b = x[..., 0] ** 2, x[..., 1] ** 2
    return (4.0 - 2.1 * a + a * a / 3.0) * a + x[..., 0] * x[..., 1] + (4.0 * b - 4.0) * b


def camel_gradient(x):
    x1, x2 = x[..., 0], x[..., 1]
    return np.stack([8.0 * x1 - 8.4 * x1**3 + 2.0 * x1**5 + x2, x1 - 8.0 * x2 + 16.0 * x2**3], axis=-1)


def camel_hessian(x):
    x1, x2 = x[..., 0], x[..., 1]
    one = np.ones_like(x1)
    first = np.stack([8.0 - 25.2 * x1**2 + 10.0 * x1**4, one], axis=-1)
    return np.stack([first, np.stack([one, -8.0 + 48.0 * x2**2], axis=-1)], axis=-2)


DERIVATIVES = {"gradient": camel_gradient, "hessian": camel_hessian}


def told(finder, x, fun=camel):
    """What there is to tell of points: values, and the derivatives that are wanted."""
    names = [name for name in ("gradient", "hessian") if name in finder.needs]
    finder.tell(x, fun(x), *(DERIVATIVES[name](x) for name in names))


def run(finder, fun=camel, rounds=10**6):
    """Ask and tell, one whole round at a time."""
    for _ in range(rounds):
        if finder.stop():
            break
        told(finder, finder.ask(), fun)
    return finder


def content(result):
    """Everything that a search decides, as bytes, numbers and words."""
    mixture = () if result.mixture is None else (result.mixture.log_ratios, result.mixture.components.mu)
    rows = [[getattr(mode, each.name) for each in fields(mode)] for mode in result.modes]
    numbers = (result.x, result.fun, result.nfev, result.njev, result.nhev, result.nit, result.nfail)
    words = (result.success, result.status, result.message, result.method, result.names, result.temperature)
    history = (result.history.nfev, result.history.best, result.history.modes)
    return _plain((rows, numbers, words, str(result.coverage), mixture, history))


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return repr(value)


# ---- one implementation

METHODS = ["auto", "local", "multistart", "black-box", "anneal"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("find", [find_minima, find_maxima])
def test_asking_and_telling_is_what_the_one_call_does(method, find):
    sign = 1.0 if find is find_minima else -1.0
    fun = lambda x: sign * camel(x)  # noqa: E731
    wanted = find(fun, BOUNDS, method=method, vectorized=True, **QUICK)
    finder = ModeFinder(BOUNDS, method=method, maximise=find is find_maxima, **QUICK)
    assert content(run(finder, fun).result) == content(wanted)


@pytest.mark.parametrize("method", ["auto", "local", "anneal", presets.nva_gm(order=1), presets.nva_gm(order=2)])
@pytest.mark.parametrize("order", [1, 2])
def test_it_is_the_same_with_derivatives(method, order):
    if method is not None and getattr(method, "name", "") == presets.nva_gm(order=2).name and order == 1:
        with pytest.raises(ValueError, match="needs hess"):
            ModeFinder(BOUNDS, jac=True, method=method)
        return
    given = {"jac": camel_gradient} | ({"hess": camel_hessian} if order == 2 else {})
    wanted = find_minima(camel, BOUNDS, method=method, vectorized=True, **given, **QUICK)
    finder = ModeFinder(BOUNDS, jac=True, hess=order == 2, method=method, **QUICK)
    assert content(run(finder).result) == content(wanted)


def test_another_seed_is_another_search():
    """What the comparisons above would overlook if they compared nothing."""
    one, other = (run(ModeFinder(BOUNDS, maxfev=250, rng=seed)).result for seed in (7, 8))
    assert content(one) != content(other)


# ---- the order of telling does not matter


def shuffled(finder, rng):
    x = finder.ask()
    told(finder, x[rng.permutation(len(x))])


def one_by_one(finder, rng):
    told(finder, finder.ask(1))


def in_parts(finder, rng):
    told(finder, finder.ask(3))


def late_parts(finder, rng):
    """All points are out at once; they come back in two lots, the last ones first."""
    x = finder.ask()
    half = int(rng.integers(len(x) + 1))
    told(finder, x[half:])
    told(finder, x[:half])


def lost_and_asked_again(finder, rng):
    """Half of the points never come back; they are asked for again."""
    x = finder.ask()
    told(finder, x[: (len(x) + 1) // 2])


WAYS = [shuffled, one_by_one, in_parts, late_parts, lost_and_asked_again]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("method", ["auto", "black-box", "anneal"])
def test_points_may_be_told_in_any_order_and_number(method, way):
    wanted = run(ModeFinder(BOUNDS, method=method, **QUICK)).result
    finder, rng = ModeFinder(BOUNDS, method=method, **QUICK), np.random.default_rng(0)
    while not finder.stop():
        way(finder, rng)
    assert content(finder.result) == content(wanted)


def told_twice(finder, rng):
    """As by a queue that delivers at least once."""
    x = finder.ask()
    told(finder, x)
    told(finder, x)


def told_twice_in_parts(finder, rng):
    """The second time while the rest of the round is still out."""
    x = finder.ask(int(rng.integers(1, 4)))
    told(finder, x)
    told(finder, np.repeat(x, 2, axis=0))


@pytest.mark.parametrize("way", [told_twice, told_twice_in_parts], ids=lambda way: way.__name__)
@pytest.mark.parametrize("method", ["auto", "black-box", "anneal"])
def test_points_that_are_told_again_are_ignored(method, way):
    wanted = run(ModeFinder(BOUNDS, method=method, **QUICK)).result
    finder, rng = ModeFinder(BOUNDS, method=method, **QUICK), np.random.default_rng(0)
    while not finder.stop():
        way(finder, rng)
    assert content(finder.result) == content(wanted)


def test_values_of_a_noisy_function_may_be_told_again():
    finder = ModeFinder(BOUNDS, noise=0.5, rng=0)
    x = finder.ask()
    finder.tell(x, np.zeros(len(x)))
    finder.tell(x[:3], [1.0, 2.0, 3.0])
    assert finder.nfev == len(x) + 3


def test_who_asks_again_before_anything_is_told_is_refused():
    finder = ModeFinder(BOUNDS, rng=0)
    x = finder.ask()
    with pytest.raises(
        RuntimeError, match=rf"^all points \({len(x)}\) .* are out.* tell them first.*ask\(again=True\)"
    ):
        finder.ask()
    np.testing.assert_array_equal(finder.ask(again=True), x)
    told(finder, x[:1])
    np.testing.assert_array_equal(finder.ask(), x[1:])
    told(finder, x[1:])
    assert len(finder.ask())


def test_two_who_ask_in_turn_get_different_points_where_rounds_overlap():
    finder, seen, refused = ModeFinder(BOUNDS, rng=0, options={"width": 16}), [], 0
    while not finder.stop():
        parts = [finder.ask(4)]
        try:
            parts.append(finder.ask(4))
        except RuntimeError:
            refused += 1
        seen += [tuple(x) for part in parts for x in part.tolist()]
        for part in parts:
            told(finder, part)
    assert len(seen) == finder.nfev
    assert len(set(seen)) > 0.98 * len(seen)  # searches in flight at the same time may meet
    assert finder.modes_found == 6
    assert refused < 0.05 * finder.nit


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("way", [shuffled, lost_and_asked_again], ids=lambda way: way.__name__)
def test_derivatives_stay_with_their_points(way, order):
    finders = [ModeFinder(BOUNDS, jac=True, hess=order == 2, **QUICK) for _ in range(2)]
    wanted, rng = run(finders[0]).result, np.random.default_rng(0)
    while not finders[1].stop():
        way(finders[1], rng)
    assert content(finders[1].result) == content(wanted)
    assert wanted.njev == wanted.nfev


def test_points_of_a_round_that_are_the_same_are_told_apart():
    """A noise measurement asks for the same point again and again; each answer counts."""
    finder = ModeFinder([(0.0, 1.0)], noise=True, rng=0)
    x = finder.ask()
    assert len(np.unique(x)) < len(x)
    values = np.arange(len(x), dtype=float)
    whole = ModeFinder([(0.0, 1.0)], noise=True, rng=0)
    whole.tell(whole.ask(), values)
    for i in range(len(x)):
        assert finder.nfev == i
        finder.tell(x[i : i + 1], values[i : i + 1])
    assert finder.nfev == len(x)
    assert finder.ask().tolist() == whole.ask().tolist()
    assert content(finder.result) == content(whole.result)


# ---- asking


def test_ask_gives_at_most_n_points_and_never_one_twice_while_others_are_left():
    finder = ModeFinder(BOUNDS, rng=0)
    whole = ModeFinder(BOUNDS, rng=0).ask()
    parts = [finder.ask(4)]
    while sum(map(len, parts)) < len(whole):
        parts.append(finder.ask(4))
    assert all(len(part) == 4 for part in parts[:-1])
    assert 0 < len(parts[-1]) <= 4
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_outstanding_points_are_asked_for_again_when_no_others_are_left():
    finder = ModeFinder(BOUNDS, rng=0)
    x = finder.ask()
    told(finder, x[1:])
    np.testing.assert_array_equal(finder.ask(), x[:1])
    np.testing.assert_array_equal(finder.ask(5, again=True), x[:1])
    told(finder, x[:1])
    assert not (finder.ask() == x[0]).all(axis=1).any()


@pytest.mark.parametrize(("n", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)])
def test_ask_wants_a_number_of_points(n, error):
    with pytest.raises(error, match=r"^n is"):
        ModeFinder(BOUNDS, rng=0).ask(n)


def test_every_point_is_inside_the_bounds():
    finder = ModeFinder([(0.1, 0.3), (-1e-3, 1e-3)], maxfev=600, rng=1)
    seen = []
    while not finder.stop():
        x = finder.ask()
        seen.append(x)
        finder.tell(x, np.sin(40.0 * x[:, 0]) + x[:, 1])
    seen = np.concatenate(seen)
    assert ((seen >= [0.1, -1e-3]) & (seen <= [0.3, 1e-3])).all()
    assert finder.result.modes


def test_nothing_is_asked_for_once_the_search_is_over():
    finder = run(ModeFinder(BOUNDS, maxfev=50, rng=0))
    assert finder.ask().shape == (0, 2)
    assert finder.ask(3).shape == (0, 2)
    assert finder.nfev == 50


def test_needs_say_which_derivatives_are_wanted():
    wanted = [set(), {"gradient"}, {"gradient", "hessian"}]
    for order, needs in enumerate(wanted):
        finder = ModeFinder(BOUNDS, jac=order > 0, hess=order > 1, rng=0)
        finder.ask()
        assert set(finder.needs) - {"value"} == needs


# ---- points that nobody asked for


@pytest.mark.parametrize("method", METHODS)
def test_points_never_asked_for_count_as_evaluations(method):
    finder = ModeFinder(BOUNDS, method=method, **QUICK)
    extra = np.random.default_rng(3).uniform(-1.0, 1.0, (20, 2))
    finder.tell(extra, camel(extra))
    assert finder.nfev == 20
    assert finder.result.nfev == 20
    assert finder.result.fun == camel(extra).min()
    np.testing.assert_array_equal(finder.result.x, extra[camel(extra).argmin()])
    result = run(finder).result
    assert result.nfev <= 250
    assert finder.nfev == result.nfev


def test_points_never_asked_for_may_become_starts():
    """A tiny basin that the search does not find by itself in this budget."""
    centre = np.array([0.9231, -0.7717])

    def fun(x):
        return (x**2).sum(axis=-1) - 20.0 * np.exp(-(((x - centre) / 0.004) ** 2).sum(axis=-1))

    alone = run(ModeFinder(BOUNDS, **QUICK), fun).result
    helped = ModeFinder(BOUNDS, **QUICK)
    helped.tell(centre + 1e-3, fun(centre[None] + 1e-3))
    found = run(helped, fun).result
    assert np.abs(alone.x - centre).max() > 0.1
    np.testing.assert_allclose(found.x, centre, atol=1e-4)


def test_they_may_come_together_with_points_that_were_asked_for():
    finder, plain = ModeFinder(BOUNDS, **QUICK), ModeFinder(BOUNDS, **QUICK)
    x = finder.ask()
    plain.ask()
    extra = np.array([[0.5, 0.5], [1.0, 1.0]])
    finder.tell(np.concatenate([extra, x[::-1]]), camel(np.concatenate([extra, x[::-1]])))
    plain.tell(x, camel(x))
    plain.tell(extra, camel(extra))
    assert finder.nfev == plain.nfev == len(x) + 2
    assert finder.ask().tolist() == plain.ask().tolist()


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_point_told_a_second_time_is_no_other_evaluation(value):
    finder, x = ModeFinder(BOUNDS, rng=0), [[0.5, 0.5]]
    finder.tell([*x, *x], [value, value])
    finder.tell(x, [value])
    assert finder.nfev == 1
    assert finder.result.nfail == np.isnan(value)
    assert not finder.stop()


def test_a_point_outside_the_bounds_is_refused():
    finder = ModeFinder(BOUNDS, rng=0)
    with pytest.raises(ValueError, match=r"x .*(outside|bound)"):
        finder.tell([[5.0, 0.0]], [1.0])


# ---- failures


def failing(x):
    values = camel(x)
    values[x[..., 0] > 1.0] = np.nan
    return values


def test_nan_is_survived_and_counted():
    finder = ModeFinder(BOUNDS, maxfev=2000, rng=0)
    failures = 0
    while not finder.stop():
        x = finder.ask()
        failures += int(np.isnan(failing(x)).sum())
        finder.tell(x, failing(x))
    result = finder.result
    assert result.nfail == failures > 0
    assert result.success
    assert all(np.isfinite(m.fun) and m.x[0] <= 1.0 for m in result.modes)
    assert result.fun == pytest.approx(-1.0316284534898774)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_search_in_which_everything_fails_says_so(bad):
    finder = ModeFinder(BOUNDS, rng=0)
    for _ in range(1000):
        if finder.stop():
            break
        x = finder.ask()
        finder.tell(x, np.full(len(x), bad))
    assert finder.stop()
    result = finder.result
    assert result.status == Status.ALL_FAILED
    assert not result.success
    assert result.nfail == result.nfev
    assert result.modes == ()
    assert "no finite value" in result.message


def test_derivatives_that_failed_are_survived():
    finder = ModeFinder(BOUNDS, jac=True, maxfev=600, rng=0)
    while not finder.stop():
        x = finder.ask()
        g = camel_gradient(x)
        g[x[:, 0] > 1.0] = np.nan
        finder.tell(x, camel(x), g)
    assert finder.result.success
    assert finder.result.fun == pytest.approx(-1.0316284534898774)


# ---- mistakes


@pytest.mark.parametrize(
    ("x", "values", "message"),
    [
        (np.zeros((2, 3)), np.zeros(2), r"^x has shape \(2, 3\); wanted \(n, 2\)"),
        (np.zeros((1, 1, 2)), np.zeros(1), r"^x has shape \(1, 1, 2\)"),
        (np.zeros((2, 2)), np.zeros(3), r"^values has shape \(3,\); wanted \(2,\) for 2 points"),
        (np.zeros((2, 2)), 1.0, r"^values has shape \(\); wanted \(2,\)"),
        (np.zeros((2, 2)), None, r"^values is None; wanted \(2,\), NaN where"),
    ],
)
def test_wrong_shapes_are_said(x, values, message):
    finder = ModeFinder(BOUNDS, rng=0)
    with pytest.raises(ValueError, match=message):
        finder.tell(x, values)
    assert finder.nfev == 0


def test_wrong_shapes_of_derivatives_are_said():
    finder = ModeFinder(BOUNDS, jac=True, hess=True, rng=0)
    x = finder.ask()
    n = len(x)
    with pytest.raises(ValueError, match=rf"^gradients has shape \({n},\); wanted \({n}, 2\)"):
        finder.tell(x, camel(x), np.zeros(n), camel_hessian(x))
    with pytest.raises(ValueError, match=rf"^hessians has shape \({n}, 2\); wanted \({n}, 2, 2\)"):
        finder.tell(x, camel(x), camel_gradient(x), np.zeros((n, 2)))


@pytest.mark.parametrize("missing", ["gradient", "hessian"])
def test_missing_derivatives_are_said_and_can_be_told_then(missing):
    finders = [ModeFinder(BOUNDS, jac=True, hess=True, **QUICK) for _ in range(2)]
    wanted, finder = run(finders[0]).result, finders[1]
    x = finder.ask()
    given = {"gradients": camel_gradient(x), "hessians": camel_hessian(x)}
    with pytest.raises(ValueError, match=r"tell got no .*gradients="):
        finder.tell(x, camel(x), **given | {missing + "s": None})
    finder.tell(x, camel(x), **given)
    assert content(run(finder).result) == content(wanted)


REFUSED = {
    "outside": ([[5.0, 0.0]], r"x .*(outside|bound)"),
    "not finite": ([[np.nan, 0.0]], "x contains nan"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_tell_that_is_refused_changes_nothing(name):
    """Points that were asked for and come with a wrong one are told again without it."""
    extra, message = REFUSED[name]
    finders = [ModeFinder(BOUNDS, **QUICK) for _ in range(2)]
    wanted, finder = run(finders[0]).result, finders[1]
    x = finder.ask()
    both = np.concatenate([x, extra])
    with pytest.raises(ValueError, match=message):
        finder.tell(both, np.append(camel(x), 0.0))
    assert finder.nfev == 0
    told(finder, x)
    assert finder.nfev == len(x)
    assert content(run(finder).result) == content(wanted)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1), (1, -1)])
def test_values_of_other_shapes_but_the_right_number_are_taken(shape):
    finder = ModeFinder(BOUNDS, **QUICK)
    x = finder.ask()
    finder.tell(x.tolist(), camel(x).reshape(shape))
    assert finder.nfev == len(x)


def test_a_single_point_may_be_told_as_such():
    finder = ModeFinder(BOUNDS, jac=True, rng=0)
    x = finder.ask(1)[0]
    finder.tell(x, camel(x), camel_gradient(x))
    assert finder.ask(1)[0].tolist() != x.tolist()


# ---- why it ends


def test_there_is_no_reason_to_stop_at_first():
    finder = ModeFinder(BOUNDS, rng=0)
    assert finder.stop() == {}
    told(finder, finder.ask())
    assert finder.stop() == {}


@pytest.mark.parametrize("maxfev", [1, 2, 37, 250])
@pytest.mark.parametrize("method", METHODS)
def test_a_budget_is_kept_exactly(method, maxfev):
    finder = ModeFinder(BOUNDS, method=method, maxfev=maxfev, rng=0)
    evaluations = 0
    while not finder.stop():
        x = finder.ask()
        evaluations += len(x)
        told(finder, x)
    assert evaluations == finder.nfev <= maxfev
    reasons = finder.stop()
    if method not in ("anneal",):
        assert evaluations == maxfev
        assert list(reasons) == ["maxfev"]
        assert str(maxfev) in reasons["maxfev"]
    assert finder.result.status in (Status.BUDGET_SPENT, Status.NO_MODE, Status.NOTHING_NEW)


def test_rounds_are_counted():
    finder = ModeFinder(BOUNDS, maxiter=5, rng=0)
    for _ in range(5):
        assert not finder.stop()
        told(finder, finder.ask())
    assert list(finder.stop()) == ["maxiter"]
    assert finder.result.nit == 5
    assert len(finder.ask()) == 0


def test_enough_modes():
    finder = run(ModeFinder(BOUNDS, n_modes=4, rng=0))
    assert list(finder.stop()) == ["n_modes"]
    assert len(finder.result.modes) >= 4
    assert finder.modes_found == len(finder.result.modes)
    assert finder.result.status == Status.ENOUGH_MODES
    alone = run(ModeFinder(BOUNDS, n_modes=1, rng=0))
    assert alone.nfev < finder.nfev


def test_enough_global_modes():
    """Local ones do not count."""
    finder = run(ModeFinder(BOUNDS, n_modes=2, target="global", rng=0))
    assert list(finder.stop()) == ["n_modes"]
    assert [mode.is_global for mode in finder.result.modes] == [True, True]


def test_nothing_new():
    finder = run(ModeFinder(BOUNDS, maxfev=100_000, rng=0, options={"patience": 20}))
    reasons = finder.stop()
    assert list(reasons) == ["nothing_new"]
    assert "hardly any new mode is expected" in reasons["nothing_new"]
    assert finder.result.status == Status.NOTHING_NEW
    assert finder.result.success
    assert len(finder.result.modes) == 6


def test_time():
    finder = ModeFinder(BOUNDS, maxtime=1e-9, rng=0)
    assert list(finder.stop()) == ["maxtime"]
    assert "1e-09 s" in finder.stop()["maxtime"]
    assert len(finder.ask()) == 0
    assert ModeFinder(BOUNDS, maxtime=1e9, rng=0).stop() == {}


def test_nothing_is_public_that_only_loops_need():
    public = {name for name in dir(ModeFinder) if not name.startswith("_")}
    asking = {"ask", "tell", "needs", "stop", "is_late"}
    assert public == asking | {"result", "nfev", "nit", "modes_found", "elapsed", "save", "load"}


def test_an_end_from_outside():
    finder = run(ModeFinder(BOUNDS, rng=0), rounds=4)
    finder._driver.end("enough", Status.STOPPED)
    assert finder.stop() == {"stopped": "enough"}
    assert finder.result.status == Status.STOPPED
    assert "Enough." in finder.result.message


# ---- results


def test_there_is_a_result_at_any_time():
    finder = ModeFinder(BOUNDS, **QUICK)
    first = finder.result
    assert first.status == Status.RUNNING
    assert (first.nfev, first.nit, first.modes) == (0, 0, ())
    assert not first.success
    counts = []
    while not finder.stop():
        told(finder, finder.ask())
        result = finder.result
        counts.append(len(result.modes))
        assert finder.stop() or result.status == Status.RUNNING
        assert result.nfev == finder.nfev
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] == 0
    assert finder.result.status == Status.BUDGET_SPENT


def test_looking_at_the_result_changes_nothing():
    wanted = run(ModeFinder(BOUNDS, **QUICK)).result
    finder = ModeFinder(BOUNDS, **QUICK)
    while not finder.stop():
        x = finder.ask()
        assert finder.result.nfev == finder.nfev
        progress_of(finder._driver)
        told(finder, x)
    assert content(finder.result) == content(wanted)


def test_a_result_does_not_change_afterwards():
    finder = run(ModeFinder(BOUNDS, **QUICK), rounds=30)
    early = finder.result
    before = content(early)
    run(finder)
    assert content(early) == before
    assert content(finder.result) != before


def test_maximising_keeps_the_sign_of_values_and_derivatives():
    up = ModeFinder(BOUNDS, jac=True, hess=True, maximise=True, **QUICK)
    while not up.stop():
        x = up.ask()
        up.tell(x, -camel(x), -camel_gradient(x), -camel_hessian(x))
    down = run(ModeFinder(BOUNDS, jac=True, hess=True, **QUICK)).result
    found = up.result
    assert found.fun == -down.fun > 0
    assert [m.x.tolist() for m in found.modes] == [m.x.tolist() for m in down.modes]
    assert {m.kind for m in found.modes} == {"maximum"}
    assert {m.kind for m in down.modes} == {"minimum"}
    for above, below in zip(found.modes, down.modes, strict=True):
        np.testing.assert_array_equal(above.hessian, -below.hessian)
        assert (above.eigenvalues < 0).all()
        assert above.weight == below.weight


def test_the_progress_line_says_where_it_is():
    finder = run(ModeFinder(BOUNDS, **QUICK))
    progress = progress_of(finder._driver)
    text = line(progress._replace(seconds=3.0))
    assert text.startswith(f"250 evaluations  {finder.modes_found} modes + ")
    assert f"  best {finder.result.fun:.4g}  0:03  search {progress.searches}/100  " in text
    assert text.endswith("ends at 0.1 expected after 100 searches or 250 evaluations")
    assert progress.share == 1.0
    assert 0.0 <= progress.expected < 10.0


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ({}, "0.1 expected after 100 searches"),
        ({"maxfev": 5000, "maxtime": 60}, "0.1 expected after 100 searches or 5,000 evaluations or 60 s"),
        ({"n_modes": 3, "maxiter": 9}, "0.1 expected after 100 searches or 9 rounds or 3 modes"),
        ({"target": "global"}, "at most 30,000 evaluations"),
        ({"target": "global", "maxtime": 3}, "3 s"),
    ],
)
def test_what_ends_a_search_is_said(given, ends):
    assert progress_of(ModeFinder(BOUNDS, **given)._driver).ends == ends


def test_the_line_says_as_much_as_fits():
    progress = Progress(1200, 30000, 75.2, 4, -1.25, None, 0.3, 120, 100, "0.1 expected")
    assert line(progress) == "1200 evaluations  4 modes + 0.3 expected  best -1.25  1:15  ends at 0.1 expected"
    assert line(progress, 60) == "1200 evaluations  4 modes + 0.3 expected  best -1.25  1:15"
    assert line(progress, 20) == "1200 evaluations"
    unknown = Progress(3, 30000, 0.0, 0, np.nan, None)
    assert line(unknown) == "3 evaluations  0 modes  0:00"


# ---- saving and loading

SEARCHES = {
    **{method: {"method": method} for method in METHODS},
    "auto, global": {"target": "global"},
    "auto, jac": {"jac": True},
    "local, hess": {"method": "local", "jac": True, "hess": True},
    "assembly": {"method": presets.nva_gm(order=1), "jac": True},
    "rank-based assembly": {"method": presets.fs_nva_gm()},
    "noise": {"noise": True},
    "noise, known": {"noise": 0.05},
    "anneal, unpolished": {"method": "anneal", "polish": False},
    "periodic": {"periodic": [0]},
    "maximise": {"maximise": True},
    "x0": {"x0": [[0.1, 0.2], [1.0, 1.0]]},
    "options": {"options": {"width": 5, "patience": 12, "temperature": 0.5}, "names": ["a", "b"]},
}


def wobble(x):
    """A function whose values are noisy, and always the same at the same point."""
    return camel(x) + 0.05 * np.sin(1e7 * x[..., 0] + 3e6 * x[..., 1])


@pytest.mark.parametrize(("name", "rounds"), [("auto", 0), ("x0", 0), *((name, 14) for name in SEARCHES)])
def test_a_saved_search_goes_on_exactly(name, rounds, tmp_path):
    settings, path = SEARCHES[name] | QUICK, tmp_path / "search.npz"
    fun = wobble if "noise" in name else camel
    wanted = run(ModeFinder(BOUNDS, **settings), fun).result
    finder = run(ModeFinder(BOUNDS, **settings), fun, rounds)
    finder.save(path)
    loaded = ModeFinder.load(path)
    assert loaded.stop() == finder.stop()
    assert content(loaded.result) == content(finder.result)
    assert content(run(loaded, fun).result) == content(wanted)
    assert content(run(finder, fun).result) == content(wanted), "saving changed the search"


@pytest.mark.parametrize("name", ["auto", "black-box", "anneal", "local, hess", "noise"])
def test_a_search_saved_after_every_round_is_the_same(name, tmp_path):
    maxfev = 1500 if name == "anneal" else 120  # until local searches polish what was annealed
    settings, path = SEARCHES[name] | QUICK | {"maxfev": maxfev}, tmp_path / "search.npz"
    wanted = run(ModeFinder(BOUNDS, **settings)).result
    finder = ModeFinder(BOUNDS, **settings)
    while not finder.stop():
        told(finder, finder.ask())
        finder.save(path)
        finder = ModeFinder.load(path)
    assert content(finder.result) == content(wanted)


@pytest.mark.parametrize("name", ["auto", "auto, jac", "anneal"])
def test_a_search_saved_in_the_middle_of_a_round_goes_on(name, tmp_path):
    """Points that were handed out and lost with whoever had them are asked for again."""
    settings, path = SEARCHES[name] | QUICK, tmp_path / "search.npz"
    wanted = run(ModeFinder(BOUNDS, **settings)).result
    finder = run(ModeFinder(BOUNDS, **settings), rounds=5)
    x = finder.ask()
    told(finder, x[1:2])
    finder.save(path)
    loaded = ModeFinder.load(path)
    left = np.delete(x, 1, axis=0)
    assert len(left)
    np.testing.assert_array_equal(loaded.ask(), left)
    told(loaded, left)
    assert content(run(loaded).result) == content(wanted)


def test_level_paths_that_are_looked_for_are_saved(tmp_path):
    """The minima of this function are a circle."""

    def tell(finder):
        x = finder.ask()
        off = (x**2).sum(axis=1) - 1.0
        bend = 4.0 * off[:, None, None] * np.eye(2) + 8.0 * x[:, :, None] * x[:, None, :]
        finder.tell(x, off**2, 4.0 * off[:, None] * x, bend)

    settings = {"jac": True, "hess": True, "maxfev": 200, "rng": 1}
    plain, saved = (ModeFinder([(-2, 2), (-2, 2)], **settings) for _ in range(2))
    paths = 0
    while not plain.stop():
        tell(plain)
        tell(saved)
        saved.save(tmp_path / "a.npz")
        saved = ModeFinder.load(tmp_path / "a.npz")
        cases = saved._driver.state.search.verifier.cases.values()
        paths += sum(isinstance(case.question, LevelPath) for case in cases)
    assert paths
    assert content(saved.result) == content(plain.result)
    assert [mode.kind for mode in plain.result.modes] == ["flat"]


def test_points_that_wait_to_be_starts_are_saved(tmp_path):
    extra = np.array([[0.5, 0.5], [-1.0, 0.2], [1.3, 0.4]])
    results = []
    for is_saved in (False, True):
        finder = ModeFinder(BOUNDS, **QUICK)
        finder.tell(extra, camel(extra))
        if is_saved:
            finder.save(tmp_path / "a.npz")
            finder = ModeFinder.load(tmp_path / "a.npz")
        results.append(content(run(finder).result))
    assert results[0] == results[1]


def test_time_is_added_up_over_the_parts(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("allmodes.driver.time", clock)
    finder = ModeFinder(BOUNDS, maxtime=10.0, rng=0)
    clock.now += 6.0
    finder.save(tmp_path / "a.npz")
    clock.now += 1000.0
    loaded = ModeFinder.load(tmp_path / "a.npz")
    assert loaded.elapsed == 6.0
    assert not loaded.stop()
    clock.now += 5.0
    assert list(loaded.stop()) == ["maxtime"]


def test_a_file_of_something_else_is_refused(tmp_path):
    result = run(ModeFinder(BOUNDS, maxfev=50, rng=0)).result
    result.save(tmp_path / "result.npz")
    with pytest.raises(ValueError, match="a mode finder was wanted"):
        ModeFinder.load(tmp_path / "result.npz")


@pytest.mark.parametrize("maxfev", [79, 80, 10_000])
def test_a_search_that_the_clock_ended_says_so_even_near_the_end_of_its_budget(maxfev, monkeypatch):
    finder = ModeFinder(BOUNDS, rng=0, maxtime=5.0, maxfev=maxfev, method="local", options={"check": False})
    while finder.nfev < 74:
        told(finder, finder.ask())
    assert not finder.stop()
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 6.0)
    assert list(finder.stop()) == ["maxtime"]
    assert finder.result.modes
    assert finder.result.status is Status.TIME_SPENT
    assert "(maxtime)" in finder.result.message
