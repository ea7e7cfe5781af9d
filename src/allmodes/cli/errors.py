"""Exceptions of the user's code as the user would like to see them: without the frames of this package."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import allmodes

_OURS = str(Path(allmodes.__file__).parent)
_NOT_SHOWN = (_OURS, "<frozen importlib")
_POINT = re.compile(r"while evaluating (.*?); on_error=", re.DOTALL)
_IN_WORKER = "in the worker process:\n"
_FRAME = re.compile(r'  File "([^"]*)"')


def users_traceback(error: BaseException) -> str:
    """The traceback of an exception without frames of this package and of the import system; empty if none is left."""
    worker = next((note for note in _notes(error) if note.startswith(_IN_WORKER)), None)
    if worker is not None:
        return _filtered(worker[len(_IN_WORKER) :])
    plain = traceback.TracebackException.from_exception(error)
    text = "".join(plain.format())
    for note in _notes(error):
        text = text.replace(note + "\n", "")
    return _filtered(text)


def point_of(error: BaseException) -> str | None:
    """Where the function was evaluated when it failed, as text; None if the exception did not come from there."""
    for note in _notes(error):
        found = _POINT.search(note)
        if found:
            return " ".join(re.sub(r"array\((\[.*?\])\)", r"\1", found[1], flags=re.DOTALL).split())
    return None


def _notes(error: BaseException) -> list[str]:
    return [str(note) for note in getattr(error, "__notes__", ())]


def _filtered(text: str) -> str:
    """A traceback as text without our frames: each is a line `File ...` and those below it that are indented more."""
    kept, is_shown = [], True
    for line in text.rstrip().splitlines():
        frame = _FRAME.match(line)
        if frame:
            is_shown = not frame[1].startswith(_NOT_SHOWN)
        elif not line.startswith("    "):
            is_shown = True
        if is_shown:
            kept.append(line)
    return "\n".join(kept) if any(map(_FRAME.match, kept)) else ""
