"""Evaluation by worker processes, threads and anything that maps: the same results as in this process."""

import pickle
import sys
import threading
import types
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.workers import Parcel, open_engine, open_pool
from allmodes.objective.workers.engine import LostWorkerError
from allmodes.objective.workers.foreign import Pooled
from allmodes.objective.workers.pace import Pace

BOTH = GRADIENT | HESSIAN
BOX = Box.make([(-3, 3), (-3, 3)])
POINTS = np.random.default_rng(0).uniform(-2, 2, size=(11, 2))


def wave(x, shift=0.0):
    return np.sin(x).sum(axis=-1) + shift


def wave_jac(x, shift=0.0):
    return np.cos(x)


class AwkwardError(Exception):
    """An exception that pickle takes apart and cannot put together."""

    def __init__(self, code, where):
        super().__init__(f"{code} {where}")


def fragile(x):
    if x[0] < -1.5:
        raise ArithmeticError(f"at {x[0]}")
    if x[0] > 1.5:
        return np.nan
    return wave(x)


def awkward(x):
    raise AwkwardError(3, "here")


def jax_wave(x):
    return jnp.sin(x).sum()


def evaluate(workers, fun=wave, needs=BOTH, on_error="raise", points=POINTS, **arguments):
    with Evaluator(Source.make(fun, box=BOX, **arguments), workers=workers, on_error=on_error) as evaluator:
        return evaluator.evaluate(points, needs), evaluator


def assert_same(found, wanted):
    for ours, theirs in zip(found[0], wanted[0], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    a, b = found[1], wanted[1]
    assert (a.nfev, a.njev, a.nhev, a.nfail) == (b.nfev, b.njev, b.nhev, b.nfail)
    assert [(f.point.tolist(), f.kind, f.text) for f in a.failures] == [
        (f.point.tolist(), f.kind, f.text) for f in b.failures
    ]


@pytest.fixture
def no_joblib(monkeypatch):
    for name in ("joblib", "joblib.externals", "joblib.externals.loky", "joblib.externals.cloudpickle", "cloudpickle"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("allmodes.objective.workers.local._spare", [])  # processes of loky that other tests left


POOLS = {
    "map": lambda: map,
    "list": lambda: lambda f, items: [f(item) for item in items],
    "executor": lambda: ThreadPoolExecutor(2),
    "pool": lambda: ThreadPool(2),
}


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_anything_that_maps_gives_the_same_results(make, vectorized):
    workers = make()
    arguments = {"jac": wave_jac, "hess": "2-point", "vectorized": vectorized, "args": (2.0,)}
    found, wanted = evaluate(workers, **arguments), evaluate(1, **arguments)
    if vectorized:  # the last bit may depend on the size of a batch
        for ours, theirs in zip(found[0], wanted[0], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    else:
        assert_same(found, wanted)
    if hasattr(workers, "shutdown"):
        assert list(workers.map(abs, [-1])) == [1]  # not ours to close
        workers.shutdown()
    if hasattr(workers, "terminate"):
        workers.terminate()


@pytest.mark.parametrize("workers", [map, ThreadPoolExecutor(2)], ids=["map", "executor"])
def test_failures_come_back_in_order(workers):
    assert_same(
        evaluate(workers, fragile, GRADIENT, "nan", jac=wave_jac), evaluate(1, fragile, GRADIENT, "nan", jac=wave_jac)
    )


def test_the_first_exception_is_raised():
    row = int(np.argmax(POINTS[:, 0] < -1.5))
    with pytest.raises(ArithmeticError, match=f"at {POINTS[row, 0]}") as caught:
        evaluate(map, fragile, GRADIENT, jac=wave_jac)
    assert "in the worker process:" in caught.value.__notes__[0]
    assert caught.value.__notes__[1].startswith(f"while evaluating x = {POINTS[row]!r};")


def test_an_exception_that_cannot_travel_is_raised_as_text():
    with pytest.raises(RuntimeError, match="AwkwardError: 3 here"):
        evaluate(map, awkward, frozenset())
    with pytest.raises(AwkwardError):
        evaluate(1, awkward, frozenset())


def test_processes_run_any_function():
    """By loky: lambdas, closures, functions of JAX; the workers are shared by the searches of a session."""
    offset = 0.25
    closure = lambda x: wave(x) + offset  # noqa: E731
    arguments = {"jac": lambda x: np.cos(x), "hess": "2-point"}
    assert_same(evaluate(2, closure, **arguments), evaluate(1, closure, **arguments))
    assert_same(evaluate(2, fragile, GRADIENT, "nan", **arguments), evaluate(1, fragile, GRADIENT, "nan", **arguments))
    with pytest.raises(ArithmeticError):
        evaluate(2, fragile, GRADIENT, **arguments)
    with pytest.raises(RuntimeError, match="AwkwardError: 3 here"):
        evaluate(2, awkward, frozenset())
    found, wanted = evaluate(2, jax_wave, hess="jax"), evaluate(1, jax_wave, hess="jax")
    np.testing.assert_allclose(found[0].hessian, wanted[0].hessian, rtol=1e-12)


@pytest.mark.usefixtures("no_joblib")
def test_processes_of_the_standard_library():
    evaluator = Evaluator(Source.make(fragile, jac=wave_jac, box=BOX), workers=2, on_error="nan")
    found = evaluator.evaluate(POINTS, GRADIENT)
    assert_same((found, evaluator), evaluate(1, fragile, GRADIENT, "nan", jac=wave_jac))
    evaluator.close()
    with pytest.raises(RuntimeError, match="workers were shut down"):
        evaluator.evaluate(POINTS)


@pytest.mark.usefixtures("no_joblib")
def test_without_joblib_a_function_that_cannot_be_sent_is_refused():
    with pytest.raises(
        TypeError, match=r"cannot be sent to worker processes .* pip install 'allmodes\[parallel\]'.*Thread"
    ):
        evaluate(2, lambda x: 0.0)


@pytest.mark.usefixtures("no_joblib")
def test_without_joblib_a_function_of_an_interactive_session_is_refused(monkeypatch):
    session = types.ModuleType("__main__")
    exec("def typed_in(x): return 0.0", session.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", session)
    with pytest.raises(TypeError, match=r"functions of an interactive session .* pip install 'allmodes\[parallel\]'"):
        evaluate(2, session.typed_in)


def test_lost_workers_are_explained():
    def lost(function, items):
        raise BrokenExecutor("terminated abruptly")

    with pytest.raises(BrokenExecutor) as caught:
        evaluate(lost, jac=wave_jac, hess="2-point")
    assert "a worker process ended" in caught.value.__notes__[0]


def test_what_nobody_can_send_is_refused():
    lock = threading.Lock()
    with pytest.raises(
        TypeError, match=r"cannot be sent to worker processes .* make it a plain function, .*ThreadPoolExecutor"
    ):
        evaluate(2, wave, args=(lock,))


@pytest.mark.parametrize("workers", [0, -2, True, 1.5, "two", None, sys])
def test_what_is_no_pool_is_refused(workers):
    with pytest.raises(ValueError, match=r"workers is .*; wanted 1, a number of processes"):
        open_engine(workers)
    if workers is not sys:
        with pytest.raises(ValueError, match=r"workers is .*; wanted 1, a number of processes"):
            open_pool(workers, None)


class NoExecutor:
    """Something with a method submit that returns what it wants."""

    def submit(self, function, task):
        return function(task)


def test_what_returns_no_future_is_refused():
    with pytest.raises(TypeError, match=r"workers\.submit returned Reply\(.*, which has no add_done_callback"):
        evaluate(NoExecutor(), needs=frozenset())


def test_tasks_that_somebody_cancels_end_the_search():
    class Ended:
        def submit(self, function, task):
            future = Future()
            future.cancel()
            return future

    with pytest.raises(CancelledError) as caught:
        evaluate(Ended(), needs=frozenset())
    assert "this came from the engine passed as workers" in caught.value.__notes__[0]


class Worker:
    """A process as a pool sees it."""

    exitcode = None


class FakePool:
    """A pool whose only process ends after every task; with status 9 it ends before it has answered for the second."""

    _processes = 1

    def __init__(self, status):
        self.status, self.calls, self._pool = status, 0, [Worker()]

    def apply_async(self, function, arguments, callback, error_callback):
        self.calls += 1
        if self.status == 0 or self.calls != 2:
            callback(function(*arguments))
        if self.status == 0 or self.calls == 2:
            self._pool[0].exitcode = self.status
            self._pool[0] = Worker()


@pytest.mark.parametrize("status", [0, 9])
def test_a_pool_that_replaces_its_processes_loses_nothing(status):
    """Status 0 is a process that has done its share; after another one its tasks go again, one by one."""
    seen = []
    pool = FakePool(status)
    found, evaluator = evaluate(pool, lambda x: (seen.append(x), wave(x))[1], frozenset())
    np.testing.assert_array_equal(found.value, wave(POINTS))
    assert (evaluator.nfev, evaluator.nfail, len(seen)) == (11, 0, 11)


def test_a_process_of_a_pool_dies_once_however_long_replacing_it_takes():
    dead, pool = Worker(), types.SimpleNamespace(_processes=2, apply_async=lambda *_, **__: None)
    pool._pool = [dead, Worker()]
    engine = Pooled(pool, lambda: 2)
    under_way = engine._apply(wave, POINTS)
    dead.exitcode = -9
    engine.tend()
    assert isinstance(under_way.exception(), LostWorkerError)
    after = engine._apply(wave, POINTS)
    engine.tend()  # the dead process is still in the list
    assert not after.done()
    pool._pool[0] = another = Worker()
    engine.tend()
    another.exitcode = 1
    engine.tend()
    assert after.done()


def test_one_worker_is_this_process():
    assert open_pool(1, None) is None
    assert open_pool(np.int64(1), None) is None
    everything = open_pool(-1, None)
    assert everything is None or everything.size > 1
    assert open_engine(1) is None
    assert open_engine(3).size == 3


def paced(per_point, per_message):
    pace = Pace()
    pace.note(GRADIENT, 10, 10 * per_point, 10 * per_point + per_message)
    return pace


def test_chunks_follow_from_the_measured_times():
    """A message may cost a small share of the work it brings; all workers get equally much to do."""
    assert paced(1e-2, 1e-3).sizes(40, 2, GRADIENT) == [3] * 12 + [2] * 2
    assert paced(1e-3, 1e-3).sizes(100, 2, GRADIENT) == [25] * 4
    assert paced(1.0, 1e-3).sizes(5, 2, GRADIENT) == [1] * 5
    assert paced(1e-6, 1e-3).sizes(100, 4, GRADIENT) == [25] * 4
    assert paced(1e-2, 10.0).sizes(1000, 2, GRADIENT) == [100] * 10  # at most a second of work is lost with a worker
    assert paced(1e-3, 1e-3).sizes(50, None, GRADIENT) == [25, 25]
    assert Pace().sizes(3, 2, GRADIENT) == [1, 1, 1]
    assert paced(0.0, 0.0).sizes(0, 2, GRADIENT) == []
    assert sum(paced(0.0, 0.0).sizes(7, 2, GRADIENT)) == 7


def test_times_are_means_and_waiting_is_not_the_message():
    pace = paced(1e-3, 1e-3)
    pace.note(GRADIENT, 1, 3e-3, turnaround=None)  # it waited behind another one
    assert pace.per_message == pytest.approx(1e-3)
    pace.note(GRADIENT, 1, 2e-3, turnaround=8e-3)
    assert pace.per_message == pytest.approx(2e-3)
    assert pace.sizes(1000, None, GRADIENT) == Pace.sizes(paced(2e-3, 2e-3), 1000, None, GRADIENT)
    assert not pace.knows(HESSIAN)


def test_a_parcel_is_sent_once_and_then_called_by_name():
    parcel = Parcel(np.zeros(100_000))
    assert len(pickle.dumps(parcel.light)) < 200
    with pytest.raises(Exception, match=parcel.name):  # it has not arrived yet
        pickle.loads(pickle.dumps(parcel.light)).opened()
    first = pickle.loads(pickle.dumps(parcel.heavy)).opened()
    assert pickle.loads(pickle.dumps(parcel.light)).opened() is first
    assert parcel.light.opened() is parcel.contents  # in the same process nothing is copied


class Weighing(ThreadPoolExecutor):
    """An executor that sends everything through pickle, as if to one other process, and weighs it."""

    def __init__(self):
        super().__init__(1)
        self.weights = []

    class Process:
        @staticmethod
        def is_alive():
            return True

    _processes: ClassVar = {0: Process()}

    def submit(self, function, task):
        data = pickle.dumps((function, task))
        self.weights.append(len(data))
        function, task = pickle.loads(data)
        return super().submit(function, task)


@pytest.mark.parametrize("is_ours", [True, False])
def test_the_function_is_shipped_once_to_each_worker(is_ours, monkeypatch):
    """100 batches of one point each: what the function needs travels once, a task weighs less than a kilobyte."""
    engines = [Weighing(), Weighing()] if is_ours else [Weighing()]
    given = iter(engines)
    monkeypatch.setattr("allmodes.objective.workers.local._spare", [])
    monkeypatch.setattr("allmodes.objective.workers.local._executor", lambda: next(given))
    workers = 2 if is_ours else engines[0]
    with Evaluator(Source.make(wave_of, args=(np.zeros(50_000),), box=BOX), workers=workers) as evaluator:
        for pair in np.tile(POINTS, (20, 1))[:200].reshape(100, 2, 2):
            np.testing.assert_array_equal(evaluator.evaluate(pair).value, wave(pair))
    for engine in engines:
        heavy = [weight for weight in engine.weights if weight > 400_000]
        assert len(heavy) == 1
        assert max(weight for weight in engine.weights if weight not in heavy) < 1000
        engine.shutdown()


def wave_of(x, data):
    return wave(x) + data[0]


def test_a_worker_that_has_lost_the_function_gets_it_again(monkeypatch):
    engine = Weighing()
    with Evaluator(Source.make(wave, box=BOX), workers=engine) as evaluator:
        evaluator.evaluate(POINTS)
        monkeypatch.setattr("allmodes.objective.workers.parcel._arrived", {})  # as in a new process
        np.testing.assert_array_equal(evaluator.evaluate(POINTS).value, wave(POINTS))
    engine.shutdown()


def test_threads_cannot_keep_a_time_limit():
    with ThreadPoolExecutor(1) as executor, ThreadPool(1) as pool:
        for workers in (executor, executor.map, pool, pool.map):
            with pytest.raises(ValueError, match="timeout is 2 and workers are threads: a call in a thread cannot be"):
                Evaluator(Source.make(wave, box=BOX), workers=workers, timeout=2.0)


def test_a_source_keeps_its_compiled_code_when_it_comes_again():
    source = Source.make(jax_wave, hess="jax", box=BOX)
    first, second = (pickle.loads(pickle.dumps(source)) for _ in range(2))
    assert first is second
    with Evaluator(first) as evaluator:
        np.testing.assert_allclose(evaluator.evaluate(POINTS).value, wave(POINTS))
    assert pickle.loads(pickle.dumps(first)) is first
    assert pickle.loads(pickle.dumps(Source.make(jax_wave, hess="jax", box=BOX))) is not first


def test_no_points_need_no_workers():
    found, _ = evaluate(2, points=np.empty((0, 2)), jac=wave_jac, hess="2-point")
    assert found.hessian.shape == (0, 2, 2)
