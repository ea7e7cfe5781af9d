"""Derivatives from differences of values or of gradients, at points that stay inside the box.

The only place where second derivatives come from exact values: along the coordinates, or along any given axes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

# Limits as shares of the box, for functions rounded as float64 are; longer for coarser ones.
_GRADIENT_STEPS = (1e-8, 1e-5)  # shorter ones drown in the rounding of positions, longer ones suffer from curvature
_CURVATURE_STEPS = (1e-5, 1e-2)  # the shorter, the less a bent valley is mistaken for a wide one
_DERIVED = 10.0  # times longer where gradients come from differences, which are off by 1e-8 themselves
_LONGEST = 0.02  # of the box, however coarse values are: modes are that close to each other
_CLEAR = 1e5  # roundings of a value: the fall that shows the curvature to four digits


@cache
def basis(d: int) -> Array:
    """Unit vectors (d, d), not to be written into."""
    return np.eye(d)


# ---- gradients


def gradient_steps(context: Context, points: Array, values: Array, curvatures: Array | float) -> Array:
    """Signed steps (n, d) for gradients from values, inward at the bounds.

    As long as makes rounding of values (n,) matter as much as curvatures (n, d), within limits. Where these are not
    known yet, values are taken to be at its level, and the function to change by its scale over the box.
    """
    values = np.where(np.isfinite(values), values, context.level)
    curvatures = np.where(np.asarray(curvatures) == 0.0, context.scale, curvatures)
    errors = context.tolerances.error_of(values)[:, None]
    steps = 2.0 * np.sqrt(errors / np.maximum(np.abs(curvatures), TINY))
    steps = np.clip(steps, *_limits(context, _GRADIENT_STEPS, values, 0.5))
    return inward(points, steps, context.box.upper_unit)


def _limits(context: Context, steps: tuple[float, float], values: Array, power: float) -> tuple[float, Array]:
    """Shortest and longest steps, the latter (n, 1) by values (n,): by a power of how coarse the function is there.

    A function that is rounded more coarsely than float64 may round positions, too; an added constant does not.
    """
    tolerances = context.tolerances
    shortest, longest = steps[0] * tolerances.coarseness() ** power, steps[1] * tolerances.coarseness(values) ** power
    return min(shortest, _LONGEST), np.minimum(longest, _LONGEST)[:, None]


def inward(points: Array, step: Array | float, upper: Array) -> Array:
    """Signed steps (n, d) along each coordinate that do not leave the box: backward where forward would."""
    return np.where(points + step > upper, -step, step)


def gradient_points(points: Array, steps: Array) -> Array:
    """Points (n, d, d), each moved along one coordinate by signed steps (n, d)."""
    return points[:, None, :] + steps[:, :, None] * basis(points.shape[1])


def gradient(points: Array, values: Array, moved: Array, moved_values: Array) -> Array:
    """Forward differences (n, d). The steps are those that were made in floating point."""
    return (moved_values - values[:, None]) / (moved.diagonal(0, 1, 2) - points)


def first_points(context: Context, points: Array, steps: Array) -> Array:
    """The points themselves, and if there are no derivatives those of their gradients, (n, 1 or 1 + d, d)."""
    here = points[:, None]
    return here if context.order else np.concatenate([here, gradient_points(points, steps)], axis=1)


def first_gradient(points: Array, told: Evaluation) -> Array:
    """Gradients (n, d), given or from what was told about `first_points`."""
    if told.gradient is not None:
        return told.gradient[:, 0]
    return gradient(points[:, 0], told.value[:, 0], points[:, 1:], told.value[:, 1:])


def hessian_of_gradients(gradients: Array, lengths: Array, moved_gradients: Array, axes: Array) -> Array:
    """Hessians (n, d, d) from gradients (n, d, d) at points moved along one orthonormal axis each, by these lengths."""
    rows = (moved_gradients - gradients[:, None, :]) / lengths[:, :, None]
    M = rows @ axes.mT
    return turned(0.5 * (M + M.mT), axes)


def curvature_steps(context: Context, values: Array, curvatures: Array) -> Array:
    """Steps (n, d) over which to measure curvatures of this size (n, d): as short as rounding of values (n,) allows.

    Where values are coarse, over a fall as many times smaller than the scale as it is larger than the rounding: longer
    steps lead off the hill.
    """
    errors = context.tolerances.error_of(values)[:, None] if context.order == 0 else np.zeros((len(values), 1))
    falls = np.minimum(_CLEAR * errors, np.sqrt(errors) * (np.sqrt(context.scale) or 1.0 / TINY))
    shortest, longest = _CURVATURE_STEPS
    times = _DERIVED if context.is_derived else 1.0
    limits = _limits(context, (times * shortest, times * longest), values, 0.25)
    return np.clip(np.sqrt(2.0 * falls / np.maximum(np.abs(curvatures), TINY)), *limits)


def turned(M: Array, axes: Array) -> Array:
    """Second derivatives along coordinates, from those along orthonormal axes."""
    return np.asarray(axes.mT @ M @ axes)


# ---- second derivatives from values


def axis_points(points: Array, steps: Array, lower: Array, upper: Array, axes: Array | None = None) -> Array:
    """Points (n, 2 d, d): d, one along each axis, and d more.

    Away from the bounds the two points along an axis lie on both sides; next to a bound both lie inward, one and two
    steps away. Where an axis has no room at all `hessian` says NaN.

    Args:
        points: (n, d), inside the bounds.
        steps: (n, d), positive: how far to go along each axis, in units of its length.
        lower, upper: (d,), infinite where open.
        axes: (d, d) or (n, d, d), a direction in each row, of any length and at any angle to the others; coordinates
            without.
    """
    axes = basis(points.shape[1]) if axes is None else axes
    forward, backward = _room(points, axes, lower, upper), _room(points, -axes, lower, upper)
    is_forward = (2.0 * steps <= forward) | (forward >= backward)
    length = np.minimum(steps, 0.5 * np.where(is_forward, forward, backward))
    first = np.where(is_forward, length, -length)
    second = np.where(length <= np.minimum(forward, backward), -first, 2.0 * first)
    moves = np.concatenate([first[:, :, None] * axes, second[:, :, None] * axes], axis=1)
    return np.minimum(np.maximum(points[:, None, :] + moves, lower), upper)


def hessian_points(points: Array, steps: Array, lower: Array, upper: Array, axes: Array | None = None) -> Array:
    """Points (n, 2 d + d (d - 1) / 2, d) for all second derivatives along the axes: `axis_points`, one for each pair.

    No first step is longer than half the room there is, so that the pairs (0, 1), (0, 2), ..., each moved by the first
    steps of both axes, are inside as well.
    """
    d = points.shape[1]
    along = axis_points(points, steps, lower, upper, axes)
    moves = along[:, :d] - points[:, None, :]
    i, j = np.triu_indices(d, 1)
    pairs = np.minimum(np.maximum(points[:, None, :] + moves[:, i] + moves[:, j], lower), upper)
    return np.concatenate([along, pairs], axis=1)


def _room(points: Array, axes: Array, lower: Array, upper: Array) -> Array:
    """How far one can go from each point along each axis, (n, d)."""
    ends = np.where(axes > 0.0, upper, lower) - points[:, None]
    return np.where(axes == 0.0, np.inf, ends / np.where(axes == 0.0, 1.0, axes)).min(axis=2)


def is_cut_short(points: Array, axes: Array, steps: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Which points (n,) have an axis along which bounds leave no room for steps (n, d), forward nor backward."""
    room = np.maximum(_room(points, axes, lower, upper), _room(points, -axes, lower, upper))
    return np.asarray((room < 2.0 * steps).any(axis=1))


def hessian(points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None) -> Array:
    """Second derivatives M (n, d, d) along the axes, of the quadratics through the points of `hessian_points`.

    M[i, j] is axes[i]^T H axes[j]: the Hessian H itself along coordinates. For other axes H is inv(axes) M
    inv(axes)^T, which is axes^T M axes for orthonormal ones.
    """
    n, d = points.shape
    axes = basis(d) if axes is None else axes
    given = points, values, moved, moved_values, axes
    g, M = slopes(*given), np.empty((n, d, d))
    M[:, range(d), range(d)] = h = curvatures(*given)
    i, j = np.triu_indices(d, 1)
    a, b = _steps_of_pairs(moved[:, 2 * d :] - points[:, None], axes[..., i, :], axes[..., j, :])
    along = g[:, i] * a + 0.5 * h[:, i] * a**2 + g[:, j] * b + 0.5 * h[:, j] * b**2
    M[:, i, j] = M[:, j, i] = (moved_values[:, 2 * d :] - values[:, None] - along) / (a * b)
    return M


def _steps_of_pairs(steps: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Steps (n, pairs, d) in units of the two axes (..., pairs, d) in whose plane they lie, (n, pairs) each."""
    u, v = np.einsum("...d,...d->...", steps, first), np.einsum("...d,...d->...", steps, second)
    p, q, r = (np.einsum("...d,...d->...", *two) for two in ((first, first), (first, second), (second, second)))
    area = p * r - q**2
    return (u * r - v * q) / area, (v * p - u * q) / area


def curvatures(points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None) -> Array:
    """Second derivatives (n, d) along each axis, at `axis_points`: the diagonal of M."""
    a, b, rise_a, rise_b = _along_axes(points, values, moved, moved_values, axes)
    return 2.0 * (rise_a / a - rise_b / b) / (a - b)


def slopes(points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None) -> Array:
    """First derivatives (n, d) along each axis, from the same points: their error is of second order."""
    a, b, rise_a, rise_b = _along_axes(points, values, moved, moved_values, axes)
    return (rise_a * b / a - rise_b * a / b) / (b - a)


def _along_axes(
    points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Steps made in floating point along each axis, first and second, and the rises there, all (n, d)."""
    d = points.shape[1]
    axes = basis(d) if axes is None else axes
    steps = moved[:, : 2 * d].reshape(-1, 2, d, d) - points[:, None, None]
    units = axes / np.einsum("...d,...d->...", axes, axes)[..., None]
    made = np.einsum("nsid,id->sni" if units.ndim == 2 else "nsid,nid->sni", steps, units)
    return (made[0], made[1], moved_values[:, :d] - values[:, None], moved_values[:, d : 2 * d] - values[:, None])


def central_points(point: Array, steps: Array, axes: Array) -> Array:
    """Points (m^2 + m, d) around one (d,): on both sides along m axes (m, d), and along sums of two of them."""
    moves = steps[:, None] * axes
    i, j = np.triu_indices(len(axes), 1)
    moves = np.concatenate([moves, moves[i] + moves[j]])
    return np.concatenate([point + moves, point - moves])


def central_hessian(value: float, moved_values: Array, steps: Array) -> Array:
    """Second derivatives M (m, m) along the axes, from `central_points`.

    Those of two axes are off by the square of the steps, and not by the steps as those of `hessian` are.
    """
    m = len(steps)
    bends = np.sum(np.split(moved_values - value, 2), axis=0)
    i, j = np.triu_indices(m, 1)
    M = np.diag(bends[:m] / steps**2)
    M[i, j] = M[j, i] = (bends[m:] - bends[i] - bends[j]) / (2.0 * steps[i] * steps[j])
    return M


def is_rough(
    points: Array, values: Array, gradients: Array, errors: Array,
    moved: Array, moved_values: Array, slack: Array | float, axes: Array | None = None,
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether the values on both sides along an axis contradict each other: a kink or a jump, (n,).

    A smooth function rises by g a + h a^2 / 2 on one side and by g b + h b^2 / 2 on the other. The slopes g (n, d) come
    from much shorter steps, so that what is left over beside them and their errors (n, d) must be about the same
    curvature on both sides.
    """
    a, b, rise_a, rise_b = _along_axes(points, values, moved, moved_values, axes)
    bend_a, bend_b = rise_a - gradients * a, (rise_b - gradients * b) * (a / b) ** 2
    largest = np.maximum(np.abs(bend_a), np.abs(bend_b))
    is_smooth = np.abs(bend_a - bend_b) <= TUNING.rough * largest + slack + 3.0 * errors * np.abs(a)  # of both sides
    return np.asarray(~is_smooth.all(axis=1))
