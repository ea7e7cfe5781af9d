"""Local searches by trust-region steps on models that are measured, updated or guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Failed, RanAway, Recognised, SearchEvent, Stuck
from allmodes.search.geometry import clip, is_held, lengths
from allmodes.search.searchers.local import convergence, finite_differences, models
from allmodes.search.searchers.local.recognition import recognise
from allmodes.search.searchers.local.table import Column, Outcome, Rows, Table
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.storage import stored

Array = NDArray[np.float64]


class Phase(Enum):
    """What a search waits for."""

    START = 0  # everything at its start
    STEP = 1  # the value at its trial point, with derivatives if there are any
    SLOPE = 2  # difference points for the gradient at the point it has moved to
    CURVE = 3  # difference points for the curvature where it has arrived
    FINAL = 4  # the value at the last Newton step


@stored
@dataclass(eq=False)
class TrustRegionTable(Table):
    """Searches by trust-region steps.

    Attributes:
        hessian: of the model at the point; a guess unless `is_measured` nearby.
        radius: of the trust region.
        distance: to the maximum of the last model; `shrinkage`, by how much it had shrunk then.
        iterations: trial points so far, `refusals` of which were no better.
        measurements: how often the curvature was measured.
        has_met_kink: whether it was handed over at a kink before.
    """

    hessian = Column[np.float64]("numbers", 2)  # first: see `model`
    radius = Column[np.float64]("numbers")
    distance = Column[np.float64]("numbers")
    shrinkage = Column[np.float64]("numbers")
    iterations = Column[np.int64]("counts")
    refusals = Column[np.int64]("counts")
    measurements = Column[np.int64]("counts")
    is_measured = Column[np.bool_]("flags")
    has_met_kink = Column[np.bool_]("flags")

    @property
    def model(self) -> Array:
        """Value, gradient and Hessian, which are side by side, in one row (n, 1 + d + d^2)."""
        return self.numbers[:, 4 * self.d : 1 + 5 * self.d + self.d**2]


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
        self,
        points: Array,
        radii: Array | float,
        origins: Sequence[Origin],
        paths: Sequence[int],
        is_kinked: bool = False,
    ) -> None:
        """Begin at points (n, d); `is_kinked` says that these searches have been over a kink."""
        rows = self.table.open(points, origins, paths)
        self.table.radius[rows], self.table.has_met_kink[rows] = radii, is_kinked

    # ---- what they want to know

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where searches in this phase want to be evaluated, (n, points each, d)."""
        box, order, point = self.context.box, self.context.order, self.table.point[rows]
        match phase:
            case Phase.STEP | Phase.FINAL:
                return self.table.trial[rows][:, None]
            case Phase.START if order > 0:
                return point[:, None]
            case Phase.START:
                moved = finite_differences.gradient_points(point, self._slope_steps(point))
                return np.concatenate([point[:, None], moved], axis=1)
            case Phase.SLOPE:
                return finite_differences.gradient_points(point, self._slope_steps(point))
            case Phase.CURVE if order == 0:
                steps = self._curvature_steps(rows)
                return finite_differences.hessian_points(point, steps, box.lower_unit, box.upper_unit)
        steps = finite_differences.inward(point, self._curvature_steps(rows), box.upper_unit)
        return finite_differences.gradient_points(point, steps)

    def _slope_steps(self, point: Array) -> Array:
        """Signed steps (n, d) for gradients from values."""
        step = finite_differences.gradient_step(self.context)
        return finite_differences.inward(point, step, self.context.box.upper_unit)

    def _curvature_steps(self, rows: Rows) -> Array:
        """Long enough to rise above rounding, short enough for the curvature not to change."""
        largest = np.abs(self.table.value[rows]).max(initial=0.0)
        rise = max(1e-7 * self.context.scale, 1e4 * EPSILON * largest, TINY)
        curvature = np.abs(np.einsum("nii->ni", self.table.hessian[rows])).max(axis=1, keepdims=True)
        steps = np.sqrt(2.0 * rise / np.maximum(curvature, TINY))
        return np.broadcast_to(np.clip(steps, 1e-6, TUNING.curvature_step), (len(rows), self.table.d))

    # ---- what they are told

    def tell(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> tuple[Rows, Outcome]:
        """Answers to `points`; the rows returned know value, gradient and model, and are to be advanced."""
        nothing = Outcome([], [])
        match phase:
            case Phase.START:
                return self._told_start(rows, points, told), nothing
            case Phase.STEP:
                return self._told_step(rows, told), nothing
            case Phase.SLOPE:
                return self._told_slope(rows, points, told), nothing
            case Phase.CURVE:
                return self._told_curve(rows, points, told), nothing
            case Phase.FINAL:
                ends = (
                    (k, self._told_final(k, float(value)))
                    for k, value in zip(rows.tolist(), told.value[:, 0], strict=True)
                )
                return np.zeros(0, np.intp), Outcome([(k, event) for k, event in ends if event is not None], [])

    def _told_start(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        table, order, values = self.table, self.context.order, told.value
        table.value[rows] = values[:, 0]
        if order == 0:
            slope = finite_differences.gradient(points[:, 0], values[:, 0], points[:, 1:], values[:, 1:])
        else:
            slope = told.gradient[:, 0]
        table.gradient[rows] = slope
        if order == 2:
            table.hessian[rows] = told.hessian[:, 0]
            table.is_measured[rows] = True
        else:  # as curved as makes the first step as long as the radius
            size = lengths(slope) / table.radius[rows]
            table.hessian[rows] = -size[:, None, None] * finite_differences.basis(table.d)
        return rows

    def _told_step(self, rows: Rows, told: Evaluation) -> Rows:
        """A trial point: taken if it is better. Returns the rows that know their gradient."""
        table, order, value = self.table, self.context.order, told.value[:, 0]
        point, trial, old = table.point[rows], table.trial[rows], table.value[rows]
        g, H, s, rise = table.gradient[rows], table.hessian[rows], trial - point, value - old  # -inf where it failed
        predicted, length = models.gain(g, H, s), lengths(s)
        table.radius[rows] = self._resized(table.radius[rows], rise, predicted, length)
        slope = None if order == 0 else told.gradient[:, 0]
        is_better = _is_better(rise, predicted, 2.0 * EPSILON * np.abs(old), g, slope)
        taken, refused = rows[is_better], rows[~is_better]
        if order == 1 and slope is not None:
            is_usable = np.isfinite(slope).all(axis=1)
            change = (slope - g)[is_usable]
            table.hessian[rows[is_usable]] = models.rank_one(H[is_usable], s[is_usable], change)
        elif order == 0 and len(refused):
            wrong = np.where(np.isfinite(rise), rise - predicted, 0.0)[~is_better]
            table.hessian[refused] = models.match_value(H[~is_better], s[~is_better], wrong)
        table.is_measured[rows[(length > self.context.tolerances.near) | ~is_better]] = order == 2
        table.iterations[rows] += 1
        table.refusals[rows] += ~is_better
        if len(taken):
            if slope is None:
                table.came_from[taken], table.old_gradient[taken] = point[is_better], g[is_better]
                table.phase[taken] = Phase.SLOPE.value
            else:
                table.gradient[taken] = slope[is_better]
            table.point[taken], table.value[taken] = trial[is_better], value[is_better]
            if order == 2:
                table.hessian[taken] = told.hessian[is_better, 0]
        return refused if slope is None else rows

    def _resized(self, radius: Array, rise: Array, predicted: Array, length: Array) -> Array:
        """The next trust regions, by how well the models predicted the rise."""
        ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
        largest = TUNING.largest_radius * math.sqrt(self.table.d) if self.context.box.is_bounded else np.inf
        is_grown = (ratio > 0.75) & (length > 0.8 * radius)
        grown = np.where(is_grown, np.minimum(TUNING.growth * radius, largest), radius)
        return np.where(ratio < 0.25, TUNING.shrinkage * length, grown)

    def _told_slope(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        table = self.table
        point, H, measured = table.point[rows], table.hessian[rows], table.is_measured[rows]
        slope = finite_differences.gradient(point, table.value[rows], points, told.value)
        has_measured = measured.any()
        if has_measured:
            bias = 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
            slope -= np.where(measured[:, None], bias, 0.0)
        s, change = point - table.came_from[rows], slope - table.old_gradient[rows]
        guess = np.isfinite(change).all(axis=1)
        if has_measured:  # a measured model that misses the change of the gradient is out of date
            miss, size = (np.abs(a).max(axis=1) for a in (change - (H @ s[..., None])[..., 0], change))
            is_stale = measured & (miss > TUNING.stale * size)
            table.is_measured[rows[is_stale]] = False
            guess &= ~measured | is_stale
        table.hessian[rows[guess]] = models.rank_one(H[guess], s[guess], change[guess])
        table.gradient[rows] = slope
        return rows

    def _told_curve(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        table = self.table
        point, value, g = table.point[rows], table.value[rows], table.gradient[rows]
        if self.context.order == 0:
            H = finite_differences.hessian(point, value, points, told.value)
            rounding = self.context.tolerances.rounding()
            H[finite_differences.is_rough(point, value, g, points, told.value, rounding)] = np.nan
            # The gradient is known from much shorter steps; the curvature tells how far it is off.
            bias = 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
            table.gradient[rows] -= np.where(np.isfinite(bias), bias, 0.0)
        else:
            H = finite_differences.hessian_of_gradients(point, g, points, told.gradient)
        table.hessian[rows] = H
        table.is_measured[rows] = True
        table.measurements[rows] += 1
        return rows

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
            is_known = known >= 0
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
        is_lost = (radius < TUNING.negligible * self.context.xtol) | (trial == point).all(axis=1)
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


def _is_better(rise: Array, predicted: Array, rounding: Array, g: Array, slope: Array | None) -> NDArray[np.bool_]:
    """Which trial points are taken, by rise and prediction (n,); equally high ones where the slope is smaller."""
    is_better = (rise > 1e-4 * predicted) & (rise > 0.0)
    is_level = np.abs(rise) <= rounding
    if is_level.any():
        is_flatter = predicted <= rounding if slope is None else np.abs(slope).max(axis=1) < np.abs(g).max(axis=1)
        is_better |= is_level & is_flatter
    return np.asarray(is_better)
