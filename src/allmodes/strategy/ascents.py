"""Many local ascents at once: trust-region steps on models that are measured, updated or guessed."""

from __future__ import annotations

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
LAST_STEP = 3e-5  # a measured model whose step is shorter than this needs no further gradient
_FARTHEST = 1e6  # boxes away from the start: the function has no top in that direction
_STALE = 0.3  # error of a predicted change of gradient, as a share, above which a measured model is out of date
_SLOW = (0.55, 0.9)  # shrinkage of Newton steps that says linear convergence: 2/3 for a quartic top
_STEADY = 0.05
_EPSILON = 2.2e-16
_LEVEL_SLOPE = 1e-8  # of the scale of the function over the box: a slope that counts as none
_PATIENCE = 60  # iterations, plus ten per dimension


class Progress(NamedTuple):
    """What became of launches that went on: known modes they fall into, arrivals with their tops, and the lost."""

    recognised: list[tuple[int, int]]
    arrived: list[tuple[int, Array, float]]
    lost: list[int]


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
        point = batch.point[rows]
        if phase in (Phase.STEP, Phase.FINAL):
            return batch.trial[rows][:, None]
        if phase == Phase.START and order > 0:
            return point[:, None]
        if phase == Phase.CURVE:
            steps = self._curvature_steps(rows)
            if order == 0:
                return differences.curvature_points(point, steps, box.lower_unit, box.upper_unit)
            return differences.gradient_points(point, differences.inward(point, steps, box.lower_unit, box.upper_unit))
        moved = differences.gradient_points(point, self._slope_steps(point))
        return np.concatenate([point[:, None], moved], axis=1) if phase == Phase.START else moved

    def _slope_length(self) -> float:
        """Of the steps for gradients from values: longer where values are rounded coarsely."""
        search = self.search
        coarse = np.sqrt(_EPSILON * abs(search.level) / search.scale) if search.scale > 0.0 else 0.0
        return float(min(max(differences.GRADIENT_STEP, coarse), differences.CURVATURE_STEP))

    def _slope_steps(self, point: Array) -> Array:
        """Signed steps (n, d) for gradients from values."""
        box = self.search.box
        return differences.inward(point, np.full_like(point, self._slope_length()), box.lower_unit, box.upper_unit)

    def _curvature_steps(self, rows: Rows) -> Array:
        """Long enough to rise above rounding, short enough for the curvature not to change."""
        largest = np.abs(self.batch.value[rows]).max(initial=0.0)
        rise = max(1e-7 * self.search.scale, 1e4 * _EPSILON * largest, 1e-300)
        curvature = np.abs(np.einsum("nii->ni", self.batch.hessian[rows])).max(axis=1, keepdims=True)
        steps = np.sqrt(2.0 * rise / np.maximum(curvature, 1e-300))
        return np.broadcast_to(np.clip(steps, 1e-6, differences.CURVATURE_STEP), (len(rows), self.search.box.d))

    # ---- what they are told; the rows returned know value, gradient and model where they are

    def told(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> tuple[Rows, Rows]:
        """Rows that can go on, and rows that cannot because something is not finite or not smooth."""
        tell = {
            Phase.START: self._told_start,
            Phase.STEP: self._told_step,
            Phase.SLOPE: self._told_slope,
            Phase.CURVE: self._told_curve,
        }[phase]
        ready = tell(rows, points, told)
        batch = self.batch
        is_fine = np.isfinite(batch.value[ready]) & np.isfinite(batch.gradient[ready]).all(axis=1)
        is_fine &= np.isfinite(batch.hessian[ready]).all(axis=(1, 2))
        return ready[is_fine], ready[~is_fine]

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
            batch.hessian[rows] = -size[:, None, None] * np.eye(self.search.box.d)
        return rows

    def _told_step(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch, order = self.batch, self.search.order
        value, s = told.value[:, 0], batch.trial[rows] - batch.point[rows]
        old, g, H = batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        predicted = trust_region.gain(g, H, s)
        rise = np.where(np.isfinite(value), value - old, -np.inf)
        length = np.sqrt(np.einsum("nd,nd->n", s, s))
        self._resize(rows, rise, predicted, length)
        rounding = 4e-16 * np.abs(old)
        is_better = (rise > 1e-4 * predicted) & (rise > 0.0)
        is_level = np.abs(rise) <= rounding
        slope = None if order == 0 else told.gradient[:, 0]
        if slope is None:
            is_better |= is_level & (predicted <= rounding)
        else:
            is_better |= is_level & (np.abs(slope).max(axis=1) < np.abs(g).max(axis=1))
        taken, refused = rows[is_better], rows[~is_better]
        if order == 1 and slope is not None:
            is_usable = np.isfinite(slope).all(axis=1)
            change = (slope - g)[is_usable]
            batch.hessian[rows[is_usable]] = trust_region.rank_one(H[is_usable], s[is_usable], change)
        elif order == 0 and len(refused):
            wrong = np.where(np.isfinite(rise), rise - predicted, 0.0)[~is_better]
            batch.hessian[refused] = trust_region.match_value(H[~is_better], s[~is_better], wrong)
        batch.is_measured[rows[(length > _ARRIVED) | ~is_better]] = order == 2
        batch.came_from[taken], batch.old_gradient[taken] = batch.point[taken], g[is_better]
        batch.point[taken], batch.value[taken] = batch.trial[taken], value[is_better]
        batch.iterations[rows] += 1
        if slope is None:
            batch.phase[taken] = Phase.SLOPE
            return refused
        batch.gradient[taken] = slope[is_better]
        if order == 2:
            batch.hessian[taken] = told.hessian[is_better, 0]
        return rows

    def _resize(self, rows: Rows, rise: Array, predicted: Array, length: Array) -> None:
        """The next trust region, by how well the model predicted the rise."""
        radius = self.batch.radius[rows]
        ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
        bounded = np.isfinite(self.search.box.upper_unit - self.search.box.lower_unit).all()
        largest = _LARGEST_RADIUS * np.sqrt(self.search.box.d) if bounded else np.inf
        grown = np.where((ratio > 0.75) & (length > 0.8 * radius), np.minimum(2.5 * radius, largest), radius)
        self.batch.radius[rows] = np.where(ratio < 0.25, 0.3 * length, grown)

    def _told_slope(self, rows: Rows, points: Array, told: Evaluation) -> Rows:
        batch = self.batch
        point, H, measured = batch.point[rows], batch.hessian[rows], batch.is_measured[rows]
        slope = differences.gradient(point, batch.value[rows], points, told.value)
        bias = 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
        slope -= np.where(measured[:, None], bias, 0.0)
        s, change = point - batch.came_from[rows], slope - batch.old_gradient[rows]
        # a measured model that misses the change of the gradient is out of date
        miss, size = (np.abs(a).max(axis=1) for a in (change - (H @ s[..., None])[..., 0], change))
        batch.is_measured[rows[measured & (miss > _STALE * size)]] = False
        guess = ~batch.is_measured[rows] & np.isfinite(change).all(axis=1)
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
            batch.gradient[rows] -= 0.5 * self._slope_steps(point) * np.einsum("nii->ni", H)
        else:
            H = differences.hessian_of_gradients(point, g, points, told.gradient)
        batch.hessian[rows] = H
        batch.is_measured[rows] = True
        return rows

    # ---- going on

    def advance(self, rows: Rows) -> Progress:
        """Launches that know value, gradient and model where they are: recognised, arrived, lost, or a step further."""
        batch, search = self.batch, self.search
        lower, upper = search.box.lower_unit, search.box.upper_unit
        point, value, g, H = batch.point[rows], batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        search.paths.add(batch.number[rows], point, value)
        model = trust_region.model(point, g, H, lower, upper)
        tops = np.minimum(np.maximum(point + model.newton(), lower), upper)
        s = tops - point
        far = np.abs(s).max(axis=1)
        is_concave = model.eigenvalues[:, -1] < 0.0
        measured = batch.is_measured[rows]
        going = np.ones(len(rows), bool)
        recognised: list[tuple[int, int]] = []
        gains = trust_region.gain(g, H, s)
        if len(search.archive) and self.is_early:
            known = recognition.recognise(search, point, value, g, tops, gains, is_concave & measured)
            known[batch.is_bridge[rows]] = -1
            going = known < 0
            recognised = [(int(k), int(j)) for k, j in zip(rows[~going], known[~going], strict=True)]
        is_there = going & self._is_there(model, value, far, is_concave, measured, gains)
        arrived = [(int(rows[i]), tops[i], float(far[i])) for i in np.flatnonzero(is_there)]
        stretch = self._stretch(rows, far, is_concave & measured)
        going &= ~is_there
        rows, point = rows[going], point[going]
        step = trust_region.step(model.of(going), batch.radius[rows])
        if stretch.any():
            step = np.where((stretch[going] > 1.0)[:, None], stretch[going][:, None] * s[going], step)
        trial = np.minimum(np.maximum(point + step, lower), upper)
        batch.trial[rows] = trial
        batch.phase[rows] = Phase.STEP
        is_lost = (batch.radius[rows] < _SMALLEST_RADIUS) | (trial == point).all(axis=1)
        is_lost |= batch.iterations[rows] > _PATIENCE + 10 * search.box.d
        is_lost |= self.has_run_away(rows)
        return Progress(recognised, arrived, rows[is_lost].tolist())

    def has_run_away(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether a launch is so far off that the function seems to have no top in its direction."""
        return ~(np.abs(self.batch.trial[rows]).max(axis=1) < _FARTHEST)

    def _is_there(
        self, model: trust_region.Model, value: Array, far: Array, is_concave: Mask, measured: Mask, gains: Array
    ) -> Mask:
        """Which launches are at the top of their model, or on level ground."""
        search = self.search
        tolerance = 0.1 * search.xtol if search.order else LAST_STEP
        near = is_concave & (far <= np.where(measured, tolerance, _ARRIVED))
        slope = np.abs(model.g).max(axis=1)
        curve = np.abs(model.eigenvalues).max(axis=1)
        size = np.minimum(search.scale, curve)
        if search.order == 0:  # what rounding of values makes of a slope
            size += 4.0 * _EPSILON * np.abs(value) / (self._slope_length() * _LEVEL_SLOPE)
        is_bent = (model.eigenvalues[:, -1] > 1e-6 * curve) & (curve > 1e-6 * search.scale)
        # along the floor of a steep valley a slope that is small may still lead far
        is_rising = measured & is_concave & (gains > search.rounding_at(0.0)) & (search.order > 0)
        return near | ((slope <= _LEVEL_SLOPE * size) & ~(measured & is_bent) & ~is_rising)

    def _stretch(self, rows: Rows, far: Array, is_sure: NDArray[np.bool_]) -> Array:
        """How much to lengthen Newton steps that shrink by the same factor q again and again: 1 / (1 - q), or 0.

        That happens where the curvature vanishes at the top; the steps that are left add up to a geometric series.
        """
        batch = self.batch
        q = np.where(is_sure, far / np.maximum(batch.distance[rows], 1e-300), 0.0)
        low, high = _SLOW
        is_slow = (q > low) & (q < high) & (np.abs(q - batch.shrinkage[rows]) < _STEADY)
        batch.distance[rows], batch.shrinkage[rows] = far, q
        return np.where(is_slow, 1.0 / (1.0 - np.minimum(q, high)), 0.0)
