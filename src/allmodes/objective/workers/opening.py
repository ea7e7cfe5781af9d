"""From what the user passed as workers to an engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np

from allmodes.objective.workers.engine import Engine
from allmodes.objective.workers.foreign import Foreign, Mapped, Pooled
from allmodes.objective.workers.local import Processes

_SIZES = ("_max_workers", "_processes", "num_workers")  # where executors and pools keep the number of their workers
_WANTED = (
    "wanted 1, a number of processes, -1 for one per core, a function like map, an object with a method submit or "
    "map (an executor, a pool, a Dask client), or the module ray."
)


def open_engine(workers: Any, timeout: float | None = None) -> Engine | None:
    """The engine for what the user passed as workers; None for this process alone."""
    if isinstance(workers, (Processes, Foreign)):
        return workers
    if is_count(workers):
        n = count(workers)
        if n == 1 and timeout is None:
            return None
        if n == 1:
            raise ValueError(f"timeout is {timeout:g} and workers is {workers}: {_NO_LIMIT.format('this process')}")
        return Processes(n)
    if timeout is not None and _is_threads(workers):
        raise ValueError(f"timeout is {timeout:g} and workers are threads: {_NO_LIMIT.format('a thread')}")
    return _foreign(workers)


_NO_LIMIT = "a call in {} cannot be ended. Use processes (workers=-1, or 2 or more), or leave timeout out."


def _foreign(workers: Any) -> Engine:
    if isinstance(workers, ModuleType):
        return _ray(workers)
    if type(workers).__name__ == "ActorPool":
        raise ValueError("workers is a Ray ActorPool, which calls methods of its actors; pass the module ray instead.")
    if hasattr(workers, "submit"):
        return Foreign(*_dask(workers)) if _is_dask(workers) else Foreign(workers.submit, lambda: known_size(workers))
    if hasattr(workers, "apply_async"):
        return Pooled(workers, lambda: known_size(workers))
    if hasattr(workers, "map"):
        return Mapped(workers.map)
    if not callable(workers):
        raise ValueError(f"workers is {workers!r}; {_WANTED}")
    owner = getattr(workers, "__self__", None)
    if getattr(workers, "__name__", "") == "map" and (hasattr(owner, "submit") or hasattr(owner, "apply_async")):
        return _foreign(owner)  # pool.map stands for the pool, which can do more
    return Mapped(workers)


def is_count(workers: Any) -> bool:
    """Whether workers is a number; an error if it is one that makes no sense."""
    if isinstance(workers, bool) or (isinstance(workers, (int, np.integer)) and workers < 1 and workers != -1):
        raise ValueError(f"workers is {workers!r}; {_WANTED}")
    return isinstance(workers, (int, np.integer))


def count(workers: int) -> int:
    """A number of processes; -1 is one per core."""
    return int(workers) if workers > 0 else _cores()


def known_size(pool: Any) -> int | None:
    """How many workers an executor or pool has, if it says so."""
    client = getattr(pool, "_client", None)  # of dask's get_executor()
    if client is not None and hasattr(client, "nthreads"):
        return sum(client.nthreads().values())
    for name in _SIZES:
        size = getattr(pool, name, None)
        if isinstance(size, int) and size > 0:
            return size
    return None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_threads(workers: Any) -> bool:
    from multiprocessing.pool import ThreadPool

    return isinstance(getattr(workers, "__self__", workers), (ThreadPoolExecutor, ThreadPool))


def _is_dask(workers: Any) -> bool:
    return type(workers).__module__.partition(".")[0] == "distributed" and hasattr(workers, "nthreads")


def _dask(client: Any) -> tuple[Callable[..., Any], Callable[[], int | None]]:
    """A client of dask.distributed."""
    if getattr(client, "asynchronous", False):
        raise ValueError("workers is an asynchronous Dask client; pass a synchronous one.")

    def send(function: Any, task: Any) -> Any:
        return client.submit(function, task, pure=False)  # the same points may be asked for again

    return send, lambda: sum(client.nthreads().values())


def _ray(ray: ModuleType) -> Engine:
    """The module ray, with one task for each chunk; what a lost worker did is sent again by us, not by Ray."""
    if ray.__name__ != "ray":
        raise ValueError(f"workers is the module {ray.__name__}; {_WANTED}")
    if not ray.is_initialized():
        raise ValueError("workers is the module ray, which is not connected; call ray.init() first.")
    remote: dict[Any, Any] = {}

    def send(function: Any, task: Any) -> Any:
        if function not in remote:
            remote[function] = ray.remote(max_retries=0)(function)
        return remote[function].remote(task).future()

    def alive() -> int:
        return int(ray.cluster_resources().get("CPU", 0))

    return Foreign(send, alive)
