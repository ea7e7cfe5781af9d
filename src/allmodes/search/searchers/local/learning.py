"""What trust-region searches ask for, and how their models learn from the answers."""

from __future__ import annotations

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.geometry import lengths
from allmodes.search.searchers.local import finite_differences, models, residuals
from allmodes.search.searchers.local.steps import is_taken, longest_step, missed_share, reach_of, resized, steepness
from allmodes.search.searchers.local.table import Array, Mask, Phase, Rows, TrustRegionTable
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY

_VAGUE = 10.0  # times longer than needed: over such steps, curvature measured inward from a bound is inaccurate


# ---- what they want to know


def points_of(context: Context, table: TrustRegionTable, phase: Phase, rows: Rows) -> Array:
    """Where searches in this phase want to be evaluated, (n, points each, d)."""
    box, point = context.box, table.point[rows]
    match phase:
        case Phase.STEP | Phase.FINAL | Phase.LEAP:
            return table.trial[rows][:, None]
        case Phase.START:
            return finite_differences.first_points(context, point, _slope_steps(context, table, rows))
        case Phase.SLOPE:
            return finite_differences.gradient_points(point, _slope_steps(context, table, rows))
    axes, steps = _curvature_axes(context, table, rows)
    given = point, steps, box.lower_unit, box.upper_unit, axes
    if context.order == 0:
        return finite_differences.hessian_points(*given)
    return finite_differences.axis_points(*given)[:, : table.d]


def _slope_steps(context: Context, table: TrustRegionTable, rows: Rows) -> Array:
    """Signed steps (n, d); before a measurement the slope is assumed to change by all of itself over a trust region."""
    steepest = np.abs(table.gradient[rows]).max(axis=1) / np.maximum(table.radius[rows], TINY)
    guessed = np.where(table.is_measured[rows], 0.0, steepest)
    curvatures = np.maximum(np.abs(np.einsum("nii->ni", table.hessian[rows])), guessed[:, None])
    return finite_differences.gradient_steps(context, table.point[rows], table.value[rows], curvatures)


def _curvature_axes(context: Context, table: TrustRegionTable, rows: Rows) -> tuple[Array, Array]:
    """Directions (n, d, d) along which the curvature is measured, and how far (n, d).

    They are the axes of the model, so that a narrow valley is measured as accurately as a round one.
    """
    H, box, point = table.hessian[rows], context.box, table.point[rows]
    model = models.model(box, point, table.gradient[rows], H)
    axes, eigenvalues = model.vectors.mT, model.eigenvalues
    is_corner = (np.abs(eigenvalues) <= TINY).all(axis=1, keepdims=True)  # all is held: this says nothing of the curve
    sizes = np.where(is_corner, np.abs(H).max(axis=(1, 2))[:, None], eigenvalues)
    steps = finite_differences.curvature_steps(context, table.value[rows], sizes)
    is_cut = finite_differences.is_cut_short(point, axes, steps, box.lower_unit, box.upper_unit)
    if is_cut.any():  # coordinates have room on one side at least
        axes = np.where(is_cut[:, None, None], finite_differences.basis(table.d), axes)
        steps = np.where(is_cut[:, None], steps.min(axis=1, keepdims=True), steps)
    return axes, steps


# ---- the answers; for the rows returned value, gradient and model at the present point are known


def told_start(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    slope = finite_differences.first_gradient(points, told)
    table.value[rows], table.gradient[rows] = told.value[:, 0], slope
    if context.order == 0:
        table.slope_steps[rows] = points[:, 1:].diagonal(0, 1, 2) - points[:, 0]
    if told.hessian is not None:
        table.hessian[rows] = table.gauss_newton[rows] = told.hessian[:, 0]
        table.is_measured[rows] = context.order == 2
        table.missed[rows] = np.inf
    else:  # the first step is as long as the radius
        size = TUNING.flatter * lengths(slope) / table.radius[rows]
        table.hessian[rows] = -size[:, None, None] * finite_differences.basis(table.d)
    is_leaping = table.is_leaping[rows] & np.isfinite(table.value[rows] + slope.sum(axis=1))
    if not is_leaping.any():
        return rows
    places = _farthest(context, points[:, 0], slope)
    for i in np.flatnonzero(is_leaping).tolist():
        is_leaping[i] = context.landings.begin(places[i])
    table.trial[rows[is_leaping]], table.phase[rows[is_leaping]] = places[is_leaping], Phase.LEAP.value
    table.is_leaping[rows] = is_leaping
    return rows[~is_leaping]


def _farthest(context: Context, points: Array, g: Array) -> Array:
    """Where slopes g (n, d) point: in every coordinate its bound, or at most half of the box or period away."""
    box = context.box
    bound = np.where(g > 0.0, box.upper_unit, np.where(g < 0.0, box.lower_unit, points))
    away = points + 0.5 * g / np.maximum(np.abs(g).max(axis=1, keepdims=True), TINY)
    return np.where(np.isfinite(bound), bound, away)


def told_leap(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    """Take the values of places far away. Some searches begin at the best place left, the others at their own."""
    stays = np.ones(len(rows), bool)
    for i, (k, value) in enumerate(zip(rows.tolist(), told.value[:, 0].tolist(), strict=True)):
        context.landings.tell(points[i, 0], value)
        place = context.landings.take(float(table.value[k]))
        if place is not None:
            table.leap(k, place)
            stays[i] = False
    table.is_leaping[rows] = False
    return rows[stays]


def told_step(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    """Accept a trial point if it is better. From values alone the gradient there is asked for next: `Phase.SLOPE`."""
    order, value, trial = context.order, told.value[:, 0], points[:, 0]
    point, g, H, old = table.point[rows], table.gradient[rows], table.hessian[rows], table.value[rows]
    s, rise = trial - point, value - old  # -inf where it failed
    predicted, length = models.gain(g, H, s), lengths(s)
    slope = None if order == 0 else told.gradient[:, 0]
    is_flatter = None if slope is None else steepness(context, trial, slope) < steepness(context, point, g)
    is_better = is_taken(rise, predicted, 0.5 * context.tolerances.error_of(old), is_flatter)
    missed, longest = missed_share(g, H, s, rise, slope), longest_step(context, point)
    taken, refused = rows[is_better], rows[~is_better]
    pace, reach = residuals.pace(context), reach_of(missed, length)
    table.radius[rows] = resized(table.radius[rows], rise, predicted, length, longest, reach, pace)
    if order == 2 or context.has_model:  # nothing is learnt from a refused point, so the next step must be shorter
        table.radius[refused] = np.minimum(table.radius[refused], pace.shrinkage * length[~is_better])
    is_stale = (np.abs(s).max(axis=1) > context.tolerances.near) | ~is_better
    if context.has_model:
        assert slope is not None
        table.missed[rows] = np.where(is_better, models.miss(H, s, slope - g), np.inf)
        is_kept = residuals.is_kept(table, rows, length) & ~is_stale
        table.second[rows[table.was_measured[rows] & ~is_kept]] = 0.0
        table.was_measured[rows], is_stale = is_kept, ~is_kept
    elif slope is not None:
        kept = np.flatnonzero(is_stale & is_better & table.is_measured[rows])
        is_stale[kept] = ~(models.miss(H[kept], s[kept], (slope - g)[kept]) <= TUNING.fresh)
    table.is_measured[rows[is_stale]] = order == 2
    table.iterations[rows] += 1
    table.refusals[refused] += 1
    table.point[taken], table.value[taken] = trial[is_better], value[is_better]
    table.last_step[taken] = length[is_better]
    if slope is None:
        table.came_from[taken], table.old_gradient[taken] = point[is_better], g[is_better]
        table.phase[taken] = Phase.SLOPE.value
        if len(refused):
            wrong = np.where(np.isfinite(rise), rise - predicted, 0.0)[~is_better]
            table.hessian[refused] = models.match_value(H[~is_better], s[~is_better], wrong)
        return refused
    if context.has_model:
        table.hessian[refused] = table.gauss_newton[refused]  # the learnt part may have been wrong
        change, model = (slope - g)[is_better], told.hessian[is_better, 0]
        residuals.learn_second(context, table, taken, s[is_better], change, model)
        table.is_measured[taken] |= residuals.is_convincing(table, taken)
    elif order == 1:
        usable = np.isfinite(slope).all(axis=1)
        table.hessian[rows[usable]] = models.updated(H[usable], s[usable], (slope - g)[usable])
    else:
        table.hessian[taken] = told.hessian[is_better, 0]
    table.gradient[taken] = slope[is_better]
    return rows


def told_slope(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    point, H, measured = table.point[rows], table.hessian[rows], table.is_measured[rows]
    slope = finite_differences.gradient(point, table.value[rows], points, told.value)
    table.slope_steps[rows] = steps = points.diagonal(0, 1, 2) - point
    table.bias[rows] = bias = 0.5 * steps * np.einsum("nii->ni", H)  # the error of forward differences
    slope -= bias
    s, change = point - table.came_from[rows], slope - table.old_gradient[rows]
    miss = _miss(H, s, change)
    is_guess = ~measured | (miss > TUNING.agreement)  # a measured model that misses the change is out of date
    table.is_measured[rows[is_guess]] = False
    guess = is_guess & np.isfinite(miss)
    table.hessian[rows[guess]] = models.updated(H[guess], s[guess], change[guess])
    missed = missed_share(table.old_gradient[rows], H, s, None, slope)
    longest = np.maximum(longest_step(context, point), reach_of(missed, lengths(s)))
    table.radius[rows] = np.minimum(table.radius[rows], longest)
    table.gradient[rows] = slope
    return rows


def _miss(H: Array, s: Array, change: Array) -> Array:
    """Errors (n,) of models H in changes of gradient over steps s, as shares of the change."""
    wrong = np.abs(change - (H @ s[..., None])[..., 0]).max(axis=1)
    return np.asarray(wrong / np.maximum(np.abs(change).max(axis=1), TINY))


def told_curve(context: Context, table: TrustRegionTable, rows: Rows, points: Array, told: Evaluation) -> Rows:
    """Take the measured curvature and, with points on both sides of each axis, a better gradient."""
    point, value, g = table.point[rows], table.value[rows], table.gradient[rows]
    axes, _ = _curvature_axes(context, table, rows)
    if context.order == 0:
        slope, steps = np.einsum("nid,nd->ni", axes, g), table.slope_steps[rows]
        errors = np.einsum("nid,nd->ni", np.abs(axes), np.abs(0.5 * steps * np.einsum("nii->ni", table.hessian[rows])))
        slack = 100.0 * context.tolerances.rounding()
        M = finite_differences.hessian(point, value, points, told.value, axes)
        M[finite_differences.is_rough(point, value, slope, errors, points, told.value, slack, axes)] = np.nan
        H = finite_differences.turned(M, axes)
        # in a narrow valley the slope along it is lost in the error of forward differences across it
        bias = 0.5 * steps * np.einsum("nii->ni", H)
        is_seen = np.abs(bias * steps) > context.tolerances.error_of(value)[:, None]  # rounding of the slope is less
        bias = np.where(is_seen & np.isfinite(bias), bias, table.bias[rows])
        slope += np.einsum("nid,nd->ni", axes, table.bias[rows] - bias)
        table.bias[rows] = bias
        central = finite_differences.slopes(point, value, points, told.value, axes)
        length = np.abs(points[:, : table.d] - point[:, None]).max(axis=2)  # long central differences are inaccurate
        measured = np.einsum("nid,ni->nd", axes, np.where(length <= TUNING.central, central, slope))
        table.gradient[rows] = np.where(np.isfinite(measured), measured, g)
    else:
        made = np.einsum("nid,nid->ni", points - point[:, None], axes)
        H = finite_differences.hessian_of_gradients(g, made, told.gradient, axes)
    table.hessian[rows], table.second[rows] = H, H - table.gauss_newton[rows]
    table.is_measured[rows] = True if context.order else ~_is_vague(context, table, rows, points, H)
    table.was_measured[rows] = True
    table.measurements[rows] += 1
    return rows


def _is_vague(context: Context, table: TrustRegionTable, rows: Rows, points: Array, H: Array) -> Mask:
    """Whether curvature was first measured inward from a bound, over steps that prove to be far longer than needed."""
    d, point = table.d, table.point[rows]
    first, second = points[:, :d] - point[:, None], points[:, d : 2 * d] - point[:, None]
    is_one_sided = (first * second).sum(axis=2) > 0.0
    needed = finite_differences.curvature_steps(context, table.value[rows], np.einsum("nii->ni", H))
    is_long = lengths(first) > _VAGUE * needed.min(axis=1)[:, None]
    return (is_one_sided & is_long).any(axis=1) & (table.measurements[rows] == 0)
