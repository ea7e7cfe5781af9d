"""Which local searches are falling into a mode that is known already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import LOCAL
from allmodes.search.context import Context
from allmodes.search.curvature import squares
from allmodes.search.searchers.local.table import Rows, Table
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def recognise(
    context: Context, point: Array, value: Array, g: Array, peaks: Array, gains: Array, has_peak: Mask
) -> NDArray[np.intp]:
    """The mode that each search is falling into, (n,), or -1.

    A search with a measured model belongs to mode j when the maximum y of its model is much closer to m_j than the
    search itself, |y - m_j| < 0.5 |z - m_j| in the metric A_j, and as high: |f + gain - l_j| < 0.5 (l_j - f). One
    without is compared with the frozen component's own gradient and value, inside the component's upper half. Where
    checks were wrong, less than 0.5 is tolerated.

    Args:
        point, value, g: where the searches are, (n, d), (n,) and (n, d).
        peaks, gains: the maxima of their models (n, d), and how much higher they are (n,).
        has_peak: whether a model was measured and has a maximum.
    """
    n, share, archive = len(point), TUNING.agreement / context.checks.strictness, context.archive
    by_model, by_slope = bool(has_peak.any()), context.order < 2 and not has_peak.all()
    if not (by_model or by_slope):
        return np.full(n, -1)
    # The k modes closest to each search, (n, k), how far off in their metrics, and how much higher.
    modes = archive.neighbours(np.where(has_peak[:, None], peaks, point))
    means, heights, C = archive.means[modes], archive.values[modes], archive.factors.C[modes]
    whitened = _whitened(context, point, means, C)
    apart = _squares(whitened)
    least = share * np.maximum(heights - value[:, None], context.tolerances.rounding())
    accepted, miss = np.zeros(modes.shape, bool), np.zeros(modes.shape)
    if by_model:
        miss = _squares(_whitened(context, peaks, means, C))
        is_as_high = np.abs((value + gains)[:, None] - heights) < least
        accepted = has_peak[:, None] & (miss < share**2 * apart) & is_as_high
    if by_slope:
        pulled = (g[:, None, None, :] @ archive.factors.A[modes])[..., 0, :]  # A_j^T g
        missing = _squares(pulled + whitened)
        is_alike = (apart < heights - context.level) & (missing < share**2 * apart)
        is_alike &= np.abs(value[:, None] - heights + 0.5 * apart) < least
        accepted |= is_alike & ~has_peak[:, None]
        miss = np.where(has_peak[:, None], miss, missing / np.maximum(apart, TINY))
    if not accepted.any():
        return np.full(n, -1)
    best = np.arange(n), np.where(accepted, miss, np.inf).argmin(axis=1)
    return np.where(accepted[best], modes[best], -1)


def recognise_by_peak(context: Context, point: Array, value: Array, peaks: Array, gains: Array) -> NDArray[np.intp]:
    """The same in many dimensions, where no model is measured: by its maximum, in the nearest mode's own metric."""
    archive, share = context.archive, TUNING.agreement / context.checks.strictness
    known, nearest = np.full(len(point), -1), archive.nearest(peaks)[0]
    climbs = archive.values[nearest] - value
    apart, miss = (context.box.difference(each, archive.means[nearest]) for each in (point, peaks))
    for i in np.flatnonzero(np.abs(climbs - gains) < share * climbs).tolist():
        H = archive.records[int(nearest[i])].hessian
        off, far = squares(H, np.stack([miss[i], apart[i]]))
        known[i] = nearest[i] if off < share**2 * far else -1
    return known


def stopped(context: Context, table: Table, rows: Rows, known: NDArray[np.intp]) -> NDArray[np.intp]:
    """The known modes (n,) that searches are stopped for, or -1: some run on, to check that it is the right one."""
    for i in (known >= 0).nonzero()[0].tolist():
        k, mode = int(rows[i]), int(known[i])
        origin = table.begun(k)
        if table.is_awaited[k]:
            known[i] = -1
        elif origin.member == LOCAL and context.checks.is_due(origin.number):
            table.run_on(k, mode)
            known[i] = -1
    return known


def _whitened(context: Context, points: Array, means: Array, C: Array) -> Array:
    return (context.box.difference(points[:, None], means)[..., None, :] @ C)[..., 0, :]


def _squares(whitened: Array) -> Array:
    return np.einsum("nkd,nkd->nk", whitened, whitened)
