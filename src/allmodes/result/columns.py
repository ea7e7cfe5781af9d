"""What a table of modes shows, column by column: the same in a terminal, in a notebook and on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.constraints import FEASIBILITY
from allmodes.result.mode import share_text
from allmodes.terminal import visible

if TYPE_CHECKING:
    from allmodes.result.mode import Mode
    from allmodes.result.result import Result

LEFT = ("kind", "held by")  # columns of words
HELD = "held by: constraints that are active, by their numbers from 0"
_LONGEST_NAME = 12  # as long as the longest number in its column, -1.2346e-300
_SHOWN_ACTIVE = 4  # constraints of a mode
_ALIKE = 1e-9  # of a value: a difference that means nothing
_ZERO = 1e-12, 1e-15  # of the largest value of a mode, and of what the search went through: rounding
_PLACED = 1e-2  # xtol: polished modes are located better by far
_PLACED_ROOT = 1e-13  # of the bounds: Newton's steps go as far as rounding allows
_USUAL_XTOL = 1e-6

Floats = NDArray[np.float64]
Column = tuple[str, list[str]]


def columns_of(result: Result, modes: Sequence[Mode]) -> list[Column]:
    """Titles and cells for some of the modes, the first ones of the result; the last D columns are the coordinates."""
    columns: list[Column] = [
        ("", [f"{i}{'*' if mode.is_global and not result.is_roots else ' '}" for i, mode in enumerate(modes, 1)]),
        ("value", values_of(result, modes)),
        ("kind", [visible(mode.kind) for mode in modes]),
        ("weight", [share_text(mode.weight) for mode in modes]),
        ("hits", [str(mode.hits) for mode in modes]),
    ]
    if result.is_roots:
        columns[1:4] = _of_roots(modes)
    if not weighed(result):
        del columns[3]
    if any(mode.standard_error is not None for mode in modes):
        errors = ["" if mode.standard_error is None else f"{mode.standard_error:.2g}" for mode in modes]
        columns.insert(2, ("error", errors))
    if any((mode.multiplicity or 1) > 1 for mode in modes) and not result.is_roots:
        columns.append(("images", [str(mode.multiplicity) for mode in modes]))
    if any(mode.violation > FEASIBILITY for mode in modes):  # where the user allows more than usual
        columns.append(("violation", [f"{mode.violation:.1g}" for mode in modes]))
    if any(mode.multipliers is not None for mode in modes):
        columns.append(("held by", [active_text(mode.active_constraints) for mode in modes]))
    return [*columns, *_coordinates(result, modes)]


def weighed(result: Result) -> bool:
    """Whether anything is known of weights; of an audit without the function nothing is."""
    return not result.modes or any(np.isfinite(mode.weight) for mode in result.modes)


def values_of(result: Result, modes: Sequence[Mode]) -> list[str]:
    """Values to six digits: those that differ by rounding look equal, and rounding beside much larger ones is 0.

    Global modes are equally good up to the tolerance of the search: what they differ by is rounded away.
    """
    values = np.array([mode.fun for mode in modes])
    best = values[[mode.is_global and mode.standard_error is None for mode in modes]]
    seen = np.array([*result.history.best, *values])
    seen = seen[np.isfinite(seen)]
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    zero = max(_ZERO[0] * largest, _ZERO[1] * float(np.ptp(seen))) if seen.size else 0.0
    if best.size > 1 and np.isfinite(best).all():
        values = np.where([mode.is_global for mode in modes], _common(best), values)
    return texts(values, 6, zero, _ALIKE)


def _common(values: Floats) -> float:
    """What values of equally good modes have in common: the first, to the digits in which they agree."""
    spread = float(np.ptp(values))
    if not np.finfo(np.float64).tiny < spread:
        return float(values[0])
    return float(round(float(values[0]), -int(np.ceil(np.log10(spread)))))


def texts(values: Floats, digits: int, zero: float, alike: float) -> list[str]:
    """Numbers as text, so that rounding is not seen.

    Args:
        values: the numbers.
        digits: significant ones that are shown.
        zero: what is no larger is 0, and what is no farther apart looks equal.
        alike: so does what differs by no more than this share of itself.

    >>> texts(np.array([1.1601000001, 2e-17, -1e-12, 1.16009999999]), 5, 1e-9, 1e-9)
    ['1.1601', '0', '0', '1.1601']
    """
    shown = np.where(np.abs(values) <= zero, 0.0, values)
    first = np.nan
    for i in np.argsort(shown, kind="stable"):
        if not np.isfinite(shown[i]):
            continue
        if shown[i] and abs(shown[i] - first) <= max(zero, alike * abs(shown[i])):
            shown[i] = first
        else:
            first = shown[i]
    return [f"{entry:.{digits}g}" for entry in (shown + 0.0).tolist()]


def _coordinates(result: Result, modes: Sequence[Mode]) -> list[Column]:
    columns = []
    for i, name in enumerate(map(visible, result.coordinate_names)):
        short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "~"
        entries = np.array([mode.x[i] for mode in modes])
        told = texts(entries, 5, _placed(result, i, entries), _ALIKE)
        cells = [
            visible(str(mode.choices[i]))[:_LONGEST_NAME] if i in mode.choices else text
            for mode, text in zip(modes, told, strict=True)
        ]
        columns.append((short, cells))
    return columns


def _placed(result: Result, i: int, entries: Floats) -> float:
    """How far coordinate i may be off: a small share of the width of its bounds, or of the largest entry without any.

    Where bounds are open, of the narrowest mode, too: all entries may be rounding. Nothing on a logarithmic scale,
    where the smallest numbers say something.
    """
    if is_logarithmic(result, i):
        return 0.0
    width = np.nan if result.bounds is None else float(np.ptp(result.bounds[i]))
    if not np.isfinite(width):
        width = float(np.abs(entries[np.isfinite(entries)]).max(initial=0.0))
        width = width if result.bounds is None else max(width, _narrowest(result, i))
    share = _PLACED_ROOT if result.is_roots else _PLACED * min(result.settings.get("xtol") or _USUAL_XTOL, _USUAL_XTOL)
    return share * width


def _narrowest(result: Result, i: int) -> float:
    """How far along coordinate i the value changes by the temperature, at the narrowest mode; 0 if unknown."""
    bends = np.abs([mode.hessian[i, i] for mode in result.modes])
    most = float(bends[np.isfinite(bends)].max(initial=0.0))
    return float(np.sqrt(result.temperature / most)) if most and np.isfinite(result.temperature) else 0.0


def is_logarithmic(result: Result, i: int) -> bool:
    """Whether coordinate i was searched on a logarithmic scale."""
    scales = result.settings.get("scale")
    return scales is not None and scales[i] == "log"


def active_text(constraints: tuple[int, ...]) -> str:
    """Active constraints in a few characters."""
    dots = ",..." if len(constraints) > _SHOWN_ACTIVE else ""
    return ",".join(map(str, constraints[:_SHOWN_ACTIVE])) + dots if constraints else "-"


def _of_roots(modes: Sequence[Mode]) -> list[Column]:
    """What is known of roots."""
    roots = [mode.root for mode in modes if mode.root is not None]
    words = ["flat" if mode.kind == "flat" else "yes" if mode.root and mode.root.certified else "no" for mode in modes]
    return [
        ("|F|", [f"{root.residual_norm:.2g}" for root in roots]),
        ("condition", [f"{root.condition:.3g}" for root in roots]),
        ("certified", words),
    ]


def hidden_text(titles: Sequence[str]) -> str:
    """Names of columns that do not fit, in a few words.

    >>> hidden_text(["x3"]), hidden_text(["x3", "x4"]), hidden_text(["x3", "x4", "x5"])
    ('x3', 'x3 and x4', 'x3 to x5')
    """
    if len(titles) == 1:
        return titles[0]
    return f"{titles[0]} {'and' if len(titles) == 2 else 'to'} {titles[-1]}"
