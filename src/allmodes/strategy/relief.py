"""The surroundings of a top that is not smooth everywhere: creases, cusps, and what is curved along a crease."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box

Array = NDArray[np.float64]

AROUND = 1e-3  # of the box: where falls around a top are measured, and ...
_NEARER = 0.25  # ... as a share of that, a second time
_FARTHEST = 0.01  # of the box: how far away the top of a parabola may be
_CUSP = 3.0  # fall over the one measured nearer: 2 for a root, ...
_LINEAR = 8.0  # ... 4 on a cone, 16 on a parabola
_THIN = 1e-6  # of the distance of a probe: a bound has cut off more
_TINY = 1e-300


class Relief(NamedTuple):
    """The surroundings of a top.

    Attributes:
        is_smooth: whether it is a top like any other.
        is_cusp: whether the function is steeper the nearer: nothing tells it from other points of its crease then.
        rise: a direction (d,) along the crease in which the function is curved upward, or None.
        curve: the Hessian (d, d) of a parabola that is as wide as the top down to the height of the surroundings.
        top: where the parabola along the crease has its top, from here (d,).
    """

    is_smooth: bool
    is_cusp: bool
    rise: Array | None
    curve: Array
    top: Array


def _steps(axes: Array) -> Array:
    """Steps (n, d) on both sides of d axes (d, d), shorter ones, and between every two."""
    i, j = np.triu_indices(len(axes), 1)
    near = np.array([1.0, -1.0, _NEARER, -_NEARER])[:, None, None] * axes
    return np.concatenate([near.reshape(-1, len(axes)), axes[i] + axes[j]])


def points_around(box: Box, point: Array, axes: Array) -> Array:
    """Points (n, d) inside the box on both sides of a point along each axis (d, d), nearer ones, and between axes."""
    return np.clip(point + AROUND * _steps(axes), box.lower_unit, box.upper_unit)


def relief(point: Array, value: float, axes: Array, where: Array, values: Array, height: float, slack: float) -> Relief:
    """What values at `points_around` say.

    Args:
        point, value: the top.
        axes: orthonormal (d, d), along the crease and across it.
        where, values: the points and what was found there.
        height: of the top over the surroundings.
        slack: differences of values that mean nothing.
    """
    d = len(axes)
    is_inside = np.abs(where - point - AROUND * _steps(axes)).max(axis=1) < _THIN * AROUND
    fall = np.where(is_inside, value - values, np.nan)
    falls = fall[: 4 * d].reshape(2, 2, d)  # (distance, side, axis)
    far, near = _mean(falls)  # of both sides: without the slope
    is_smooth = (np.abs(far) >= _LINEAR * np.abs(near)) & np.isfinite(falls).all(axis=(0, 1))
    curves = np.where(is_smooth, 2.0, 2.0 * far / height) * far / AROUND**2
    curve = -(axes.T * np.maximum(curves, _TINY)) @ axes
    is_cusp = bool(((far < _CUSP * near) & (near > slack)).any())
    if not is_smooth.any():
        return Relief(False, is_cusp, None, curve, np.zeros(d))
    g, H = _parabola(falls[0][:, is_smooth], fall[4 * d :], is_smooth)
    eigenvalues, vectors = np.linalg.eigh(H)
    along = vectors.T @ axes[is_smooth]
    rise = along[-1] if 0.5 * eigenvalues[-1] * AROUND**2 > 10.0 * slack else None
    steps = g @ vectors / np.maximum(np.abs(eigenvalues), _TINY)
    top = np.clip(steps, -_FARTHEST, _FARTHEST) @ along
    return Relief(bool(is_smooth.all()), is_cusp, rise, curve, top)


def _mean(falls: Array) -> Array:
    """Over both sides (distance, side, axis), or that of the one that is there."""
    count = np.isfinite(falls).sum(axis=1)
    return np.asarray(np.where(np.isfinite(falls), falls, 0.0).sum(axis=1) / np.maximum(count, 1))


def _parabola(falls: Array, between: Array, is_smooth: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Gradient and Hessian along smooth axes, from falls on both sides (2, n) and between all axes."""
    d = len(is_smooth)
    pairs = np.full((d, d), np.nan)
    pairs[np.triu_indices(d, 1)] = between
    pairs = np.fmax(pairs, pairs.T)[is_smooth][:, is_smooth]
    H = (falls[0][:, None] + falls[0] - pairs) / AROUND**2
    H = np.where(np.isfinite(H), H, 0.0)
    np.fill_diagonal(H, -falls.sum(axis=0) / AROUND**2)
    return (falls[1] - falls[0]) / (2.0 * AROUND), H
