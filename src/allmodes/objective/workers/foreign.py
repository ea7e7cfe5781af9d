"""Engines that the user brings: executors, clusters, pools, functions like map."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from functools import partial
from typing import Any

from allmodes.objective.workers.engine import LostWorkerError, explain
from allmodes.objective.workers.parcel import Parcel

_AHEAD = 2  # tasks sent for each worker: one at work, one waiting next to it
_LOOK = 1.0  # seconds between two counts of the workers: asking a cluster takes milliseconds
_WITHOUT_END = 2**31  # tasks for an engine whose number of workers is unknown


class Foreign:
    """Anything with a method submit that returns a future.

    Args:
        send: takes a function and its argument, returns a future.
        count: how many workers there are now; None if unknown.
    """

    isolates = False
    kills = False
    clock = staticmethod(time.monotonic)

    def __init__(self, send: Callable[..., Any], count: Callable[[], int | None]) -> None:
        self.size = count() or None
        self.alive = count
        self._send = send
        self._flying = 0
        self._parcel: Parcel | None = None
        self._carried = 0
        self._answered = 0
        self._counted = self.clock()

    def begin(self) -> None:
        self._flying = 0
        if self.clock() - self._counted > _LOOK:
            self.size = self.alive() or None
            self._counted = self.clock()

    def room(self) -> int:
        return _WITHOUT_END if self.size is None else _AHEAD * self.size - self._flying

    def submit(self, function: Any, parcel: Parcel, task: Any, carry: bool) -> Any:
        """The first tasks, one for each worker, bring the parcel; later ones only where it turns out to be missing."""
        if parcel is not self._parcel:
            self._parcel, self._carried, self._answered = parcel, 0, 0
        is_first = self._answered == 0 if self.size is None else self._carried < self.size
        self._carried += is_first
        future = self._send(function, task._replace(parcel=parcel.heavy if carry or is_first else parcel.light))
        if not hasattr(future, "add_done_callback"):
            raise TypeError(
                f"workers.submit returned {future!r} ({type(future).__name__}), which has no add_done_callback; "
                "wanted a future like those of concurrent.futures."
            )
        self._flying += 1
        return future

    def tend(self) -> None:
        """Nothing: workers work by themselves."""

    def done(self, future: Any, error: BaseException | None) -> bool:
        self._flying -= 1
        self._answered += 1
        return True

    def began(self, future: Any) -> float | None:
        return None

    def kill(self, future: Any) -> None:
        raise NotImplementedError("tasks of other engines cannot be ended; their time limit is kept by the worker.")

    def abandon(self, futures: list[Any]) -> None:
        for future in futures:
            with contextlib.suppress(Exception):  # some cannot be cancelled
                future.cancel()

    def abort(self) -> None:
        """Nothing: the processes are the user's."""

    def close(self) -> None:
        """Nothing: it is the user's."""


class Pooled(Foreign):
    """Something like multiprocessing.Pool, with apply_async.

    Such a pool replaces a process that died but never answers for its task: deaths are detected here.
    """

    def __init__(self, pool: Any, count: Callable[[], int | None]) -> None:
        super().__init__(self._apply, count)
        self._pool = pool
        self._open: set[Future[Any]] = set()
        self._seen: list[Any] = []
        self._buried: list[Any] = []
        self.tend()

    def _apply(self, function: Any, task: Any) -> Any:
        future: Future[Any] = Future()
        self._open.add(future)
        self._pool.apply_async(
            function, (task,), callback=partial(_settle, future), error_callback=partial(_fail, future)
        )
        return future

    def tend(self) -> None:
        """If a process has died, no task in flight is certain to be answered."""
        dead = [process for process in self._seen if getattr(process, "exitcode", None) not in (None, 0)]
        has_lost = any(process not in self._buried for process in dead)  # a death counts once: replacing takes a while
        self._seen, self._buried = list(getattr(self._pool, "_pool", ())), dead
        if has_lost:
            for future in list(self._open):
                _fail(future, LostWorkerError("a process of the pool ended"))

    def done(self, future: Any, error: BaseException | None) -> bool:
        self._open.discard(future)
        return super().done(future, error)


class Mapped(Foreign):
    """A function like map: all tasks of a round in one call."""

    def __init__(self, mapping: Callable[..., Any]) -> None:
        super().__init__(self._wait, lambda: None)
        self._map = mapping
        self._waiting: list[tuple[Future[Any], Any, Any]] = []

    def _wait(self, function: Any, task: Any) -> Any:
        future: Future[Any] = Future()
        self._waiting.append((future, function, task))
        return future

    def tend(self) -> None:
        """Call the mapping with what was submitted."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            replies = list(self._map(waiting[0][1], [task for _, _, task in waiting]))
        except Exception as error:
            explain(error)
            raise
        for (future, _, _), reply in zip(waiting, replies, strict=True):
            future.set_result(reply)

    def abandon(self, futures: list[Any]) -> None:
        self._waiting = []


def _settle(future: Future[Any], reply: Any) -> None:
    with contextlib.suppress(InvalidStateError):  # given up before
        future.set_result(reply)


def _fail(future: Future[Any], error: BaseException) -> None:
    with contextlib.suppress(InvalidStateError):
        future.set_exception(error)
