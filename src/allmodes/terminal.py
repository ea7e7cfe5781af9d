"""One line on stderr, rewritten while something runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_FIRST_AFTER = 2.0  # seconds; what takes less shows nothing
_EVERY = 0.2
_WIDTH = 79


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
        sys.stderr.write("\r" + text(elapsed)[:_WIDTH].ljust(_WIDTH))
        sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self.last:
            sys.stderr.write("\r" + " " * _WIDTH + "\r")
            sys.stderr.flush()
