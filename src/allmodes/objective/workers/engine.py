"""The one protocol for everything that evaluates points."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import Any, Protocol

from allmodes.objective.workers.parcel import INSTALL, THREADS, Parcel

# Exceptions by which engines say that a worker is gone, by name: importing an engine to know its types costs seconds.
# Cancelled tasks are not among them: the engine was shut down, and no retry will help.
_LOSSES = frozenset({
    "BrokenExecutor", "KilledWorker", "LostWorkerError", "NodeDiedError", "OutOfMemoryError", "RayActorError",
    "WorkerCrashedError",
})  # fmt: skip


class LostWorkerError(RuntimeError):
    """A worker is gone, and its task with it."""


class Engine(Protocol):
    """Something that runs tasks elsewhere.

    Attributes:
        size: how many workers there are; None if unknown.
        isolates: whether a lost worker takes exactly its own task with it, so that blame is certain.
        kills: whether one task can be ended, its worker with it.
        clock: tells the seconds in which all times are given.
    """

    @property
    def size(self) -> int | None: ...
    @property
    def isolates(self) -> bool: ...
    @property
    def kills(self) -> bool: ...
    @property
    def clock(self) -> Callable[[], float]: ...

    def room(self) -> int:
        """How many more tasks it takes now."""

    def submit(self, function: Any, parcel: Parcel, task: Any, carry: bool) -> Any:
        """A future of function(task with the parcel in it); with `carry`, the worker may not have the parcel."""

    def begin(self) -> None:
        """A new batch is coming: check how many workers there are."""

    def tend(self) -> None:
        """Called repeatedly while there are tasks, for engines that need to be driven."""

    def began(self, future: Any) -> float | None:
        """When a task began; None if it has not, or if unknown."""

    def done(self, future: Any, error: BaseException | None) -> bool:
        """Take note that a task has ended; whether it is to blame if it was lost."""

    def kill(self, future: Any) -> None:
        """End the worker that runs a task."""

    def alive(self) -> int | None:
        """How many workers there are now; None if unknown."""

    def abandon(self, futures: list[Any]) -> None:
        """Give up tasks."""

    def abort(self) -> None:
        """A batch was ended early: leave no process of ours running."""

    def close(self) -> None:
        """Give back what was opened."""


def is_loss(error: BaseException) -> bool:
    """Whether an engine's exception says that a worker is gone."""
    return any(kind.__name__ in _LOSSES for kind in type(error).__mro__)


def explain(error: BaseException) -> None:
    """Add the likely cause to an engine's exception."""
    if isinstance(error, BrokenExecutor):
        error.add_note(
            "a worker process ended: fun may have crashed it or run out of memory, or a script without "
            '`if __name__ == "__main__":` started it. Try workers=1, ' + INSTALL + THREADS
        )
    else:
        error.add_note("this came from the engine passed as workers, not from fun.")
