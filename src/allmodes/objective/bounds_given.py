"""What users pass as bounds, periodic and x0, checked; an error says what was found and what was wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_REACH = 5.0  # starts around x0 reach five times its size (at least 5): wide enough to leave the basin x0 is in
_HALF_OPEN = 10.0  # the same width where only one finite bound is known
_DECADES = 3.0  # the same for coordinates on a logarithmic scale: factors of a thousand either way

Floats = NDArray[np.float64]

_PAIRS = "bounds needs one (lower, upper) pair for each coordinate, e.g. [(0, 1), (-5, None)]"


def sides(bounds: Any, points: Floats | None) -> tuple[Floats, Floats]:
    """The lower and upper bounds (D,), in whatever form they were given."""
    if bounds is None:
        if points is None:
            raise ValueError("bounds and x0 are both None; give bounds, or a point x0 to search around.")
        D = points.shape[-1]
        return np.full(D, -np.inf), np.full(D, np.inf)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):  # scipy.optimize.Bounds
        both = [_side("bounds.lb", bounds.lb), _side("bounds.ub", bounds.ub)]
        shape = np.broadcast_shapes(both[0].shape, both[1].shape, (1,))
        if shape == (1,) and points is not None:  # one pair for every coordinate, as in SciPy
            shape = points.shape[-1:]
        both = [np.broadcast_to(side, shape) for side in both]
    else:
        pairs = _pairs(bounds)
        both = [_side("bounds", [pair[i] for pair in pairs], opened) for i, opened in ((0, -np.inf), (1, np.inf))]
    if both[0].ndim != 1 or not both[0].size:
        raise ValueError(f"bounds has shape {both[0].shape}; {_PAIRS}.")
    return both[0].copy(), both[1].copy()


def _pairs(bounds: Any) -> list[Any]:
    try:
        pairs = [tuple(pair) for pair in bounds]
    except TypeError:
        is_tuple = isinstance(bounds, tuple) and len(bounds) == 2
        other = f" For d coordinates with the same ones: [{bounds!r}] * d." if is_tuple else ""
        start = f" A point to start from is x0={bounds!r}." if np.ndim(bounds) == 1 and not is_tuple else other
        raise TypeError(f"bounds is {bounds!r}; {_PAIRS}.{start}") from None
    for i, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"bounds[{i}] has {len(pair)} entries; {_PAIRS}.")
    return pairs


def _side(name: str, given: Any, opened: float = np.nan) -> Floats:
    """Bounds of one side as floats; None is an open side."""
    if isinstance(given, Sequence):
        given = [opened if entry is None else entry for entry in given]
    array = np.asarray(given)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers, None or inf were wanted.")
    return array.astype(np.float64)


def check_order(lower: Floats, upper: Floats) -> None:
    """Refuse bounds in the wrong order, NaN, or so wide that their difference is infinite."""
    wrong = ~(lower <= upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"bounds of coordinate {i} are ({lower[i]}, {upper[i]}); wanted lower <= upper, neither NaN.")
    with np.errstate(over="ignore", invalid="ignore"):
        wide = np.isfinite(lower) & np.isfinite(upper) & np.isinf(upper - lower)
    if wide.any():
        i = int(np.argmax(wide))
        raise ValueError(f"bounds of coordinate {i} are ({lower[i]}, {upper[i]}): too wide for float64. Narrow them.")


def periodic_coordinates(given: Any, lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Which coordinates are periodic (D,)."""
    D = len(lower)
    wrapped = np.zeros(D, dtype=np.bool_)
    if given is None:
        return wrapped
    array = np.asarray(given)
    if array.dtype.kind == "b" and array.shape in ((), (D,)):
        wrapped |= array
    elif array.size == 0:
        return wrapped
    elif array.dtype.kind in "ui" and array.ndim == 1 and (array >= -D).all() and (array < D).all():
        wrapped[array] = True
    else:
        raise ValueError(
            f"periodic is {given!r}; wanted True, {D} booleans, or a list of coordinates from 0 to {D - 1}."
        )
    endless = wrapped & ~(np.isfinite(lower) & np.isfinite(upper))
    if endless.any():
        i = int(np.argmax(endless))
        raise ValueError(
            f"coordinate {i} is periodic with bounds ({lower[i]}, {upper[i]}); its period needs finite ones."
        )
    return wrapped


def inside(name: str, points: Floats, lower: Floats, upper: Floats) -> Floats:
    """Points as (n, D), refused where they have the wrong shape or leave the bounds."""
    D = len(lower)
    if points.ndim > 2 or points.shape[-1] != D or not points.size:
        raise ValueError(
            f"{name} has shape {points.shape}; a point ({D},) or points (n, {D}) were wanted: one per bound."
        )
    points = points.reshape(-1, D)
    outside = (points < lower) | (points > upper)
    if outside.any():
        n, i = (int(k) for k in np.argwhere(outside)[0])
        limits = f"[{lower[i]}, {upper[i]}]"
        raise ValueError(f"{name} has {points[n, i]} in coordinate {i}, outside its bounds {limits}; move it inside.")
    return points


def spreads(
    given: Any, lower: Floats, upper: Floats, points: Floats | None, is_log: NDArray[np.bool_] | None
) -> Floats | None:
    """How far around x0 to look (D,), NaN where bounds say it, in logarithms where those are searched."""
    if given is None:
        return None
    D, is_open = len(lower), np.isinf(lower) | np.isinf(upper)
    if points is None:
        raise ValueError("spread is given without x0; it says how far around x0 to look: give x0, or bounds.")
    wanted = f"wanted one number above 0, or {D}: None where there are bounds"
    entries = [given] * D if np.ndim(given) == 0 else list(given)
    if len(entries) != D:
        raise ValueError(f"spread has {len(entries)} entries for {D} coordinates; {wanted}.")
    if np.ndim(given) == 0:
        entries = [entry if opened else None for entry, opened in zip(entries, is_open, strict=True)]
    reach = _side("spread", entries, np.nan)
    bounded = ~is_open & ~np.isnan(reach)
    if bounded.any() or not is_open.any():
        i = int(np.argmax(~is_open))
        raise ValueError(
            f"spread is given and coordinate {i} has bounds ({lower[i]}, {upper[i]}), which say where to look; leave "
            "one of the two out."
        )
    least = 0.0 if is_log is None else np.where(is_log, 1.0, 0.0)
    wrong = is_open & ~(np.isnan(reach) | ((reach > least) & np.isfinite(reach)))
    if wrong.any():
        i = int(np.argmax(wrong))
        factor = "; on a logarithmic scale it is a factor above 1" if np.any(least) else ""
        raise ValueError(f"spread of coordinate {i} is {reach[i]}; {wanted}{factor}.")
    return reach if is_log is None else np.where(is_log, np.log10(reach), reach)


def start_region(
    lower: Floats, upper: Floats, points: Floats | None, is_log: NDArray[np.bool_] | None = None,
    spread: Floats | None = None,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Finite ends (D,) of the region where starts are drawn; everything in logarithms where those are searched."""
    below, above = np.isinf(lower), np.isinf(upper)
    logs = np.zeros(len(lower), np.bool_) if is_log is None else is_log
    if points is None:
        if (below & above).any():
            i = int(np.argmax(below & above))
            raise ValueError(f"coordinate {i} has no bounds; give at least one, or a point x0 to search around.")
        with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, on sides that are not read
            first = upper - _HALF_OPEN * np.maximum(1.0, np.abs(upper))
            last = lower + np.where(logs, 2.0 * _DECADES, _HALF_OPEN * np.maximum(1.0, np.abs(lower)))
    else:
        with np.errstate(over="ignore"):  # found below
            reach = np.where(logs, _DECADES, _REACH * np.maximum(1.0, np.abs(points)))
            if spread is not None:
                reach = np.where(np.isnan(spread), reach, spread)
            first, last = (points - reach).min(axis=0), (points + reach).max(axis=0)
    start_lower, start_upper = np.where(below, first, lower), np.where(above, last, upper)
    with np.errstate(over="ignore"):
        widths = start_upper - start_lower
    if not np.isfinite(widths).all():
        raise ValueError("x0 or the bounds are too large: the region to start in does not fit float64. Rescale them.")
    return start_lower, start_upper
