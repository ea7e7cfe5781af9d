"""Lines of quasi-Newton searches: where they lead, how they are divided, and what is learnt from a step.

The conditions are Wolfe's weak ones, which say that a step is long enough once the slope has changed: at every kink the
slopes of both sides are seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.geometry import clip, is_held, lengths
from allmodes.search.searchers.local.finite_differences import basis
from allmodes.search.searchers.local.table import Column, Rows, Table
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ENOUGH, _TURNED = 1e-4, 0.9  # Wolfe's conditions: rise over the one promised, and slope that may be left
_MOST_DOUBLINGS = 2.0**10  # of the first step of a line, in an open box


class LinePhase(Enum):
    """What a search waits for."""

    START = 0  # value and gradient at the point that it is put at
    LINE = 1  # the value at its trial point, with the gradient if there is one
    SLOPE = 2  # difference points for the gradient at the point that it has moved to


@stored
@dataclass(eq=False)
class LineTable(Table):
    """Searches along lines.

    Attributes:
        inverse_hessian: of the negative function, as far as it was learnt: steps are its product with the gradient.
        way, slope, base: direction of the line, slope and value where it begins.
        length, low, high: of the next step, and those known to be too short and too long, in units of the direction.
        first_step: when it begins; `first_slope`, size of the gradient where it met a kink.
        goal, goal_value, goal_reach, drop: a point to come back to, its value, how near that is, and how much lower
            the search was put.
        lines: so far, `small_steps` of which in a row were small.
        compared: the mode that it was told apart from, or -1.
        is_learnt: whether the inverse Hessian has seen a step; `is_steepest`, whether the line is the steepest one.
        has_goal, was_moved: whether there is a goal, and whether it was moved a little because no line led up.
    """

    inverse_hessian = Column[np.float64]("numbers", 2)
    way = Column[np.float64]("numbers", 1)
    goal = Column[np.float64]("numbers", 1)
    slope = Column[np.float64]("numbers")
    base = Column[np.float64]("numbers")
    length = Column[np.float64]("numbers")
    low = Column[np.float64]("numbers")
    high = Column[np.float64]("numbers")
    first_step = Column[np.float64]("numbers")
    first_slope = Column[np.float64]("numbers")
    goal_value = Column[np.float64]("numbers")
    goal_reach = Column[np.float64]("numbers")
    drop = Column[np.float64]("numbers")
    lines = Column[np.int64]("counts")
    small_steps = Column[np.int64]("counts")
    compared = Column[np.int64]("counts")
    is_learnt = Column[np.bool_]("flags")
    is_steepest = Column[np.bool_]("flags")
    has_goal = Column[np.bool_]("flags")
    was_moved = Column[np.bool_]("flags")


def free_gradient(context: Context, table: LineTable, rows: Rows) -> Array:
    """The gradients (n, d), 0 in coordinates that a bound holds."""
    g = table.gradient[rows]
    return np.where(is_held(context.box, table.point[rows], g), 0.0, g)


def forget(table: LineTable, rows: Rows) -> None:
    """Nothing is known but the gradient: steps are as long as the first one."""
    size = table.first_step[rows] / np.maximum(lengths(table.gradient[rows]), TINY)
    table.inverse_hessian[rows] = size[:, None, None] * basis(table.d)
    table.is_learnt[rows], table.small_steps[rows] = False, 0


def begin(context: Context, table: LineTable, rows: Rows, is_steepest: bool = False) -> Rows:
    """Begin lines from where searches are, in the direction of a quasi-Newton step or the steepest one.

    Returns the rows for which no way leads up.
    """
    if not len(rows):
        return rows
    held = is_held(context.box, table.point[rows], table.gradient[rows])
    g = np.where(held, 0.0, table.gradient[rows])
    p = np.where(held, 0.0, (table.inverse_hessian[rows] @ g[..., None])[..., 0])
    slope = np.einsum("nd,nd->n", g, p)
    is_bad = ~((slope > 0.0) & np.isfinite(slope)) | is_steepest
    if is_bad.any():
        p[is_bad] = g[is_bad] * context.tolerances.near / np.maximum(lengths(g[is_bad]), TINY)[:, None]
        slope[is_bad] = np.einsum("nd,nd->n", g[is_bad], p[is_bad])
    share = np.minimum(1.0, TUNING.first_radius / np.maximum(lengths(p), TINY))
    table.way[rows], table.slope[rows] = share[:, None] * p, share * slope
    table.came_from[rows], table.old_gradient[rows] = table.point[rows], table.gradient[rows]
    table.base[rows], table.low[rows], table.high[rows] = table.value[rows], 0.0, np.inf
    table.length[rows], table.is_steepest[rows] = 1.0, is_bad
    _aim(context, table, rows)
    return rows[~(slope > 0.0) | (table.trial[rows] == table.point[rows]).all(axis=1)]


def _aim(context: Context, table: LineTable, rows: Rows) -> None:
    trial = table.came_from[rows] + table.length[rows][:, None] * table.way[rows]
    table.trial[rows], table.phase[rows] = clip(context.box, trial), LinePhase.LINE.value


def is_enough(table: LineTable, rows: Rows, value: Array) -> Mask:
    """Whether values (n,) at trial points are as high as the slope promises; failures are not."""
    rise = value - table.base[rows]
    return np.asarray((rise >= _ENOUGH * table.length[rows] * table.slope[rows]) & (rise > 0.0))


def is_turned(context: Context, table: LineTable, rows: Rows) -> Mask:
    """Whether the slope along the line has changed where the searches are now."""
    left = np.einsum("nd,nd->n", free_gradient(context, table, rows), table.way[rows])
    return np.asarray((left <= _TURNED * table.slope[rows]) | (table.length[rows] >= _MOST_DOUBLINGS))


def divide(context: Context, table: LineTable, rows: Rows) -> tuple[Rows, Rows]:
    """The next points on lines: between those known to be too near and too far, or beyond.

    Returns the rows whose line is divided as finely as makes sense: those that have risen, and those that have not.
    """
    low, high = table.low[rows], table.high[rows]
    beyond = np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * low)
    table.length[rows] = np.where(low == 0.0, TUNING.shrinkage * high, beyond)
    is_fine = (high - low) * np.abs(table.way[rows]).max(axis=1) < TUNING.negligible * context.xtol
    _aim(context, table, rows[~is_fine])
    return rows[is_fine & (low > 0.0)], rows[is_fine & (low <= 0.0)]


def learn(context: Context, table: LineTable, rows: Rows) -> Array:
    """Learn from steps that were made, and count the small ones in a row; returns the rises (n,)."""
    s, y = table.point[rows] - table.came_from[rows], table.old_gradient[rows] - table.gradient[rows]
    table.inverse_hessian[rows] = updated(table.inverse_hessian[rows], s, y, table.is_learnt[rows])
    table.is_learnt[rows] = True
    table.lines[rows] += 1
    rise = table.value[rows] - table.base[rows]
    is_small = np.abs(s).max(axis=1) < TUNING.arrival * context.xtol
    is_small |= rise < TUNING.little * context.tolerances.tie
    table.small_steps[rows] = np.where(is_small, table.small_steps[rows] + 1, 0)
    return rise


def updated(B: Array, s: Array, y: Array, is_learnt: Mask) -> Array:
    """Inverse Hessians (n, d, d) after steps s that changed gradients by -y; the first step also sets their scale."""
    sy = np.einsum("nd,nd->n", s, y)
    is_fine = sy > 1e-12 * lengths(s) * lengths(y)
    rho = 1.0 / np.where(is_fine, sy, 1.0)
    scale = sy / np.maximum(np.einsum("nd,nd->n", y, y), TINY)
    eye = basis(s.shape[1])
    old = np.where(is_learnt[:, None, None], B, scale[:, None, None] * eye)
    V = eye - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = V @ old @ V.mT + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.where((is_fine & np.isfinite(new).all(axis=(1, 2)))[:, None, None], new, B)
