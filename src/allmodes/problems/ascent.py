"""From anywhere to a maximum: how modes are found where there is no formula for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, Objective
from allmodes.problems.problem import refine

_FLATTEST = 1e-6  # a smaller curvature, relative to the largest, does not lengthen the step further
_NO_CURVATURE = 1e-100  # stands for zero as a divisor
_ARRIVED = 1e-5  # a climb ends when its step is this share of the reach: smaller rises would drown in rounding
_REFINEMENTS = 3  # Newton steps after that, each of which doubles the digits
_MOST_STEPS = 200  # climbs need about 10; those still moving after 200 are on a plateau


def climb(objective: Objective, points: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Maxima uphill of the points (N, d), steps never longer than the reach; NaN where none was reached.

    Newton's method with curvatures by absolute value, so that every step points uphill, and shorter steps where a step
    did not rise.
    """
    here = objective.evaluate(points, GRADIENT | HESSIAN)
    size = np.ones(len(points))
    for _ in range(_MOST_STEPS):
        curvature, axes = np.linalg.eigh(here.hessian)
        curvature = np.abs(curvature)
        curvature = np.maximum(curvature, _FLATTEST * curvature.max(axis=1, keepdims=True) + _NO_CURVATURE)
        step = (axes @ ((axes.mT @ here.gradient[..., None]) / curvature[..., None]))[..., 0]
        length = np.linalg.norm(step, axis=1)
        if length.max() < _ARRIVED * reach:
            break
        step *= (size * np.minimum(1.0, reach / np.maximum(length, _ARRIVED * reach)))[:, None]
        there = objective.evaluate(points + step, GRADIENT | HESSIAN)
        is_higher = there.value > here.value
        points = np.where(is_higher[:, None], points + step, points)
        here = here._replace(
            value=np.where(is_higher, there.value, here.value),
            gradient=np.where(is_higher[:, None], there.gradient, here.gradient),
            hessian=np.where(is_higher[:, None, None], there.hessian, here.hessian),
        )
        size = np.where(is_higher, np.minimum(1.0, 2.0 * size), 0.25 * size)
    is_maximum = (length < _ARRIVED * reach) & (np.linalg.eigvalsh(here.hessian)[:, -1] < 0.0)
    maxima = np.full_like(points, np.nan)
    maxima[is_maximum] = refine(objective, points[is_maximum], _REFINEMENTS)
    return maxima


def distinct(points: NDArray[np.float64], apart: float) -> NDArray[np.float64]:
    """The points (N, d) without NaN and without those that repeat an earlier one in every coordinate."""
    points = points[np.isfinite(points).all(axis=1)]
    is_same = np.abs(points[:, None] - points[None]).max(axis=2) < apart
    return points[is_same.argmax(axis=1) == np.arange(len(points))]
