"""Local searches where the function is not smooth: quasi-Newton lines that learn how steep it is across its kinks.

The update of Broyden, Fletcher, Goldfarb and Shanno, with a line search that wants a rise and a change of slope and no
more, reaches peaks on ridges and cones as well as smooth ones: at every kink the slopes of both sides are seen, and
the steps turn along it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Failed, SearchEvent, Stuck
from allmodes.search.geometry import clip, lengths
from allmodes.search.searchers.local import convergence, finite_differences, lines
from allmodes.search.searchers.local.lines import LinePhase, LineTable
from allmodes.search.searchers.local.table import Outcome, Rows
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.storage import stored

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SHORTER = 0.1  # differences, of those on smooth ground: they are not to reach across a kink that is close
_NO_ROWS = np.zeros(0, np.intp)


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
        is_enough = lines.is_enough(table, rows, value)
        refused, taken = rows[~is_enough], rows[is_enough]
        table.high[refused] = table.length[refused]
        table.point[taken], table.value[taken] = table.trial[taken], value[is_enough]
        if self.context.order:
            table.gradient[taken] = told.gradient[is_enough, 0]
            return self._go_on(taken, refused)
        table.phase[taken] = LinePhase.SLOPE.value
        return self._go_on(_NO_ROWS, refused)

    # ---- going on

    def _begin(self, rows: Rows) -> Rows:
        """First lines, where nothing is known but the gradient; returns the rows for which no way leads up."""
        table = self.table
        lines.forget(table, rows)
        slope = lengths(lines.free_gradient(self.context, table, rows))
        table.first_slope[rows] = np.where(table.first_slope[rows] > 0.0, table.first_slope[rows], slope)
        return lines.begin(self.context, table, rows)

    def _go_on(self, risen: Rows, refused: Rows) -> Outcome:
        """Searches that have risen and know the gradient there, and those whose trial point is not high enough."""
        context, table = self.context, self.table
        is_fine = np.isfinite(table.gradient[risen]).all(axis=1)
        stuck, risen = risen[~is_fine], risen[is_fine]
        is_turned = lines.is_turned(context, table, risen)
        same = risen[~is_turned]
        table.low[same] = table.length[same]
        done, level = lines.divide(context, table, np.concatenate([refused, same]))
        is_last = table.is_steepest[level] | (table.small_steps[level] > 0)  # nor does another way lead up
        still = lines.begin(context, table, level[~is_last], is_steepest=True)
        there, late, paused, going = self._accept(np.concatenate([risen[is_turned], done]))
        level = np.concatenate([level[is_last], still, there, lines.begin(context, table, going)])
        return self._finish(level, np.concatenate([stuck, late]), paused)

    def _accept(self, rows: Rows) -> tuple[Rows, Rows, dict[int, int], Rows]:
        """Steps that were made: searches that have arrived, that take too long, that pause at a mode, that go on."""
        table = self.table
        rise = lines.learn(self.context, table, rows)
        is_there = (table.small_steps[rows] >= TUNING.small_steps) | self._is_back(rows, rise)
        is_late = table.lines[rows] > TUNING.patience + TUNING.patience_per_dimension * table.d
        others = rows[~(is_there | is_late)]
        paused = {k: j for k in others.tolist() if (j := self._close_mode(k)) >= 0}
        going = np.array([k for k in others.tolist() if k not in paused], dtype=np.intp)
        return rows[is_there], rows[is_late & ~is_there], paused, going

    def _is_back(self, rows: Rows, rise: Array) -> Mask:
        """Which searches have come back to their goals, and have regained nearly all."""
        table = self.table
        apart = np.abs(self.context.box.difference(table.point[rows], table.goal[rows])).max(axis=1)
        left = np.maximum(table.goal_value[rows] - table.value[rows], rise)
        is_near = (apart <= table.goal_reach[rows]) & (left <= TUNING.regained * table.drop[rows])
        return np.asarray(table.has_goal[rows] & is_near)

    def _close_mode(self, k: int) -> int:
        """A mode that a search without a goal has come close to and was not compared with, or -1."""
        if self.table.is_awaited[k] or not len(self.context.archive):
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
