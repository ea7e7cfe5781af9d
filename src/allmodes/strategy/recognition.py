"""Which launches are falling into a mode that is known already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.strategy.search import Search

Array = NDArray[np.float64]

_CLOSER = 0.5  # the model's top must lie within this share of the launch's distance to the mode
_AGREEMENT = 0.5  # and its height miss the mode's by less than this share of the climb that is left
_TINY = 1e-12


def recognise(
    search: Search, point: Array, value: Array, g: Array, tops: Array, gains: Array, has_top: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The mode each launch is falling into, (n,), or -1.

    A launch with a measured model belongs to mode j when the top y of its model is much closer to m_j than the launch
    itself, |y - m_j| < 0.5 |z - m_j| in the metric A_j, and as high: |f + gain - l_j| < 0.5 (l_j - f). One without is
    compared with the frozen component's own gradient and value, inside the component's upper half.
    """
    known = np.full(len(point), -1)
    if has_top.any():
        known[has_top] = _by_model(search, point[has_top], value[has_top], tops[has_top], gains[has_top])
    if search.order < 2 and not has_top.all():
        rest = ~has_top
        known[rest] = _by_gradient(search, point[rest], value[rest], g[rest])
    return known


def _best(accepted: NDArray[np.bool_], measure: Array, modes: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each launch the accepted mode of the smallest measure, or -1; all (n, k)."""
    which = np.where(accepted, measure, np.inf).argmin(axis=1)[:, None]
    chosen = np.take_along_axis(modes, which, axis=1)[:, 0]
    return np.where(accepted.any(axis=1), chosen, -1)


def _squares(whitened: Array) -> Array:
    return np.einsum("nkd,nkd->nk", whitened, whitened)


def _by_model(search: Search, point: Array, value: Array, tops: Array, gains: Array) -> NDArray[np.intp]:
    archive = search.archive
    modes = archive.neighbours(tops)
    top_apart, apart = (_squares(archive.whitened_at(where, modes)) for where in (tops, point))
    heights = archive.values[modes]
    climb = np.maximum(heights - value[:, None], _TINY * search.scale)
    miss = np.abs((value + gains)[:, None] - heights)
    accepted = (top_apart < _CLOSER**2 * apart) & (miss < _AGREEMENT * climb)
    return _best(accepted, top_apart, modes)


def _by_gradient(search: Search, point: Array, value: Array, g: Array) -> NDArray[np.intp]:
    archive = search.archive
    modes = archive.neighbours(point)
    whitened = archive.whitened_at(point, modes)
    apart = _squares(whitened)
    pulled = (g[:, None, None, :] @ archive.components.factors.A[modes])[..., 0, :]  # A_j^T g
    missing = _squares(pulled + whitened)
    heights = archive.values[modes]
    climb = np.maximum(heights - value[:, None], _TINY * search.scale)
    inside = apart < np.maximum(heights - search.level, 1e-3 * search.scale)
    accepted = (
        inside & (missing < _CLOSER**2 * apart) & (np.abs(value[:, None] - heights + 0.5 * apart) < _AGREEMENT * climb)
    )
    return _best(accepted, missing / np.maximum(apart, 1e-300), modes)
