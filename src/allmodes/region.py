"""Where ends lie: the box in whose units they are compared, and which of them can be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.ends import Ends
from allmodes.objective.bounds import Box
from allmodes.objective.bounds_given import check_order, sides
from allmodes.objective.bounds_scipy import as_pairs

Array = NDArray[np.float64]

_ON = 1e-9  # of the width: ends that rounding has put outside a bound are on it
_LEAST = 1e-2  # of the size of a coordinate, and of the widest one: where all ends agree, scatter gives no width


class Region(NamedTuple):
    """A box around ends, as a search takes it.

    Args:
        box: the units.
        bounds: as given, or None.
        centre: (D,), a point inside, and `spread`, how far around it to look where sides are open; None without any.
        is_usable: (n,), which ends have finite coordinates inside the bounds.
        is_outside: (n,), which are outside.
    """

    box: Box
    bounds: Any
    centre: list[float] | None
    spread: list[float | None] | None
    is_usable: NDArray[np.bool_]
    is_outside: NDArray[np.bool_]


def region_of(ends: Ends, bounds: Any, periodic: Any) -> Region:
    """The box of the bounds; where they are open, of the ends and their starts."""
    points = ends.points
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(points).all(axis=1))
    if ends.values is not None:
        finite &= np.isfinite(ends.values)
    if not finite.any():
        raise ValueError(
            f"none of the {len(points)} ends has finite coordinates and a finite value; there is nothing to audit."
        )
    bounds = ends.bounds if bounds is None else as_pairs(bounds, points.shape[1])
    lower, upper = sides(bounds, points)
    if len(lower) != points.shape[1]:
        raise ValueError(f"bounds has {len(lower)} pairs and ends have {points.shape[1]} coordinates; wanted as many.")
    check_order(lower, upper)
    with np.errstate(over="ignore", invalid="ignore"):
        room = _ON * np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    is_outside = finite & ((points < lower - room) | (points > upper + room)).any(axis=1)
    usable = finite & ~is_outside
    if not usable.any():
        end, i = (int(k) for k in np.argwhere(((points < lower) | (points > upper)) & finite[:, None])[0])
        raise ValueError(
            f"all {int(finite.sum())} ends are outside the bounds: end {end} has {points[end, i]:g} in coordinate {i}, "
            f"whose bounds are [{lower[i]:g}, {upper[i]:g}]. Are they the bounds of these runs?"
        )
    is_open = np.isinf(lower) | np.isinf(upper)
    centre, spread = None, None
    if is_open.any():
        middle, half = _extent(points[usable], ends.starts, lower, upper)
        centre = middle.tolist()
        spread = [float(h) if opened else None for h, opened in zip(half, is_open, strict=True)]
    box = Box.make(bounds, centre, periodic, spread=spread)
    if not box.d:
        raise ValueError("all coordinates are fixed by their bounds; there is nothing to audit.")
    return Region(box, bounds, centre, spread, usable, is_outside)


def _extent(points: Array, starts: Array | None, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The middle of ends and starts (D,), inside the bounds, and half their width."""
    begun = np.zeros((0, points.shape[1])) if starts is None else starts[np.isfinite(starts).all(axis=1)]
    every = np.concatenate([points, begun])
    first, last = every.min(axis=0), every.max(axis=0)
    width = last - first
    size = np.median(np.abs(points), axis=0)
    width = np.maximum(width, _LEAST * np.maximum(size, width.max()))
    width = np.where(width > 0.0, width, 1.0)
    return np.clip(0.5 * (first + last), lower, upper), 0.5 * width
