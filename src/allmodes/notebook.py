"""A line in a notebook that is rewritten while something runs: tqdm's bar where there is one, or text."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

_WIDTH = 100  # characters of a line


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook; nothing is imported to find out."""
    shell: Any = sys.modules.get("IPython")
    get = getattr(shell, "get_ipython", None)
    return get is not None and hasattr(get(), "kernel")


class NotebookText:
    """Text in the output of a cell, which needs no widgets."""

    width = _WIDTH

    def __init__(self) -> None:
        self.handle: Any = None

    def write(self, text: str, share: float | None = None) -> None:
        """Rewrite the line."""
        shown = {"text/plain": text}
        if self.handle is None:
            display = importlib.import_module("IPython.display").display
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def wipe(self) -> None:
        """Leave an empty line: outputs cannot be taken back one by one."""
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


class NotebookBar:
    """The bar of tqdm.notebook with the line beside it."""

    width = _WIDTH

    def __init__(self) -> None:
        self.bar: Any = None

    def write(self, text: str, share: float | None = None) -> None:
        """Rewrite the line; the bar is empty where nobody knows how far it is."""
        if self.bar is None:
            tqdm = importlib.import_module("tqdm.notebook").tqdm
            self.bar = tqdm(total=100, leave=False, bar_format="{bar}{desc}")
        self.bar.n = round(100.0 * (share or 0.0))
        self.bar.set_description_str(text)

    def wipe(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()


def notebook_line() -> NotebookText | NotebookBar:
    """A bar if tqdm and the widgets that it needs are installed, text otherwise."""
    has_bar = all(importlib.util.find_spec(name) is not None for name in ("tqdm", "ipywidgets"))
    return NotebookBar() if has_bar else NotebookText()
