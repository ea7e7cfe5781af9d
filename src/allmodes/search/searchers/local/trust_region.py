"""Local searches by trust-region steps on models that are measured, updated or guessed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Failed, RanAway, Recognised, SearchEvent, Stuck
from allmodes.search.geometry import clip, is_held
from allmodes.search.searchers.local import convergence, learning, models
from allmodes.search.searchers.local.learning import Phase, TrustRegionTable
from allmodes.search.searchers.local.recognition import recognise
from allmodes.search.searchers.local.table import Outcome, Rows
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_SMALLEST_RADIUS = 1e-11  # of the box: shorter steps lose half their digits to the rounding of positions


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

    def open(self, points: Array, radii: Array | float, origins: list[Origin], paths: list[int]) -> Rows:
        """Begin at points (n, d)."""
        rows = self.table.open(points, origins, paths)
        self.table.radius[rows] = radii
        return rows

    def open_across(self, point: Array, radius: float, along: Array, origin: Origin, path: int) -> None:
        """Begin at a point (d,), in the plane across a direction (d,)."""
        rows = self.open(point[None], radius, [origin], [path])
        self.table.along[rows], self.table.is_confined[rows] = along, True
        self.table.has_met_kink[rows] = True  # over a kink it would move freely

    def open_after_kink(self, points: Array, origins: list[Origin], paths: list[int]) -> None:
        """Searches that have been over a kink go on from points (n, d); they are not handed over again."""
        rows = self.open(points, self.context.tolerances.near, origins, paths)
        self.table.has_met_kink[rows] = True

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, points each, d)."""
        return learning.points_of(self.context, self.table, phase, rows)

    def tell(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> tuple[Rows, Outcome]:
        """Answers to `points`; the rows returned know value, gradient and model, and are to be advanced."""
        context, table, nothing = self.context, self.table, Outcome([], [])
        match phase:
            case Phase.START:
                return learning.told_start(context, table, rows, points, told), nothing
            case Phase.STEP:
                return learning.told_step(context, table, rows, told), nothing
            case Phase.SLOPE:
                return learning.told_slope(context, table, rows, points, told), nothing
            case Phase.CURVE:
                return learning.told_curve(context, table, rows, points, told), nothing
        ends = zip(rows.tolist(), map(self._told_final, rows.tolist(), told.value[:, 0].tolist()), strict=True)
        return np.zeros(0, np.intp), Outcome([(k, event) for k, event in ends if event is not None], [])

    def _told_final(self, k: int, value: float) -> SearchEvent | None:
        """The last step, from values alone: arrived, unless it ended short or the model is wrong."""
        table, where = self.table, self.table.trial[k].copy()
        g, H, s, old = table.gradient[k], table.hessian[k], where - table.point[k], float(table.value[k])
        slack = self.context.tolerances.rounding(float(np.abs(H).max(initial=0.0)))
        if not value >= old - slack:  # the model is wrong: a kink
            return Stuck(table.origin(k), table.point[k].copy(), old)
        predicted = float(g @ s + 0.5 * s @ H @ s)
        if table.iterations[k] <= self._patience and convergence.is_short(self.context, value - old, predicted, slack):
            table.came_from[k], table.old_gradient[k] = table.point[k], g
            table.point[k], table.value[k], table.phase[k] = where, value, Phase.SLOPE.value
            table.iterations[k] += 1
            return None
        if value >= old:
            slope = g + H @ s
            table.gradient[k] = np.where(is_held(self.context.box, where, slope), slope, 0.0)
            table.point[k], table.value[k] = where, value
        return self._arrived(k)

    # ---- going on

    @property
    def _patience(self) -> int:
        return TUNING.patience + TUNING.patience_per_dimension * self.table.d

    def advance(self, rows: Rows) -> Outcome:
        """Searches that know value, gradient and model where they are: they end, arrive, or make another step."""
        table, context = self.table, self.context
        is_fine = np.isfinite(table.model[rows]).all(axis=1)
        unable: list[int] = []
        if not is_fine.all():
            unable, rows = rows[~is_fine].tolist(), rows[is_fine]
            if not len(rows):
                return self._cannot_go_on(unable, [])
        point, value, g, H = table.point[rows], table.value[rows], table.gradient[rows], table.hessian[rows]
        context.paths.add(table.path[rows], point, value)
        is_confined = table.is_confined[rows]
        if is_confined.any():
            along = table.along[rows[is_confined]]
            g[is_confined], H[is_confined] = models.across(g[is_confined], H[is_confined], along)
        model = models.model(point, g, H, *context.box.edges)
        peaks = clip(context.box, point + model.newton())
        s = peaks - point
        far, gains = np.abs(s).max(axis=1), models.gain(g, H, s)
        measured, is_concave = table.is_measured[rows], model.eigenvalues[:, -1] < 0.0
        is_sure = is_concave & measured
        is_there = convergence.is_stationary(context, model, value, far, gains, measured, table.measurements[rows])
        going = ~is_there
        ended: list[tuple[int, SearchEvent]] = []
        if self.recognises and len(context.archive):
            known = recognise(context, point, value, g, peaks, gains, is_sure)
            is_known = (known >= 0) & ~table.is_awaited[rows]
            if is_known.any():
                pairs = zip(rows[is_known].tolist(), known[is_known].tolist(), strict=True)
                ended = [(k, Recognised(table.origin(k), j)) for k, j in pairs]
                is_there &= ~is_known
                going &= ~is_known
        stretch, shrinkage = convergence.stretch(far, table.distance[rows], table.shrinkage[rows], is_sure)
        table.distance[rows], table.shrinkage[rows] = far, shrinkage
        for i in is_there.nonzero()[0]:
            event = self._arrive(int(rows[i]), peaks[i], float(far[i]))
            ended += [] if event is None else [(int(rows[i]), event)]
        if not going.all():
            rows, point, s, stretch = rows[going], point[going], s[going], None if stretch is None else stretch[going]
            model = model.of(going)
        return self._cannot_go_on(unable + self._step(rows, point, model, s, stretch), ended)

    def _step(self, rows: Rows, point: Array, model: models.Model, s: Array, stretch: Array | None) -> list[int]:
        """Where searches are evaluated next; returns those that cannot go on.

        Args:
            rows, point: the searches and where they are.
            model, s, stretch: their models, the steps to the maxima, how much to lengthen these.
        """
        if not len(rows):
            return []
        table, radius, iterations = self.table, self.table.radius[rows], self.table.iterations[rows]
        step = models.step(model, radius)
        if stretch is not None:
            step = np.where((stretch > 1.0)[:, None], stretch[:, None] * s, step)
        trial = clip(self.context.box, point + step)
        table.trial[rows], table.phase[rows] = trial, Phase.STEP.value
        is_lost = (radius < _SMALLEST_RADIUS) | (trial == point).all(axis=1)
        is_lost |= iterations > self._patience
        refusals = table.refusals[rows]
        is_rough = (refusals >= TUNING.refusals) & (refusals >= TUNING.refused_share * iterations)
        is_lost |= is_rough & ~table.has_met_kink[rows]
        if not np.abs(trial).max() < TUNING.farthest:
            is_lost |= ~(np.abs(trial).max(axis=1) < TUNING.farthest)
        return rows[is_lost].tolist()

    def _cannot_go_on(self, lost: list[int], ended: list[tuple[int, SearchEvent]]) -> Outcome:
        """Searches that got lost go on over a kink, or are over."""
        table = self.table
        handed = [k for k in lost if self._is_at_kink(k)]
        for k in lost if not handed else [k for k in lost if k not in handed]:
            origin = table.origin(k)
            if not np.abs(table.trial[k]).max() < TUNING.farthest:
                ended.append((k, RanAway(origin)))
            elif table.iterations[k] or table.has_met_kink[k]:
                ended.append((k, Stuck(origin, table.point[k].copy(), float(table.value[k]))))
            else:
                ended.append((k, Failed(origin)))
        return Outcome(ended, handed)

    def _is_at_kink(self, k: int) -> bool:
        """Whether a search that got lost has something to go on with: a slope, where models do not hold."""
        table = self.table
        if table.has_met_kink[k] or not table.iterations[k] or not np.isfinite(table.value[k]):
            return False
        is_rough = table.refusals[k] >= TUNING.refused_share * table.iterations[k]
        slope = convergence.free_slope(self.context, table.point[k], table.gradient[k])
        has_slope = bool(convergence.no_slope(self.context) < slope < np.inf)
        return has_slope and bool(is_rough or not np.isfinite(table.hessian[k]).all())

    # ---- arriving

    def _arrive(self, k: int, peak: Array, far: float) -> SearchEvent | None:
        """A search at the maximum of its model: measure the curvature, make the last step, or say so."""
        table, context = self.table, self.context
        xtol, box = context.xtol, context.box
        if not table.is_measured[k]:
            held = is_held(box, table.point[k], table.gradient[k])
            if held.all() and len(context.archive):
                j, apart = context.archive.closest(table.point[k])
                if apart < context.tolerances.same:  # a corner that is known
                    return Recognised(table.origin(k), j)
            table.phase[k] = Phase.CURVE.value
            return None
        if context.order and self._is_released(k, peak):
            table.trial[k], table.phase[k] = peak, Phase.STEP.value
            return None
        if context.order == 0 and TUNING.negligible * xtol < far <= convergence.last_step(context):
            table.trial[k], table.phase[k] = peak, Phase.FINAL.value
            return None
        return self._arrived(k)

    def _is_released(self, k: int, peak: Array) -> bool:
        """Whether a bound that holds a search where it is does not at the peak of its model: in a steep valley."""
        table, box = self.table, self.context.box
        slope = table.gradient[k] + table.hessian[k] @ (peak - table.point[k])
        held = is_held(box, table.point[k], table.gradient[k])
        return bool((held & ~is_held(box, peak, slope)).any() and np.isfinite(peak).all())

    def _arrived(self, k: int) -> Arrived:
        table, xtol = self.table, self.context.xtol
        is_sharp = table.distance[k] <= TUNING.arrival * xtol and table.shrinkage[k] < TUNING.quadratic
        return Arrived(
            Candidate(
                table.point[k].copy(), float(table.value[k]), table.gradient[k].copy(), table.hessian[k].copy(),
                "derivatives" if self.context.order == 2 else "differences",
                table.origin(k), float(table.radius[k]), bool(is_sharp),
            )
        )  # fmt: skip
