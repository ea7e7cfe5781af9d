"""Where points are evaluated: in this process, in worker processes, or by anything that can map."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Result = TypeVar("Result")

_TASKS_PER_WORKER = 4  # smaller tasks balance uneven evaluations, larger ones save messages
_IDLE = 60.0  # seconds after which idle loky workers leave; the next search within that time starts at once
_INSTALL = "pip install 'allmodes[parallel]', "
_THREADS = "or pass workers=concurrent.futures.ThreadPoolExecutor(n)"


@dataclass(frozen=True)
class Pool:
    """Something that maps.

    Args:
        map: applies a function to an iterable, in order.
        size: how many workers there are, if known.
        close: gives back what was opened for it.
    """

    map: Callable[..., Any]
    size: int | None = None
    close: Callable[[], None] = lambda: None


def open_pool(workers: Any, payload: Any) -> Pool | None:
    """The pool of what the user passed as workers; None for this process alone.

    Args:
        workers: 1, a number of processes, -1 for one per core, a function like map, or an object with a method map.
        payload: what has to reach the workers; refused here if it cannot.
    """
    if hasattr(workers, "map"):
        return Pool(workers.map, _known_size(workers))
    if callable(workers):
        return Pool(workers)
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or (workers < 1 and workers != -1):
        raise ValueError(
            f"workers is {workers!r}; wanted 1, a number of processes, -1 for one per core, a function like map, "
            "or an object with a method map."
        )
    n = int(workers) if workers > 0 else _cores()
    return None if n == 1 else _processes(n, payload)


def split(pool: Pool, points: Floats, batched: bool) -> list[Floats]:
    """Points in as many tasks as serve the pool: single points, unless they are many or a call takes a batch."""
    if batched:
        return np.array_split(points, min(len(points), pool.size or 1))
    tasks = len(points) if pool.size is None else _TASKS_PER_WORKER * pool.size
    return np.array_split(points, min(len(points), tasks))


def map_points(pool: Pool, task: Callable[[Floats], Result], chunks: Sequence[Floats]) -> list[Result]:
    """The task's result for each chunk of points, in order. All contact with workers is in here."""
    try:
        return list(pool.map(task, chunks))
    except BrokenExecutor as error:
        error.add_note(
            "a worker process ended: fun may have crashed it or run out of memory, or a script without "
            '`if __name__ == "__main__":` started it. Try workers=1, ' + _INSTALL + _THREADS
        )
        raise


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _known_size(pool: Any) -> int | None:
    """The number of workers of the executors and pools of the standard library."""
    size = getattr(pool, "_max_workers", getattr(pool, "_processes", None))
    return size if isinstance(size, int) and size > 0 else None


def _processes(n: int, payload: Any) -> Pool:
    """Worker processes: by loky, which can send any function, if joblib is there; otherwise the standard library's."""
    try:
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.backend.reduction import dumps
    except ImportError:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        _check_sendable(pickle.dumps, payload, _INSTALL + _THREADS)
        # Spawned, not forked: a fork of a process with threads (BLAS, JAX) may hang.
        executor = ProcessPoolExecutor(n, mp_context=get_context("spawn"))
        return Pool(executor.map, n, lambda: executor.shutdown(cancel_futures=True))
    _check_sendable(dumps, payload, "make it a plain function, " + _THREADS)
    return Pool(lambda task, chunks: get_reusable_executor(n, timeout=_IDLE).map(task, chunks), n)


def _check_sendable(dumps: Callable[[Any], bytes], payload: Any, advice: str) -> None:
    try:
        data = dumps(payload)
    except Exception as error:
        raise TypeError(f"fun, jac, hess or args cannot be sent to worker processes ({error}); {advice}.") from error
    script = getattr(sys.modules["__main__"], "__file__", None) or ""
    if dumps is pickle.dumps and b"__main__" in data and not os.path.isfile(script):
        raise TypeError(f"functions of an interactive session cannot be sent to worker processes; {advice}.")
