"""Derivatives from differences of values or of gradients, at points that stay inside the box.

The only place where second derivatives are made of exact values: along the coordinates, or along any axes given.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.geometry import lengths
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON

Array = NDArray[np.float64]


@cache
def basis(d: int) -> Array:
    """Unit vectors (d, d), not to be written into."""
    return np.eye(d)


@cache
def _pairs(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(d, 1)


def gradient_step(context: Context) -> float:
    """Length of the steps for gradients from values: longer where values are rounded coarsely."""
    coarse = math.sqrt(EPSILON * abs(context.level) / context.scale) if context.scale > 0.0 else 0.0
    return float(min(max(TUNING.gradient_step, coarse), TUNING.curvature_step))


# ---- gradients


def inward(points: Array, steps: Any, upper: Array) -> Array:
    """Signed steps (n, d) along each coordinate that do not leave the box: backward where forward would."""
    return np.where(points + steps > upper, -steps, steps)


def gradient_points(points: Array, steps: Array) -> Array:
    """Points (n, d, d), each moved along one coordinate by signed steps (n, d)."""
    return points[:, None, :] + steps[:, :, None] * basis(points.shape[1])


def gradient(points: Array, values: Array, moved: Array, moved_values: Array) -> Array:
    """Forward differences (n, d). The steps are those that were made in floating point."""
    return (moved_values - values[:, None]) / _made(points, moved)


def _made(points: Array, moved: Array) -> Array:
    """The steps (n, d) that were made in floating point, the i-th of `moved` (n, m, d) along coordinate i."""
    return moved.diagonal(0, 1, 2) - points


def hessian_of_gradients(points: Array, gradients: Array, moved: Array, moved_gradients: Array) -> Array:
    """Hessians (n, d, d) from gradients (n, d, d) at points moved along one coordinate each, symmetrised."""
    rows = (moved_gradients - gradients[:, None, :]) / _made(points, moved)[:, :, None]
    return 0.5 * (rows + rows.swapaxes(1, 2))


# ---- second derivatives


def hessian_size(d: int) -> int:
    """How many points `hessian_points` gives for one point."""
    return 2 * d + d * (d - 1) // 2


def hessian_points(points: Array, steps: Array, lower: Array, upper: Array, axes: Array | None = None) -> Array:
    """Points (n, 2 d + d (d - 1) / 2, d) for all second derivatives along the axes: d, d, and one for each pair.

    Away from the bounds the two points along an axis lie on both sides; next to a bound both lie inward, one and two
    steps away, and nearer where there is no room for that. Where an axis has no room at all its points do not move,
    and `hessian` says NaN. The pairs are (0, 1), (0, 2), ..., each moved along both axes: by the first steps of both,
    or by half of them where that would leave the box.

    Args:
        points: (n, d), inside the bounds.
        steps: (n, d), positive: how far to go along each axis, in units of its length.
        lower, upper: (d,), infinite where open.
        axes: (d, d), a direction in each row, of any length and at any angle to the others; coordinates without.
    """
    d = points.shape[1]
    axes = basis(d) if axes is None else axes
    forward, backward = _rooms(points, axes, lower, upper)
    is_forward = (steps <= forward) | ((steps > backward) & (forward >= backward))
    is_cramped = (steps > forward) | (steps > backward)
    room = np.where(is_forward, forward, backward)
    first = np.where(is_cramped, np.minimum(steps, 0.5 * room), steps) * np.where(is_forward, 1.0, -1.0)
    second = np.where(is_cramped, 2.0 * first, -first)
    i, j = _pairs(d)
    first_moves = first[:, :, None] * axes
    both = first_moves[:, i] + first_moves[:, j]
    there = points[:, None, :] + both
    is_outside = ((there < lower) | (there > upper)).any(axis=2, keepdims=True)
    both = np.where(is_outside, 0.5, 1.0) * both  # half way between two points inside, so inside
    moves = np.concatenate([first_moves, second[:, :, None] * axes, both], axis=1)
    return np.minimum(np.maximum(points[:, None, :] + moves, lower), upper)


def _rooms(points: Array, axes: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """How far one can go from each point along each axis, forward and backward, (n, d) each."""
    is_rising, size = axes > 0.0, np.where(axes == 0.0, 1.0, np.abs(axes))
    above, below = (upper - points)[:, None, :] / size, (points - lower)[:, None, :] / size
    above, below = (np.where(axes == 0.0, np.inf, a) for a in (above, below))
    return np.where(is_rising, above, below).min(axis=2), np.where(is_rising, below, above).min(axis=2)


def hessian(points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None) -> Array:
    """Second derivatives M (n, d, d) along the axes, of the quadratics through the points of `hessian_points`.

    M[i, j] is axes[i]^T H axes[j]: the Hessian H itself along coordinates. For other axes H is inv(axes) M
    inv(axes)^T, which is axes^T M axes for orthonormal ones.
    """
    n, d = points.shape
    a, _, rise_a, _ = _along_axes(points, values, moved, moved_values, axes)
    M = np.empty((n, d, d))
    bends = curvatures(points, values, moved, moved_values, axes)
    M[:, range(d), range(d)] = bends
    i, j = _pairs(d)
    share = _pair_shares(points, moved, a, basis(d) if axes is None else axes)
    # along each axis the quadratic rises by this much where the pair is
    rises = share[:, None] * np.stack([rise_a[:, i], rise_a[:, j]], axis=1)
    bent = np.stack([bends[:, i] * a[:, i] ** 2, bends[:, j] * a[:, j] ** 2], axis=1)
    rises = rises - 0.5 * (share * (1.0 - share))[:, None] * bent
    rise = moved_values[:, 2 * d :] - values[:, None]
    M[:, i, j] = M[:, j, i] = (rise - rises[:, 0] - rises[:, 1]) / (share**2 * a[:, i] * a[:, j])
    return M


def curvatures(points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None = None) -> Array:
    """Second derivatives (n, d) along each axis, from the first 2 d points of `hessian_points`: the diagonal of M."""
    a, b, rise_a, rise_b = _along_axes(points, values, moved, moved_values, axes)
    return 2.0 * (rise_a / a - rise_b / b) / (a - b)


def _along_axes(
    points: Array, values: Array, moved: Array, moved_values: Array, axes: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Steps made in floating point along each axis, first and second, and the rises there, all (n, d)."""
    d = points.shape[1]
    if axes is None:
        a, b = _made(points, moved), _made(points, moved[:, d:])
    else:
        scaled = axes / np.einsum("id,id->i", axes, axes)[:, None]
        a, b = (np.einsum("nid,id->ni", moved[:, k : k + d] - points[:, None], scaled) for k in (0, d))
    return a, b, moved_values[:, :d] - values[:, None], moved_values[:, d : 2 * d] - values[:, None]


def _pair_shares(points: Array, moved: Array, a: Array, axes: Array) -> Array:
    """How much of the first steps (n, d) of both axes each pair was moved by, (n, pairs): all, or half."""
    d = points.shape[1]
    i, j = _pairs(d)
    moves = a[:, :, None] * axes
    whole = lengths(moves[:, i] + moves[:, j])
    return np.where(lengths(moved[:, 2 * d :] - points[:, None]) < 0.75 * whole, 0.5, 1.0)


def is_rough(
    points: Array, values: Array, gradients: Array, moved: Array, moved_values: Array, rounding: float
) -> NDArray[np.bool_]:
    """Whether the values on both sides along a coordinate contradict each other: a kink or a jump, (n,).

    A smooth function rises by g a + h a^2 / 2 on one side and by g b + h b^2 / 2 on the other. The gradient comes from
    much shorter steps, so that what is left over beside it must be about the same curvature on both sides.
    """
    a, b, rise_a, rise_b = _along_axes(points, values, moved, moved_values, None)
    bend_a, bend_b = rise_a - gradients * a, (rise_b - gradients * b) * (a / b) ** 2
    gap = np.abs(bend_a - bend_b)
    is_smooth = gap <= TUNING.rough * np.maximum(np.abs(bend_a), np.abs(bend_b)) + 100.0 * rounding
    return np.asarray(~is_smooth.all(axis=1))
