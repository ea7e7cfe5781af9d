"""Local searches where the function is not smooth: quasi-Newton lines that learn how steep it is across its kinks.

The update of Broyden, Fletcher, Goldfarb and Shanno, with a line search that wants a rise and a change of slope and no
more, reaches peaks on ridges and cones as well as smooth ones: at every kink the slopes of both sides are seen, and
the steps turn along it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Failed, SearchEvent, Stuck
from allmodes.search.geometry import lengths
from allmodes.search.searchers.local import convergence, finite_differences, lines
from allmodes.search.searchers.local.lines import LineTable
from allmodes.search.searchers.local.table import Array, Ends, Mask, Phase, Rows
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.storage import stored

_NO_ROWS = np.zeros(0, np.intp)


@stored
@dataclass(eq=False)
class QuasiNewton:
    """Searches where the function is not smooth. Every method works on rows of the table."""

    context: Context
    table: LineTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = LineTable(self.context.box.d)

    def open(self, event: Continue, path: int) -> None:
        """Put a search at a point, where nothing is known yet; it may have a goal."""
        table = self.table
        (k,) = table.open(event.point[None], [event.origin], [path])
        table.first_step[k] = event.radius or self.context.tolerances.near
        if event.goal is not None:
            table.goal[k], table.goal_value[k], table.goal_reach[k] = event.goal, event.goal_value, event.goal_reach

    def take(self, points: Array, values: Array, gradients: Array, origins: list[Origin], paths: list[int]) -> Ends:
        """Searches that go on from points (n, d) where value and gradient are known: their first lines."""
        table = self.table
        rows = table.open(points, origins, paths)
        table.value[rows], table.gradient[rows] = values, gradients
        table.first_step[rows] = TUNING.shortest_first_radius
        return self._begin(rows)

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, points each, d)."""
        if phase is Phase.STEP:
            return self.table.trial[rows][:, None]
        point = self.table.point[rows]
        steps = finite_differences.gradient_steps(self.context, point, self.table.value[rows], self.context.scale)
        if phase is Phase.START:
            return finite_differences.first_points(self.context, point, steps)
        return finite_differences.gradient_points(point, steps)

    # ---- answers

    def tell(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> Ends:
        """Answers to `points`."""
        table = self.table
        match phase:
            case Phase.START:
                table.value[rows] = told.value[:, 0]
                table.gradient[rows] = finite_differences.first_gradient(points, told)
                table.drop[rows] = table.goal_value[rows] - table.value[rows]
                is_fine = np.isfinite(table.value[rows] + table.gradient[rows].sum(axis=1))
                return {k: self._stuck(k) for k in rows[~is_fine].tolist()} | self._begin(rows[is_fine])
            case Phase.SLOPE:
                here, value = table.point[rows], table.value[rows]
                table.gradient[rows] = finite_differences.gradient(here, value, points, told.value)
                return self._go_on(rows, _NO_ROWS)
        value = told.value[:, 0]
        is_enough = lines.is_enough(table, rows, value)
        refused, risen = rows[~is_enough], rows[is_enough]
        table.high[refused] = table.length[refused]
        table.point[risen], table.value[risen] = table.trial[risen], value[is_enough]
        if self.context.order == 0:
            table.phase[risen] = Phase.SLOPE.value
            return self._go_on(_NO_ROWS, refused)
        table.gradient[risen] = told.gradient[is_enough, 0]
        return self._go_on(risen, refused)

    # ---- going on

    def _begin(self, rows: Rows) -> Ends:
        """First lines, where nothing is known but the gradient: steps are as long as the first one."""
        context, table = self.context, self.table
        g = table.gradient[rows]
        size = table.first_step[rows] / np.maximum(lengths(g), TINY)
        table.inverse_hessian[rows] = size[:, None, None] * finite_differences.basis(table.d)
        table.first_slope[rows] = convergence.free_slope(context, table.point[rows], g)
        return {k: self._finish(k) for k in lines.begin(context, table, rows).tolist()}

    def _go_on(self, risen: Rows, refused: Rows) -> Ends:
        """Searches that have risen and know the gradient there, and those whose trial point is not high enough."""
        context, table, stuck, made = self.context, self.table, _NO_ROWS, _NO_ROWS
        if len(risen):
            is_fine = np.isfinite(table.gradient[risen]).all(axis=1)
            stuck, risen = risen[~is_fine], risen[is_fine]
            is_turned = lines.is_turned(context, table, risen)
            made, same = risen[is_turned], risen[~is_turned]
            table.low[same] = table.length[same]
            refused = np.concatenate([refused, same])
        done, level = lines.divide(context, table, refused)
        ends: Ends = {k: self._finish(k) for k in level.tolist()}
        ends |= {k: self._stuck(k) for k in stuck.tolist()}
        return ends | self._accept(np.concatenate([made, done]))

    def _accept(self, rows: Rows) -> Ends:
        """Steps that were made: searches have arrived, take too long, pause at a mode, or go on."""
        if not len(rows):
            return {}
        table, ends = self.table, Ends()
        rise = lines.learn(self.context, table, rows)
        is_there = (table.small_steps[rows] >= TUNING.small_steps) | self._is_back(rows, rise)
        is_late = table.steps[rows] > TUNING.patience + TUNING.patience_per_dimension * table.d
        for k, there, late in zip(rows.tolist(), is_there.tolist(), is_late.tolist(), strict=True):
            if there:
                ends[k] = self._finish(k)
            elif late:
                ends[k] = self._stuck(k)
            elif (j := self._close_mode(k)) >= 0:
                ends[k] = self._arrived(k, j)
        going = np.array([k for k in rows.tolist() if k not in ends], dtype=np.intp)
        return ends | {k: self._finish(k) for k in lines.begin(self.context, table, going).tolist()}

    def _is_back(self, rows: Rows, rise: Array) -> Mask:
        """Which searches have come back to their goals, and have regained nearly all."""
        table, reach = self.table, self.table.goal_reach[rows]
        if not reach.any():
            return np.zeros(len(rows), bool)
        apart = np.abs(self.context.box.difference(table.point[rows], table.goal[rows])).max(axis=1)
        left = np.maximum(table.goal_value[rows] - table.value[rows], rise)
        return np.asarray((reach > 0.0) & (apart <= reach) & (left <= TUNING.little * table.drop[rows]))

    def _close_mode(self, k: int) -> int:
        """A mode that a search without a goal has come close to and has not been compared with, or -1."""
        if self.table.is_awaited[k] or not len(self.context.archive):
            return -1
        j, apart = self.context.archive.closest(self.table.point[k])
        return -1 if apart > self.context.tolerances.near or self.table.begun(k).compared == j else j

    # ---- ends

    def _finish(self, k: int) -> SearchEvent | None:
        """A search gets no higher; at a smooth optimum, where its slope has vanished, trust-region steps take over."""
        table, context = self.table, self.context
        least = max(TUNING.negligible * float(table.first_slope[k]), convergence.no_slope(context))
        has_goal = table.goal_reach[k] > 0.0
        if not has_goal and convergence.free_slope(context, table.point[k], table.gradient[k]) <= least:
            return None
        return self._arrived(k) if has_goal or table.steps[k] else self._stuck(k)

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
        )  # fmt: skip
        return Arrived(candidate, rival)
