"""The line that is rewritten while a search goes on."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from allmodes.cli.console import messages, width_of

if TYPE_CHECKING:
    from allmodes.progress import Progress

_EVERY = 0.1  # seconds between two updates on a terminal
_PLAIN_EVERY = 30.0  # and between two lines in a log


class Watch:
    """Shows the state of a search: one line that is rewritten on a terminal, a line every half minute elsewhere.

    Nothing runs beside the search: a thread that writes could be caught in the middle of a line by a fork.
    """

    def __init__(self, is_quiet: bool) -> None:
        self.console = messages()
        self.is_quiet = is_quiet
        self.live: Live | None = None
        self.last = time.monotonic()
        self.has_seen = False  # whether any evaluation came back

    def __enter__(self) -> Watch:
        if not self.is_quiet and self.console.is_terminal and not self.console.is_dumb_terminal:
            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.start()
            self._write("0 evaluations")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it if it is due."""
        self.has_seen = True
        now = time.monotonic()
        if self.is_quiet or now - self.last < (_PLAIN_EVERY if self.live is None else _EVERY):
            return
        self.last = now
        self._write(line(progress))

    def _write(self, text: str) -> None:
        if self.live is None:
            self.console.print(text, soft_wrap=True)
        else:
            shown = Text(text[: width_of(self.console) - 1], no_wrap=True)
            self.live.update(shown, refresh=True)


def line(progress: Progress) -> str:
    """Evaluations, time, temperature, modes, best value.

    >>> from allmodes.progress import Progress
    >>> line(Progress(1200, 30000, 75.2, 1, -1.25, 0.5))
    '1200/30000 evaluations  1:15  temperature 0.5  1 mode  best -1.25'
    """
    parts = [f"{progress.nfev}/{progress.maxfev} evaluations", clock(progress.seconds)]
    if progress.temperature is not None:
        parts.append(f"temperature {progress.temperature:.3g}")
    parts.append("1 mode" if progress.modes == 1 else f"{progress.modes} modes")
    if math.isfinite(progress.best):
        parts.append(f"best {progress.best:.6g}")
    return "  ".join(parts)


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours before them.

    >>> clock(3.2), clock(3725)
    ('0:03', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """Seconds below a minute, or as on a clock.

    >>> duration(0.31), duration(59.97), duration(75.2)
    ('0.3 s', '1:00', '1:15')
    """
    shown = f"{seconds:.1f}"
    return f"{shown} s" if float(shown) < 60.0 else clock(round(seconds))
