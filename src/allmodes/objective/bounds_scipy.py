"""Bounds as (lower, upper), as scipy.optimize.least_squares has them: pairs where that is certain, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SIDES = (list, tuple, np.ndarray)
_OTHER_WAYS = (
    "if they are the lower and the upper bounds of all coordinates, as in scipy.optimize.least_squares, write "
    "list(zip(lower, upper)) or scipy.optimize.Bounds(lower, upper)"
)

Floats = NDArray[np.float64]


def as_pairs(bounds: Any, D: int | None = None) -> Any:
    """A pair for each coordinate where bounds can only be (lower, upper) of all of them; anything else as it is.

    Args:
        bounds: as the user gave them.
        D: how many coordinates there are, if that is known.

    >>> as_pairs(([-5, -5, -5], [5, 5, 5]))
    [(-5.0, 5.0), (-5.0, 5.0), (-5.0, 5.0)]
    >>> as_pairs(([0, 1], [2, 3]))
    Traceback (most recent call last):
    ValueError: bounds is ([0, 1], [2, 3]), which may be two pairs or two sides: if they are the lower and the upper \
bounds of all coordinates, as in scipy.optimize.least_squares, write list(zip(lower, upper)) or \
scipy.optimize.Bounds(lower, upper); and pairs as a list, [(0, 1), (2, 3)].
    """
    if not isinstance(bounds, _SIDES) or len(bounds) != 2:
        return bounds
    if isinstance(bounds, tuple) and all(np.ndim(side) == 0 and _is_number(side) for side in bounds):
        return bounds if D is None else [bounds] * D  # one pair for every coordinate
    lower, upper = _numbers(bounds[0], -np.inf), _numbers(bounds[1], np.inf)
    if lower is None or upper is None or len(lower) != len(upper) or not (lower <= upper).all():
        return bounds
    pairs = list(zip(lower.tolist(), upper.tolist(), strict=True))
    if len(lower) != 2:
        return pairs if _is_certain(bounds, len(lower), D) else bounds
    return pairs if _is_certain_of_two(bounds, lower, upper) else bounds


def _is_number(side: Any) -> bool:
    return side is None or np.asarray(side).dtype.kind in "uif"


def _numbers(side: Any, opened: float) -> Floats | None:
    """One side (n,); None if it is none."""
    if not isinstance(side, _SIDES) or not all(np.ndim(entry) == 0 and _is_number(entry) for entry in side):
        return None
    return np.array([opened if entry is None else entry for entry in side], dtype=np.float64)


def _is_certain(bounds: Any, n: int, D: int | None) -> bool:
    """Whether two sides of one, three or more coordinates can be nothing else; lists of them may be choices."""
    if n == 1 or n == D or isinstance(bounds, np.ndarray) or all(isinstance(side, tuple) for side in bounds):
        return True
    if any(len(set(side)) < n or not all(np.isfinite(entry) for entry in side if entry is not None) or None in set(side)
           for side in map(list, bounds)):  # fmt: skip
        return True
    if isinstance(bounds, tuple):
        raise ValueError(
            f"bounds is {_said(bounds)}, which may be two lists of choices or two sides: {_OTHER_WAYS}; and choices as "
            "a list of lists."
        )
    return False


def _is_certain_of_two(bounds: Any, lower: Floats, upper: Floats) -> bool:
    """The same of two coordinates, where sides look like pairs."""
    first, last = np.array([lower[0], upper[0]]), np.array([lower[1], upper[1]])
    is_habit = isinstance(bounds, tuple) and not any(isinstance(side, tuple) for side in bounds)
    is_listed = isinstance(bounds, list) and any(isinstance(side, tuple) for side in bounds)
    if not (lower < upper).all() or is_listed:
        return False
    if (first == last).all() and not is_habit:
        raise ValueError(f"bounds is {_said(bounds)}, as pairs a single point: {_OTHER_WAYS}.")
    if (first == last).all() or (first > last).any():
        return is_habit
    if is_habit:
        raise ValueError(
            f"bounds is {_said(bounds)}, which may be two pairs or two sides: {_OTHER_WAYS}; and pairs as a list, "
            f"[({first[0]:g}, {last[0]:g}), ({first[1]:g}, {last[1]:g})]."
        )
    return False


def _said(bounds: Any) -> str:
    """Bounds in a message, without the type of arrays."""
    sides = [np.asarray(side, dtype=object).tolist() for side in bounds]
    return f"({sides[0]}, {sides[1]})" if isinstance(bounds, tuple) else f"{sides}"
