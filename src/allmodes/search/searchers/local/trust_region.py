"""Local searches by trust-region steps on models that are measured, updated or guessed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, RanAway, Recognised, SearchEvent, Stuck
from allmodes.search.geometry import clip, is_held, lengths
from allmodes.search.searchers.local import convergence, learning, lost, models, residuals
from allmodes.search.searchers.local.limited_table import LimitedTable
from allmodes.search.searchers.local.recognition import recognise, recognise_by_peak, stopped
from allmodes.search.searchers.local.table import Array, Ends, Phase, Rows, TrustRegionTable
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.storage import stored

_LEARN = {
    Phase.START: learning.told_start,
    Phase.LEAP: learning.told_leap,
    Phase.STEP: learning.told_step,
    Phase.SLOPE: learning.told_slope,
    Phase.CURVE: learning.told_curve,
}


@stored
@dataclass(eq=False)
class TrustRegion:
    """Searches on smooth ground. Every method works on rows of the table.

    Attributes:
        recognises: whether searches that fall into a known mode are stopped.
    """

    context: Context
    recognises: bool
    table: TrustRegionTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = TrustRegionTable(self.context.box.d)

    def open(
        self, points: Array, radii: Array | float, origins: list[Origin], paths: list[int],
        has_met_kink: bool = False, along: Array | None = None, leaps: NDArray[np.bool_] | bool = False,
    ) -> Rows:  # fmt: skip
        """Begin at points (n, d); where they have met a kink before they are not handed over to lines again.

        Searches that begin across a direction (d,) do not move along it, as they would on lines. Some look far away.
        """
        rows, table = self.table.open(points, origins, paths), self.table
        table.radius[rows], table.has_met_kink[rows] = radii, has_met_kink or along is not None
        table.is_leaping[rows] = leaps
        table.along[rows] = 0.0 if along is None else along
        return rows

    def resume(self, event: Continue, path: int) -> None:
        """A search goes on, or begins, at a point; it may be of use only so high and so far."""
        table = self.table
        k = self.open(event.point[None], event.radius, [event.origin], [path], along=event.along)
        table.ceiling[k] = event.ceiling
        if event.between is not None:
            table.middle[k], table.apart[k] = (
                event.between.mean(axis=0),
                0.5 * lengths(event.between[1] - event.between[0]),
            )

    def take(self, k: int, others: LimitedTable, hessian: Array) -> Ends:
        """A search that goes on by a whole model, from where value and slope are known."""
        table, origin = self.table, others.origin(k)
        rows = table.open(others.point[k : k + 1], [origin], [int(others.path[k])])
        for name in ("value", "gradient", "radius", "along", "iterations", "refusals", "has_met_kink", "last_step"):
            getattr(table, name)[rows] = getattr(others, name)[k]
        table.hessian[rows] = hessian
        return self.advance(rows)

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, points each, d)."""
        return learning.points_of(self.context, self.table, phase, rows)

    def tell(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> tuple[Rows, Ends]:
        """Answers to `points`; the rows returned know value, gradient and model, and are to be advanced."""
        if phase is not Phase.FINAL:
            return _LEARN[phase](self.context, self.table, rows, points, told), {}
        ends = {k: self._told_final(k, float(value)) for k, value in zip(rows.tolist(), told.value[:, 0], strict=True)}
        return rows[:0], {k: event for k, event in ends.items() if event is not None}

    def _told_final(self, k: int, value: float) -> SearchEvent | None:
        """The last step, from values alone: arrived, unless it ended short or the model is wrong."""
        table, where = self.table, self.table.trial[k].copy()
        g, H, s, old = table.gradient[k], table.hessian[k], where - table.point[k], float(table.value[k])
        slack = self.context.tolerances.rounding(float(np.abs(H).max(initial=0.0)))
        predicted = float(g @ s + 0.5 * s @ H @ s)
        if not value >= old - max(slack, predicted):  # the model is wrong: a kink, for bends lose no more than it gains
            return Stuck(table.origin(k), table.point[k].copy(), old)
        is_short = convergence.is_short(self.context, value - old, predicted, slack)
        if is_short and table.iterations[k] <= lost.patience(table.d):
            table.came_from[k], table.old_gradient[k] = table.point[k], g
            table.point[k], table.value[k], table.phase[k] = where, value, Phase.SLOPE.value
            table.iterations[k] += 1
            return None
        table.promised[k] = abs(value - old - predicted)  # a model that is right leaves nothing
        if value >= old:
            slope = g + H @ s
            table.gradient[k] = np.where(is_held(self.context.box, where, slope), slope, 0.0)
            table.point[k], table.value[k] = where, value
        return self._arrived(k)

    # ---- going on

    def advance(self, rows: Rows) -> Ends:
        """Searches that know value, gradient and model where they are: they end, arrive, or make another step."""
        table, context = self.table, self.context
        point, value, g, H = table.point[rows], table.value[rows], table.gradient[rows], table.hessian[rows]
        is_fine = np.isfinite(value + g.sum(axis=1) + H.sum(axis=(1, 2)))  # a sum is if all its terms are
        if not is_fine.all():
            ends = self._cannot_go_on(rows[~is_fine])
            return ends | self.advance(rows[is_fine]) if is_fine.any() else ends
        is_astray = self._is_astray(rows)
        if is_astray.any():
            ends = {k: RanAway(table.origin(k)) for k in rows[is_astray].tolist()}
            return ends | self.advance(rows[~is_astray]) if not is_astray.all() else ends
        context.paths.add(table.path[rows], point, value)
        is_confined = table.along[rows].any(axis=1)
        if is_confined.any():
            along = table.along[rows[is_confined]]
            g[is_confined], H[is_confined] = models.across(g[is_confined], H[is_confined], along)
        model = models.model(context.box, point, g, H)
        if context.is_derived:
            model = model.beyond(residuals.slope_errors(value, model.eigenvalues))
        peaks = clip(context.box, point + model.newton())
        s, measured = peaks - point, table.is_measured[rows]
        far, gains, is_sure = np.abs(s).max(axis=1), models.gain(g, H, s), measured & (model.eigenvalues[:, -1] < 0.0)
        has_peak = is_sure
        if (
            context.has_model
        ):  # a known mode need not be told apart from a saddle: a model that agrees with it is enough
            has_peak = is_sure | ((table.missed[rows] <= TUNING.agreement) & (model.eigenvalues[:, -1] < 0.0))
        stretch, q = convergence.stretch(
            far, table.distance[rows], table.shrinkage[rows], is_sure, residuals.slowest(context)
        )
        table.distance[rows], table.shrinkage[rows], table.promised[rows] = far, q, model.promise()
        is_slow = (stretch > 0.0) & (stretch * lengths(s) <= table.radius[rows])
        step = np.where(is_slow[:, None], stretch[:, None] * s, models.step(model, table.radius[rows]))
        is_there = convergence.is_stationary(
            context, model, value, far, table.promised[rows], measured, table.measurements[rows], table.last_step[rows]
        )
        is_going, ends = ~is_there, Ends()
        if self.recognises and len(context.archive):
            if context.archive.is_light:
                known = recognise_by_peak(context, point, value, peaks, gains)
            else:
                known = recognise(context, point, value, g, peaks, gains, has_peak)
            known = stopped(context, table, rows, known)
            is_new = known < 0
            is_there &= is_new
            is_going &= is_new
            pairs = zip(rows[~is_new].tolist(), known[~is_new].tolist(), strict=True)
            ends = {k: Recognised(table.origin(k), j) for k, j in pairs}
        for i in is_there.nonzero()[0].tolist():
            event = self._arrive(int(rows[i]), peaks[i], float(far[i]))
            ends |= {} if event is None else {int(rows[i]): event}
        going = rows[is_going]
        return ends | self._cannot_go_on(self._step(going, clip(context.box, (point + step)[is_going])))

    def _is_astray(self, rows: Rows) -> NDArray[np.bool_]:
        """Which searches (n,) have come higher than they are of use, or farther: they never come lower again."""
        table = self.table
        apart = table.apart[rows]
        is_out = table.value[rows] > table.ceiling[rows]
        if np.isfinite(apart).any():
            moved, way = (
                table.point[rows] - table.middle[rows],
                np.minimum(apart, TUNING.farthest)[:, None] * table.along[rows],
            )
            is_out |= np.maximum(lengths(moved - way), lengths(moved + way)) > 2.0 * apart
        return np.asarray(is_out)

    def _step(self, rows: Rows, trial: Array) -> Rows:
        """Searches are evaluated at trial points (n, d) next; returns those that cannot go on."""
        table, iterations, refusals = self.table, self.table.iterations[rows], self.table.refusals[rows]
        table.trial[rows], table.phase[rows] = trial, Phase.STEP.value
        is_rough = (refusals >= max(TUNING.refusals, table.d)) & (refusals >= TUNING.refused_share * iterations)
        is_rough &= not self.context.has_model  # which learns nothing from refused points: it is the radius that does
        is_lost = (iterations > lost.patience(table.d)) | (is_rough & ~table.has_met_kink[rows])
        is_lost |= (trial == table.point[rows]).all(axis=1)
        is_lost |= table.radius[rows] < TUNING.negligible * self.context.xtol
        return rows[is_lost | ~(np.abs(trial).max(axis=1) < TUNING.farthest)]

    def _cannot_go_on(self, rows: Rows) -> Ends:
        """Searches that got lost go on over a kink, or are over."""
        is_broken = np.asarray(~np.isfinite(self.table.hessian[rows]).all(axis=(1, 2)))
        return lost.ends_of(self.context, self.table, rows, is_broken)

    # ---- arriving

    def _arrive(self, k: int, peak: Array, far: float) -> SearchEvent | None:
        """A search at the maximum of its model: measure the curvature, make the last step, or say so."""
        table, context = self.table, self.context
        held = is_held(context.box, table.point[k], table.gradient[k])
        if not table.is_measured[k]:
            if held.all() and len(context.archive) and self.recognises and not table.is_awaited[k]:
                j, apart = context.archive.closest(table.point[k])
                if apart < context.tolerances.same:  # a corner that is known
                    return Recognised(table.origin(k), j)
            table.phase[k] = Phase.CURVE.value
            return None
        if context.order == 0 and TUNING.negligible * context.xtol < far <= convergence.last_step(context):
            table.trial[k], table.phase[k] = peak, Phase.FINAL.value
            return None
        s = peak - table.point[k]
        slope = table.gradient[k] + table.hessian[k] @ s
        is_released = (held & ~is_held(context.box, peak, slope)).any() and np.isfinite(peak).all()
        is_trusted = s @ s <= table.radius[k] ** 2 and table.iterations[k] <= lost.patience(
            table.d
        )  # was not refused before
        if context.order and is_released and is_trusted:
            # in a steep valley a bound that holds the search where it is may release it at the peak
            table.trial[k], table.phase[k] = peak, Phase.STEP.value
            return None
        return self._arrived(k)

    def _arrived(self, k: int) -> Arrived:
        table = self.table
        return Arrived(
            Candidate(
                table.point[k].copy(), float(table.value[k]), table.gradient[k].copy(), table.hessian[k].copy(),
                "derivatives" if self.context.order == 2 or self._is_exact(k) else "differences",
                table.origin(k), float(table.radius[k]), float(table.promised[k]),
            )
        )  # fmt: skip

    def _is_exact(self, k: int) -> bool:
        """Whether the model is the Hessian though nobody measured it, because residuals vanish."""
        return self.context.has_model and not self.table.measurements[k] and not self.table.second[k].any()
