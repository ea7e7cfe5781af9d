"""Line searches of quasi-Newton steps: where they lead, how they are divided, and what is learnt from a step.

The conditions are Wolfe's weak ones, which say that a step is long enough once the slope has changed: at every kink the
slopes of both sides are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allmodes.search.context import Context
from allmodes.search.geometry import clip, is_held, lengths
from allmodes.search.searchers.local.finite_differences import basis
from allmodes.search.searchers.local.table import Array, Counts, Mask, Phase, Rows, Table, column
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored


@stored
@dataclass(eq=False)
class LineTable(Table):
    """Searches along lines.

    Attributes:
        inverse_hessian: of the negative function, as far as learnt: a step is its product with the gradient.
        way, slope, base: direction of the line, slope and value where it begins.
        length, low, high: of the next step, and those known to be too short and too long, in units of the direction.
        first_step: when it begins; `first_slope`, size of the gradient where it met a kink.
        goal, goal_value, goal_reach, drop: a point to come back to, its value, how near that is (0 where there is no
            goal), and how much lower the search was put.
        steps: made so far, `small_steps` of which in a row were small.
    """

    inverse_hessian: Array = column(2)
    way: Array = column(1)
    slope: Array = column()
    base: Array = column()
    length: Array = column()
    low: Array = column()
    high: Array = column()
    first_step: Array = column()
    first_slope: Array = column()
    goal: Array = column(1)
    goal_value: Array = column()
    goal_reach: Array = column()
    drop: Array = column()
    steps: Counts = column(dtype=np.int64)
    small_steps: Counts = column(dtype=np.int64)


def begin(context: Context, table: LineTable, rows: Rows) -> Rows:
    """Begin lines where searches are, and return the rows without a direction that leads up.

    In the direction of a quasi-Newton step; in the steepest one if that does not lead up.
    """
    if not len(rows):
        return rows
    point, gradient = table.point[rows], table.gradient[rows]
    held = is_held(context.box, point, gradient)
    g = np.where(held, 0.0, gradient)
    p = np.where(held, 0.0, (table.inverse_hessian[rows] @ g[..., None])[..., 0])
    slope = np.einsum("nd,nd->n", g, p)
    is_bad = ~((slope > 0.0) & np.isfinite(slope))
    if is_bad.any():
        p[is_bad] = g[is_bad] * context.tolerances.near / np.maximum(lengths(g[is_bad]), TINY)[:, None]
        slope[is_bad] = np.einsum("nd,nd->n", g[is_bad], p[is_bad])
    share = np.minimum(1.0, TUNING.longest_line / np.maximum(lengths(p), TINY))
    table.way[rows], table.slope[rows] = share[:, None] * p, share * slope
    table.came_from[rows], table.old_gradient[rows], table.base[rows] = point, gradient, table.value[rows]
    table.low[rows], table.high[rows], table.length[rows] = 0.0, np.inf, 1.0
    _aim(context, table, rows)
    return rows[~(slope > 0.0) | (table.trial[rows] == point).all(axis=1)]


def _aim(context: Context, table: LineTable, rows: Rows) -> None:
    trial = table.came_from[rows] + table.length[rows][:, None] * table.way[rows]
    table.trial[rows], table.phase[rows] = clip(context.box, trial), Phase.STEP.value


def is_enough(table: LineTable, rows: Rows, value: Array) -> Mask:
    """Whether values (n,) at trial points are as high as the slope promises; failures are not."""
    rise = value - table.base[rows]
    return np.asarray((rise >= 1e-4 * table.length[rows] * table.slope[rows]) & (rise > 0.0))


def is_turned(context: Context, table: LineTable, rows: Rows) -> Mask:
    """Whether the slope along the line has changed by where the searches are now, or they are too far away."""
    point, g = table.point[rows], table.gradient[rows]
    left = np.einsum("nd,nd->n", np.where(is_held(context.box, point, g), 0.0, g), table.way[rows])
    return np.asarray((left <= 0.9 * table.slope[rows]) | (np.abs(point).max(axis=1) > TUNING.farthest))


def divide(context: Context, table: LineTable, rows: Rows) -> tuple[Rows, Rows]:
    """The next points on lines: between those known to be too near and too far, or beyond.

    Returns the rows whose line is divided as finely as makes sense: those that have risen, and those that have not.
    """
    if not len(rows):
        return rows, rows
    low, high = table.low[rows], table.high[rows]
    beyond = np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * low)
    table.length[rows] = np.where(low == 0.0, TUNING.shrinkage * high, beyond)
    is_fine = (high - low) * np.abs(table.way[rows]).max(axis=1) < TUNING.negligible * context.xtol
    _aim(context, table, rows[~is_fine])
    return rows[is_fine & (low > 0.0)], rows[is_fine & (low <= 0.0)]


def learn(context: Context, table: LineTable, rows: Rows) -> Array:
    """Learn from steps that were made, and count the small ones in a row; returns the rises (n,)."""
    s, y = table.point[rows] - table.came_from[rows], table.old_gradient[rows] - table.gradient[rows]
    table.inverse_hessian[rows] = updated(table.inverse_hessian[rows], s, y, table.steps[rows] > 0)
    table.steps[rows] += 1
    rise = table.value[rows] - table.base[rows]
    is_small = np.abs(s).max(axis=1) < TUNING.arrival * context.xtol
    is_small |= rise < TUNING.little * context.tolerances.tie
    table.small_steps[rows] = np.where(is_small, table.small_steps[rows] + 1, 0)
    return rise


def updated(B: Array, s: Array, y: Array, is_learnt: Mask) -> Array:
    """Inverse Hessians (n, d, d) after steps s that changed gradients by -y; the first step also sets their scale."""
    sy = np.einsum("nd,nd->n", s, y)
    is_fine = sy > 1e-12 * lengths(s) * lengths(y)
    rho = (1.0 / np.where(is_fine, sy, 1.0))[:, None, None]
    scale = sy / np.maximum(np.einsum("nd,nd->n", y, y), TINY)
    eye = basis(s.shape[1])
    old = np.where(is_learnt[:, None, None], B, scale[:, None, None] * eye)
    V = eye - rho * s[:, :, None] * y[:, None, :]
    new = V @ old @ V.mT + rho * s[:, :, None] * s[:, None, :]
    return np.where((is_fine & np.isfinite(new).all(axis=(1, 2)))[:, None, None], new, B)
