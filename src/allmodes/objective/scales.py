"""Coordinates that are searched in logarithms: which they are, and how derivatives change with them.

A coordinate x = 10^y is searched by y: its starts, steps and tolerances are factors of x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LN10 = float(np.log(10.0))
_SCALES = {None: False, "linear": False, "log": True}
_WANTED = '"log", "linear" or None'

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def log_coordinates(given: Any, lower: Floats, upper: Floats, periodic: Flags, names: Any = None) -> Flags | None:
    """Which coordinates are searched in logarithms (D,); None if none is.

    >>> log_coordinates({1: "log"}, np.array([-1.0, 0.1]), np.ones(2), np.zeros(2, bool))
    array([False,  True])
    """
    D = len(lower)
    words = _by_coordinate(given, D, names)
    for i, word in enumerate(words):
        if not isinstance(word, str | None) or word not in _SCALES:
            raise ValueError(f"scale of coordinate {i} is {word!r}; wanted {_WANTED}.")
    is_log = np.array([_SCALES[word] for word in words], dtype=np.bool_)
    for i in np.flatnonzero(is_log).tolist():
        if not 0.0 < lower[i] < np.inf:
            raise ValueError(
                f'scale is "log" for coordinate {i}, whose bounds are ({lower[i]}, {upper[i]}); a logarithm needs a '
                "lower bound above 0: give the smallest value that makes sense, such as 1e-6."
            )
        if periodic[i]:
            raise ValueError(f'coordinate {i} is periodic and its scale is "log"; leave out one of the two.')
    return is_log if is_log.any() else None


def _by_coordinate(given: Any, D: int, names: Any) -> list[Any]:
    """A word for each coordinate."""
    if given is None or isinstance(given, str):
        return [given] * D
    wanted = f"wanted {_WANTED} for all coordinates, a list of {D} of them, or a dict such as {{0: 'log'}}"
    if isinstance(given, dict):
        known = list(names) if names is not None else [f"x{i}" for i in range(D)]
        words: list[Any] = [None] * D
        for key, word in given.items():
            words[coordinate_number(f"scale has the key {key!r}; {wanted}", key, D, known)] = word
        return words
    try:
        words = list(given)
    except TypeError:
        raise TypeError(f"scale is {given!r} ({type(given).__name__}); {wanted}.") from None
    if len(words) != D:
        raise ValueError(f"scale has {len(words)} entries for {D} coordinates; {wanted}.")
    return words


def coordinate_number(what: str, key: Any, D: int, names: list[Any]) -> int:
    """The number of a coordinate that is given by its number or name; `what` begins the error."""
    if key in names and isinstance(key, str):
        return names.index(key)
    if isinstance(key, str) and key.isdecimal():  # of a settings file
        key = int(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and -D <= key < D:
        return int(key) % D
    raise ValueError(f"{what}; coordinates are 0 to {D - 1}, or by name {', '.join(map(str, names))}.")


def to_log(x: Floats, is_log: Flags | None) -> Floats:
    """Points (..., D) with logarithms in the place of some coordinates."""
    if is_log is None:
        return x
    with np.errstate(divide="ignore", invalid="ignore"):  # the others are not read
        return np.where(is_log, np.log10(x), x)


def from_log(y: Floats, is_log: Flags) -> Floats:
    """The reverse."""
    with np.errstate(over="ignore"):  # cut to the largest number by whoever calls
        return np.where(is_log, np.power(10.0, np.where(is_log, y, 0.0)), y)


def slopes(x: Floats, scale: Floats, is_log: Flags) -> Floats:
    """dx / dz (..., d) where y = scale z + constant and x = 10^y, or x = y."""
    return np.where(is_log, _LN10 * x, 1.0) * scale


def bends(scale: Floats, is_log: Flags) -> Floats:
    """d^2x / dz^2 as multiples of dx / dz, (d,)."""
    return np.where(is_log, _LN10 * scale, 0.0)


def lengths(x: Floats, scale: Floats, is_log: Flags | None) -> Floats:
    """Lengths (..., d) that are long for x, in units of which differences are taken: less than the box is wide."""
    linear = np.minimum(np.maximum(1.0, np.abs(x)), scale)
    return linear if is_log is None else np.where(is_log, _LN10 * np.abs(x) * np.minimum(1.0, scale), linear)
