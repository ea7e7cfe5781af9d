"""What a function does around a point that is not smooth: kinks, cusps, and how it is curved along a ridge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import clip
from allmodes.search.searchers.local.finite_differences import hessian as second_derivatives
from allmodes.search.searchers.local.finite_differences import hessian_points
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

_NEARER = 0.25  # of the distance of the probes: where falls are measured a second time
_CUSP, _LINEAR = 3.0, 8.0  # fall over the one measured nearer: 2 for a root, 4 on a cone, 16 on a parabola


class Surroundings(NamedTuple):
    """What is around a candidate.

    Attributes:
        is_smooth: whether it is an optimum like any other.
        is_cusp: whether the function is steeper the nearer: nothing tells it from other points of its ridge then.
        rise: a direction (d,) along the ridge in which the function is curved upward, or None.
        hessian: (d, d), of a parabola that is as wide as the peak down to the level of the function.
        peak: where the parabola along the ridge has its maximum, from here (d,).
    """

    is_smooth: bool
    is_cusp: bool
    rise: Array | None
    hessian: Array
    peak: Array


def points_around(box: Box, point: Array, axes: Array, h: float) -> Array:
    """Points (n, d) inside the box, h away on both sides along each axis (d, d), between axes, and nearer ones."""
    steps = np.full((1, len(axes)), h)
    far = hessian_points(point[None], steps, box.lower_unit, box.upper_unit, axes)[0]
    near = _NEARER * h * axes
    return np.concatenate([far, clip(box, np.concatenate([point + near, point - near]))])


def surroundings(
    point: Array, value: float, axes: Array, h: float, where: Array, values: Array, height: float, slack: float
) -> Surroundings:
    """What values at `points_around` say.

    Args:
        point, value: the candidate.
        axes, h: orthonormal (d, d), along the ridge and across it; and how far the points are away.
        where, values: the points, and the values there.
        height: of the candidate over the level of the function.
        slack: differences of values that mean nothing.
    """
    d = len(axes)
    along = np.concatenate([where[: 2 * d], where[-2 * d :]])
    both_sides = np.concatenate([h * axes, -h * axes, _NEARER * h * axes, -_NEARER * h * axes])
    off = np.minimum(np.abs(along - point - both_sides).max(axis=1), np.abs(along - point + both_sides).max(axis=1))
    is_there = off < 1e-6 * h  # on either side; a bound has moved the others farther away, or cut them off
    fall = value - np.concatenate([values[: 2 * d], values[-2 * d :]])
    falls = np.where(is_there, fall, np.nan).reshape(2, 2, d)  # (distance, side, axis)
    far, near = _mean(falls)  # of both sides: without the slope
    is_smooth = (np.abs(far) >= _LINEAR * np.abs(near)) & np.isfinite(falls).all(axis=(0, 1))
    curvatures = np.where(is_smooth, 2.0, 2.0 * far / height) * far / h**2
    hessian = -(axes.T * np.maximum(curvatures, TINY)) @ axes
    is_seen = np.isfinite(falls).any(axis=1).all(axis=0)  # at both distances
    is_cusp = bool((is_seen & (far < _CUSP * near) & (near > slack)).any())
    if not is_smooth.any():
        return Surroundings(False, is_cusp, None, hessian, np.zeros(d))
    M = second_derivatives(point[None], np.array([value]), where[None, : -2 * d], values[None, : -2 * d], axes)[0]
    H = np.where(np.isfinite(M), M, 0.0)[np.ix_(is_smooth, is_smooth)]
    g = (falls[0, 1] - falls[0, 0])[is_smooth] / (2.0 * h)
    eigenvalues, vectors = np.linalg.eigh(H)
    ridge = vectors.T @ axes[is_smooth]
    rise = ridge[-1] if 0.5 * eigenvalues[-1] * h**2 > 10.0 * slack else None
    steps = g @ vectors / np.maximum(np.abs(eigenvalues), TINY)
    peak = np.clip(steps, -10.0 * h, 10.0 * h) @ ridge
    return Surroundings(bool(is_smooth.all()), is_cusp, rise, hessian, peak)


def _mean(falls: Array) -> Array:
    """Over both sides (distance, side, axis), or that of the one that is there."""
    count = np.isfinite(falls).sum(axis=1)
    return np.asarray(np.where(np.isfinite(falls), falls, 0.0).sum(axis=1) / np.maximum(count, 1))
