"""Ctrl-C and SIGTERM: the search ends in good order, wherever they arrive, and goes on exactly."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import allmodes
from allmodes import Status, find_minima
from allmodes.checkpoints import Pace, Signals, Terminated
from allmodes.search.scheduling.scheduler import Scheduler

BOX = [(-3.0, 3.0), (-3.0, 3.0)]
BOTH = [signal.SIGINT, signal.SIGTERM]


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def jacobian(x):
    a, b = x[0] ** 2 + x[1] - 11.0, x[0] + x[1] ** 2 - 7.0
    return np.array([4.0 * a * x[0] + 2.0 * b, 2.0 * a + 4.0 * b * x[1]])


def content(result):
    modes = [(mode.x.tobytes(), mode.fun, mode.hits, mode.found_at, mode.weight) for mode in result.modes]
    counts = (result.nfev, result.njev, result.nhev, result.nit, result.nfail, result.status)
    failures = [(failure[0].tobytes(), *failure[1:]) for failure in result.failures]
    return result.x.tobytes(), result.fun, counts, modes, result.history.rows, failures


class Signalled:
    """Notes where it was called, and sends this process a signal in the nth call, once."""

    def __init__(self, number, n, function=himmelblau):
        self.number, self.left, self.function = number, n, function
        self.points = []

    def __call__(self, x):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)
            for _ in range(100_000):  # Python calls the handler before the next of these
                pass
        self.points.append(x.tobytes())
        return self.function(x)


@pytest.fixture(autouse=True)
def unchanged():
    """Whatever happens, handlers are put back."""
    before = [signal.getsignal(number) for number in BOTH]
    yield
    after = [signal.getsignal(number) for number in BOTH]
    for number, handler in zip(BOTH, before, strict=True):
        signal.signal(number, handler)
    assert after == before


GIVEN = {"rng": 5, "maxfev": 300}


@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("n", [1, 2, 37, 150])
def test_in_the_middle_of_a_batch(number, n, tmp_path):
    """Every point is evaluated once, over both parts; the result of the whole is that of one search."""
    fun = Signalled(number, n)
    given = {**GIVEN, "checkpoint": tmp_path / "run.ckpt"}
    part = find_minima(fun, BOX, **given)
    assert part.status is Status.INTERRUPTED
    assert part.nfev == len(fun.points) == n - 1
    assert ("SIGTERM" in part.message) == (number == signal.SIGTERM)
    assert f"the same call goes on from {tmp_path / 'run.ckpt'}" in part.message
    whole = find_minima(himmelblau, BOX, **GIVEN)
    rest = find_minima(fun, BOX, **given)
    assert content(rest) == content(whole)
    assert len(fun.points) == whole.nfev


@pytest.mark.parametrize("method", ["local", "black-box", "anneal"])
def test_with_derivatives_and_counts_from_the_beginning(method, tmp_path):
    fun = Signalled(signal.SIGTERM, 60)
    given = {"rng": 5, "maxfev": 200, "jac": jacobian, "method": method}
    part = find_minima(fun, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    assert part.status is Status.INTERRUPTED
    rest = find_minima(fun, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    assert content(rest) == content(find_minima(himmelblau, BOX, **given))


def test_failures_are_counted_from_the_beginning(tmp_path):
    def holes(x):
        if x[0] > 1.5:
            raise ArithmeticError(f"a hole at {x[1]:.3f}")
        return float("nan") if x[1] < -2.0 else himmelblau(x)

    given = {**GIVEN, "on_error": "nan"}
    whole = find_minima(holes, BOX, **given)
    assert whole.nfail > 10
    fun = Signalled(signal.SIGTERM, 200, holes)
    for _ in range(2):
        found = find_minima(fun, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    assert content(found) == content(whole)


@pytest.mark.parametrize("name", ["find_minima", "find_fits", "find_roots"])
def test_the_message_belongs_to_the_call(name, tmp_path):
    """No advice for other functions; how the same call goes on."""

    def residuals(x):
        return [x[0] ** 2 - 1.0, x[1] - x[0], x[0] * x[1] - 1.0][: 2 if name == "find_roots" else 3]

    for given in ({}, {"checkpoint": tmp_path / "run.ckpt"}):
        fun = Signalled(signal.SIGINT, 60, himmelblau if name == "find_minima" else residuals)
        result = getattr(allmodes, name)(fun, BOX, rng=5, **given)
        assert result.status is Status.INTERRUPTED
        how = (
            f"the same call goes on from {tmp_path}"
            if given
            else 'with checkpoint="run.ckpt" the same call could go on.'
        )
        assert "Interrupted; this is what was found so far. " in result.message
        assert f"Ctrl-C ended it; {how}" in result.message
        assert "anneal" not in result.message


def test_ctrl_c_while_modes_are_explained_evaluates_no_more():
    def residuals(x):
        return np.array([x[0] ** 2 - 1.0, x[1] - x[0], x[0] * x[1] - 1.0])

    calls = allmodes.find_fits(residuals, BOX, rng=5, maxfev=200).nfev
    fun = Signalled(signal.SIGINT, calls, residuals)  # the last of them
    result = allmodes.find_fits(fun, BOX, rng=5, maxfev=200)
    assert result.status is Status.INTERRUPTED
    assert "Ctrl-C ended it while its modes were looked at" in result.message
    assert len(fun.points) < calls
    assert len(result) == 2


def test_a_second_ctrl_c_ends_a_search_that_does_not_end(monkeypatch):
    """The first is held back by the function, or the end takes long: there is no third."""
    signals, once = [], Signalled(signal.SIGINT, 3)

    def stubborn(x):
        try:
            return once(x)
        except KeyboardInterrupt:
            signals.append("first")
            return himmelblau(x)

    assert find_minima(stubborn, BOX, **GIVEN).status is Status.INTERRUPTED  # before the next evaluation
    assert signals == ["first"]

    def ending(self, why, status):
        signals.append("again")
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100_000):
            pass
        signals.append("never")

    monkeypatch.setattr("allmodes.driver.Driver.end", ending)
    with pytest.raises(KeyboardInterrupt):
        find_minima(Signalled(signal.SIGINT, 10), BOX, **GIVEN)
    assert signals == ["first", "again"]


@pytest.mark.parametrize("number", BOTH)
def test_between_evaluations_it_waits_until_the_search_is_whole(number, tmp_path, monkeypatch):
    """In the middle of `tell` a search is neither the old nor the new one."""
    tell, told = Scheduler.tell, []

    def interrupted(self, evaluation, ticket):
        told.append(None)
        if len(told) == 8:
            os.kill(os.getpid(), number)
        tell(self, evaluation, ticket)

    monkeypatch.setattr(Scheduler, "tell", interrupted)
    given = {**GIVEN, "checkpoint": tmp_path / "run.ckpt"}
    part = find_minima(himmelblau, BOX, **given)
    assert part.status is Status.INTERRUPTED
    assert part.nit == len(told) + 1  # the look at the function comes before
    monkeypatch.undo()
    assert content(find_minima(himmelblau, BOX, **given)) == content(find_minima(himmelblau, BOX, **GIVEN))


def test_without_a_checkpoint_ctrl_c_waits_too_and_sigterm_is_left_alone(monkeypatch):
    seen = []

    def fun(x):
        seen.append(signal.getsignal(signal.SIGTERM))
        return himmelblau(x)

    before = signal.getsignal(signal.SIGTERM)
    assert find_minima(Signalled(signal.SIGINT, 50, fun), BOX, **GIVEN).status is Status.INTERRUPTED
    assert set(seen) == {before}


def test_after_the_last_round_it_ends_the_search_all_the_same(tmp_path, monkeypatch):
    tell, ends = Scheduler.tell, []

    def interrupted(self, evaluation, ticket):
        tell(self, evaluation, ticket)
        ends.append(self.context.nfev)
        if self.context.nfev == self.context.maxfev:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Scheduler, "tell", interrupted)
    find_minima(himmelblau, BOX, rng=5, maxfev=1000, method="local")
    given = {"rng": 5, "method": "local", "maxfev": ends[5], "checkpoint": tmp_path / "run.ckpt"}  # the end of a round
    assert find_minima(himmelblau, BOX, **given).status is Status.INTERRUPTED


def test_a_handler_of_the_user_is_called_when_all_is_saved(tmp_path):
    path, called = tmp_path / "run.ckpt", []

    def handler(number, frame):
        called.append((number, path.exists()))

    before = signal.signal(signal.SIGTERM, handler)
    try:
        result = find_minima(Signalled(signal.SIGTERM, 50), BOX, checkpoint=path, **GIVEN)
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert result.status is Status.INTERRUPTED
    assert called == [(signal.SIGTERM, True)]


def test_handlers_that_are_not_to_be_replaced_are_not(tmp_path):
    def own(number, frame):
        raise AssertionError

    seen = []

    def fun(x):
        seen.append([signal.getsignal(number) for number in BOTH])
        return himmelblau(x)

    before = signal.signal(signal.SIGINT, own), signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        find_minima(fun, BOX, rng=5, maxfev=20, checkpoint=tmp_path / "run.ckpt")
    finally:
        for number, handler in zip(BOTH, before, strict=True):
            signal.signal(number, handler)
    assert all(handlers == [own, signal.SIG_IGN] for handlers in seen)


def test_an_exception_of_the_function_leaves_a_checkpoint_to_go_on_from(tmp_path):
    calls = []

    def fun(x):
        calls.append(None)
        if len(calls) == 90:
            raise ArithmeticError("the licence server is down")
        return himmelblau(x)

    given = {**GIVEN, "checkpoint": tmp_path / "run.ckpt"}
    with pytest.raises(ArithmeticError, match="licence server"):
        find_minima(fun, BOX, **given)
    found, whole = find_minima(fun, BOX, **given), find_minima(himmelblau, BOX, **GIVEN)
    assert content(found) == content(whole)


# ---- searches beside and inside each other


def test_two_searches_in_two_threads(tmp_path):
    """Handlers belong to the main thread; each search keeps its own file."""

    def one(seed):
        path = tmp_path / f"{seed}.ckpt"
        return find_minima(
            himmelblau, BOX, rng=seed, maxfev=200, checkpoint=path, options={"checkpoint_every": 0.01}
        )  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, range(4)))
    for seed, result in enumerate(found):
        assert content(result) == content(find_minima(himmelblau, BOX, rng=seed, maxfev=200))


def test_a_search_in_a_search_ends_with_the_one_around_it(tmp_path):
    inner, results = Signalled(signal.SIGTERM, 70), []

    def outer(x):
        found = find_minima(
            lambda y: inner(np.append(x, y)), [(-3.0, 3.0)], rng=0, maxfev=20, checkpoint=tmp_path / "inner.ckpt"
        )
        results.append(found)
        os.unlink(tmp_path / "inner.ckpt")
        return found.fun

    given = {"rng": 5, "maxfev": 10, "checkpoint": tmp_path / "outer.ckpt"}
    part = find_minima(outer, BOX[:1], **given)
    assert part.status is Status.INTERRUPTED
    assert part.nfev == len(results) == 3
    assert find_minima(outer, BOX[:1], **given).nfev == 10
    assert len(results) == 10


FORKED = """
import os, signal, sys
from multiprocessing import get_context
from allmodes import find_minima

BOX = [(-3.0, 3.0), (-3.0, 3.0)]

def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2

def content(result):
    return result.x.tobytes(), result.fun, result.nfev, result.nit, [(m.x.tobytes(), m.fun) for m in result.modes]

def search(seed):
    return content(find_minima(himmelblau, BOX, rng=seed, maxfev=100, checkpoint=f"{sys.argv[1]}/{seed}.ckpt"))

def nested(x):
    # Pool.__exit__ ends its processes by SIGTERM: they must not take the handler of the search around them for theirs
    with get_context("fork").Pool(2) as pool:
        return sum(pool.map(float, [himmelblau(x), 0.0]))

alone = [content(find_minima(himmelblau, BOX, rng=seed, maxfev=100)) for seed in range(2)]
with get_context("fork").Pool(2) as pool:
    assert pool.map(search, range(2)) == alone
expected = content(find_minima(himmelblau, BOX, rng=0, maxfev=12))
assert content(find_minima(nested, BOX, rng=0, maxfev=12, checkpoint=f"{sys.argv[1]}/nested.ckpt")) == expected
print("the same")
"""


def test_a_search_in_a_forked_process_and_pools_in_the_function(tmp_path):
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the same\n"
    assert done.stderr == ""


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX warns, if another test has loaded it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_to_a_fork_is_what_it_would_be_without_the_search():
    with Signals(takes_sigterm=True) as signals:
        process = get_context("fork").Process(target=time.sleep, args=(60.0,))
        process.start()
        os.kill(process.pid, signal.SIGTERM)
        process.join()
        assert process.exitcode == -signal.SIGTERM
        assert signals.received is None


def test_other_threads_set_no_handlers():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def run():
        with Signals(takes_sigterm=True):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_signal_that_comes_too_late_is_passed_on():
    with pytest.raises(KeyboardInterrupt), Signals(takes_sigterm=False):
        os.kill(os.getpid(), signal.SIGINT)


def test_sigterm_is_raised_as_a_kind_of_ctrl_c():
    with Signals(takes_sigterm=True) as signals:
        with pytest.raises(Terminated):
            signals.during(os.kill, os.getpid(), signal.SIGTERM)
        assert signals.is_whole
    assert issubclass(Terminated, KeyboardInterrupt)


# ---- pieces of a round


def test_pieces_grow_slowly_and_shrink_at_once():
    pace = Pace(60.0)
    sizes = []
    for seconds in (1e-6, 1e-6, 1e-6, 1e-6, 8.0, 0.25):
        sizes.append(pace.size)
        pace.took(sizes[-1], seconds)
    assert sizes == [1, 2, 4, 8, 16, 2]
    assert pace.size == 4
    assert Pace(None).size is None


def test_what_takes_a_batch_gets_whole_rounds(tmp_path):
    """The last bit of a value may depend on the size of its batch."""
    sizes = {}
    for path in (None, tmp_path / "run.ckpt"):
        seen = sizes.setdefault(path, [])

        def fun(x, seen=seen):
            seen.append(len(x))
            return himmelblau(x.T)

        find_minima(fun, BOX, vectorized=True, checkpoint=path, **GIVEN)
    one, other = sizes.values()
    assert one == other
    assert max(one) > 1


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_a_function_of_jax_is_compiled_at_the_same_moment(n, tmp_path):
    """Compiled code may round differently: a search that is resumed uses it exactly where the whole one does."""
    import jax.numpy as jnp

    def fun(x):
        return jnp.sum(jnp.sin(3.0 * x) * jnp.exp(-(x**2) / 7.0)) + jnp.cos(x[0] * x[1]) ** 3

    calls = []

    def interrupted(x):
        calls.append(None)
        if len(calls) == n:
            raise KeyboardInterrupt
        return fun(x)

    given = {"rng": 5, "maxfev": 120}
    whole = find_minima(fun, BOX, **given)
    part = find_minima(interrupted, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    assert part.status is Status.INTERRUPTED or len(calls) < n
    assert content(find_minima(fun, BOX, checkpoint=tmp_path / "run.ckpt", **given)) == content(whole)


def well(x):
    return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2)


def on_threads(fun, **given):
    with ThreadPoolExecutor(2) as pool:
        return find_minima(fun, BOX, rng=0, maxfev=100, workers=pool, options={"width": 16}, **given)


@pytest.mark.parametrize("n", [20, 21, 22, 23])
@pytest.mark.parametrize("is_interrupted", [False, True])
def test_what_fails_when_a_search_ends_is_not_kept_as_failed(n, is_interrupted, tmp_path):
    """Points after an exception were not evaluated, and an exception beside Ctrl-C may be its doing."""
    calls = []

    def broken(x):
        calls.append(None)
        if len(calls) == n:
            if is_interrupted:
                os.kill(os.getpid(), signal.SIGINT)
            raise ArithmeticError("the simulator was interrupted")
        return well(x)

    path = tmp_path / "run.ckpt"
    with contextlib.suppress(ArithmeticError):
        on_threads(broken, checkpoint=path)
    resumed, whole = on_threads(well, checkpoint=path), on_threads(well)
    assert content(resumed) == content(whole)


def test_when_the_time_is_up_points_that_wait_are_withdrawn(tmp_path):
    def slow(x):
        time.sleep(0.2)
        return well(x)

    with ThreadPoolExecutor(2) as pool:
        given = {"workers": pool, "rng": 0, "options": {"width": 64}, "checkpoint": tmp_path / "run.ckpt"}
        late = find_minima(slow, BOX, maxtime=0.5, **given)
        assert late.status is Status.TIME_SPENT or not late.modes
        assert 0 < late.nfev < 64  # a round has 3 points for each local search
        assert (
            content(find_minima(well, BOX, maxfev=300, **given))[1:]
            == content(find_minima(well, BOX, maxfev=300, **given | {"checkpoint": None}))[1:]
        )
