"""What reaches a terminal: one line that is rewritten while something runs, and texts without control characters."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_KEPT = "\n\t"  # control characters that terminals only lay text out by
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))  # C0, C1, directions
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS if chr(code) not in _KEPT}
_FIRST_AFTER = 2.0  # seconds; what takes less shows nothing
_EVERY = 0.2
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


@dataclass
class Line:
    """A line that appears after two seconds, is rewritten five times a second, and wiped at the end."""

    is_shown: bool
    started: float = field(default_factory=lambda: time.monotonic())
    last: float = 0.0

    def show(self, text: Callable[[float], str]) -> None:
        """Rewrite the line if it is due; `text` is called with the elapsed seconds."""
        if not self.is_shown:
            return
        elapsed = time.monotonic() - self.started
        if elapsed < _FIRST_AFTER or elapsed - self.last < _EVERY:
            return
        self.last = elapsed
        sys.stderr.write("\r" + text(elapsed)[: columns()].ljust(columns()))
        sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self.last:
            sys.stderr.write("\r" + " " * columns() + "\r")
            sys.stderr.flush()
