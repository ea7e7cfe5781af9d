"""Modes, ellipses and paths in a picture of two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.report import canvas
from allmodes.report.canvas import GLOBAL, LOCAL, PATH, WAY
from allmodes.result import Mode, Result

_SHAPES = {"minimum": "o", "maximum": "o", "boundary": "s", "constrained": "p", "flat": "D", "unverified": "^"}
_KINDS = {"o": "", "s": ", at a bound", "p": ", at a constraint", "D": ", flat", "^": ", unverified"}
_NUMBERED = 30  # modes that bear their rank
_CLOSE = 0.045  # of the picture: a number closer than this to a better one would hide it
_SIZES = (13.0, 5.0)  # of a mode with a number, and without
_PASSES = (6.5, 3.0)  # of a pass, where there are few and where there are many
_STANDARD_DEVIATIONS = 2.0
_ANGLES = 73
_LETTERS = 0.6  # size of a number, as a share of the marker it stands on
_PALE = 0.35  # opacity of modes beside the slice
_LARGEST = 1.0  # an ellipse wider than the plot says nothing
_MOST_DRAWN = 60  # paths: more would be a thicket

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ellipse(mean: Floats, covariance: Floats, colour: Any, ax: Any, **style: Any) -> Any:
    """The line of two standard deviations; nothing without a valid covariance."""
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return None
    angle = np.linspace(0.0, 2.0 * np.pi, _ANGLES)
    circle = _STANDARD_DEVIATIONS * np.stack([np.cos(angle), np.sin(angle)])
    (line,) = ax.plot(*(mean[:, None] + root @ circle), color=colour, **{"linewidth": 1.0, "zorder": 4} | style)
    return line


def covariance_of(result: Result, mode: Mode, pair: Sequence[int]) -> Floats | None:
    """Of the mode's component within the slice; None where it has none: at a bound, flat, or not known."""
    if mode.kind not in ("minimum", "maximum") or set(pair) & set(mode.active):
        return None
    H = (-1.0 if result.maximise else 1.0) * mode.hessian[np.ix_(pair, pair)]
    if not np.isfinite(H).all() or not np.isfinite(result.temperature):
        return None
    values, vectors = np.linalg.eigh(H)
    if values[0] <= 1e-12 * abs(values[-1]):
        return None
    return (vectors * (result.temperature / values)) @ vectors.T


def draw_ellipses(result: Result, pair: Sequence[int], ax: Any, is_off: Bools) -> bool:
    """One for every mode on the slice that has one of a sensible size; whether any reaches beyond its marker."""
    if any(canvas.is_log(result, i) for i in pair):
        return False  # in the user's coordinates they are ellipses, and on these axes they are not
    width = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    points = canvas.size_in_points(ax)
    is_seen = False
    for mode in (mode for mode, off in zip(result.modes, is_off, strict=True) if not off):
        covariance = covariance_of(result, mode, pair)
        if covariance is None:
            continue
        reach = _STANDARD_DEVIATIONS * np.sqrt(np.diag(covariance)) / width
        if (reach > _LARGEST).any():
            continue
        ellipse(mode.x[list(pair)], covariance, GLOBAL if mode.is_global else LOCAL, ax)
        is_seen |= bool((reach * points > 0.5 * _SIZES[0]).any())
    return is_seen


def draw_paths(result: Result, pair: Sequence[int], ax: Any) -> bool:
    """Where local searches went, evenly chosen from all that are kept; whether any was drawn."""
    paths = some_paths(result)
    for path in paths:
        line = broken(result, path)[:, list(pair)]
        ax.plot(*line.T, color=PATH, linewidth=0.8, alpha=0.6, zorder=2)
        ax.plot(*line[0], marker=".", markersize=3.0, color=PATH, alpha=0.6, zorder=2)
    return bool(paths)


def some_paths(result: Result) -> list[Floats]:
    """Paths of local searches, evenly chosen from all that are kept."""
    paths = [path for path in result.paths if len(path) > 1]
    return paths[:: -(-len(paths) // _MOST_DRAWN) or 1]


def draw_ways(result: Result, pair: Sequence[int], ax: Any) -> bool:
    """The ways that join the modes, with a cross at the worst point of each; whether any was drawn."""
    merges = () if result.barriers is None else result.barriers.merges
    size = _PASSES[len(merges) > _NUMBERED]
    for merge in merges:
        ax.plot(*broken(result, merge.way.points)[:, list(pair)].T, color=WAY, linewidth=1.2, zorder=3)
        ax.plot(
            *merge.way.x[list(pair)],
            marker="x",
            markersize=size,
            markeredgewidth=0.3 * size,
            color=WAY,
            clip_on=False,
            zorder=5,
        )
    return bool(merges)


def broken(result: Result, path: Floats) -> Floats:
    """A path with gaps where it leaves a periodic coordinate at one end and comes back at the other."""
    places = result.settings.get("periodic") or []
    if not places or result.bounds is None or len(path) < 2:
        return path
    width = np.ptp(result.bounds[places], axis=1)
    jumps = 1 + np.flatnonzero((np.abs(np.diff(path[:, places], axis=0)) > 0.5 * width).any(axis=1))
    return np.insert(path, jumps, np.nan, axis=0)


def draw_modes(
    result: Result, pair: Sequence[int], ax: Any, is_off: Bools, most: int = _NUMBERED, size: float = _SIZES[0]
) -> list[Any]:
    """Modes, numbered by rank where there is room; returns entries of a legend.

    Args:
        pair: the coordinates.
        is_off: (J,) which of them are beside the slice: they are drawn pale, and others come first.
        most: that are numbered.
        size: of a marker with a number.
    """
    ends = np.array([ax.get_xlim(), ax.get_ylim()]).T
    width = np.ptp(canvas.on_scale(result, pair, ends), axis=0)
    places = np.array([mode.x[list(pair)] for mode in result.modes]).reshape(-1, 2)
    seen = canvas.on_scale(result, pair, places)
    numbered = _numbered(seen / width, is_off, most)
    _draw(result, places, numbered, is_off, ax, size)
    return legend_of(result.modes)


def draw_at(result: Result, places: Floats, ax: Any, is_off: Bools | None = None) -> list[Any]:
    """Modes at places (n, 2) of axes, numbered where there is room; returns entries of a legend."""
    is_off = np.zeros(len(places), np.bool_) if is_off is None else is_off
    ax.update_datalim(places)
    ax.autoscale_view()
    seen = ax.transAxes.inverted().transform(ax.transData.transform(places)).reshape(-1, 2)
    _draw(result, places, _numbered(seen, is_off, _NUMBERED), is_off, ax, _SIZES[0])
    return legend_of(result.modes)


def _numbered(places: Floats, is_off: Bools, most: int) -> list[int]:
    """Which modes bear their rank, at places (n, 2) as shares of the picture: the best that do not hide others."""
    numbered: list[int] = []
    for i in np.argsort(is_off, kind="stable"):
        apart = np.hypot(*(places[i] - places[numbered]).T)
        is_wanted = i < most or (not is_off[i] and is_off.any())
        if is_wanted and len(numbered) < most and apart.min(initial=np.inf) > _CLOSE:
            numbered.append(int(i))
    return numbered


def _draw(result: Result, places: Floats, numbered: list[int], is_off: Bools, ax: Any, size: float) -> None:
    """Modes as dots, and those that bear their rank."""
    _draw_dots(result, places, [i for i in range(len(places)) if i not in set(numbered)], is_off, ax)
    for i in reversed(numbered):
        mode, alpha = result.modes[i], _PALE if is_off[i] else 1.0
        ax.plot(*places[i], **appearance(mode), markersize=size, alpha=alpha, clip_on=False, zorder=6)
        colour = "white" if mode.is_global else LOCAL
        letters = size * (_LETTERS if i < 99 else 0.75 * _LETTERS)
        ax.annotate(str(i + 1), places[i], color=colour, fontsize=letters, ha="center", va="center", zorder=7)


def _draw_dots(result: Result, places: Floats, rows: list[int], is_off: Bools, ax: Any) -> None:
    """Modes without numbers, all that look alike at once."""
    groups: dict[tuple[bool, str, bool], list[int]] = {}
    for i in rows:
        mode = result.modes[i]
        groups.setdefault((mode.is_global, mode.kind, bool(is_off[i])), []).append(i)
    for (_, _, off), members in groups.items():
        look = appearance(result.modes[members[0]]) | {"alpha": _PALE if off else 1.0}
        ax.plot(*places[members].T, **look, markersize=_SIZES[1], clip_on=False, zorder=5)


def appearance(mode: Mode) -> dict[str, Any]:
    """How the marker of a mode looks: filled if it is global, its shape by what it is."""
    colour = GLOBAL if mode.is_global else LOCAL
    return {
        "linestyle": "none", "marker": _SHAPES.get(mode.kind, "o"), "color": colour,
        "markerfacecolor": colour if mode.is_global else "white", "markeredgewidth": 1.2,
    }  # fmt: skip


def legend_of(modes: Sequence[Mode]) -> list[Any]:
    """One entry for every kind of marker there is."""
    from matplotlib.lines import Line2D

    entries = {}
    for mode in modes:
        look = appearance(mode)
        text = "root" if mode.root is not None else "global mode" if mode.is_global else "local mode"
        text += _KINDS[look["marker"]]
        entries[text] = Line2D([], [], **look, markersize=7.0, label=text)
    return [entries[text] for text in sorted(entries)]
