"""Points and bounds: which coordinates are held, how far one can go, where straight distances are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box

Array = NDArray[np.float64]


def is_held(box: Box, point: Array, g: Array) -> NDArray[np.bool_]:
    """Coordinates (..., d) at a bound that the ascent pushes against."""
    lower, upper = box.edges
    return ((point <= lower) & (g < 0.0)) | ((point >= upper) & (g > 0.0))


def room(box: Box, point: Array, directions: Array) -> Array:
    """How far one can go from a point in directions (..., d) before a bound is met, (...)."""
    ends = np.where(directions > 0.0, box.upper_unit, box.lower_unit) - point
    return np.where(directions == 0.0, np.inf, ends / np.where(directions == 0.0, 1.0, directions)).min(axis=-1)


def clip(box: Box, points: Array) -> Array:
    """Points inside the bounds; periodic coordinates stay as they are."""
    return np.minimum(np.maximum(points, box.lower_unit), box.upper_unit)


def lengths(vectors: Array) -> Array:
    """Euclidean lengths (...) of vectors (..., d)."""
    return np.sqrt(np.einsum("...d,...d->...", vectors, vectors))


def embed(box: Box, points: Array) -> Array:
    """Points whose straight distances are right: periodic coordinates become circles of length one."""
    places = box.periodic_unit
    if not places.size:
        return points
    angle = 2 * np.pi * points[:, places]
    rest = np.delete(points, places, axis=1)
    return np.concatenate([rest, np.cos(angle) / (2 * np.pi), np.sin(angle) / (2 * np.pi)], axis=1)
