"""What reaches a terminal: one line that is rewritten while something runs, and texts without control characters."""

from __future__ import annotations

import contextvars
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from allmodes.notebook import NotebookBar, NotebookText, in_notebook, notebook_line

_KEPT = "\n\t"  # control characters that terminals only lay text out by
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))  # C0, C1, directions
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS if chr(code) not in _KEPT}
_FIRST_AFTER = 2.0  # seconds; what takes less shows nothing
_EVERY = 0.2
_LONG = 1.5  # seconds without news: a call takes long
NARROWEST = 40  # columns: narrower terminals are not catered for
_USUAL = (80, 24)  # where there is no terminal to ask


def visible(text: str) -> str:
    """A text in which control characters, which could move the cursor or change colours, are written as escapes.

    >>> print(visible("a\\x1b[31mb"))
    a\\x1b[31mb
    """
    return text.translate(_ESCAPES)


def columns() -> int:
    """How wide a text may be: one column less than the terminal, or than COLUMNS says; 79 where there is neither."""
    return max(NARROWEST, shutil.get_terminal_size(_USUAL).columns) - 1


def wrapped(text: str, width: int | None = None) -> list[str]:
    """Lines that fit the terminal, or `width` columns."""
    return textwrap.wrap(text, columns() if width is None else width, subsequent_indent="  ")


class TerminalLine:
    """A line of stderr."""

    @property
    def width(self) -> int:
        """Characters that fit."""
        return columns()

    def write(self, text: str, share: float | None = None) -> None:
        """Rewrite the line; `share` is for those who draw bars."""
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()

    def wipe(self) -> None:
        """Leave nothing behind."""
        sys.stderr.write("\r" + " " * self.width + "\r")
        sys.stderr.flush()


class Shown(NamedTuple):
    """What a line says, and how much is done, 0 to 1; None where nobody knows."""

    text: str
    share: float | None = None


def can_show() -> bool:
    """Whether somebody looks: stderr is a terminal, or this is a notebook."""
    return in_notebook() or sys.stderr.isatty()


@dataclass
class Line:
    """A line that appears after two seconds, is rewritten five times a second, and wiped at the end.

    While one call of a function takes long, it says for how long: see `begin`.
    """

    is_shown: bool
    started: float = field(default_factory=lambda: time.monotonic())
    last: float = 0.0
    place: TerminalLine | NotebookText | NotebookBar = field(
        default_factory=lambda: notebook_line() if in_notebook() else TerminalLine()
    )
    now: Shown | None = None
    changed: float = 0.0
    ticker: Ticker | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, shown: Shown) -> None:
        """Show this until there is more to be said, and from now on that time goes by."""
        if self.is_shown:
            self.now, self.changed = shown, time.monotonic()
            self.ticker = Ticker(self._tick)
            self.ticker.start()

    def show(self, text: Callable[[float], str | Shown]) -> None:
        """Rewrite the line if it is due; `text` is called with the elapsed seconds."""
        if not self.is_shown:
            return
        self.changed = time.monotonic()
        elapsed = self.changed - self.started
        if self.ticker is not None:
            self.ticker.start()  # it ends where a process forks
        if elapsed < _FIRST_AFTER or elapsed - self.last < _EVERY:
            return
        shown = text(elapsed)
        self.now = shown if isinstance(shown, Shown) else Shown(shown)
        self._write(self.now, elapsed)

    def _tick(self) -> None:
        """While nothing comes back: for how long."""
        now, elapsed = self.now, time.monotonic() - self.started
        waited = time.monotonic() - self.changed
        if now is None or elapsed < _FIRST_AFTER or waited < _LONG:
            return
        tail = f"  no value for {waited:.0f} s"
        self._write(Shown(now.text[: self.place.width - len(tail)].rstrip() + tail, now.share), elapsed)

    def _write(self, shown: Shown, elapsed: float) -> None:
        with self.guard:
            self.last = elapsed
            self.place.write(shown.text[: self.place.width], shown.share)

    def close(self) -> None:
        """Wipe the line."""
        if self.ticker is not None:
            self.ticker.stop()
        if self.last:
            self.place.wipe()


class Ticker:
    """Calls a function once a second beside whatever runs, until it is stopped.

    There is no such thread while a process forks: it would not be in the child, but what it holds would. It begins
    again when `start` is called.
    """

    def __init__(self, function: Callable[[], None], every: float = 1.0) -> None:
        self.function, self.every = function, every
        self.over = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, if it does not run."""
        if self.thread is None:
            self.over = threading.Event()
            run = contextvars.copy_context().run  # by which a notebook knows the cell
            self.thread = threading.Thread(target=run, args=(self._run, self.over), name="allmodes", daemon=True)
            _tickers.append(self)
            self.thread.start()

    def _run(self, over: threading.Event) -> None:
        while not over.wait(self.every):
            self.function()

    def stop(self) -> None:
        """End it; it does not run any more when this returns."""
        if self.thread is not None:
            self.over.set()
            self.thread.join()
            self.thread = None
            _tickers.remove(self)


_tickers: list[Ticker] = []  # that run


def _before_fork() -> None:
    for ticker in tuple(_tickers):
        ticker.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours before them.

    >>> clock(3.2), clock(3725)
    ('0:03', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
