"""What goes wrong in workers: each kind of fault with real processes. One point fails, no other is affected."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from misbehaviour import (
    BAD,
    BOX,
    ENGINES,
    KINDS,
    LIMIT,
    POINTS,
    Misbehaving,
    check,
    check_once,
    evaluated,
    is_gone,
    until,
    value,
)

from allmodes import find_minima
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.workers import local
from allmodes.objective.workers.parcel import Parcel

HERE = Path(__file__).parent


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request):
    with ENGINES[request.param]() as workers:
        yield workers


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_point_misbehaves(engine, kind):
    check(kind, engine, batches=1 if kind in ("kills", "hangs") else 2)


def test_a_worker_is_killed_once(engine, tmp_path):
    check_once(engine, tmp_path / "killed")


def test_the_killer_in_a_chunk_is_isolated():
    """The second batch travels in chunks: the points beside the killer are not lost with it."""
    check("kills", 2, batches=2)


def test_processes_of_the_standard_library_are_replaced_as_well(monkeypatch):
    for name in ("joblib", "joblib.externals", "joblib.externals.loky", "joblib.externals.loky.backend.utils"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("allmodes.objective.workers.local._spare", [])
    check("kills", 2, batches=1)


@pytest.mark.parametrize("retries", [0, 2])
def test_retries_are_counted(retries):
    source = Source.make(Misbehaving("kills"), box=BOX)
    with Evaluator(source, workers=2, retries=retries) as evaluator:
        assert np.isnan(evaluator.evaluate(POINTS[BAD : BAD + 1]).value).all()
    assert [failure.text for failure in evaluator.failures] == [
        f"the worker process ended {retries + 1} times during the evaluation (a crash, or out of memory)"
    ]


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("raises", ArithmeticError, "no"),
        ("unpicklable", RuntimeError, "AwkwardError: 3 here"),
        ("exits", RuntimeError, "SystemExit: 3"),
        ("complex", TypeError, "fun returned dtype complex128"),
    ],
)
def test_an_exception_is_raised_here(kind, error, words):
    with (
        Evaluator(Source.make(Misbehaving(kind), box=BOX), workers=2) as evaluator,
        pytest.raises(error, match=words) as caught,
    ):
        evaluator.evaluate(POINTS)
    first, second = caught.value.__notes__
    assert first.startswith("in the worker process:\nTraceback")
    assert second.startswith(f"while evaluating x = {POINTS[BAD]!r};")


def test_a_search_goes_on_without_a_point_that_kills_its_worker():
    start = np.array([0.25, 0.75])

    def fun(x):
        if (x == start).all():
            os.kill(os.getpid(), signal.SIGKILL)
        return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2)

    result = find_minima(fun, [(-2, 2), (-2, 2)], x0=start, workers=2, rng=0, maxfev=300)
    assert [failure.kind for failure in result.failures] == ["lost"]
    np.testing.assert_array_equal(result.failures[0].point, start)
    np.testing.assert_allclose(np.sort([mode.x[0] for mode in result.modes]), [-1.0, 1.0], atol=1e-4)


class Slow:
    """A function that says which process it runs in, and is slow from some point on."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, x):
        (self.directory / str(os.getpid())).touch()
        if x[0] > 0.5:
            time.sleep(600.0)
        return value(x)


def pids(directory):
    return [int(path.name) for path in directory.iterdir()]


def test_an_interruption_keeps_what_is_done_and_ends_the_workers(tmp_path):
    evaluator = Evaluator(Source.make(Slow(tmp_path), box=BOX), workers=2)
    interrupt = threading.Timer(0.0, lambda: os.kill(os.getpid(), signal.SIGINT))

    def watch():
        until(lambda: len(pids(tmp_path)) == 2)
        time.sleep(1.0)
        interrupt.start()

    threading.Thread(target=watch).start()
    with pytest.raises(KeyboardInterrupt):
        evaluator.evaluate(POINTS)
    assert evaluator.left
    assert evaluator.nfev == sum(len(rows) for _, rows, _ in evaluator.left)
    for _, rows, found in evaluator.left:
        np.testing.assert_array_equal(found.value, [value(x) for x in POINTS[rows]])
    assert all(is_gone(pid) for pid in pids(tmp_path))
    np.testing.assert_array_equal(evaluator.evaluate(POINTS[:4]).value, [value(x) for x in POINTS[:4]])
    evaluator.close()


SCRIPT = """
import sys
from pathlib import Path
from misbehaviour import BOX, POINTS
from test_worker_faults import Slow
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
Evaluator(Source.make(Slow(Path(sys.argv[1])), box=BOX), workers=2).evaluate(POINTS[20:])
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_leave_when_their_parent_is_gone(tmp_path, how):
    path = os.pathsep.join([str(HERE), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.DEVNULL
    ) as parent:
        assert until(lambda: len(pids(tmp_path)) == 2)
        parent.send_signal(how)
        parent.wait(30)
    assert until(lambda: all(is_gone(pid) for pid in pids(tmp_path)))


def test_a_broken_pool_that_is_not_ours_is_an_error_that_keeps_what_is_done():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        evaluator = Evaluator(Source.make(Misbehaving("kills"), box=BOX), workers=executor)
        with pytest.raises(BrokenExecutor) as caught:
            evaluator.evaluate(POINTS)
    assert "a worker process ended" in caught.value.__notes__[0]
    for _, rows, found in evaluator.left:
        np.testing.assert_array_equal(found.value, [value(x) for x in POINTS[rows]])


class Deserted:
    """An executor without workers."""

    num_workers = 0

    def submit(self, function, task):
        return Future()


def test_nobody_is_waited_for(monkeypatch):
    monkeypatch.setattr("allmodes.objective.workers.stream._PATIENCE_AT_FIRST", 0.3)
    monkeypatch.setattr("allmodes.objective.workers.opening.known_size", lambda pool: pool.num_workers)
    with pytest.raises(RuntimeError, match="there have been no workers"):
        evaluated(value, Deserted())


class Unloadable:
    """Something that can be pickled but not unpickled."""

    def __call__(self, x):
        return 0.0

    def __reduce__(self):
        return (int, ("no number",))


def test_a_function_that_workers_cannot_load_is_an_error():
    with pytest.raises(RuntimeError, match=r"a worker cannot load fun, jac, hess or args: ValueError: invalid literal"):
        evaluated(Unloadable(), 2)


class Crashing:
    """Something that ends the process that unpickles it."""

    def __call__(self, x):
        return 0.0

    def __reduce__(self):
        return (os._exit, (1,))


def test_workers_that_cannot_start_are_an_error():
    with pytest.raises(BrokenExecutor, match="3 worker processes in a row ended before their first task"):
        evaluated(Crashing(), 2)


def starting_a_program(x):
    """Starts a program that outlives its caller, which never returns at one point."""
    if not (x == POINTS[BAD]).all():
        return value(x)
    subprocess.run(["sleep", "47.125"], check=False)
    return value(x)


def test_a_time_limit_ends_what_the_function_has_started():
    """Where the worker itself keeps the limit: its child, and the child's children."""
    found, evaluator = evaluated(starting_a_program, map, timeout=LIMIT)
    assert np.isnan(found[BAD])
    assert [failure.kind for failure in evaluator.failures] == ["timed out"]
    running = [path.read_text() for path in Path("/proc").glob("[0-9]*/cmdline") if _is_readable(path)]
    assert not any("47.125" in line for line in running)


def _is_readable(path):
    try:
        return bool(path.read_text())
    except OSError:
        return False


def state_of_ctrl_c(_):
    """In a worker: who it is, what it does on Ctrl-C, and whether that is blocked, which is inherited."""
    is_blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return os.getpid(), signal.getsignal(signal.SIGINT) == signal.SIG_IGN, is_blocked


def test_ctrl_c_does_not_end_a_worker_that_is_still_starting(monkeypatch):
    """A terminal sends it to all processes; one that is importing would write a traceback over the result."""
    monkeypatch.setattr(local, "_spare", [])
    slot = local.Slot()
    try:
        future = slot.submit(state_of_ctrl_c, Parcel(abs), None, False)
        (process,) = slot.executor._processes.values()
        os.kill(process.pid, signal.SIGINT)
        assert future.result(60.0) == (process.pid, True, False)
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        slot.kill()
