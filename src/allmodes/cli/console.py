"""Where texts go: results to stdout, everything else to stderr, in 80 columns unless the terminal says otherwise."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any

from rich.box import SIMPLE_HEAD, Box
from rich.console import Console
from rich.table import Table

from allmodes.terminal import visible

WIDTH = 80  # where there is no terminal to ask
GAP = 2  # columns between two columns of a table
_PLAIN_HEAD = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)  # a line of hyphens below the head
NARROWEST = 40  # narrower terminals are not catered for


def output() -> Console:
    """For results."""
    return _console(sys.stdout)


def messages() -> Console:
    """For progress and messages."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    """A console for a stream: plain when it is not a terminal or NO_COLOR is set.

    Rich would treat FORCE_COLOR and the like as a terminal; a file is a file here.
    """
    is_terminal = stream.isatty()
    return Console(
        file=stream,
        force_terminal=is_terminal,
        width=None if is_terminal else WIDTH,
        color_system="auto" if is_terminal and not os.environ.get("NO_COLOR") else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def width_of(console: Console) -> int:
    """How many columns there are."""
    return max(console.width, NARROWEST)


def say(text: str) -> None:
    """A message on stderr, wrapped between words: a path stays whole."""
    console = messages()
    console.print(wrapped(text, width_of(console)), soft_wrap=True)


def wrapped(text: str, width: int = WIDTH) -> str:
    """Every line of a text broken between words; those that begin with spaces stay as they are.

    Control characters, as in names that came with a file, are made visible.
    """
    return "\n".join(
        line if line.startswith(" ") or len(line) < width
        else textwrap.fill(line, width - 1, break_long_words=False, break_on_hyphens=False)
        for line in visible(text).splitlines()
    )  # fmt: skip


def item(text: str) -> str:
    """A text as an entry of a list, indented."""
    return textwrap.fill(
        text, WIDTH - 1, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def table(console: Console) -> Table:
    """An empty table with a line below its head and nothing else."""
    line = SIMPLE_HEAD if console.encoding.startswith("utf") else _PLAIN_HEAD
    return Table(box=line, pad_edge=False, show_edge=False, padding=(0, GAP - 1, 0, 0))
