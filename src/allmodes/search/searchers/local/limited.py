"""Local searches in many dimensions: models of the last few steps, and verification along a few directions.

What dense models store and measure grows with the square of the dimension, and the time for their eigenvalues with its
cube. Here a search keeps only its last steps, and one gradient for each of a dozen directions distinguishes a maximum
from a saddle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.candidate import SCREENED, SPACE_FILLING, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.curvature import LowRank
from allmodes.search.events import Arrived, Recognised, SearchEvent
from allmodes.search.geometry import clip, lengths
from allmodes.search.searchers.local import finite_differences, lost, models, steps
from allmodes.search.searchers.local.inertia import OVERLOOKED, OVERLOOKED_BY_LOT, is_falling, ritz
from allmodes.search.searchers.local.limited_table import KEPT, MOST_DIRECTIONS, LimitedTable
from allmodes.search.searchers.local.recognition import recognise_by_peak, stopped
from allmodes.search.searchers.local.subspace import Subspace, estimate
from allmodes.search.searchers.local.table import Array, Ends, Mask, Phase, Rows
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored

_SLOW = 1.0  # times the dimension: after more steps than this, dense models cost less, up to `_LARGEST` dimensions
_LARGEST = 200  # dimensions for which dense models are affordable
_CLOSE = 100.0  # xtol: within this distance the curvature is measured, which speeds up the remaining steps
_RISING = 1e-6  # of the largest curvature: the smallest upward one that differences of gradients can show
_BY_LOT = (SPACE_FILLING, SCREENED)  # starts in random places
_SADDLES = 3  # times that a search leaves a saddle before it accepts one as the place where it has arrived


@stored
@dataclass(eq=False)
class Limited:
    """Searches of smooth functions with gradients in many dimensions; `TrustRegion` makes them in few.

    Attributes:
        recognises: whether searches that fall into a known mode are stopped.
    """

    context: Context
    recognises: bool
    table: LimitedTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = LimitedTable(self.context.box.d)

    def open(
        self, points: Array, radii: Array | float, origins: list[Origin], paths: list[int],
        has_met_kink: bool = False, along: Array | None = None,
    ) -> None:  # fmt: skip
        """Begin at points (n, d), as `TrustRegion` does."""
        rows, table = self.table.open(points, origins, paths), self.table
        table.radius[rows], table.has_met_kink[rows] = radii, has_met_kink or along is not None
        table.along[rows] = 0.0 if along is None else along

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, 1, d)."""
        table, box = self.table, self.context.box
        if phase is Phase.START:
            return table.point[rows][:, None]
        if phase is Phase.STEP:
            return table.trial[rows][:, None]
        point, aim = table.point[rows], table.aim[rows]
        out = [np.abs(clip(box, point + side * aim) - point - side * aim).max(axis=1) for side in (1.0, -1.0)]
        side = np.where(out[0] <= out[1], 1.0, -1.0)[:, None]
        return clip(box, point + side * aim)[:, None]

    def tell(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> tuple[Rows, Ends]:
        """Take the answers to `points`; the rows returned are to be advanced."""
        assert told.gradient is not None
        value, slope, place = told.value[:, 0], told.gradient[:, 0], points[:, 0]
        if phase is Phase.START:
            self.table.value[rows], self.table.gradient[rows] = value, slope
            flattest = self.context.scale or 1.0
            base = TUNING.flatter * lengths(slope) / self.table.radius[rows]
            self.table.base[rows] = np.maximum(base, TUNING.negligible * self.context.xtol * flattest)
            return rows, {}
        if phase is Phase.STEP:
            return self._told_step(rows, place, value, slope), {}
        return self._told_curve(rows, place, slope)

    # ---- steps

    def _told_step(self, rows: Rows, trial: Array, value: Array, slope: Array) -> Rows:
        """Accept a trial point if it is better; the model learns from it in either case."""
        table, context = self.table, self.context
        point, g, old, bent = table.point[rows], table.gradient[rows], table.value[rows], table.bent[rows]
        s, rise, predicted = trial - point, value - old, table.predicted[rows]
        length = lengths(s)
        is_flatter = steps.steepness(context, trial, slope) < steps.steepness(context, point, g)
        is_better = steps.is_taken(rise, predicted, 0.5 * context.tolerances.error_of(old), is_flatter)
        wrong = np.maximum(np.abs(rise - predicted), np.abs(np.einsum("nd,nd->n", slope - bent, s)))
        missed = np.where((predicted > 0.0) & np.isfinite(wrong), wrong / np.maximum(predicted, TINY), np.inf)
        longest, reach = steps.longest_step(context, point), steps.reach_of(missed, length)
        table.radius[rows] = steps.resized(table.radius[rows], rise, predicted, length, longest, reach)
        usable = np.isfinite(slope).all(axis=1) & (length > 0.0)
        self.table.learn(rows[usable], s[usable] / length[usable, None], ((slope - g) / length[:, None])[usable])
        table.iterations[rows] += 1
        table.refusals[rows[~is_better]] += 1
        taken = rows[is_better]
        table.point[taken], table.value[taken], table.gradient[taken] = (
            trial[is_better],
            value[is_better],
            slope[is_better],
        )
        table.last_step[taken] = length[is_better]
        table.is_measured[rows[~(np.abs(s).max(axis=1) <= context.tolerances.near)]] = False
        return rows

    def advance(self, rows: Rows) -> Ends:
        """Advance searches whose value and slope are known: they end, arrive, or take another step."""
        table, context = self.table, self.context
        is_fine = np.isfinite(table.value[rows] + table.gradient[rows].sum(axis=1))
        if not is_fine.all():
            ends = self._cannot_go_on(rows[~is_fine])
            return ends | self.advance(rows[is_fine]) if is_fine.any() else ends
        context.paths.add(table.path[rows], table.point[rows], table.value[rows])
        space, free = self.table.space(self.context.box, rows)
        point, model = table.point[rows], space.model
        peaks = clip(context.box, point + np.clip(model.newton(), -TUNING.farthest, TUNING.farthest))
        far = np.abs(peaks - point).max(axis=1)
        table.promised[rows] = model.promise()
        is_there, known = self._is_there(rows, model, far), np.full(len(rows), -1)
        if self.recognises and len(context.archive):
            known = recognise_by_peak(context, point, table.value[rows], peaks, table.promised[rows])
            known = stopped(context, table, rows, known)
        ends, is_new = Ends(), known < 0
        for k, j in zip(rows[~is_new].tolist(), known[~is_new].tolist(), strict=True):
            ends[k] = Recognised(table.origin(k), j)
        trial = clip(context.box, point + np.where(free, models.step(model, table.radius[rows]), 0.0))
        s = trial - point
        bend = space.bend(s)
        table.predicted[rows] = np.einsum("nd,nd->n", model.g + 0.5 * bend, s)
        table.bent[rows] = table.gradient[rows] + bend
        for i in (is_there & is_new).nonzero()[0].tolist():
            event = self._arrive(int(rows[i]), space.of(i), free[i])
            ends |= {} if event is None else {int(rows[i]): event}
        is_going = ~is_there & is_new
        return ends | self._cannot_go_on(self._step(rows[is_going], trial[is_going]))

    def slow(self) -> list[int]:
        """Rows of searches with more steps than there are coordinates: a dense model serves them better."""
        table = self.table
        if table.d > _LARGEST:
            return []
        is_slow = (table.iterations[table.rows] > _SLOW * table.d) & (table.phase[table.rows] == Phase.STEP.value)
        return [k for k, each in zip(table.rows, is_slow.tolist(), strict=True) if each and not table.is_asked[k]]

    def model(self, k: int) -> Array:
        """What a search has learnt about the Hessian, (d, d)."""
        return np.asarray(
            estimate(self.table.space(self.context.box, table_row(k), has_axes=True)[0], float(self.table.base[k]))
        )

    def _is_there(self, rows: Rows, model: models.Model, far: Array) -> Mask:
        """Which searches are at the maximum of their model, or have nothing to gain."""
        context, table = self.context, self.table
        value = table.value[rows]
        nothing = table.promised[rows] <= context.tolerances.error_of(
            np.minimum(np.abs(value), context.scale or np.inf)
        )
        is_settled = table.last_step[rows] <= TUNING.settled * context.tolerances.near
        first = _CLOSE * TUNING.remeasure ** table.measurements[rows]
        tolerance = context.xtol * np.where(table.is_measured[rows], 1.0, np.maximum(first, 1.0))
        near = (model.eigenvalues[:, -1] < 0.0) & (far <= tolerance) & is_settled
        return np.asarray(near | (nothing & (table.is_measured[rows] | (table.measurements[rows] == 0))))

    def _step(self, rows: Rows, trial: Array) -> Rows:
        """Set the next trial points (n, d); return the searches that cannot go on."""
        table = self.table
        table.trial[rows], table.phase[rows] = trial, Phase.STEP.value
        refusals, iterations = table.refusals[rows], table.iterations[rows]
        is_rough = (refusals >= max(TUNING.refusals, table.d)) & (refusals >= TUNING.refused_share * iterations)
        is_lost = (iterations > lost.patience(table.d)) | (is_rough & ~table.has_met_kink[rows])
        is_lost |= (trial == table.point[rows]).all(axis=1)
        is_lost |= table.radius[rows] < TUNING.negligible * self.context.xtol
        return rows[is_lost | ~(np.abs(trial).max(axis=1) < TUNING.farthest)]

    def _cannot_go_on(self, rows: Rows) -> Ends:
        """End searches that got lost, or hand them over if they are at a kink."""
        return lost.ends_of(self.context, self.table, rows, np.zeros(len(rows), np.bool_))

    # ---- arriving

    def _arrive(self, k: int, space: Subspace, free: Mask) -> SearchEvent | None:
        """A search at the maximum of its model ends, or measures along a first direction, drawn at random."""
        table, context = self.table, self.context
        if self.recognises and len(context.archive) and not table.is_awaited[k]:
            j, apart = context.archive.closest(table.point[k])
            if apart < context.tolerances.same:
                return Recognised(table.origin(k), j)
        if table.is_measured[k] or not free.any():
            level = float(table.level[k] if table.is_measured[k] else table.base[k])
            return self._arrived(k, estimate(self.table.space(self.context.box, table_row(k), has_axes=True)[0], level))
        table.directions[k] = 0
        self._aim(k, space, self._free(k, free, context.rng.standard_normal(table.d)))
        return None

    def _free(self, k: int, free: Mask, direction: Array) -> Array:
        """The part of a direction along which the search may move."""
        along = self.table.along[k]
        return np.asarray((direction - (direction @ along) * along) * free)

    def _aim(self, k: int, space: Subspace, direction: Array) -> None:
        """Set the next direction to measure along, given in coordinates in which the model is round."""
        u = space.scaled(direction[None, None], -0.5)[0, 0]
        table = self.table
        steps = finite_differences.curvature_steps(self.context, table.value[k : k + 1], np.ones((1, 1)))
        table.aim[k], table.phase[k] = float(steps[0, 0]) / max(float(lengths(u)), TINY) * u, Phase.CURVE.value

    def _told_curve(self, rows: Rows, points: Array, slope: Array) -> tuple[Rows, Ends]:
        """Slopes beside the points give the curvature along one more direction each; some searches need no more."""
        table, is_over = self.table, np.zeros(len(rows), bool)
        moves = points - table.point[rows]
        size = np.maximum(lengths(moves), TINY)[:, None]
        moves, changes = moves / size, (slope - table.gradient[rows]) / size
        is_lost = ~np.isfinite(changes).all(axis=1) | ~moves.any(axis=1)
        space, free = self.table.space(self.context.box, rows)
        for i in np.flatnonzero(~is_lost).tolist():
            k, n = int(rows[i]), int(table.directions[rows[i]])
            table.tried[k, n], table.bends[k, n] = moves[i], self._free(k, free[i], changes[i])
            table.directions[k] = n + 1
            is_over[i] = self._look(k, space.of(i), int(free[i].sum()))
        return rows[is_over], self._cannot_go_on(rows[is_lost])

    def _look(self, k: int, space: Subspace, n: int) -> bool:
        """Whether the directions suffice or one of them rises; otherwise set one more to be measured."""
        table, count = self.table, int(self.table.directions[k])
        tried, bends = table.tried[k, :count], table.bends[k, :count]
        told = ritz(space.scaled(tried[None], 0.5)[0], space.scaled(bends[None], -0.5)[0])
        n -= bool(table.along[k].any())
        if told.values[-1] > _RISING * float(np.abs(told.values).max()) and table.measurements[k] < _SADDLES:
            self._leave(k, told.shares[-1] @ tried, told.shares[-1] @ bends)
            return True
        chance = OVERLOOKED_BY_LOT if table.begun(k).start in _BY_LOT else OVERLOOKED
        is_last = count >= min(n, MOST_DIRECTIONS) or not told.next.any()
        if not (is_last or is_falling(told.values, n, chance)):
            self._aim(k, space, told.next)
            return False
        most = np.abs(np.log(np.maximum(np.abs(told.values), TINY))).argsort(kind="stable")[-KEPT:]
        table.axes[k], table.curves[k] = 0.0, 0.0
        for kept, pair in ((table.axes, tried), (table.curves, bends)):
            kept[k, : len(most)] = told.shares[most] @ pair
        table.level[k], table.is_measured[k] = told.rest * float(space.sizes()[1][0]), True
        return True

    def _leave(self, k: int, direction: Array, bend: Array) -> None:
        """A search at a saddle learns the rising direction, and goes on along it."""
        table, length = self.table, float(lengths(direction))
        self.table.learn(table_row(k), direction[None] / length, bend[None] / length)
        table.radius[k] = max(table.radius[k], self.context.tolerances.near)
        table.measurements[k] += 1

    def _arrived(self, k: int, hessian: LowRank) -> Arrived:
        table = self.table
        return Arrived(
            Candidate(
                table.point[k].copy(), float(table.value[k]), table.gradient[k].copy(), hessian, "estimated",
                table.origin(k), float(table.radius[k]), float(table.promised[k]),
            )
        )  # fmt: skip


def table_row(k: int) -> Rows:
    """The row of one search, as an array."""
    return np.array([k], dtype=np.intp)
