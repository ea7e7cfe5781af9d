"""Checks of what users pass in. An error names the argument, what was found, what was wanted and what to do."""

from __future__ import annotations

import inspect
import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def real_array(name: str, given: Any, wanted: str) -> NDArray[np.float64]:
    """The argument as a finite float64 array, or an error that says what was found."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "buif":
            raise TypeError(f"{name} has dtype {array.dtype}; real numbers were wanted ({wanted}).")
        array = array.astype(np.float64)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers ({error}); wanted {wanted}.") from error
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f" at index {where}" if where else ""
        raise ValueError(f"{name} contains {array[where]}{place}; every entry must be finite ({wanted}).")
    return array


def whole_number(name: str, given: Any, minimum: int) -> int:
    """The argument as an int of at least `minimum`."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"{name} is {given!r} ({type(given).__name__}); a whole number was wanted.")
    if given < minimum:
        raise ValueError(f"{name} is {given}; it must be at least {minimum}.")
    return int(given)


def as_limit(name: str, given: Any, minimum: int) -> int:
    """The same for limits, which people write as 1e4, too."""
    is_whole = isinstance(given, (float, np.floating)) and float(given).is_integer()
    return whole_number(name, int(given) if is_whole else given, minimum)


def number(name: str, given: Any, *, above: float | None = None, at_least: float | None = None) -> float:
    """The argument as a finite float within limits."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {given!r} ({type(given).__name__}); a number was wanted.")
    if not np.isfinite(given):
        raise ValueError(f"{name} is {given}; a finite number was wanted.")
    if above is not None and not given > above:
        raise ValueError(f"{name} is {given}; it must be greater than {above:g}.")
    if at_least is not None and given < at_least:
        raise ValueError(f"{name} is {given}; it must be at least {at_least:g}.")
    return float(given)


def instance(name: str, given: Any, wanted: type, hint: str) -> None:
    """Refuse an argument of the wrong type, with a hint of what to pass instead."""
    if not isinstance(given, wanted):
        article = "an" if wanted.__name__[0] in "AEIOU" else "a"
        found = f"{reprlib.repr(given)} ({type(given).__name__})"
        raise TypeError(f"{name} is {found}; {article} {wanted.__name__} was wanted. {hint}")


def coordinate_names(names: Any, D: int) -> tuple[str, ...]:
    """The names of D coordinates, each of its own; x0, x1, ... if none are given."""
    if names is None:
        return tuple(f"x{i}" for i in range(D))
    wanted = f"wanted {D} strings, one for each coordinate"
    try:
        given = None if isinstance(names, str | bytes | set | frozenset) else list(names)  # sets have no order
    except TypeError:
        given = None
    if given is None:
        raise TypeError(f"names is {names!r} ({type(names).__name__}); {wanted}.")
    if len(given) != D or not all(isinstance(name, str) for name in given):
        raise ValueError(f"names is {names!r}; {wanted}.")
    if len(set(given)) < D:
        raise ValueError(f"names is {names!r}; every coordinate needs a name of its own.")
    return tuple(str(name) for name in given)


def says_true(answer: Any) -> bool:
    """Whether the answer of a callback is Python's or NumPy's True, or an array of one such entry without axes.

    Other things that are true in Python, such as a number that a callback happens to return, are no answer.
    """
    if getattr(answer, "shape", None) == () and getattr(answer, "dtype", None) == np.bool_:
        return bool(answer)
    return answer is True


def warn_renamed(old: str, new: str) -> None:
    """Warn whoever calls this package from outside that a name is out of date."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "allmodes":
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{old} is now {new}; the old name will go in version 0.3.", DeprecationWarning, stacklevel=level)
