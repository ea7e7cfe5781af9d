"""The values at which the runs of an audit ended, best first: plateaus are modes, and what is not on one shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.modes.grouping import STOPS
from allmodes.report import canvas
from allmodes.result import Audit, Result
from allmodes.result.audit import ALONE

_SIZE = (6.8, 4.0)
_LABELLED = 24  # plateaus
_SHORTEST = 0.03  # of the width: a plateau with a number
_ABOVE = 2.0  # times the range of the modes: worse ends are drawn at the rim
_MOST = 0.9  # of the ends: their range counts where that of the modes is none
_ROOM = 0.06  # of the height, around what is shown
_LOGARITHMIC = 100.0  # worst over best value of a mode, from which on the axis is

Floats = NDArray[np.float64]


def waterfall_of_ends(result: Result, audit: Audit, ax: Any = None) -> Any:
    """All ends by value, coloured by how many ended in the same mode; crosses are not at an optimum."""
    ax = canvas.axes_or_new(ax, _SIZE)
    rows = np.flatnonzero(np.isfinite(audit.values))
    if not len(rows):
        return canvas.say(ax, "No end has a value.")
    sign = -1.0 if result.maximise else 1.0
    is_there = (audit.labels >= 0) & (audit.codes <= ALONE)
    height = np.array([mode.fun for mode in result.modes] or [0.0])[audit.labels]
    height = sign * np.where(is_there, height, audit.values)
    order = np.lexsort((sign * audit.values, audit.labels, height))  # those of one mode beside each other
    rows = order[np.isin(order, rows)]
    values, labels, is_there = audit.values[rows], audit.labels[rows], is_there[rows]
    rank = np.arange(1, len(rows) + 1)
    rim = _rim(ax, result, sign, values)
    is_beyond = sign * values > sign * rim
    shown = np.where(is_beyond, rim, values)
    others = ~is_there & ~is_beyond
    ax.plot(rank[others], shown[others], "x", color=canvas.REFERENCE, markersize=4.0, label="not at an optimum")
    if is_beyond.any():
        text = f"{counted(int(is_beyond.sum()), 'end')} beyond"
        ax.plot(rank[is_beyond], shown[is_beyond], "v" if sign < 0 else "^", color="0.7", markersize=4.0, label=text)
    if is_there.any():
        _plateaus(ax, result, rank[is_there], shown[is_there], labels[is_there])
    if others.any() or is_beyond.any():
        ax.legend(fontsize=canvas.SMALL, frameon=False, loc="upper left" if sign > 0 else "lower left")
    ax.set(xlabel="run, best first", ylabel="value")
    what = "mode" if audit.is_checked else "distinct place"
    canvas.set_title(ax, f"{counted(len(audit), 'run')}, {counted(len(result.modes), what)}")
    return ax


def _rim(ax: Any, result: Result, sign: float, values: Floats) -> float:
    """The worst value that is drawn where it is; the axis is made to suit."""
    known = np.array([mode.fun for mode in result.modes])
    ordered = np.sort(sign * values)
    best = sign * ordered[0]
    spread = max(_ABOVE * float(np.ptp(known)) if len(known) else 0.0, float(np.quantile(ordered, _MOST) - ordered[0]))
    if not result.maximise and len(known) and ordered[0] > 0.0 and known.max() > _LOGARITHMIC * np.median(known):
        ax.set_yscale("log")
        return float(ordered[-1])
    rim = best + sign * max(spread, STOPS * max(abs(best), 1.0))
    top = best + sign * max(min(abs(rim - best), ordered[-1] - ordered[0]), STOPS * max(abs(best), 1.0))
    room = _ROOM * abs(top - best)
    ax.set_ylim(*sorted((best - sign * room, top + sign * room)))
    return float(rim)


def _plateaus(ax: Any, result: Result, rank: NDArray[np.intp], values: Floats, labels: NDArray[np.int64]) -> None:
    """Ends at modes, and the numbers of the modes that most of them are at."""
    from matplotlib.colors import LogNorm

    hits = np.array([mode.hits for mode in result.modes])
    norm = LogNorm(1.0, max(2.0, float(hits.max())))
    style = {"c": hits[labels], "cmap": canvas.VALUES, "norm": norm, "s": 12.0, "rasterized": True, "zorder": 2.5}
    drawn = ax.scatter(rank, values, **style)
    ax.figure.colorbar(drawn, ax=ax, label="runs in the same mode")
    often = [int(j) for j in np.argsort(-hits, kind="stable")[:_LABELLED] if (labels == j).any()]
    for j in often:
        mine = np.flatnonzero(labels == j)
        if len(mine) < _SHORTEST * rank[-1]:
            continue  # its number would not fit
        at = mine[len(mine) // 2]
        style = {"xytext": (0.0, 6.0), "textcoords": "offset points", "fontsize": 7.0, "ha": "center"}
        ax.annotate(f"{j + 1}", (rank[at], values[at]), **style)
