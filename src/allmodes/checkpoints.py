"""Long runs: the search is kept in a file, and signals that end the process end the search in good order."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from allmodes import storage
from allmodes.driver import Driver
from allmodes.objective.evaluator import Evaluator
from allmodes.resuming import resumed

EVERY = 60.0  # seconds between two checkpoints, unless the user says otherwise
_PIECE = 1.0  # seconds of work given to this process at once: what Ctrl-C can lose


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised where Ctrl-C would be."""


class Keeper:
    """Writes checkpoints, and resumes from one.

    Args:
        path: the file, or None to keep nothing.
        every: seconds between two checkpoints.
    """

    def __init__(self, path: str | os.PathLike[str] | None, every: float) -> None:
        self.path = None if path is None else Path(path)
        self.every = every
        self.last = time.monotonic()
        self.has_warned = False

    def resumed(self, driver: Driver) -> Driver:
        """The search in the file, if there is one and it is the same search; otherwise this one, saved."""
        if self.path is None:
            return driver
        if self.path.is_dir():
            raise IsADirectoryError(
                f"checkpoint is {str(self.path)!r}, a directory; wanted a file, such as 'run.ckpt'."
            )
        directory = Path(os.path.realpath(self.path)).parent
        if not directory.is_dir():
            raise FileNotFoundError(f"checkpoint is {self.path}; the directory {directory} does not exist. Make it.")
        storage.clear_leftovers(self.path)
        if not self.path.exists():
            self._write(driver)  # what cannot be stored is found out now, not after an hour
            return driver
        try:
            saved = Driver.load(self.path)
        except ValueError as error:
            raise ValueError(f"{error} {self._advice()}") from error
        return resumed(saved, driver, self.path)

    def _advice(self) -> str:
        """What to do about a file that cannot be read."""
        assert self.path is not None
        previous = storage.previous_path(self.path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nothing goes on from it yet
                nfev = Driver.load(previous).nfev
        except (OSError, ValueError):
            return "The file is left as it is: move it away, or pass another checkpoint, to begin anew."
        return (
            f"The file is left as it is. The one before it, {previous}, is whole ({nfev} evaluations): copy it over "
            "this one to go on from there, or pass another checkpoint to begin anew."
        )

    def save_now_and_then(self, driver: Driver, evaluator: Evaluator) -> None:
        if self.path is not None and time.monotonic() - self.last >= self.every:
            self.save(driver, evaluator)

    def save(self, driver: Driver, evaluator: Evaluator) -> None:
        """Write the search. If that fails, warn and go on."""
        if self.path is not None:
            driver.count(evaluator)
            self._write(driver)

    def _write(self, driver: Driver) -> None:
        assert self.path is not None
        self.last = time.monotonic()
        try:
            driver.save(self.path, keeps_previous=True)
        except OSError as error:
            if not self.has_warned:  # once for each problem, not once a minute
                self.has_warned = True
                warnings.warn(
                    f"the checkpoint {self.path} could not be written: {error}. The search goes on; what was "
                    "written before is still there. Free some space, or choose another path.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        else:
            self.has_warned = False


class Pace:
    """How many points this process evaluates at a time: about a second's work, so that little can be lost.

    Only for functions of one point: a vectorized one may round differently in batches of another size.

    Args:
        seconds: that a piece may take; None for whole rounds.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = None if seconds is None else min(seconds, _PIECE)
        self.size: int | None = None if seconds is None else 1

    def took(self, points: int, seconds: float) -> None:
        """Learn from a piece. Sizes grow slowly: one quick evaluation does not promise another."""
        if self.seconds is not None and self.size is not None and points:
            fitting = self.seconds * points / max(seconds, 1e-9)
            self.size = int(max(1, min(2 * self.size, fitting)))


class Signals:
    """Lets Ctrl-C, and SIGTERM if wanted, through only while the user's functions run, when the search is consistent.

    Otherwise they wait: a search interrupted in the middle of a change could not go on exactly. A second Ctrl-C does
    not: it ends what is left to be done, and with it the result; the last checkpoint stays. Handlers are set in the
    main thread only and restored at the end; the user's own handler is called then.

    Args:
        takes_sigterm: whether SIGTERM ends the search.
    """

    def __init__(self, takes_sigterm: bool) -> None:
        self.wanted = [signal.SIGINT, signal.SIGTERM] if takes_sigterm else [signal.SIGINT]
        self.previous: dict[int, Any] = {}
        self.received: int | None = None
        self.was_raised = False
        self.is_open = False
        self.is_whole = False  # whether the exception that ends the search came while the search was consistent

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in self.wanted:
                previous = signal.getsignal(number)
                if _is_replaceable(number, previous):
                    self.previous[number] = previous
                    signal.signal(number, self._receive)
            _active.append(self)
        return self

    def restore(self) -> None:
        """Restore the handlers."""
        for number, previous in self.previous.items():
            signal.signal(number, previous)

    def __exit__(self, *exception: object) -> None:
        if self in _active:
            _active.remove(self)
        self.restore()
        if self.received is None:
            return
        previous = self.previous[self.received]
        if not self.was_raised:  # it came too late for the search
            os.kill(os.getpid(), self.received)
        elif callable(previous) and previous is not signal.default_int_handler:
            previous(self.received, None)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.was_raised and self.received == number == signal.SIGINT:
            raise KeyboardInterrupt  # a second Ctrl-C: whoever waits for the result does not want to
        self.received = number
        if self.is_open:
            self._raise()

    def _raise(self) -> None:
        self.is_open, self.was_raised = False, True  # once is enough
        raise Terminated if self.received == signal.SIGTERM else KeyboardInterrupt

    def check(self) -> None:
        """Raise what has come in the meantime."""
        self.during(bool)

    def during(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of the user, which signals may interrupt."""
        try:
            self.is_open = True
            if self.received is not None:
                self._raise()
            return function(*args, **kwargs)
        except BaseException:
            self.is_whole = True
            raise
        finally:
            self.is_open = False


_active: list[Signals] = []  # of searches running in the main thread, outermost first
_mask = threading.local()


def _before_fork() -> None:
    """Hold signals back: those that reach a fork before it has its own handlers would be lost."""
    _mask.old = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM)) if _active else None


def _after_fork_in_parent() -> None:
    """Let them through. What came meanwhile is raised when the user's function is done: here it would be lost."""
    if _mask.old is not None:
        opened = [signals for signals in _active if signals.is_open]
        for signals in opened:
            signals.is_open = False
        signal.pthread_sigmask(signal.SIG_SETMASK, _mask.old)
        for signals in opened:
            signals.is_open = True


def _after_fork_in_child() -> None:
    """A fork of this process, such as a worker of a pool that the user's function opens, has no search to end."""
    while _active:
        _active.pop().restore()
    if _mask.old is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _mask.old)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


def _is_replaceable(number: int, handler: Any) -> bool:
    """For SIGINT Python's own handler or that of an enclosing search; for SIGTERM any that is set and not ignored."""
    if isinstance(getattr(handler, "__self__", None), Signals):
        return True
    if number == signal.SIGINT:
        return handler is signal.default_int_handler
    return handler is not None and handler is not signal.SIG_IGN
