"""The disconnectivity tree: lines end at the values of modes, and join at the barriers between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.report import canvas, marks
from allmodes.result import Result
from allmodes.result.barriers import Barriers

_SIZE = (6.4, 4.4)
_WIDE = 0.16  # inches for each mode, where they are many
_WIDEST = 12.0
_NUMBERED = 30  # modes that bear their rank
_ROOM = 0.06  # of the picture, beyond the best and the worst value
_LARGE = 60  # modes up to which markers have their full size
_WIDTHS = (1.2, 0.6)  # of lines, for few modes and for many
_SHORT = 1.5  # heights of its letters: nearer to a rank that is written a further one is not

Floats = NDArray[np.float64]


class Fork(NamedTuple):
    """Two groups join: where their lines are and begin, the better one first, at which level, and if at a saddle."""

    x: tuple[float, float]
    feet: tuple[float, float]
    level: float
    is_saddle: bool


class Layout(NamedTuple):
    """Where the lines of a tree are.

    Attributes:
        x: of the modes (n,), by rank.
        forks: where groups join, best values first.
        tops: (x, foot) of groups that nothing joins with others; of a whole tree its trunk.
    """

    x: Floats
    forks: list[Fork]
    tops: list[tuple[float, float]]


def arrange(barriers: Barriers) -> Layout:
    """Modes side by side so that no lines cross, the best one of every group as far inside as can be."""
    n = len(barriers.values)
    groups = {rank: [rank] for rank in range(1, n + 1)}  # ranks from left to right, by the best
    for merge in barriers.merges:
        inner, outer = groups[merge.better[0]], groups.pop(merge.worse[0])
        place = inner.index(merge.better[0])
        is_right = place >= len(inner) - 1 - place
        groups[merge.better[0]] = inner + outer if is_right else outer + inner
    x = np.zeros(n)
    x[np.concatenate([np.zeros(0, int), *groups.values()]).astype(int) - 1] = np.arange(n)
    heads = {rank: (float(x[rank - 1]), float(barriers.values[rank - 1])) for rank in range(1, n + 1)}
    forks = []
    for merge in barriers.merges:
        trunk, branch = heads[merge.better[0]], heads.pop(merge.worse[0])
        forks.append(Fork((trunk[0], branch[0]), (trunk[1], branch[1]), merge.value, merge.way.is_saddle))
        heads[merge.better[0]] = trunk[0], merge.value
    return Layout(x, forks, list(heads.values()))


def limits(barriers: Barriers) -> tuple[float, float]:
    """What to show of the values."""
    known = np.concatenate([barriers.values, [merge.value for merge in barriers.merges]])
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = _ROOM * (high - low) if high > low else max(1.0, 0.1 * abs(high))
    return low - 1.6 * room, high + 1.6 * room


def tree(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.tree`."""
    n = len(result.modes)
    ax = canvas.axes_or_new(ax, (float(np.clip(_WIDE * n, _SIZE[0], _WIDEST)), _SIZE[1]))
    if result.barriers is None:
        raise ValueError("this result has no barriers yet; in Python result = result.connect(fun) finds them.")
    if not n:
        return canvas.say(ax, "No mode was found.")
    barriers = result.barriers
    laid = arrange(barriers)
    low, high = limits(barriers)
    ax.set(xlim=(-0.8, n - 0.2), ylim=(low, high), xticks=[], ylabel="cost" if result.is_fit else "value")
    ax.ticklabel_format(axis="y", useOffset=False)
    entries = _draw_lines(laid, low if barriers.maximise else high, ax)
    _draw_modes(result, laid.x, ax)
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    joined = counted(len(barriers.ways), "way")
    text = f"{counted(n, 'mode')}, {joined} between them in {counted(barriers.nfev, 'evaluation')}"
    canvas.set_title(ax, text + ("" if barriers.is_complete else "; ended by maxfev"))
    canvas.legend_below(ax, marks.legend_of(result.modes) + entries)
    return ax


def _draw_lines(laid: Layout, end: float, ax: Any) -> list[Any]:
    """Lines from modes to where they join, and on; returns entries of a legend."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    width = _WIDTHS[len(laid.x) > _LARGE]
    style: dict[str, Any] = {"color": "0.35", "linewidth": 1.2}
    up = [((x, foot), (x, fork.level)) for fork in laid.forks for x, foot in zip(fork.x, fork.feet, strict=True)]
    across = {
        known: [[(x, fork.level) for x in fork.x] for fork in laid.forks if fork.is_saddle is known]
        for known in (True, False)
    }
    trunks = [((x, foot), (x, end)) for x, foot in laid.tops]
    ax.add_collection(LineCollection([*up, *across[True]], colors="0.35", linewidths=width, zorder=2, capstyle="round"))
    ax.add_collection(LineCollection(across[False], colors="0.35", linewidths=width, linestyles=":", zorder=2))
    is_whole = len(laid.tops) == 1
    if not is_whole:
        ax.add_collection(LineCollection(trunks, colors="0.6", linewidths=1.0, linestyles="--", zorder=1))
    entries = []
    if across[True]:
        entries.append(Line2D([], [], **style, label="joined at a saddle"))
    if across[False]:
        entries.append(Line2D([], [], **style, linestyle=":", label="at the worst point seen"))
    if not is_whole:
        entries.append(Line2D([], [], color="0.6", linestyle="--", label="no way known"))
    return entries


def _draw_modes(result: Result, x: Floats, ax: Any) -> None:
    """Markers where lines end, and the ranks of the best modes beyond them where there is room."""
    assert result.barriers is not None
    sign, n = (1.0 if result.maximise else -1.0), len(result.modes)
    for i in range(n - 1, -1, -1):
        ax.plot(x[i], result.modes[i].fun, **marks.appearance(result.modes[i]), markersize=6.0 if n <= _LARGE else 3.0,
                zorder=5)  # fmt: skip
    written: list[int] = []
    room = _SHORT * canvas.SMALL * n / max(canvas.size_in_points(ax)[0], 1.0)
    for i in range(n):
        if len(written) == _NUMBERED or (np.abs(x[written] - x[i]) < min(room, 1.0) * 0.999).any():
            continue
        if n > _LARGE and written and np.abs(x[written] - x[i]).min() < room:
            continue
        written.append(i)
        ax.annotate(str(i + 1), (x[i], result.modes[i].fun), xytext=(0.0, 7.0 * sign), textcoords="offset points",
                    ha="center", va="bottom" if sign > 0 else "top", fontsize=canvas.SMALL, zorder=6)  # fmt: skip
