"""Worker processes on this machine: by loky if joblib is installed, otherwise the standard library's.

Every worker is a pool of one. So when a process dies it is known which task killed it, no other task is affected, and a
process that takes too long can be ended alone.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from allmodes.objective.workers.engine import explain
from allmodes.objective.workers.guard import ctrl_c_held_back, guard
from allmodes.objective.workers.parcel import Parcel
from allmodes.objective.workers.task import hold

_IDLE = 60.0  # seconds after which idle processes leave; a search within that time starts at once
_STARTS = 3  # processes in a row that die before their first task: the task is not to blame

_spare: list[Any] = []  # executors of ended searches, with warm processes
_inherited: list[Any] = []  # copies in a forked process are useless, and not its to close
_lock = threading.Lock()


class Processes:
    """Worker processes of our own."""

    isolates = True
    kills = True
    clock = staticmethod(time.monotonic)

    def __init__(self, n: int) -> None:
        self.size = n
        self._slots = [Slot() for _ in range(n)]
        self._running: dict[Any, Slot] = {}
        self._is_closed = False

    def room(self) -> int:
        return self.size - len(self._running)

    def submit(self, function: Any, parcel: Parcel, task: Any, carry: bool) -> Any:
        if self._is_closed:
            raise RuntimeError("the workers were shut down; make a new evaluator.")
        busy = set(map(id, self._running.values()))
        free = [slot for slot in self._slots if id(slot) not in busy]
        slot = next((slot for slot in free if slot.is_warm(parcel)), free[0])
        future = slot.submit(function, parcel, task._replace(parcel=parcel.light), carry)
        self._running[future] = slot
        return future

    def begin(self) -> None:
        """Nothing: their number stays the same."""

    def tend(self) -> None:
        """Nothing: the processes work by themselves."""

    def done(self, future: Any, error: BaseException | None) -> bool:
        """A task has ended; whether it can be blamed if it was lost."""
        slot = self._running.pop(future)
        return error is None or slot.died()

    def began(self, future: Any) -> float | None:
        return self._running[future].began

    def kill(self, future: Any) -> None:
        self._running.pop(future).kill()

    def alive(self) -> int | None:
        return self.size  # a process that has died is replaced

    def abandon(self, futures: list[Any]) -> None:
        for future in futures:
            if future in self._running:
                self.kill(future)

    def abort(self) -> None:
        self._running.clear()
        for slot in self._slots:
            slot.kill()

    def close(self) -> None:
        """Busy processes are ended, the others kept for a while for the next search."""
        self._is_closed = True
        self.abandon(list(self._running))
        for slot in self._slots:
            slot.give_back()


class Slot:
    """The place of one worker process, and of those that replace it."""

    def __init__(self) -> None:
        self.executor: Any = None
        self.began: float | None = None  # when the task was sent, or the process was ready for it
        self._holds: set[str] = set()
        self._ready: Future[Any] | None = None
        self._starts = 0

    def is_warm(self, parcel: Parcel) -> bool:
        """Whether its process has the parcel."""
        return self.executor is not None and parcel.name in self._holds

    def submit(self, function: Any, parcel: Parcel, task: Any, carry: bool) -> Any:
        """Send a task, and before it the parcel if the process does not have it."""
        if self.executor is None:
            with ctrl_c_held_back():
                self.executor = _taken() or _executor()
        if carry or not any(process.is_alive() for process in (self.executor._processes or {}).values()):
            self._holds.clear()  # a new process, which has seen nothing
        self.began = time.monotonic()
        try:
            if parcel.name not in self._holds:
                self.began = None
                with ctrl_c_held_back():  # where there is no process yet, this starts one
                    self._ready = self.executor.submit(hold, parcel.heavy)
                self._ready.add_done_callback(self._note)
                self._holds.add(parcel.name)
            return self.executor.submit(function, task)
        except BrokenExecutor as error:  # it died between two tasks
            if self._starts >= _STARTS:
                explain(error)
                raise
            self.died()
            return self.submit(function, parcel, task, carry)

    def _note(self, ready: Future[Any]) -> None:
        if ready is self._ready and not ready.cancelled() and ready.exception() is None:
            self.began, self._starts = time.monotonic(), 0

    def died(self) -> bool:
        """The process is gone; whether it had begun the task."""
        had_begun = self.began is not None
        self.kill()
        if not had_begun:
            self._starts += 1
            if self._starts >= _STARTS:
                error = BrokenExecutor(f"{_STARTS} worker processes in a row ended before their first task")
                explain(error)
                raise error
        return had_begun

    def kill(self) -> None:
        """End the process, if there is one, and what it has started."""
        executor, self.executor, self._ready = self.executor, None, None
        self._holds.clear()
        if executor is not None:
            _end(executor)

    def give_back(self) -> None:
        """Keep the process for another search."""
        executor, self.executor = self.executor, None
        if executor is not None:
            _keep(executor)


def _executor() -> Any:
    """A pool of one process."""
    parent = os.getpid()
    try:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(1, timeout=_IDLE, initializer=guard, initargs=(parent,))
    except ImportError:
        from concurrent.futures import ProcessPoolExecutor as PlainExecutor
        from multiprocessing import get_context

        # Spawned, not forked: a fork of a process with threads (BLAS, JAX) may hang.
        return PlainExecutor(1, mp_context=get_context("spawn"), initializer=guard, initargs=(parent,))


def _end(executor: Any) -> None:
    """Kill the process of an executor, and wait until it is gone.

    The executor then finds itself broken and cleans up. (Asking loky to kill its processes while it sends a task can
    make its thread fail.)
    """
    for process in list((executor._processes or {}).values()):
        with contextlib.suppress(ValueError, OSError, AttributeError):  # already gone
            _kill_with_descendants(process)
    executor.shutdown(wait=True)


def _kill_with_descendants(process: Any) -> None:
    """By loky, if installed: programs that the user's function has started end as well."""
    try:
        from joblib.externals.loky.backend.utils import kill_process_tree
    except ImportError:
        process.kill()
    else:
        kill_process_tree(process)


def _taken() -> Any:
    """An executor that an ended search has left; None if there is none."""
    with _lock:
        return _spare.pop() if _spare else None


def _keep(executor: Any) -> None:
    if not hasattr(executor, "_flags"):  # the standard library's: its process would never leave
        executor.shutdown(wait=True, cancel_futures=True)
    elif not (executor._flags.broken or executor._flags.shutdown):
        with _lock:
            _spare.append(executor)


def _forget() -> None:
    """In a forked process the parent's executors have no threads."""
    global _lock
    _lock = threading.Lock()
    _inherited.extend(_spare)
    _spare.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
