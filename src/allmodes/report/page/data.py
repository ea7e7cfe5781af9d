"""What the plots of the report page draw, as plain data for JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Objective
from allmodes.report import canvas, region, slices
from allmodes.report.marks import broken
from allmodes.result import Result

MOST_MODES = 1000  # in the table and in the plots: a page with more is slow and nobody reads it
_MOST_NUMBERS = 100_000  # of all covariances, or of all paths: more would weigh as much as the plots' code
_PAIRS = 10  # of coordinates whose contours are drawn: all of them up to five dimensions
_GRID = 41  # points along each side of a slice ...
_FINE_GRID = 81  # ... and of the only one, in two dimensions
_SECONDS = 20.0  # for all values on planes together: somebody is waiting for the page
_CURVE = 401  # points of a function of one coordinate
_EQUALITIES = 4  # equality constraints that are drawn
_DIGITS = 8  # more than a plot can show
_GRID_DIGITS = 5
_SHADE_DIGITS = 3

Floats = NDArray[np.float64]


def of(result: Result, fun: Callable[..., Any] | Objective | None = None) -> dict[str, Any]:
    """Everything that the plots draw."""
    modes = result.modes[:MOST_MODES]
    window = np.array([canvas.window(result, i) for i in range(len(result.x))])
    found, is_whole = ({}, True) if fun is None else _slices(fun, result, window)
    levels = [canvas.levels(result, i) for i in range(len(result.x))]
    return {
        "names": list(result.coordinate_names),
        "noun": "maximum" if result.maximise else "minimum",
        "maximise": result.maximise,
        "unit": "evaluations" if result.audit is None else "runs",
        "window": _plain(window),
        "limits": _plain([canvas.limits(result, i) for i in range(len(result.x))]),
        "best": _plain([*result.x, result.fun]),  # a point that was evaluated, not always a mode
        "x": _plain([mode.x for mode in modes]),
        "value": _plain([mode.fun for mode in modes]),
        "height": _plain(canvas.heights(result, MOST_MODES)),
        "error": _plain([math.nan if mode.standard_error is None else mode.standard_error for mode in modes]),
        "weight": _plain([mode.weight for mode in modes]),
        "flatness": _plain([mode.flatness for mode in modes]),
        "kind": [mode.kind for mode in modes],
        "isGlobal": [bool(mode.is_global) for mode in modes],
        "covariances": _covariances(result),
        "paths": _paths(result),
        "history": {name: _plain(getattr(result.history, name)) for name in ("nfev", "best", "modes")},
        "trace": _trace(result),
        "slices": found,
        "regions": _regions(result, window),
        "isLevels": [places is not None for places in levels],
        "choices": {str(i): [str(each) for each in named] for i, named in result.choices.items()},
        "isWhole": is_whole,
    }


def _plain(numbers: Any, digits: int = _DIGITS) -> Any:
    """Numbers as JSON can hold them; what is not finite as the word for it."""
    if isinstance(numbers, (list, tuple, np.ndarray)):
        return [_plain(number, digits) for number in numbers]
    if isinstance(numbers, (int, np.integer)):
        return int(numbers)
    return float(f"{numbers:.{digits}g}") if math.isfinite(numbers) else str(float(numbers))


def _covariances(result: Result) -> list[Any]:
    """Of the components, (d, d) each; of the best modes only if they are many or large."""
    if result.mixture is None:
        return []
    d = len(result.x)
    A = np.asarray(result.mixture.components.factors.A)[: min(MOST_MODES, _MOST_NUMBERS // d**2)]
    with np.errstate(all="ignore"):  # a flat mode has no covariance
        return _plain(A @ np.swapaxes(A, 1, 2))


def _paths(result: Result) -> list[Any]:
    """Where local searches went or, if it was annealed, the means of components: a list of points each."""
    if result.trace is not None:
        runs = [np.stack([result.trace.means[i] for i in frames]) for frames in result.trace.runs]
        paths = [means[:, k] for means in runs for k in range(means.shape[1])]
    else:
        paths = list(result.paths)
    step = 1 + sum(path.size for path in paths) // _MOST_NUMBERS
    thinned = (np.concatenate([path[:-1:step], path[-1:]]) for path in paths if len(path) > 1)
    return [_plain(broken(result, path)) for path in thinned]


def _trace(result: Result) -> dict[str, Any] | None:
    """Weights and temperature while it was annealed."""
    if result.trace is None or not len(result.trace):
        return None
    return {name: _plain(getattr(result.trace, name)) for name in ("run", "nfev", "temperature", "weights")}


def _slices(fun: Callable[..., Any] | Objective, result: Result, window: Floats) -> tuple[dict[str, Any], bool]:
    """Values of the function on planes through the best point, by their pair of coordinates; whether all are there."""
    d = len(result.x)
    size = _CURVE if d == 1 else _FINE_GRID if d == 2 else _GRID
    timed = fun if isinstance(fun, Objective) else _timed(fun, time.monotonic() + _SECONDS)
    found: dict[str, Any] = {}
    for chosen in [(0,)] if d == 1 else islice(combinations(range(d), 2), _PAIRS):
        try:
            seen = _cut(result, timed, chosen, window, size)
        except _TooLong:
            return found, False
        if seen is not None:
            found[",".join(map(str, chosen))] = _as_data(seen, result.maximise)
    return found, True


class _TooLong(BaseException):
    """Not an Exception: those of the user's function are caught point by point."""


def _timed(fun: Callable[..., Any], end: float) -> Callable[..., Any]:
    """The function, until a time on the clock."""

    def timed(x: Floats) -> Any:
        if time.monotonic() > end:
            raise _TooLong
        return fun(x)

    return timed


def _cut(
    result: Result, fun: Callable[..., Any] | Objective, chosen: tuple[int, ...], window: Floats, size: int
) -> slices.Slice | None:
    """The function on a grid; nothing if it fails everywhere, because a plot is no reason to lose the page."""
    sides = _sides(result, chosen, window, size)
    try:
        with np.errstate(all="ignore"):
            return slices.cut(result, fun, chosen, slices.through(result, None), sides)
    except Exception:  # the user's function: whatever it raises
        return None


def _sides(result: Result, chosen: tuple[int, ...], window: Floats, size: int) -> list[Floats]:
    """Places along each side of a slice; of whole numbers and choices there are no others."""
    levels = [canvas.levels(result, i) for i in chosen]
    return [
        np.linspace(window[i, 0], window[i, 1], size) if places is None else places
        for i, places in zip(chosen, levels, strict=True)
    ]


def _regions(result: Result, window: Floats) -> dict[str, Any]:
    """Where the constraints hold, on the same planes: by how much, and what equalities are off by."""
    d, limiting = len(result.x), region.known(result)
    if limiting is None or d == 1:
        return {}
    found: dict[str, Any] = {}
    size, end = _FINE_GRID if d == 2 else _GRID, time.monotonic() + _SECONDS
    for chosen in islice(combinations(range(d), 2), _PAIRS):
        if time.monotonic() > end:
            break
        sides = _sides(result, chosen, window, size)
        seen = region.as_data(limiting, chosen, slices.through(result, None), sides)
        equal = [_plain(each.T, _SHADE_DIGITS) for each in seen.equalities[:_EQUALITIES]]
        margin = None if seen.inequality is None else _plain(seen.inequality.T, _SHADE_DIGITS)
        found[",".join(map(str, chosen))] = dict(zip("xy", map(_plain, sides), strict=True)) | {
            "margin": margin, "equal": equal,
        }  # fmt: skip
    return found


def _as_data(seen: slices.Slice, maximise: bool) -> dict[str, Any]:
    values = seen.values.T
    sides = dict(zip("xy", map(_plain, seen.sides), strict=False))
    shade = _plain(_shade(values, maximise), _SHADE_DIGITS)
    return sides | {"value": _plain(values, _GRID_DIGITS), "shade": shade}


def _shade(values: Floats, maximise: bool) -> Floats:
    """Ranks instead of values, from 0 for the best to 1: flat valleys and steep flanks alike get contours.

    The square root gives the region around the best more of them.
    """
    shade = np.full(values.shape, np.nan)
    finite = np.isfinite(values)
    signed = -values[finite] if maximise else values[finite]
    levels, where = np.unique(signed, return_inverse=True)
    below = np.searchsorted(np.sort(signed), levels)
    shade[finite] = np.sqrt(below[where] / max(1, signed.size - 1))
    return shade
