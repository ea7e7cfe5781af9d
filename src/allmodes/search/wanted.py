"""Which modes the user wants listed: not much worse than the best, and not too close to better ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.search.context import Context


def is_wanted(context: Context) -> NDArray[np.bool_]:
    """Which modes qualify, (J,): of images of one another all or none; the best always does."""
    archive, within, least = context.archive, context.within, context.min_distance
    wanted = np.ones(len(archive), np.bool_)
    if not len(archive) or (np.isinf(within) and not least):
        return wanted
    wanted = archive.values >= archive.best - within - (context.tolerances.tie if np.isfinite(within) else 0.0)
    if not least:
        return wanted
    own = archive.own[wanted[archive.own]]
    kept: list[int] = []
    for j in own[np.lexsort((own, -archive.values[own]))].tolist():
        others = np.concatenate([archive.orbit(k) for k in kept]) if kept else np.zeros(0, np.intp)
        apart = np.abs(context.box.difference(archive.means[others], archive.means[j])).max(axis=1, initial=0.0)
        if not len(apart) or apart.min() >= least:
            kept.append(j)
    return np.isin(archive.primary, kept)


def left_out(context: Context, within: float | None) -> str:
    """How many modes were found and are not listed, and why, in words; empty if there are none."""
    archive, own = context.archive, context.archive.own
    if not len(own):
        return ""
    wanted = is_wanted(context)[own]
    worse = archive.values[own] < archive.best - context.within - context.tolerances.tie
    parts = []
    if np.isfinite(context.within) and worse.any():
        parts.append(f"{counted(int(worse.sum()), 'mode')} worse than the best by more than {within:g}")
    close = int((~wanted & ~(worse & np.isfinite(context.within))).sum())
    if close:
        parts.append(f"{counted(close, 'mode')} closer than {context.min_distance:g} of the bounds to better ones")
    return f"left out: {' and '.join(parts)}" if parts else ""
