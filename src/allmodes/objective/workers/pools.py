"""A pool for whole jobs, not for points: something that maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from allmodes.objective.workers.opening import count, is_count, known_size
from allmodes.objective.workers.parcel import Parcel

_IDLE = 60.0  # seconds after which idle loky workers leave


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
    """The pool for what the user passed as workers; None for this process alone.

    Args:
        workers: 1, a number of processes, -1 for one per core, a function like map, or an object with a method map.
        payload: what has to reach the workers; refused here if it cannot.
    """
    if hasattr(workers, "map"):
        return Pool(workers.map, known_size(workers))
    if callable(workers):
        return Pool(workers)
    if not is_count(workers):
        raise ValueError(
            f"workers is {workers!r}; wanted 1, a number of processes, -1 for one per core, a function like map, or "
            "an object with a method map."
        )
    n = count(workers)
    return None if n == 1 else _processes(n, payload)


def _processes(n: int, payload: Any) -> Pool:
    """Worker processes: by loky, which can send any function, if installed; otherwise the standard library's."""
    Parcel(payload).data  # noqa: B018  (an error here says what cannot be sent)
    try:
        from joblib.externals.loky import get_reusable_executor
    except ImportError:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        # Spawned, not forked: a fork of a process with threads (BLAS, JAX) may hang.
        executor = ProcessPoolExecutor(n, mp_context=get_context("spawn"))
        return Pool(executor.map, n, lambda: executor.shutdown(cancel_futures=True))
    return Pool(lambda task, chunks: get_reusable_executor(n, timeout=_IDLE).map(task, chunks), n)
