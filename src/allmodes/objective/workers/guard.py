"""Duties of our worker processes: leave when the parent is gone, and leave Ctrl-C to the parent."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_LOOK = 0.5  # seconds between two checks of who the parent is
_ORPHANED = 70  # exit status of a worker whose parent has died


@contextlib.contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Processes that this thread starts meanwhile have Ctrl-C blocked until `guard` ignores it there.

    A process that is still importing would end with a traceback in the terminal. Signals to this process are not lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """The processes that multiprocessing and loky keep beside their workers: that unblocks Ctrl-C once.

    Workers of loky need both.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    with contextlib.suppress(ImportError):
        from joblib.externals.loky.backend import resource_tracker as tracker_of_loky

        tracker_of_loky.ensure_running()


def guard(parent: int) -> None:
    """Run first in every worker process; `parent` is the process it works for."""
    if threading.current_thread() is threading.main_thread():
        # A terminal sends Ctrl-C to all processes; the parent takes what is finished, then ends the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if hasattr(signal, "pthread_sigmask"):  # it was blocked on the way here; programs started here inherit that
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_watch, args=(parent,), name="allmodes-guard", daemon=True).start()


def _watch(parent: int) -> None:
    """End this process when its parent has changed: a killed parent cannot say goodbye."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    _end_descendants(os.getpid())
    os._exit(_ORPHANED)


def _end_descendants(pid: int) -> None:
    """Kill what a process has started, where the system says what that is (Linux)."""
    with contextlib.suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                _end_descendants(child)
                os.kill(child, signal.SIGKILL)
