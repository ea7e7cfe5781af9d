"""Derivatives from differences of values or of gradients, at points that stay inside the box."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRADIENT_STEP = 1e-7  # of the box: the error of a mode's position is half of it
CURVATURE_STEP = 1e-3  # of the box, at most

_ROUGH = 0.7  # difference between the curvatures on both sides, as a share, that no smooth function shows


@cache
def basis(d: int) -> Array:
    """Unit vectors (d, d), not to be written into."""
    return np.eye(d)


def _made(points: Array, moved: Array) -> Array:
    """The steps (n, d) that were made in floating point, the i-th of `moved` (n, m, d) along coordinate i."""
    return moved.diagonal(0, 1, 2) - points


def inward(points: Array, steps: Any, lower: Array, upper: Array) -> Array:
    """Signed steps (n, d) along each coordinate that do not leave the box: backward where forward would."""
    return np.where(points + steps > upper, -steps, steps)


def gradient_points(points: Array, steps: Array) -> Array:
    """Points (n, d, d), each moved along one coordinate."""
    return points[:, None, :] + steps[:, :, None] * basis(points.shape[1])


def gradient(points: Array, values: Array, moved: Array, moved_values: Array) -> Array:
    """Forward differences (n, d). The steps are those that were made in floating point."""
    return (moved_values - values[:, None]) / _made(points, moved)


@cache
def _pairs(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(d, 1)


def curvature_size(d: int) -> int:
    """How many points `curvature_points` gives for one point."""
    return 2 * d + d * (d - 1) // 2


def curvature_points(points: Array, steps: Array, lower: Array, upper: Array) -> Array:
    """Points (n, 2 d + d (d - 1) / 2, d) for a whole quadratic model: two along each coordinate, one for each pair.

    Away from the bounds the two lie on both sides; next to one both lie inward, one and two steps away.
    """
    d = points.shape[1]
    first = inward(points, steps, lower, upper)
    is_cramped = (points - steps < lower) | (points + steps > upper)
    second = np.where(is_cramped, 2.0 * first, -first)
    e = basis(d)
    i, j = _pairs(d)
    cross = first[:, i, None] * e[i] + first[:, j, None] * e[j]
    return points[:, None, :] + np.concatenate([first[:, :, None] * e, second[:, :, None] * e, cross], axis=1)


def curvature(points: Array, values: Array, moved: Array, moved_values: Array) -> Array:
    """Hessians (n, d, d) of the quadratics through the points of `curvature_points`."""
    n, d = points.shape
    a, b = _made(points, moved), _made(points, moved[:, d:])
    rise_a = moved_values[:, :d] - values[:, None]
    rise_b = moved_values[:, d : 2 * d] - values[:, None]
    H = np.empty((n, d, d))
    axis = np.arange(d)
    H[:, axis, axis] = 2.0 * (rise_a / a - rise_b / b) / (a - b)
    i, j = _pairs(d)
    rise = moved_values[:, 2 * d :] - values[:, None]
    H[:, i, j] = H[:, j, i] = (rise - rise_a[:, i] - rise_a[:, j]) / (a[:, i] * a[:, j])
    return H


def is_rough(
    points: Array, values: Array, gradients: Array, moved: Array, moved_values: Array, rounding: float
) -> NDArray[np.bool_]:
    """Whether the values on both sides along a coordinate contradict each other: a kink or a jump, (n,).

    A smooth function rises by g a + h a^2 / 2 on one side and by g b + h b^2 / 2 on the other. The gradient comes from
    much shorter steps, so that what is left over beside it must be about the same curvature on both sides.
    """
    d = points.shape[1]
    a, b = _made(points, moved), _made(points, moved[:, d:])
    bend_a = moved_values[:, :d] - values[:, None] - gradients * a
    bend_b = (moved_values[:, d : 2 * d] - values[:, None] - gradients * b) * (a / b) ** 2
    gap = np.abs(bend_a - bend_b)
    is_smooth = gap <= _ROUGH * np.maximum(np.abs(bend_a), np.abs(bend_b)) + 100.0 * rounding
    return np.asarray(~is_smooth.all(axis=1))


def hessian_of_gradients(points: Array, gradients: Array, moved: Array, moved_gradients: Array) -> Array:
    """Hessians (n, d, d) from gradients (n, d, d) at points moved along one coordinate each, symmetrised."""
    rows = (moved_gradients - gradients[:, None, :]) / _made(points, moved)[:, :, None]
    return 0.5 * (rows + rows.swapaxes(1, 2))
