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
    spreads = []
    for each, centres in zip(frames, means, strict=True):
        slopes = box.slopes(centres)
        squares = slopes**2 if each.covariances.ndim == 2 else slopes[..., :, None] * slopes[..., None, :]
        spreads.append(_spread(box, each.covariances * squares))
    return AnnealingTrace(run, step, nfev, temperature, [each.weights for each in frames], means, spreads)


def symmetries_of(maps: list[Array], frame: Frame) -> tuple[Array, ...]:
    """Symmetries as matrices (D, D): coordinates that are fixed stay what they are.

    Those of logarithms that are no matrices in the user's coordinates (a change of sign is 1 / x) are left out.
    """
    maps = [M for M in maps if _is_linear(M, frame.box)]
    whole = np.broadcast_to(np.eye(frame.box.D), (len(maps), frame.box.D, frame.box.D)).copy()
    places = np.flatnonzero(frame.box.free)
    whole[:, places[:, None], places] = np.reshape(maps, (len(maps), len(places), len(places)))
    return tuple(whole)


def _is_linear(M: Array, box: Box) -> bool:
    """Whether a map of what is searched is the same map of the user's coordinates."""
    if box.is_log is None:
        return True
    is_log = box.is_log[box.free]
    mixes = M[np.ix_(is_log, ~is_log)].any() or M[np.ix_(~is_log, is_log)].any()
    logs = M[np.ix_(is_log, is_log)]
    return not mixes and bool(((logs == 0.0) | (logs == 1.0)).all() and (logs.sum(axis=1) == 1.0).all())


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
