"""An exception of the user's function as text, which can be sent to another process and raised there."""

from __future__ import annotations

import builtins
import traceback
from typing import Any, NamedTuple

from allmodes.objective.objective import BadReturnError

_PLAIN = (str, bytes, int, float, complex, type(None))
_LONGEST = 20_000  # characters of a traceback that are kept: its end says where it happened


class Origin(NamedTuple):
    """Where an exception came from: its type by name, its arguments if they are plain, what it said, its traceback."""

    module: str
    name: str
    args: tuple[Any, ...] | None
    text: str
    trace: str

    @staticmethod
    def of(error: BaseException) -> Origin:
        """What can be recorded of any exception."""
        kind = type(error)
        args = error.args if all(type(arg) in _PLAIN for arg in error.args) else None
        try:
            trace = "".join(traceback.format_exception(error))[-_LONGEST:]
        except Exception:  # exceptions whose own text fails
            trace = "".join(traceback.format_tb(error.__traceback__))[-_LONGEST:]
        return Origin(kind.__module__, kind.__name__, args, text_of(error), trace)

    def rebuilt(self) -> Exception:
        """An exception of the same type if Python itself has it; otherwise a RuntimeError that names the type.

        sys.exit in a function becomes a RuntimeError, too: it must not end this process silently.
        """
        error = self._of_the_same_type() or RuntimeError(self.text)
        error.add_note("in the worker process:\n" + self.trace)
        return error

    def _of_the_same_type(self) -> Exception | None:
        if (self.module, self.name) == (BadReturnError.__module__, BadReturnError.__name__):
            kind: Any = BadReturnError
        else:
            kind = getattr(builtins, self.name, None) if self.module == "builtins" else None
        if not (isinstance(kind, type) and issubclass(kind, Exception)) or self.args is None:
            return None
        try:
            return kind(*self.args)
        except Exception:  # a type that takes other arguments
            return None


def text_of(error: BaseException) -> str:
    """TYPE: TEXT, even if the exception cannot say its text."""
    try:
        said = str(error)
    except Exception as other:
        said = f"(no text: its own text raised {type(other).__name__})"
    return f"{type(error).__name__}: {said}"
