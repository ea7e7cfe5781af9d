"""Functions that misbehave at one point of a batch, processes to look at, engines to run them on."""

import contextlib
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator

POINTS = np.arange(80.0).reshape(40, 2) / 80.0
BAD = 7
GOOD = np.arange(40) != BAD
BOX = Box.make([(0, 2), (0, 2)])
LIMIT = 2.5  # seconds for a point, where one hangs; a busy machine may take one for a good point

# What happens at the bad point, and what is reported.
KINDS = {
    "raises": "raised",
    "unpicklable": "raised",
    "exits": "raised",
    "nan": "not finite",
    "inf": "not finite",
    "shape": "bad value",
    "complex": "bad value",
    "nothing": "bad value",
    "kills": "lost",
    "hangs": "timed out",
}


class AwkwardError(Exception):
    """An exception that pickle takes apart and cannot put together."""

    def __init__(self, code, where):
        super().__init__(f"{code} {where}")
        self.hook = lambda: None


def value(x):
    return float(np.sin(3.0 * x).sum())


class Misbehaving:
    """A function that does one thing wrong at one point: always, or until a file exists."""

    def __init__(self, kind: str, flag: Path | None = None):
        self.kind, self.flag = kind, flag

    def __call__(self, x):
        if not (x == POINTS[BAD]).all():
            return value(x)
        if self.flag is not None:
            if self.flag.exists():
                return value(x)
            self.flag.touch()
        return getattr(self, self.kind)()

    def raises(self):
        raise ArithmeticError("no")

    def unpicklable(self):
        raise AwkwardError(3, "here")

    def exits(self):
        sys.exit(3)

    def nan(self):
        return np.nan

    def inf(self):
        return np.inf

    def shape(self):
        return np.zeros(3)

    def complex(self):
        return 1j

    def nothing(self):
        return None

    def kills(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hangs(self):
        time.sleep(600.0)


def evaluated(fun: Any, workers: Any, batches: int = 1, **settings: Any) -> tuple[Any, Evaluator]:
    """The last of some batches: with measured times points travel in chunks."""
    with Evaluator(Source.make(fun, box=BOX), workers=workers, on_error="nan", **settings) as evaluator:
        for _ in range(batches):
            found = evaluator.evaluate(POINTS).value
    return found, evaluator


def check(kind: str, workers: Any, batches: int = 2) -> None:
    """One point fails and is reported, the others are exact and in order."""
    found, evaluator = evaluated(Misbehaving(kind), workers, batches, timeout=LIMIT if kind == "hangs" else None)
    np.testing.assert_array_equal(found[GOOD], [value(x) for x in POINTS[GOOD]])
    assert np.isnan(found[BAD])
    assert [failure.kind for failure in evaluator.failures] == batches * [KINDS[kind]]
    np.testing.assert_array_equal(evaluator.failures[0].point, POINTS[BAD])
    assert (evaluator.nfail, evaluator.nfev) == (batches, batches * 40)


def check_once(workers: Any, flag: Path) -> None:
    """A worker is killed once: nobody is the worse for it."""
    found, evaluator = evaluated(Misbehaving("kills", flag), workers)
    np.testing.assert_array_equal(found, [value(x) for x in POINTS])
    assert (evaluator.nfail, evaluator.nfev) == (0, 40)
    assert flag.exists()


def has(*modules: str) -> bool:
    return all(importlib.util.find_spec(module) is not None for module in modules)


@contextlib.contextmanager
def dask_client() -> Iterator[Any]:
    """Two worker processes of Dask on the loopback; a task that kills its worker is given back to us at once."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.worker.daemon": True}),
        LocalCluster(
            host="127.0.0.1", n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def process_pool() -> Iterator[Any]:
    with get_context("spawn").Pool(2) as pool:
        yield pool


@contextlib.contextmanager
def loky() -> Iterator[Any]:
    yield 2


ENGINES = {"loky": loky, "multiprocessing": process_pool} | ({"dask": dask_client} if has("distributed") else {})


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has buried yet counts."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def until(condition: Any, seconds: float = 30.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
