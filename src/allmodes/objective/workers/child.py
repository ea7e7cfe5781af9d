"""A time limit on workers that are not ours: the function runs in a child process of the worker, which can be killed.

The child is a plain subprocess that talks through its standard input and output, because the workers of some engines
must not use multiprocessing. It is kept for the next chunk, and leaves when its parent is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from typing import IO, Any

import numpy as np

from allmodes.objective.batch import LOST, TIMED_OUT, Batch, failed, joined
from allmodes.objective.workers.guard import guard
from allmodes.objective.workers.parcel import UnreadableError, arrived
from allmodes.objective.workers.task import DONE, UNREADABLE, Task, hold, run

_HEAD = struct.Struct("<Q")  # the length of a message comes before it
_CODE = "import sys; sys.path[:] = {path!r}; from allmodes.objective.workers.child import main; main({parent})"
_WAIT = 5.0  # seconds for a killed process to be gone

_idle: list[Child] = []
_inherited: list[Child] = []  # copies in a forked process belong to its parent: do not talk to them


class ChildDiedError(Exception):
    """The child ended in the middle of a task."""


class ChildLateError(Exception):
    """The child took longer than it was given, and was ended."""


class Child:
    """A process that evaluates one point at a time."""

    def __init__(self) -> None:
        code = _CODE.format(path=sys.path, parent=os.getpid())
        # A session of its own: what the user's function starts can be ended with it.
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._holds: set[str] = set()

    def take(self, name: str, data: bytes) -> None:
        """Give it a parcel unless it has it."""
        if name not in self._holds:
            wrong = self._ask((name, data))
            if wrong is not None:
                raise UnreadableError(wrong)
            self._holds.add(name)

    def run(self, name: str, task: Task, limit: float) -> Any:
        """Its reply to a task, within a time limit."""
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self.kill()

        timer = threading.Timer(limit, end)
        timer.daemon = True
        timer.start()
        try:
            return self._ask((name, task))
        except ChildDiedError:
            if is_late.is_set():
                raise ChildLateError from None
            raise
        finally:
            timer.cancel()

    def kill(self) -> None:
        """End it, and what it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):  # gone; or no Unix
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def close(self) -> None:
        """End it and wait for its end."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _ask(self, message: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write(self._process.stdin, message)
            return _read(self._process.stdout)
        except (OSError, EOFError) as error:
            raise ChildDiedError from error


def evaluate_in_child(task: Task) -> Batch:
    """A chunk, point by point, each within the limit; a point whose child dies is retried."""
    data = task.parcel.data()
    N, D = task.points.shape
    pieces: list[tuple[Any, Batch]] = []
    for n in range(N):
        batch = _one(task._replace(parcel=None, points=task.points[n : n + 1]), task.parcel.name, data, D)
        pieces.append((np.array([n]), batch))
        if task.stop and any(trouble.where for trouble in batch.troubles):
            break
    return joined(pieces, N, D, task.needs)


def _one(task: Task, name: str, data: bytes, D: int) -> Batch:
    assert task.limit is not None
    for _ in range(task.retries + 1):
        child = _taken()
        try:
            child.take(name, data)
            reply = child.run(name, task._replace(limit=None), task.limit)
        except ChildLateError:
            child.close()
            return failed(TIMED_OUT, late(task.limit), D, task.needs)
        except ChildDiedError:
            child.close()
            continue
        except BaseException:
            child.close()
            raise
        _idle.append(child)
        if reply.status == UNREADABLE:
            raise UnreadableError(reply.text)
        if reply.status != DONE:
            raise KeyboardInterrupt if reply.origin is None else reply.origin.rebuilt()
        return reply.batch
    return failed(LOST, lost(task.retries + 1), D, task.needs)


def _taken() -> Child:
    try:
        return _idle.pop()
    except IndexError:  # none there, or another thread was quicker
        return Child()


def late(limit: float) -> str:
    """The text for a point that took too long."""
    return f"the evaluation took longer than {limit:g} s and was ended"


def lost(times: int) -> str:
    """The text for a point that ended its worker."""
    return f"the worker process ended {times} times during the evaluation (a crash, or out of memory)"


def main(parent: int) -> None:
    """The child: parcels and tasks in, replies out."""
    # What the user's function prints goes to the standard error; the pipe is for replies alone.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # programs that the user's function starts must not read requests
    guard(parent)
    with contextlib.suppress(EOFError, OSError):
        while True:
            name, message = _read(requests)
            if isinstance(message, bytes):
                _write(replies, hold(arrived(name, message)))
            else:
                _write(replies, run(message._replace(parcel=arrived(name, None))))


def _write(pipe: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(_HEAD.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> Any:
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    (size,) = _HEAD.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


@atexit.register
def _close_all() -> None:
    while _idle:
        _idle.pop().close()


def _forget() -> None:
    _inherited.extend(_idle)
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
