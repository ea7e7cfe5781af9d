"""Local searches where the function is not smooth: quasi-Newton lines that learn how steep it is across its kinks.

The update of Broyden, Fletcher, Goldfarb and Shanno, with a line search that wants a rise and a change of slope and no
more, reaches peaks on ridges and cones as well as smooth ones: at every kink the slopes of both sides are seen, and
the steps turn along it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Failed, SearchEvent, Stuck
from allmodes.search.geometry import clip, is_held, lengths
from allmodes.search.searchers.local import convergence, finite_differences
from allmodes.search.searchers.local.table import Column, Outcome, Rows, Table
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.storage import stored

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SHORTER = 0.1  # differences, of those on smooth ground: they are not to reach across a kink that is close
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


@stored
@dataclass(eq=False)
class QuasiNewton:
    """Searches that have met something that is not smooth. Every method works on rows of the table."""

    context: Context
    table: LineTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = LineTable(self.context.box.d)

    def open(self, event: Continue, path: int) -> None:
        """Put a search at a point, where nothing is known yet; it may have a goal."""
        table = self.table
        (k,) = table.open(event.point[None], [event.origin], [path])
        table.first_step[k] = event.radius or self.context.tolerances.near
        table.compared[k] = event.origin.compared
        if event.goal is not None:
            table.has_goal[k], table.goal[k] = True, event.goal
            table.goal_value[k], table.goal_reach[k] = event.goal_value, event.goal_reach

    def take(self, points: Array, values: Array, gradients: Array, origins: list[Origin], paths: list[int]) -> Outcome:
        """Searches that go on from points (n, d) where value and gradient are known: their first lines."""
        table = self.table
        rows = table.open(points, origins, paths)
        table.value[rows], table.gradient[rows] = values, gradients
        table.compared[rows] = [origin.compared for origin in origins]
        table.first_step[rows] = TUNING.shortest_first_radius
        return self._finish(self._begin(rows), _NO_ROWS)

    # ---- questions

    def points(self, phase: LinePhase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, points each, d)."""
        point, trial = self.table.point[rows], self.table.trial[rows]
        match phase:
            case LinePhase.SLOPE:
                return self._moved(point)
            case LinePhase.START if self.context.order == 0:
                return np.concatenate([trial[:, None], self._moved(trial)], axis=1)
        return trial[:, None]

    def _moved(self, point: Array) -> Array:
        step = _SHORTER * finite_differences.gradient_step(self.context)
        return finite_differences.gradient_points(
            point, finite_differences.inward(point, step, self.context.box.upper_unit)
        )

    # ---- answers

    def tell(self, phase: LinePhase, rows: Rows, points: Array, told: Evaluation) -> Outcome:
        """Answers to `points`."""
        match phase:
            case LinePhase.START:
                return self._told_start(rows, points, told)
            case LinePhase.LINE:
                return self._told_line(rows, told)
            case LinePhase.SLOPE:
                table = self.table
                table.gradient[rows] = finite_differences.gradient(
                    table.point[rows], table.value[rows], points, told.value
                )
                return self._go_on(rows, _NO_ROWS)

    def _told_start(self, rows: Rows, points: Array, told: Evaluation) -> Outcome:
        table, values = self.table, told.value
        if self.context.order:
            g = told.gradient[:, 0]
        else:
            g = finite_differences.gradient(points[:, 0], values[:, 0], points[:, 1:], values[:, 1:])
        is_fine = np.isfinite(values[:, 0]) & np.isfinite(g).all(axis=1)
        fine, failed = rows[is_fine], rows[~is_fine]
        table.point[fine], table.value[fine], table.gradient[fine] = points[is_fine, 0], values[is_fine, 0], g[is_fine]
        table.drop[fine] = table.goal_value[fine] - table.value[fine]
        return self._finish(self._begin(fine), failed)

    def _told_line(self, rows: Rows, told: Evaluation) -> Outcome:
        table, value = self.table, told.value[:, 0]
        rise = value - table.base[rows]
        is_enough = (rise >= _ENOUGH * table.length[rows] * table.slope[rows]) & (rise > 0.0)
        refused, taken = rows[~is_enough], rows[is_enough]
        table.high[refused] = table.length[refused]
        table.point[taken], table.value[taken] = table.trial[taken], value[is_enough]
        if self.context.order:
            table.gradient[taken] = told.gradient[is_enough, 0]
            return self._go_on(taken, refused)
        table.phase[taken] = LinePhase.SLOPE.value
        return self._go_on(_NO_ROWS, refused)

    # ---- lines: each method returns the rows that get no higher, or leaves them to the next

    def _begin(self, rows: Rows) -> Rows:
        """First lines, where nothing is known but the gradient."""
        table = self.table
        size = table.first_step[rows] / np.maximum(lengths(table.gradient[rows]), TINY)
        table.inverse_hessian[rows] = size[:, None, None] * finite_differences.basis(table.d)
        table.is_learnt[rows], table.small_steps[rows] = False, 0
        slope = lengths(self._free_gradient(rows))
        table.first_slope[rows] = np.where(table.first_slope[rows] > 0.0, table.first_slope[rows], slope)
        return self._line(rows)

    def _free_gradient(self, rows: Rows) -> Array:
        g = self.table.gradient[rows]
        return np.where(is_held(self.context.box, self.table.point[rows], g), 0.0, g)

    def _line(self, rows: Rows, is_steepest: bool = False) -> Rows:
        """Begin a line from where searches are, in the direction of a quasi-Newton step or the steepest one."""
        if not len(rows):
            return rows
        table = self.table
        g = self._free_gradient(rows)
        held = is_held(self.context.box, table.point[rows], table.gradient[rows])
        p = np.where(held, 0.0, (table.inverse_hessian[rows] @ g[..., None])[..., 0])
        slope = np.einsum("nd,nd->n", g, p)
        is_bad = ~((slope > 0.0) & np.isfinite(slope)) | is_steepest
        if is_bad.any():
            p[is_bad] = g[is_bad] * self.context.tolerances.near / np.maximum(lengths(g[is_bad]), TINY)[:, None]
            slope[is_bad] = np.einsum("nd,nd->n", g[is_bad], p[is_bad])
        share = np.minimum(1.0, TUNING.first_radius / np.maximum(lengths(p), TINY))
        table.way[rows], table.slope[rows] = share[:, None] * p, share * slope
        table.came_from[rows], table.old_gradient[rows] = table.point[rows], table.gradient[rows]
        table.base[rows], table.low[rows], table.high[rows] = table.value[rows], 0.0, np.inf
        table.length[rows], table.is_steepest[rows] = 1.0, is_bad
        self._aim(rows)
        is_level = ~(slope > 0.0) | (table.trial[rows] == table.point[rows]).all(axis=1)
        return rows[is_level]

    def _aim(self, rows: Rows) -> None:
        table = self.table
        trial = table.came_from[rows] + table.length[rows][:, None] * table.way[rows]
        table.trial[rows], table.phase[rows] = clip(self.context.box, trial), LinePhase.LINE.value

    def _go_on(self, risen: Rows, refused: Rows) -> Outcome:
        """Searches that have risen and know the gradient there, and those whose trial point is not high enough."""
        table = self.table
        is_fine = np.isfinite(table.gradient[risen]).all(axis=1)
        stuck, risen = risen[~is_fine], risen[is_fine]
        left = np.einsum("nd,nd->n", self._free_gradient(risen), table.way[risen])
        is_same = (left > _TURNED * table.slope[risen]) & (table.length[risen] < _MOST_DOUBLINGS)
        accepted, same = risen[~is_same], risen[is_same]
        table.low[same] = table.length[same]
        done, level = self._divide(np.concatenate([refused, same]))
        is_last = table.is_steepest[level] | (table.small_steps[level] > 0)  # nor does another way lead up
        level = np.concatenate([level[is_last], self._line(level[~is_last], is_steepest=True)])
        small, back, late, paused, going = self._accept(np.concatenate([accepted, done]))
        level = np.concatenate([level, small, back, self._line(going)])
        return self._finish(level, np.concatenate([stuck, late]), paused)

    def _divide(self, rows: Rows) -> tuple[Rows, Rows]:
        """The next points on lines: between those known to be too near and too far, or beyond.

        Returns the rows whose line is divided as finely as makes sense: those that have risen, and those that have not.
        """
        table = self.table
        low, high = table.low[rows], table.high[rows]
        table.length[rows] = np.where(
            low == 0.0, TUNING.shrinkage * high, np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * low)
        )
        is_fine = (high - low) * np.abs(table.way[rows]).max(axis=1) < TUNING.negligible * self.context.xtol
        self._aim(rows[~is_fine])
        return rows[is_fine & (low > 0.0)], rows[is_fine & (low <= 0.0)]

    def _accept(self, rows: Rows) -> tuple[Rows, Rows, Rows, dict[int, int], Rows]:
        """Learn from steps that were made.

        Returns the rows that make small steps only, that have come back to their goal, that take too long, those that
        pause with the modes they are close to, and those that go on.
        """
        table, context = self.table, self.context
        s = table.point[rows] - table.came_from[rows]
        y = table.old_gradient[rows] - table.gradient[rows]
        table.inverse_hessian[rows] = updated(table.inverse_hessian[rows], s, y, table.is_learnt[rows])
        table.is_learnt[rows] = True
        table.lines[rows] += 1
        rise = table.value[rows] - table.base[rows]
        is_small = np.abs(s).max(axis=1) < TUNING.arrival * context.xtol
        is_small |= rise < TUNING.little * context.tolerances.tie
        table.small_steps[rows] = np.where(is_small, table.small_steps[rows] + 1, 0)
        is_there = table.small_steps[rows] >= TUNING.small_steps
        is_back = ~is_there & self._is_back(rows, rise)
        is_late = ~is_there & ~is_back
        is_late &= table.lines[rows] > TUNING.patience + TUNING.patience_per_dimension * table.d
        others = rows[~(is_there | is_back | is_late)]
        paused = {k: j for k in others.tolist() if (j := self._close_mode(k)) >= 0}
        going = np.array([k for k in others.tolist() if k not in paused], dtype=np.intp)
        return rows[is_there], rows[is_back], rows[is_late], paused, going

    def _is_back(self, rows: Rows, rise: Array) -> Mask:
        """Which searches have come back to their goals, and have regained nearly all."""
        table = self.table
        apart = np.abs(self.context.box.difference(table.point[rows], table.goal[rows])).max(axis=1)
        left = np.maximum(table.goal_value[rows] - table.value[rows], rise)
        is_near = (apart <= table.goal_reach[rows]) & (left <= TUNING.regained * table.drop[rows])
        return np.asarray(table.has_goal[rows] & is_near)

    def _close_mode(self, k: int) -> int:
        """A mode that a search without a goal has come close to and was not compared with, or -1."""
        if self.table.has_goal[k] or not len(self.context.archive):
            return -1
        j, apart = self.context.archive.closest(self.table.point[k])
        return -1 if apart > self.context.tolerances.near or self.table.compared[k] == j else j

    # ---- ends

    def _finish(self, level: Rows, stuck: Rows, paused: dict[int, int] | None = None) -> Outcome:
        """Searches that get no higher, that cannot go on, and that pause close to a mode."""
        table = self.table
        ended: list[tuple[int, SearchEvent]] = []
        handed: list[int] = []
        for k in level.tolist():
            if not table.has_goal[k] and self._is_smooth(k):
                handed.append(k)
            elif table.has_goal[k] or table.is_learnt[k]:
                ended.append((k, self._arrived(k)))
            elif table.was_moved[k]:
                ended.append((k, self._stuck(k)))
            else:
                self._move(k)
        ended += [(k, self._stuck(k)) for k in stuck.tolist()]
        ended += [(k, self._arrived(k, j)) for k, j in (paused or {}).items()]
        return Outcome(ended, handed)

    def _is_smooth(self, k: int) -> bool:
        """Whether the slope has vanished, as it does at a smooth optimum."""
        table, context = self.table, self.context
        least = max(TUNING.smooth_slope * float(table.first_slope[k]), convergence.no_slope(context))
        return convergence.free_slope(context, table.point[k], table.gradient[k]) <= least

    def _move(self, k: int) -> None:
        """Not a step was made, because differences reach across the kink that it is on: begin a little aside."""
        table, context = self.table, self.context
        aside = context.tolerances.near * context.rng.standard_normal(table.d)
        table.trial[k], table.phase[k] = clip(context.box, table.point[k] + aside), LinePhase.START.value
        table.first_step[k], table.was_moved[k] = context.tolerances.near, True

    def _stuck(self, k: int) -> SearchEvent:
        table = self.table
        if not np.isfinite(table.value[k]):
            return Failed(table.origin(k))
        return Stuck(table.origin(k), table.point[k].copy(), float(table.value[k]))

    def _arrived(self, k: int, rival: int = -1) -> Arrived:
        table, inverse = self.table, self.table.inverse_hessian[k].copy()
        variances, axes = np.linalg.eigh(inverse)
        curvatures = 1.0 / np.maximum(variances, max(EPSILON * float(variances.max()), TINY))
        candidate = Candidate(
            table.point[k].copy(), float(table.value[k]), table.gradient[k].copy(), -(axes * curvatures) @ axes.T,
            "differences", table.origin(k), self.context.tolerances.near, is_kinked=True, factor=inverse,
            slope=float(table.first_slope[k]),
        )  # fmt: skip
        return Arrived(candidate, rival)


_NO_ROWS = np.zeros(0, np.intp)


def updated(B: Array, s: Array, y: Array, is_learnt: Mask) -> Array:
    """Inverse Hessians (n, d, d) after steps s that changed gradients by -y; the first step also sets their scale."""
    sy = np.einsum("nd,nd->n", s, y)
    is_fine = sy > 1e-12 * lengths(s) * lengths(y)
    rho = 1.0 / np.where(is_fine, sy, 1.0)
    scale = sy / np.maximum(np.einsum("nd,nd->n", y, y), TINY)
    eye = finite_differences.basis(s.shape[1])
    old = np.where(is_learnt[:, None, None], B, scale[:, None, None] * eye)
    V = eye - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = V @ old @ V.mT + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.where((is_fine & np.isfinite(new).all(axis=(1, 2)))[:, None, None], new, B)
