"""A slice of the function with what was found on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import Objective
from allmodes.report import canvas, marks, region, slices
from allmodes.result import Result

SIZE = (5.2, 5.2)
_LINE_SIZE = (5.6, 3.8)
_RESOLUTION = 101  # points along each side of a slice
_LINE_RESOLUTION = 801  # along the only side
_ON_SLICE = 1e-3  # of the picture: how far beside it a mode may be to count as on the slice
_FEW_TICKS = 5
_ROUND = (5.0, 2.0, 1.0)  # steps that ticks are rounded to, within a power of ten
_NEAR_ENDS = 0.25  # of the first and the last step between levels, that the first and the last tick may be inside
_TITLE_PAD = 11.0  # points below the title: modes at the upper bound reach that far
_PAD = 6.0  # points between ticks and their labels: modes at a bound reach beyond it
_DOT = 0.8  # of the room between two dots
_STRIP = 41  # dots along a real coordinate, beside one that is not
_DOTS = (3.0, 18.0)  # points, the size of dots at least and at most
_MOST_MEANS = 24  # of components whose paths are drawn: those of the first runs

Floats = NDArray[np.float64]


def landscape(
    result: Result,
    fun: Callable[..., Any] | Objective | None = None,
    coordinates: Sequence[int | str] | None = None,
    at: Any = None,
    ax: Any = None,
    resolution: int | None = None,
    label: str = "value",
    constraints: Any = None,
    cmap: str = canvas.VALUES,
) -> Any:
    """See `allmodes.report.accessor.Plots.landscape`."""
    pair, limiting = choose(result, coordinates), region.known(result, constraints)
    if len(pair) == 1:
        return _line(result, fun, pair[0], at, ax, resolution or _LINE_RESOLUTION, label, limiting)
    point = slices.through(result, at)
    is_own, ax = ax is None, canvas.axes_or_new(ax, SIZE)
    names = canvas.labels(result)
    canvas.show(ax, result, pair)
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    ax.tick_params(pad=_PAD)
    said = draw_background(result, fun, pair, point, ax, resolution or _RESOLUTION, label if is_own else None, cmap)
    entries = _foreground(result, pair, point, ax)
    if limiting is not None:
        entries += region.shade(limiting, pair, point, _sides(result, pair, ax, resolution or _RESOLUTION), ax)
    canvas.set_title(ax, _title(result, at, 2, said), _TITLE_PAD)
    canvas.legend_below(ax, entries)
    return ax


def choose(result: Result, coordinates: Sequence[int | str] | None) -> list[int]:
    """The one or two coordinates of a slice: those given, or the first that are not fixed."""
    free = canvas.free(result)
    if coordinates is None:
        return free[:2] or [0]
    places = canvas.chosen(result, coordinates)
    if len(places) not in (1, 2):
        raise ValueError(f"coordinates is {coordinates!r}; wanted one or two of them.")
    for i in places:
        if i not in free:
            name = result.coordinate_names[i]
            raise ValueError(f"{name!r} is fixed by its bounds at {result.x[i]:g}; choose coordinates that are not.")
    return places


# ---- two coordinates


def draw_background(
    result: Result,
    fun: Callable[..., Any] | Objective | None,
    pair: list[int],
    point: Floats,
    ax: Any,
    resolution: int,
    bar: str | None,
    cmap: str = canvas.VALUES,
) -> str:
    """Contours of the function, or of what is known of it; returns a description.

    `bar` is the label of the colour bar, None for none; `cmap` is a colour map, the light end of which is good.
    """
    from matplotlib.colors import BoundaryNorm
    from matplotlib.tri import Triangulation

    colours = canvas.light_is_good(cmap, result.maximise)
    if fun is not None:
        seen = slices.cut(result, fun, pair, point, _sides(result, pair, ax, resolution))
        if any(canvas.levels(result, i) is not None for i in pair):
            return _draw_dots(result, seen, ax, colours, bar)
        places, values, said = seen.sides, np.ma.masked_invalid(seen.values.T), ""
        draw_areas, draw_lines = ax.contourf, ax.contour
    else:
        points, known = slices.seen(result) if len(result.x) == 2 else (np.zeros((0, 2)), np.zeros(0))
        if not len(points) or np.linalg.matrix_rank(points - points[0]) < 2:
            return "no contours: pass fun to draw them"
        places, values = (Triangulation(*points[:, pair].T),), np.ma.masked_invalid(known)
        said = f"contours between {len(points)} points that local searches went through"
        draw_areas, draw_lines = ax.tricontourf, ax.tricontour
    levels = slices.levels(values.compressed(), result.maximise)
    if len(levels) < 2:
        return said or "the slice is level"
    norm = BoundaryNorm(levels, 256)
    area = draw_areas(*places, values, levels=levels, norm=norm, cmap=colours, alpha=0.45, zorder=0)
    draw_lines(*places, values, levels=levels, colors="0.6", linewidths=0.4, linestyles="solid", zorder=1)
    if bar is not None:
        _draw_bar(ax, area, levels, bar)
    return said


def _sides(result: Result, pair: list[int], ax: Any, resolution: int) -> list[Floats]:
    """Places along each side of a slice: evenly spaced, or the levels of a coordinate that is no real number."""
    sides, levels = [], [canvas.levels(result, i) for i in pair]
    if any(places is not None for places in levels):
        resolution = min(resolution, _STRIP)
    for i, places, end in zip(pair, levels, (ax.get_xlim(), ax.get_ylim()), strict=True):
        sides.append(canvas.spaced(end, resolution, canvas.is_log(result, i)) if places is None else places)
    return sides


def _draw_dots(result: Result, seen: slices.Slice, ax: Any, colours: str, bar: str | None) -> str:
    """The function where it is defined: at whole numbers and choices, close together along a real coordinate."""
    from matplotlib.colors import BoundaryNorm

    levels = slices.levels(seen.values[np.isfinite(seen.values)], result.maximise)
    if len(levels) < 2:
        return "the slice is level"
    room = canvas.size_in_points(ax) / [max(len(side), 1) for side in seen.sides]
    size = float(np.clip(_DOT * room.min(), *_DOTS))
    across, up = np.meshgrid(*seen.sides, indexing="ij")
    style: dict[str, Any] = {"cmap": colours, "norm": BoundaryNorm(levels, 256), "s": size**2, "zorder": 0}
    area = ax.scatter(across, up, c=seen.values, edgecolors="0.6", linewidths=0.3, alpha=0.6, **style)
    if bar is not None:
        _draw_bar(ax, area, levels, bar)
    return ""


def _draw_bar(ax: Any, area: Any, levels: Floats, text: str) -> None:
    ticks = round_ticks(levels)
    shown = ax.figure.colorbar(area, ax=ax, ticks=ticks, shrink=0.7, pad=0.02, label=text)
    shown.ax.minorticks_off()
    shown.ax.set_yticks(ticks, [canvas.number(tick) for tick in ticks], fontsize=canvas.SMALL)


def round_ticks(levels: Floats) -> list[float]:
    """A few values spanning the levels, each with as few digits as the levels around it allow.

    >>> round_ticks(np.array([-357.3, -120.7, -44.1, -9.87, -1.284, 0.02]))
    [-350.0, -100.0, -40.0, -10.0, 0.0]
    """
    ticks = []
    for i in np.linspace(0, len(levels) - 1, _FEW_TICKS).astype(int):
        room = np.diff(levels[max(i - 1, 0) : i + 2]).min() * (_NEAR_ENDS if i in (0, len(levels) - 1) else 1.0)
        power = 10.0 ** np.floor(np.log10(room))
        step = next(each * power for each in (*_ROUND, 0.5) if each * power <= room)
        nearest = float(np.round(levels[i] / step) * step)
        ticks.append(nearest if levels[0] <= nearest <= levels[-1] else nearest + (step if i == 0 else -step))
    return sorted({float(f"{tick:.12g}") for tick in ticks if levels[0] <= tick <= levels[-1]})


def _foreground(result: Result, pair: list[int], point: Floats, ax: Any) -> list[Any]:
    """Paths, ellipses and modes; returns entries of a legend."""
    from matplotlib.lines import Line2D

    trail = Line2D([], [], color=canvas.PATH, linewidth=1.0, marker=".", markersize=4.0)
    extra = []
    if result.trace is not None and _draw_means(result, pair, ax):
        trail.set_label("annealed components")
        extra.append(trail)
    elif marks.draw_paths(result, pair, ax):
        trail.set_label("local searches")
        extra.append(trail)
    is_off = _is_off(result, pair, point)
    if len(canvas.free(result)) == 2 and marks.draw_ways(result, pair, ax):
        extra.append(Line2D([], [], color=canvas.WAY, linewidth=1.2, marker="x", label="lowest ways and passes"))
    if marks.draw_ellipses(result, pair, ax, is_off):
        text = f"2 s.d. at temperature {result.temperature:.2g}"
        extra.append(Line2D([], [], color=canvas.REFERENCE, linewidth=1.0, label=text))
    entries = marks.draw_modes(result, pair, ax, is_off)
    if is_off.any():
        extra.append(_beside())
    if not result.modes and np.isfinite(result.x).all():
        star: dict[str, Any] = {"linestyle": "none", "marker": "*", "color": canvas.GLOBAL, "markersize": 12.0}
        ax.plot(*result.x[pair], **star, zorder=6)
        entries = [Line2D([], [], **star, label="best point; no mode was found")]
    return entries + extra


def _draw_means(result: Result, pair: list[int], ax: Any) -> bool:
    """Where the means of components went, run by run; whether any was drawn."""
    trace = result.trace
    assert trace is not None
    drawn = 0
    for frames in trace.runs:
        means = np.stack([trace.means[i] for i in frames])
        drawn += means.shape[1]
        if drawn > max(_MOST_MEANS, means.shape[1]):
            break
        for k in range(means.shape[1]):
            line = marks.broken(result, means[:, k])[:, pair]
            ax.plot(*line.T, color=canvas.PATH, linewidth=0.8, alpha=0.6, zorder=2)
            ax.plot(*line[0], marker=".", markersize=3.0, color=canvas.PATH, alpha=0.6, zorder=2)
    return len(trace) > 0


def _beside() -> Any:
    """The entry of the legend for modes that are not on the slice."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker="o", alpha=0.35, color=canvas.REFERENCE, label="beside the slice")


def _is_off(result: Result, pair: list[int], point: Floats) -> NDArray[np.bool_]:
    """Which modes are beside the slice, (J,)."""
    others = [i for i in range(len(result.x)) if i not in pair]
    if not others or not result.modes:
        return np.zeros(len(result.modes), bool)
    here = canvas.on_scale(result, others, point[others])
    places = canvas.on_scale(result, others, np.array([mode.x[others] for mode in result.modes]))
    apart = np.abs(places - here) / canvas.widths(result, others)
    return np.asarray((apart > _ON_SLICE).any(axis=1))


def _title(result: Result, at: Any, shown: int, background: str) -> str:
    """The title: what was found, where the slice is, and what stands in for the function."""
    ordinary = "maximum" if result.maximise else "minimum"
    found = counted(len(result.modes), *(("root",) if result.is_roots else (ordinary, ordinary[:-2] + "a")))
    parts = [f"{found} in {counted(result.nfev, 'evaluation')}"]
    if len(canvas.free(result)) > shown:
        best = "the best mode" if result.modes else "the best point"
        is_rank = isinstance(at, (int, np.integer))
        parts.append(f"slice through {best if at is None else f'mode {at}' if is_rank else 'the point given'}")
    return "; ".join([*parts, background] if background else parts)


# ---- one coordinate


def _line(
    result: Result, fun: Callable[..., Any] | Objective | None, i: int, at: Any, ax: Any, resolution: int, label: str,
    limiting: Any,
) -> Any:  # fmt: skip
    """The function along one coordinate, or the values that local searches saw there."""
    from matplotlib.lines import Line2D

    ax, point = canvas.axes_or_new(ax, _LINE_SIZE), slices.through(result, at)
    canvas.show_one(ax, result, "x", i)
    entries, levels = [], canvas.levels(result, i)
    places = canvas.spaced(ax.get_xlim(), resolution, canvas.is_log(result, i)) if levels is None else levels
    if fun is not None:
        seen = slices.cut(result, fun, [i], point, [places])
        dots = {} if levels is None else {"linestyle": "none", "marker": "."}
        ax.plot(seen.sides[0], seen.values, color="0.4", linewidth=1.2, zorder=1, **dots)
    if limiting is not None:
        entries += region.shade(limiting, [i], point, [places], ax)
    if fun is None or len(result.x) == 1:
        style: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 4.0, "color": canvas.PATH}
        if len(result.paths.points):
            ax.plot(result.paths.points[:, i], result.paths.values, **style, alpha=0.5, zorder=2)
            entries.append(Line2D([], [], **style, label="points of local searches"))
    off = _is_off(result, [i], point)
    marks.draw_at(result, np.array([[mode.x[i], mode.fun] for mode in result.modes]).reshape(-1, 2), ax, off)
    ax.set(xlabel=canvas.labels(result)[i], ylabel=label)
    said = "" if fun is not None else "no curve: pass fun to draw it"
    canvas.set_title(ax, _title(result, at, 1, said), _TITLE_PAD)
    if off.any():
        entries.append(_beside())
    canvas.legend_below(ax, marks.legend_of(result.modes) + entries)
    return ax
