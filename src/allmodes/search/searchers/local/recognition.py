"""Which local searches are falling into a mode that is known already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LEAST_CLIMB = 1e-12  # of the scale: taken to be left where a search is as high as the mode


def recognise(
    context: Context, point: Array, value: Array, g: Array, peaks: Array, gains: Array, has_peak: Mask
) -> NDArray[np.intp]:
    """The mode that each search is falling into, (n,), or -1.

    A search with a measured model belongs to mode j when the maximum y of its model is much closer to m_j than the
    search itself, |y - m_j| < 0.5 |z - m_j| in the metric A_j, and as high: |f + gain - l_j| < 0.5 (l_j - f). One
    without is compared with the frozen component's own gradient and value, inside the component's upper half.

    Args:
        point, value, g: where the searches are, (n, d), (n,) and (n, d).
        peaks, gains: the maxima of their models (n, d), and how much higher they are (n,).
        has_peak: whether a model was measured and has a maximum.
    """
    by_model, by_slope = bool(has_peak.any()), context.order < 2 and not has_peak.all()
    if not (by_model or by_slope):
        return np.full(len(point), -1)
    near = _near(context, np.where(has_peak[:, None], peaks, point), point, value)
    if by_model:
        accepted, measure = _by_model(context, near, peaks, value + gains)
        accepted &= has_peak[:, None]
    if by_slope:
        is_alike, miss = _by_gradient(context, near, value, g)
        if by_model:
            accepted |= is_alike & ~has_peak[:, None]
            measure = np.where(has_peak[:, None], measure, miss)
        else:
            accepted, measure = is_alike, miss
    return _best(accepted, measure, near.modes)


def _best(accepted: Mask, measure: Array, modes: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each search the accepted mode of the smallest measure, or -1; all (n, k)."""
    if not accepted.any():
        return np.full(len(modes), -1)
    rows = np.arange(len(modes))
    which = np.where(accepted, measure, np.inf).argmin(axis=1)
    return np.where(accepted[rows, which], modes[rows, which], -1)


class _Near(NamedTuple):
    """The k modes closest to each search, (n, k): their numbers, components, heights, how far off and how high above.

    `apart` holds squares in the metrics of the modes, `whitened` the differences themselves.
    """

    modes: NDArray[np.intp]
    means: Array
    C: Array
    heights: Array
    whitened: Array
    apart: Array
    climb: Array


def _near(context: Context, anchor: Array, point: Array, value: Array) -> _Near:
    archive = context.archive
    modes = archive.neighbours(anchor)
    means, C, heights = archive.means[modes], archive.components.factors.C[modes], archive.values[modes]
    whitened = _whitened(context, point, means, C)
    climb = np.maximum(heights - value[:, None], _LEAST_CLIMB * context.scale)
    return _Near(modes, means, C, heights, whitened, _squares(whitened), climb)


def _whitened(context: Context, points: Array, means: Array, C: Array) -> Array:
    return (context.box.difference(points[:, None], means)[..., None, :] @ C)[..., 0, :]


def _squares(whitened: Array) -> Array:
    return np.einsum("nkd,nkd->nk", whitened, whitened)


def _by_model(context: Context, near: _Near, peaks: Array, heights: Array) -> tuple[Mask, Array]:
    """Which modes the maxima of models (n, d) with these heights (n,) agree with, and the distances from them."""
    share = TUNING.agreement
    peak_apart = _squares(_whitened(context, peaks, near.means, near.C))
    miss = np.abs(heights[:, None] - near.heights)
    return (peak_apart < share**2 * near.apart) & (miss < share * near.climb), peak_apart


def _by_gradient(context: Context, near: _Near, value: Array, g: Array) -> tuple[Mask, Array]:
    """Which components agree with value and gradient where the search is, and by how much the gradient misses."""
    share, apart, heights = TUNING.agreement, near.apart, near.heights
    pulled = (g[:, None, None, :] @ context.archive.components.factors.A[near.modes])[..., 0, :]  # A_j^T g
    missing = _squares(pulled + near.whitened)
    inside = apart < np.maximum(heights - context.level, 1e-3 * context.scale)
    accepted = inside & (missing < share**2 * apart)
    accepted &= np.abs(value[:, None] - heights + 0.5 * apart) < share * near.climb
    return accepted, missing / np.maximum(apart, TINY)
