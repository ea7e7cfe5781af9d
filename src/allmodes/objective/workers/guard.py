"""Duties of our worker processes: leave when the parent is gone, and leave Ctrl-C to the parent."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

_LOOK = 0.5  # seconds between two checks of who the parent is
_ORPHANED = 70  # exit status of a worker whose parent has died


def guard(parent: int) -> None:
    """Run first in every worker process; `parent` is the process it works for."""
    if threading.current_thread() is threading.main_thread():
        # A terminal sends Ctrl-C to all processes; the parent takes what is finished, then ends the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
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
