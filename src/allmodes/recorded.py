"""What a search has recorded on its way, in the user's coordinates and sign."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.frame import Frame
from allmodes.result import AnnealingTrace, Paths
from allmodes.search.context import Context

Array = NDArray[np.float64]


def paths_of(context: Context, frame: Frame) -> Paths:
    """Where local searches went, in the user's coordinates and sign."""
    numbers, points, values = context.paths.sorted()
    if not len(points):
        return Paths(context.paths.begun, points=np.zeros((0, frame.box.D)))
    outside = frame.sign / (frame.factor or 1.0) * values
    return Paths(context.paths.begun, numbers, frame.box.to_user(points), outside)


def trace_of(context: Context, frame: Frame) -> AnnealingTrace | None:
    """How annealing went, in the user's coordinates; None if there was none."""
    frames, box = context.frames.frames, frame.box
    if not frames:
        return None
    run, step, nfev = (np.array(column, dtype=np.int64) for column in list(zip(*frames, strict=True))[:3])
    temperature = np.array([each.temperature for each in frames]) / (frame.factor or 1.0)
    ends = np.cumsum([len(each.means) for each in frames])[:-1]
    means = np.split(box.to_user(box.project(np.concatenate([each.means for each in frames]))), ends)
    squares = {2: box.scale**2, 3: box.scale[:, None] * box.scale}
    spreads = [_spread(box, each.covariances * squares[each.covariances.ndim]) for each in frames]
    return AnnealingTrace(run, step, nfev, temperature, [each.weights for each in frames], means, spreads)


def symmetries_of(maps: list[Array], frame: Frame) -> tuple[Array, ...]:
    """Symmetries as matrices (D, D): coordinates that are fixed stay what they are."""
    whole = np.broadcast_to(np.eye(frame.box.D), (len(maps), frame.box.D, frame.box.D)).copy()
    places = np.flatnonzero(frame.box.free)
    whole[:, places[:, None], places] = np.reshape(maps, (len(maps), len(places), len(places)))
    return tuple(whole)


def _spread(box: Box, part: Array) -> Array:
    """Covariances (K, d, d) or variances (K, d), with zeros for the coordinates that are fixed."""
    if box.d == box.D:
        return part
    places = np.flatnonzero(box.free)
    outside = np.zeros((len(part), *(box.D,) * (part.ndim - 1)))
    if part.ndim == 2:
        outside[:, places] = part
    else:
        outside[:, places[:, None], places] = part
    return outside
