"""Ctrl-C while the command is imported ends it without a traceback; imported first of all."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import PurePath
from types import FrameType

_INTERRUPTED = 130  # as in shells: 128 plus the number of the signal
_MODULES = ("allmodes", "allmodes.__main__", "allmodes.cli", "allmodes.cli.__main__")


def is_command() -> bool:
    """Whether this process is the command `allmodes`, or python -m allmodes."""
    given = sys.orig_argv
    if "-m" in given[:-1] and given[given.index("-m") + 1] in _MODULES:
        return True
    return bool(sys.argv) and PurePath(sys.argv[0]).stem == "allmodes"


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)


def begin() -> None:
    """Until `over` is called, Ctrl-C ends the command; nothing is to be saved or said yet."""
    if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def over() -> None:
    """From now on the command catches Ctrl-C itself."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


begin()
