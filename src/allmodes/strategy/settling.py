"""What a launch has arrived at: a top, a boundary, level ground, or something else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.strategy.batch import Batch
from allmodes.strategy.search import Search

Array = NDArray[np.float64]

_LEVEL = 1e-5  # curvature that counts as none, as a share of the largest and of the function's scale over the box
_ROUNDING = 1e-8  # rounding of a value over the square of a step of 1e-3, with room
_PROBES = np.array([0.003, -0.003, 0.03, -0.03])  # of the box: how far level directions are probed
_BETWEEN = np.arange(1, 6) / 6.0  # where the way to another mode is probed


def is_held(box: Box, point: Array, g: Array) -> NDArray[np.bool_]:
    """Coordinates (d,) at a bound that the ascent pushes against."""
    return ((point <= box.lower_unit) & (g < 0.0)) | ((point >= box.upper_unit) & (g > 0.0))


def kind_of(search: Search, batch: Batch, k: int) -> str:
    """"optimum", "boundary", "flat", or "" for a point that is none of these, by the measured curvature."""
    held = is_held(search.box, batch.point[k], batch.gradient[k])
    free = np.flatnonzero(~held)
    if not len(free):
        return "boundary"
    eigenvalues = np.linalg.eigvalsh(batch.hessian[k][np.ix_(free, free)])
    level = max(_LEVEL * max(np.abs(eigenvalues).max(), search.scale), _noise(search, batch.value[k]))
    if eigenvalues[-1] > level:
        return ""
    if eigenvalues[-1] >= -level:
        return "flat"
    return "boundary" if held.any() else "optimum"


def _noise(search: Search, value: float) -> float:
    """Curvature that rounding of values may pretend, when it comes from differences of them."""
    return _ROUNDING * abs(value) if search.order == 0 else 0.0


def closest(search: Search, point: Array) -> tuple[int, float]:
    """The closest mode and the largest coordinate of the difference; wants a mode."""
    apart = np.abs(search.box.difference(search.archive.means, point)).max(axis=1)
    return int(apart.argmin()), float(apart.min())


def flat_probes(search: Search, batch: Batch, rows: NDArray[np.intp]) -> Array:
    """Points (n, 4 d, d) on both sides along every axis of the curvature, at two distances."""
    vectors = np.linalg.eigh(batch.hessian[rows])[1].swapaxes(1, 2)
    probes = batch.point[rows][:, None, None] + _PROBES[:, None, None] * vectors[:, None]
    box = search.box
    probes = np.minimum(np.maximum(probes, box.lower_unit), box.upper_unit)
    return probes.reshape(len(rows), -1, box.d)


def is_plateau(search: Search, batch: Batch, k: int) -> bool:
    """Level ground in every direction, below the best value seen: nothing says that it is a top."""
    level = max(_LEVEL * search.scale, _noise(search, batch.value[k]))
    is_level = bool(np.abs(batch.hessian[k]).max(initial=0.0) <= level)
    return is_level and bool(batch.value[k] < search.best_value - search.rounding)


def valley_points(search: Search, batch: Batch, rows: NDArray[np.intp]) -> Array:
    """Points (n, 5, d) between each launch and the mode it may turn out to be."""
    rivals = search.archive.means[batch.rival[rows]]
    way = search.box.difference(rivals, batch.point[rows])
    return batch.point[rows][:, None] + _BETWEEN[:, None] * way[:, None]
