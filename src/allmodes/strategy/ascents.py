"""Many local ascents at once: trust-region steps on models that are measured, updated or guessed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy import differences, recognition, trust_region
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.search import Search

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

_LARGEST_RADIUS = 0.5  # of a trust region in a bounded domain, for each root of a dimension
_SMALLEST_RADIUS = 1e-11
_ARRIVED = 1e-3  # a guessed model whose step is shorter than this is worth measuring
_AGAIN = 0.2  # the same after every measurement that was followed by a long way, as a share of what it was before
LAST_STEP = 3e-5  # a measured model whose step is shorter than this needs no further gradient
_FARTHEST = 1e6  # boxes away from the start: the function has no top in that direction
_STALE = 0.3  # error of a predicted change of gradient, as a share, above which a measured model is out of date
_SLOW = (0.55, 0.9)  # shrinkage of Newton steps that says linear convergence: 2/3 for a quartic top
_STEADY = 0.05
_EPSILON = 2.2e-16
_LEVEL_SLOPE = 1e-8  # of the scale of the function over the box: a slope that counts as none
PATIENCE = 60  # iterations, plus ten per dimension
_REFUSALS = 6  # trial points that are no better, and which share of all they are: the function is hardly smooth there
REFUSED = 0.4


def slope_length(search: Search) -> float:
    """Of the steps for gradients from values: longer where values are rounded coarsely."""
    coarse = math.sqrt(_EPSILON * abs(search.level) / search.scale) if search.scale > 0.0 else 0.0
    return float(min(max(differences.GRADIENT_STEP, coarse), differences.CURVATURE_STEP))


class Progress(NamedTuple):
    """What became of launches that went on: known modes they fall into, arrivals with their tops, and the lost.

    `unable` are those that could not go on because something is not finite or not smooth.
    """

    recognised: list[tuple[int, int]]
    arrived: list[tuple[int, Array, float]]
    lost: list[int]
    unable: list[int]


@stored
@dataclass
class Ascents:
    """Launches under way. Every method works on rows of the batch."""

    search: Search
    batch: Batch
    is_early: bool = True  # whether launches that fall into a known mode are stopped

    # ---- what they want to know

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where launches in this phase want to be evaluated, (n, points each, d)."""
        batch, box, order = self.batch, self.search.box, self.search.order
        if phase in (Phase.STEP, Phase.FINAL):
            return batch.trial[rows][:, None]
        point = batch.point[rows]
        if phase == Phase.START and order > 0:
            return point[:, None]
        if phase == Phase.CURVE:
            steps = self._curvature_steps(rows)
            if order == 0:
                return differences.curvature_points(point, steps, box.lower_unit, box.upper_unit)
            return differences.gradient_points(point, differences.inward(point, steps, box.lower_unit, box.upper_unit))
        moved = differences.gradient_points(point, self._slope_steps(point))
        return np.concatenate([point[:, None], moved], axis=1) if phase == Phase.START else moved

    def _slope_steps(self, point: Array) -> Array:
        """Signed steps (n, d) for gradients from values."""
        box = self.search.box
        return differences.inward(point, slope_length(self.search), box.lower_unit, box.upper_unit)

    def _curvature_steps(self, rows: Rows) -> Array:
        """Long enough to rise above rounding, short enough for the curvature not to change."""
        largest = np.abs(self.batch.value[rows]).max(initial=0.0)
        rise = max(1e-7 * self.search.scale, 1e4 * _EPSILON * largest, 1e-300)
        curvature = np.abs(np.einsum("nii->ni", self.batch.hessian[rows])).max(axis=1, keepdims=True)
        steps = np.sqrt(2.0 * rise / np.maximum(curvature, 1e-300))
        return np.broadcast_to(np.clip(steps, 1e-6, differences.CURVATURE_STEP), (len(rows), self.search.box.d))

    # ---- what they are told; the rows returned know value, gradient and model where they are now

    def told(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> Rows:
        """Rows that can go on, if what they know now is finite."""
        tell = (self._told_start, self._told_step, self._told_slope, self._told_curve)[phase]
        return tell(rows, points, told)

    def _told_start(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch = self.batch
        batch.value[rows] = told.value[:, 0]
        if self.search.order == 0:
            slope = differences.gradient(points[:, 0], told.value[:, 0], points[:, 1:], told.value[:, 1:])
        else:
            slope = told.gradient[:, 0]
        batch.gradient[rows] = slope
        if self.search.order == 2:
            batch.hessian[rows] = told.hessian[:, 0]
            batch.is_measured[rows] = True
        else:  # as curved as makes the first step as long as the radius
            size = np.sqrt(np.einsum("nd,nd->n", slope, slope)) / batch.radius[rows]
            batch.hessian[rows] = -size[:, None, None] * differences.basis(self.search.box.d)
        return rows

    def _told_step(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch, order = self.batch, self.search.order
        point, trial = batch.point[rows], batch.trial[rows]
        value, s = told.value[:, 0], trial - point
        old, g, H = batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        predicted = trust_region.gain(g, H, s)
        rise = value - old  # -inf where the function failed
        length = np.sqrt(np.einsum("nd,nd->n", s, s))
        batch.radius[rows] = self._resized(batch.radius[rows], rise, predicted, length)
        rounding = 4e-16 * np.abs(old)
        is_better = (rise > 1e-4 * predicted) & (rise > 0.0)
        is_level = np.abs(rise) <= rounding
        slope = None if order == 0 else told.gradient[:, 0]
        if is_level.any():
            is_better |= is_level & (
                predicted <= rounding if slope is None else np.abs(slope).max(axis=1) < np.abs(g).max(axis=1)
            )
        taken, refused = rows[is_better], rows[~is_better]
        if order == 1 and slope is not None:
            is_usable = np.isfinite(slope).all(axis=1)
            change = (slope - g)[is_usable]
            batch.hessian[rows[is_usable]] = trust_region.rank_one(H[is_usable], s[is_usable], change)
        elif order == 0 and len(refused):
            wrong = np.where(np.isfinite(rise), rise - predicted, 0.0)[~is_better]
            batch.hessian[refused] = trust_region.match_value(H[~is_better], s[~is_better], wrong)
        batch.is_measured[rows[(length > _ARRIVED) | ~is_better]] = order == 2
        batch.iterations[rows] += 1
        batch.refusals[rows] += ~is_better
        if len(taken):
            if slope is None:
                batch.came_from[taken], batch.old_gradient[taken] = point[is_better], g[is_better]
                batch.phase[taken] = Phase.SLOPE
            else:
                batch.gradient[taken] = slope[is_better]
            batch.point[taken], batch.value[taken] = trial[is_better], value[is_better]
            if order == 2:
                batch.hessian[taken] = told.hessian[is_better, 0]
        return refused if slope is None else rows

    def _resized(self, radius: Array, rise: Array, predicted: Array, length: Array) -> Array:
        """The next trust regions, by how well the models predicted the rise."""
        ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
        largest = _LARGEST_RADIUS * math.sqrt(self.search.box.d) if self.search.box.is_bounded else np.inf
        grown = np.where((ratio > 0.75) & (length > 0.8 * radius), np.minimum(2.5 * radius, largest), radius)
        return np.where(ratio < 0.25, 0.3 * length, grown)

    def _told_slope(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch = self.batch
        point, H, measured = batch.point[rows], batch.hessian[rows], batch.is_measured[rows]
        slope = differences.gradient(point, batch.value[rows], points, told.value)
        has_measured = measured.any()
        if has_measured:
            bias = 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
            slope -= np.where(measured[:, None], bias, 0.0)
        s, change = point - batch.came_from[rows], slope - batch.old_gradient[rows]
        guess = np.isfinite(change).all(axis=1)
        if has_measured:  # a measured model that misses the change of the gradient is out of date
            miss, size = (np.abs(a).max(axis=1) for a in (change - (H @ s[..., None])[..., 0], change))
            is_stale = measured & (miss > _STALE * size)
            batch.is_measured[rows[is_stale]] = False
            guess &= ~measured | is_stale
        batch.hessian[rows[guess]] = trust_region.rank_one(H[guess], s[guess], change[guess])
        batch.gradient[rows] = slope
        return rows

    def _told_curve(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch = self.batch
        point, value, g = batch.point[rows], batch.value[rows], batch.gradient[rows]
        if self.search.order == 0:
            H = differences.curvature(point, value, points, told.value)
            H[differences.is_rough(point, value, g, points, told.value, self.search.rounding)] = np.nan
            # The gradient is known from much shorter steps; the curvature tells how far it is off.
            bias = 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
            batch.gradient[rows] -= np.where(np.isfinite(bias), bias, 0.0)
        else:
            H = differences.hessian_of_gradients(point, g, points, told.gradient)
        batch.hessian[rows] = H
        batch.is_measured[rows] = True
        batch.measurements[rows] += 1
        return rows

    # ---- going on

    def advance(self, rows: Rows) -> Progress:
        """Launches that know value, gradient and model where they are: recognised, arrived, lost, or a step further."""
        batch, search = self.batch, self.search
        lower, upper = search.box.lower_unit, search.box.upper_unit
        is_fine = np.isfinite(batch.model[rows]).all(axis=1)
        unable: list[int] = []
        if not is_fine.all():
            unable, rows = rows[~is_fine].tolist(), rows[is_fine]
            if not len(rows):
                return Progress([], [], [], unable)
        point, value, g, H = batch.point[rows], batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        measured, is_bridge = batch.is_measured[rows], batch.is_bridge[rows]
        search.paths.add(batch.number[rows], point, value)
        if is_bridge.any():
            g[is_bridge], H[is_bridge] = trust_region.across(g[is_bridge], H[is_bridge], batch.along[rows[is_bridge]])
        model = trust_region.model(point, g, H, *search.box.edges)
        tops = np.minimum(np.maximum(point + model.newton(), lower), upper)
        s = tops - point
        far = np.abs(s).max(axis=1)
        is_concave = model.eigenvalues[:, -1] < 0.0
        is_sure = is_concave & measured
        gains = trust_region.gain(g, H, s)
        is_there = self._is_there(rows, model, value, far, is_concave, gains)
        recognised: list[tuple[int, int]] = []
        going = ~is_there
        if len(search.archive) and self.is_early:
            known = recognition.recognise(search, point, value, g, tops, gains, is_sure)
            is_known = (known >= 0) & ~is_bridge
            if is_known.any():
                recognised = list(zip(rows[is_known].tolist(), known[is_known].tolist(), strict=True))
                is_there &= ~is_known
                going &= ~is_known
        arrived = [(int(rows[i]), tops[i], float(far[i])) for i in is_there.nonzero()[0]]
        stretch = self._stretch(rows, far, is_sure)
        if not going.all():
            rows, point, s, stretch = rows[going], point[going], s[going], None if stretch is None else stretch[going]
            model = model.of(going)
        return Progress(recognised, arrived, self._step(rows, point, model, s, stretch), unable)

    def _step(self, rows: Rows, point: Array, model: trust_region.Model, s: Array, stretch: Array | None) -> list[int]:
        """Launches that go on: where they are evaluated next; returns those that cannot.

        Args:
            rows, point: the launches and where they are.
            model, s, stretch: their models, the steps to the tops, how much to lengthen these.
        """
        if not len(rows):
            return []
        batch, box, radius = self.batch, self.search.box, self.batch.radius[rows]
        step = trust_region.step(model, radius)
        if stretch is not None:
            step = np.where((stretch > 1.0)[:, None], stretch[:, None] * s, step)
        trial = np.minimum(np.maximum(point + step, box.lower_unit), box.upper_unit)
        batch.trial[rows] = trial
        batch.phase[rows] = Phase.STEP
        is_lost = (radius < _SMALLEST_RADIUS) | (trial == point).all(axis=1)
        is_lost |= batch.iterations[rows] > PATIENCE + 10 * box.d
        refusals = batch.refusals[rows]
        is_rough = (refusals >= _REFUSALS) & (refusals >= REFUSED * batch.iterations[rows])
        is_lost |= is_rough & ~batch.is_kinked[rows] & ~batch.is_bridge[rows]
        if not np.abs(trial).max() < _FARTHEST:
            is_lost |= self.has_run_away(rows)
        return rows[is_lost].tolist()

    def has_run_away(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether a launch is so far off that the function seems to have no top in its direction."""
        return ~(np.abs(self.batch.trial[rows]).max(axis=1) < _FARTHEST)

    def _is_there(
        self, rows: Rows, model: trust_region.Model, value: Array, far: Array, is_concave: Mask, gains: Array
    ) -> Mask:
        """Which launches are at the top of their model, or on level ground."""
        search, measured = self.search, self.batch.is_measured[rows]
        tolerance = 0.1 * search.xtol if search.order else LAST_STEP
        arrived = _ARRIVED if search.order else _ARRIVED * _AGAIN ** self.batch.measurements[rows]
        near = is_concave & (far <= np.where(measured, tolerance, np.maximum(arrived, search.xtol)))
        curve = np.abs(model.eigenvalues).max(axis=1)
        size = np.minimum(search.scale, curve)
        if search.order == 0:  # what rounding of values makes of a slope
            size += 4.0 * _EPSILON * np.abs(value) / (slope_length(self.search) * _LEVEL_SLOPE)
        is_level = np.abs(model.g).max(axis=1) <= _LEVEL_SLOPE * size
        if is_level.any():
            is_bent = (model.eigenvalues[:, -1] > 1e-6 * curve) & (curve > 1e-6 * search.scale)
            # along the floor of a steep valley a slope that is small may still lead far
            is_rising = measured & is_concave & (gains > search.rounding_at(0.0)) & (search.order > 0)
            near |= is_level & ~(measured & is_bent) & ~is_rising
        return near

    def _stretch(self, rows: Rows, far: Array, is_sure: NDArray[np.bool_]) -> Array | None:
        """How much to lengthen Newton steps that shrink by the same factor q again and again: 1 / (1 - q), or 0.

        That happens where the curvature vanishes at the top; the steps that are left add up to a geometric series.
        None where nothing is to be lengthened.
        """
        batch, stretch = self.batch, None
        q: Array | float = 0.0
        if is_sure.any():
            q = np.where(is_sure, far / np.maximum(batch.distance[rows], 1e-300), 0.0)
            low, high = _SLOW
            is_slow = (q > low) & (q < high) & (np.abs(q - batch.shrinkage[rows]) < _STEADY)
            if is_slow.any():
                stretch = np.where(is_slow, 1.0 / (1.0 - np.minimum(q, high)), 0.0)
        batch.distance[rows], batch.shrinkage[rows] = far, q
        return stretch
