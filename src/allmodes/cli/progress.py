"""The line that is rewritten while a search goes on."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from allmodes.cli.console import messages, width_of
from allmodes.progress import line
from allmodes.terminal import Ticker, clock

if TYPE_CHECKING:
    from allmodes.progress import Progress

_EVERY = 0.1  # seconds between two updates on a terminal
_LONG = 1.5  # seconds without news: a call takes long
_PLAIN_EVERY = 30.0  # and between two lines in a log


class Watch:
    """Shows the state of a search: one line that is rewritten on a terminal, a line every half minute elsewhere.

    While one call of the function takes long, it says for how long.
    """

    def __init__(self, is_quiet: bool) -> None:
        self.console = messages()
        self.is_quiet = is_quiet
        self.live: Live | None = None
        self.last = time.monotonic()
        self.has_seen = False  # whether any evaluation came back
        self.text = "0 evaluations"
        self.heard = self.last
        self.ticker: Ticker | None = None

    def __enter__(self) -> Watch:
        if not self.is_quiet and self.console.is_terminal and not self.console.is_dumb_terminal:
            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.start()
            self._write(self.text)
            self.ticker = Ticker(self._tick)
            self.ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.ticker is not None:
            self.ticker.stop()
        if self.live is not None:
            self.live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it if it is due."""
        self.has_seen = True
        self.heard = now = time.monotonic()
        if self.ticker is not None:
            self.ticker.start()  # it ends where a process forks
        if self.is_quiet or now - self.last < (_PLAIN_EVERY if self.live is None else _EVERY):
            return
        self.last = now
        self.text = line(progress, None if self.live is None else width_of(self.console) - 1)
        self._write(self.text)

    def _tick(self) -> None:
        waited = time.monotonic() - self.heard
        if waited >= _LONG:
            tail = f"  no value for {waited:.0f} s"
            self._write(self.text[: width_of(self.console) - 1 - len(tail)].rstrip() + tail)

    def _write(self, text: str) -> None:
        if self.live is None:
            self.console.print(text, soft_wrap=True)
        else:
            shown = Text(text[: width_of(self.console) - 1], no_wrap=True)
            self.live.update(shown, refresh=True)


def duration(seconds: float) -> str:
    """Seconds below a minute, or as on a clock.

    >>> duration(0.31), duration(59.97), duration(75.2)
    ('0.3 s', '1:00', '1:15')
    """
    shown = f"{seconds:.1f}"
    return f"{shown} s" if float(shown) < 60.0 else clock(round(seconds))
