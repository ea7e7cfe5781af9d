"""What trust-region searches ask for, and how their models learn from what they are told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.geometry import lengths
from allmodes.search.searchers.local import finite_differences, models
from allmodes.search.searchers.local.table import Column, Rows, Table
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
        along: a direction in which it does not move, where `is_confined`.
        iterations: trial points so far, `refusals` of which were no better.
        measurements: how often the curvature was measured.
        has_met_kink: whether it was handed over at a kink before.
    """

    hessian = Column[np.float64]("numbers", 2)  # first: see `model`
    radius = Column[np.float64]("numbers")
    distance = Column[np.float64]("numbers")
    shrinkage = Column[np.float64]("numbers")
    along = Column[np.float64]("numbers", 1)
    iterations = Column[np.int64]("counts")
    refusals = Column[np.int64]("counts")
    measurements = Column[np.int64]("counts")
    is_measured = Column[np.bool_]("flags")
    has_met_kink = Column[np.bool_]("flags")
    is_confined = Column[np.bool_]("flags")

    @property
    def model(self) -> Array:
        """Value, gradient and Hessian, which are side by side, in one row (n, 1 + d + d^2)."""
        return self.numbers[:, 4 * self.d : 1 + 5 * self.d + self.d**2]


# ---- what they want to know


def points_of(context: Context, table: TrustRegionTable, phase: Phase, rows: Rows) -> Array:
    """Where searches in this phase want to be evaluated, (n, points each, d)."""
    box, order, point = context.box, context.order, table.point[rows]
    match phase:
        case Phase.STEP | Phase.FINAL:
            return table.trial[rows][:, None]
        case Phase.START if order > 0:
            return point[:, None]
        case Phase.START:
            moved = finite_differences.gradient_points(point, _slope_steps(context, point))
            return np.concatenate([point[:, None], moved], axis=1)
        case Phase.SLOPE:
            return finite_differences.gradient_points(point, _slope_steps(context, point))
        case Phase.CURVE if order == 0:
            steps = _curvature_steps(context, table, rows)
            return finite_differences.hessian_points(point, steps, box.lower_unit, box.upper_unit)
    steps = finite_differences.inward(point, _curvature_steps(context, table, rows), box.upper_unit)
    return finite_differences.gradient_points(point, steps)


def _slope_steps(context: Context, point: Array) -> Array:
    """Signed steps (n, d) for gradients from values."""
    step = finite_differences.gradient_step(context)
    return finite_differences.inward(point, step, context.box.upper_unit)


def _curvature_steps(context: Context, table: TrustRegionTable, rows: Rows) -> Array:
    """Long enough to rise above rounding, short enough for the curvature not to change."""
    largest = np.abs(table.value[rows]).max(initial=0.0)
    rise = max(1e-7 * context.scale, 1e4 * EPSILON * largest, TINY)
    curvature = np.abs(np.einsum("nii->ni", table.hessian[rows])).max(axis=1, keepdims=True)
    steps = np.sqrt(2.0 * rise / np.maximum(curvature, TINY))
    return np.broadcast_to(np.clip(steps, 1e-6, TUNING.curvature_step), (len(rows), table.d))


# ---- what they are told; the rows returned know value, gradient and model where they are now


def told_start(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    order, values = context.order, told.value
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


def told_step(context: Context, table: TrustRegionTable, rows: Rows, told: Evaluation) -> Rows:
    """A trial point: taken if it is better. Returns the rows that know their gradient."""
    order, value = context.order, told.value[:, 0]
    point, trial, old = table.point[rows], table.trial[rows], table.value[rows]
    g, H, s, rise = table.gradient[rows], table.hessian[rows], trial - point, value - old  # -inf where it failed
    predicted, length = models.gain(g, H, s), lengths(s)
    table.radius[rows] = _resized(context, table.radius[rows], rise, predicted, length)
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
    table.is_measured[rows[(length > context.tolerances.near) | ~is_better]] = order == 2
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


def _resized(context: Context, radius: Array, rise: Array, predicted: Array, length: Array) -> Array:
    """The next trust regions, by how well the models predicted the rise."""
    ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
    largest = TUNING.largest_radius * math.sqrt(context.box.d) if context.box.is_bounded else np.inf
    is_grown = (ratio > 0.75) & (length > 0.8 * radius)
    grown = np.where(is_grown, np.minimum(TUNING.growth * radius, largest), radius)
    return np.where(ratio < 0.25, TUNING.shrinkage * length, grown)


def told_slope(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    point, H, measured = table.point[rows], table.hessian[rows], table.is_measured[rows]
    slope = finite_differences.gradient(point, table.value[rows], points, told.value)
    has_measured = measured.any()
    if has_measured:
        bias = 0.5 * _slope_steps(context, point) * np.einsum("nii->ni", H)
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


def told_curve(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    point, value, g = table.point[rows], table.value[rows], table.gradient[rows]
    if context.order == 0:
        H = finite_differences.hessian(point, value, points, told.value)
        rounding = context.tolerances.rounding()
        H[finite_differences.is_rough(point, value, g, points, told.value, rounding)] = np.nan
        # The gradient is known from much shorter steps; the curvature tells how far it is off.
        bias = 0.5 * _slope_steps(context, point) * np.einsum("nii->ni", H)
        table.gradient[rows] -= np.where(np.isfinite(bias), bias, 0.0)
    else:
        H = finite_differences.hessian_of_gradients(point, g, points, told.gradient)
    table.hessian[rows] = H
    table.is_measured[rows] = True
    table.measurements[rows] += 1
    return rows


def _is_better(rise: Array, predicted: Array, rounding: Array, g: Array, slope: Array | None) -> NDArray[np.bool_]:
    """Which trial points are taken, by rise and prediction (n,); equally high ones where the slope is smaller."""
    is_better = (rise > 1e-4 * predicted) & (rise > 0.0)
    is_level = np.abs(rise) <= rounding
    if is_level.any():
        is_flatter = predicted <= rounding if slope is None else np.abs(slope).max(axis=1) < np.abs(g).max(axis=1)
        is_better |= is_level & is_flatter
    return np.asarray(is_better)
