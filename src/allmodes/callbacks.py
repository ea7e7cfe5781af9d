"""Callbacks as SciPy calls them: with `intermediate_result`, or with the best point alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from allmodes.checks import says_true
from allmodes.driver import Driver

_NAME = "intermediate_result"
_WANTED = f"wanted a function of {_NAME}, the result so far, or of the best point (d,)"


def asking(callback: Any) -> Callable[[Driver], bool] | None:
    """A function of a search that calls the callback, and says whether it asks to stop; None without a callback."""
    if callback is None:
        return None
    if not callable(callback):
        raise TypeError(f"callback is {callback!r}; {_WANTED}.")
    takes_point = _takes_point(callback)

    def asks(driver: Driver) -> bool:
        try:
            return says_true(callback(driver.best_x) if takes_point else callback(intermediate_result=driver.result))
        except StopIteration:
            return True

    return asks


def _takes_point(callback: Callable[..., Any]) -> bool:
    """Whether a callback takes one point, whatever its name; refused if it takes neither that nor a result."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):  # of some that are written in C
        return False
    if any(each.name == _NAME or each.kind is each.VAR_KEYWORD for each in parameters):
        return False
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = [each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_POSITIONAL]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if len(needed) > 1 or not (placed or takes_any) or set(needed) - {each.name for each in placed}:
        raise TypeError(f"callback takes ({', '.join(each.name for each in parameters)}); {_WANTED}.")
    return True
