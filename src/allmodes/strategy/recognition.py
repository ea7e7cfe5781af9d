"""Which launches are falling into a mode that is known already."""

from __future__ import annotations

from typing import NamedTuple

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
    by_top, by_slope = bool(has_top.any()), search.order < 2 and not has_top.all()
    if not (by_top or by_slope):
        return np.full(len(point), -1)
    near = _near(search, np.where(has_top[:, None], tops, point), point, value)
    if by_top:
        accepted, measure = _by_model(search, near, tops, value + gains)
        accepted &= has_top[:, None]
    if by_slope:
        is_alike, miss = _by_gradient(search, near, value, g)
        if by_top:
            accepted |= is_alike & ~has_top[:, None]
            measure = np.where(has_top[:, None], measure, miss)
        else:
            accepted, measure = is_alike, miss
    return _best(accepted, measure, near.modes)


def _best(accepted: NDArray[np.bool_], measure: Array, modes: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each launch the accepted mode of the smallest measure, or -1; all (n, k)."""
    if not accepted.any():
        return np.full(len(modes), -1)
    rows = np.arange(len(modes))
    which = np.where(accepted, measure, np.inf).argmin(axis=1)
    return np.where(accepted[rows, which], modes[rows, which], -1)


class _Near(NamedTuple):
    """The k modes closest to each launch, (n, k): their numbers, components, heights, how far off and how high above.

    `apart` holds squares in the metrics of the modes, `whitened` the differences themselves.
    """

    modes: NDArray[np.intp]
    means: Array
    C: Array
    heights: Array
    whitened: Array
    apart: Array
    climb: Array


def _near(search: Search, anchor: Array, point: Array, value: Array) -> _Near:
    archive = search.archive
    modes = archive.neighbours(anchor)
    means, C, heights = archive.means[modes], archive.components.factors.C[modes], archive.values[modes]
    whitened = _whitened(search, point, means, C)
    climb = np.maximum(heights - value[:, None], _TINY * search.scale)
    return _Near(modes, means, C, heights, whitened, _squares(whitened), climb)


def _whitened(search: Search, points: Array, means: Array, C: Array) -> Array:
    return (search.box.difference(points[:, None], means)[..., None, :] @ C)[..., 0, :]


def _squares(whitened: Array) -> Array:
    return np.einsum("nkd,nkd->nk", whitened, whitened)


def _by_model(search: Search, near: _Near, tops: Array, heights: Array) -> tuple[NDArray[np.bool_], Array]:
    """Which modes the tops of models (n, d) with these heights (n,) agree with, and the distances from them."""
    top_apart = _squares(_whitened(search, tops, near.means, near.C))
    miss = np.abs(heights[:, None] - near.heights)
    return (top_apart < _CLOSER**2 * near.apart) & (miss < _AGREEMENT * near.climb), top_apart


def _by_gradient(search: Search, near: _Near, value: Array, g: Array) -> tuple[NDArray[np.bool_], Array]:
    """Which components agree with value and gradient where the launch is, and by how much the gradient misses."""
    apart, heights = near.apart, near.heights
    pulled = (g[:, None, None, :] @ search.archive.components.factors.A[near.modes])[..., 0, :]  # A_j^T g
    missing = _squares(pulled + near.whitened)
    inside = apart < np.maximum(heights - search.level, 1e-3 * search.scale)
    accepted = inside & (missing < _CLOSER**2 * apart)
    accepted &= np.abs(value[:, None] - heights + 0.5 * apart) < _AGREEMENT * near.climb
    return accepted, missing / np.maximum(apart, 1e-300)
