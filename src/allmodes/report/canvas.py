"""What all plots share: figures, colours, labels that stay text, panels, what part of a coordinate to show."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.notebook import in_notebook
from allmodes.result import Result

# A palette that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
LINES = COLOURS[:6]  # without yellow: a thin yellow line is lost on white paper
GLOBAL, LOCAL, PATH, REFERENCE = COLOURS[0], COLOURS[1], "0.25", "0.45"
WAY = "0.15"  # of ways between modes
VALUES = "viridis"  # a colour map whose lightness grows evenly: order is seen without seeing colour
_PYPLOT = "matplotlib.pyplot"
SMALL = 8.0  # points, of a font
_LONGEST_LABEL = 24  # characters
_MARGIN = 0.08  # of what is shown, around it, where there is no bound
_GAPS = (0.12, 0.08)  # between panels, across and down, as shares of the axes
_LETTERS = 13.0  # of a title in an inch
_TEXT_AT = (0.5, 0.5)
_ROUNDING = 1e-9  # relative difference of values that means nothing
_MOST_LEVELS = 101  # places of a coordinate of whole numbers
_MOST_NAMED = 12  # named choices along an axis
_LIGHTNESS = (0.2126, 0.7152, 0.0722)  # of red, green and blue
_PLAIN = 100.0  # ratio of the ends of a logarithmic axis below which ticks are plain numbers
_TICKS = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 7.0])  # of a decade
_BELOW = 4.8  # heights of its letters between a legend and the axes: ticks and label have room

Floats = NDArray[np.float64]


def new_figure(size: tuple[float, float]) -> Any:
    """A figure of this size in inches. It stands free: the state of pyplot is touched in notebooks alone."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'allmodes[plot]'.") from error
    made = import_module(_PYPLOT).figure if in_notebook() else Figure  # of pyplot they are shown below the cell
    figure: Any = made(figsize=size, layout="constrained")
    figure._repr_png_ = partial(_png, figure)  # notebooks show it where it is the last line of a cell
    return figure


def _png(figure: Any) -> bytes:
    """The picture as a file; pyplot does not show it once more."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    if in_notebook():
        import_module(_PYPLOT).close(figure)
    return buffer.getvalue()


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure, which notebooks show."""
    if ax is None:
        ax = new_figure(size).add_subplot()
        ax._repr_png_ = partial(_png, ax.figure)
    return ax


def label(text: str) -> str:
    """The user's text on one line, not too long, with nothing read as mathematics."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    if len(shown) > _LONGEST_LABEL:
        shown = shown[: _LONGEST_LABEL - 1] + "…"
    return shown.replace("$", r"\$")


def labels(result: Result) -> list[str]:
    """Names of the coordinates."""
    return [label(name) for name in result.coordinate_names]


def set_title(ax: Any, text: str, pad: float | None = None) -> None:
    """A title this many points above the axes, on as many lines as it takes."""
    inches = ax.get_position().width * ax.figure.bbox.width / ax.figure.dpi
    ax.set_title("\n".join(textwrap.wrap(text, max(20, int(_LETTERS * inches)))), fontsize=10, pad=pad)


def size_in_points(ax: Any) -> Floats:
    """Width and height of axes (2,), as far as they are known before the figure is laid out."""
    extent = ax.get_window_extent()
    return np.array([extent.width, extent.height]) * 72.0 / ax.figure.dpi


def number(value: float) -> str:
    """A short number with a real minus."""
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def say(ax: Any, text: str) -> Any:
    """Axes with nothing but a sentence."""
    ax.set_axis_off()
    ax.text(*_TEXT_AT, textwrap.fill(text, 40), ha="center", va="center", transform=ax.transAxes)
    return ax


def chosen(result: Result, coordinates: Sequence[int | str] | int | str) -> list[int]:
    """The numbers of coordinates given by number or name."""
    names, D = list(result.coordinate_names), len(result.x)
    given = [coordinates] if isinstance(coordinates, (int, str, np.integer)) else list(coordinates)
    numbers = []
    for each in given:
        if isinstance(each, str) and each in names:
            numbers.append(names.index(each))
        elif isinstance(each, (int, np.integer)) and not isinstance(each, bool) and -D <= each < D:
            numbers.append(int(each) % D)
        else:
            known = ", ".join(names[:10]) + (", ..." if D > 10 else "")
            raise ValueError(f"coordinates has {each!r}; wanted numbers from 0 to {D - 1} or names ({known}).")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"coordinates is {coordinates!r}; list each one only once.")
    return numbers


def free(result: Result) -> list[int]:
    """The coordinates that are not fixed by their bounds."""
    if result.bounds is None:
        return list(range(len(result.x)))
    return np.flatnonzero(result.bounds[:, 0] < result.bounds[:, 1]).tolist()


def value_range(result: Result, most: int | None = None) -> tuple[float, float]:
    """The least and the largest value of the best modes; the same twice where they differ by rounding alone."""
    values = np.array([mode.fun for mode in result.modes[:most] if np.isfinite(mode.fun)])
    if not len(values):
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high - low > _rounding(result, values) else (low, low)


def _rounding(result: Result, values: Floats) -> float:
    """Differences of values that mean nothing."""
    size = np.abs(values).max(initial=0.0) + (abs(result.temperature) if np.isfinite(result.temperature) else 0.0)
    return _ROUNDING * float(size)


def heights(result: Result, most: int | None = None) -> Floats:
    """Values of the best modes (J,) without what is rounding: 0 where that is all there is, and equal where they are.

    A bar or a column of numbers would make something of it.
    """
    values = np.array([mode.fun for mode in result.modes[:most]])
    values = np.where(np.abs(values) <= _rounding(result, values[np.isfinite(values)]), 0.0, values)
    level = np.nan
    for i in (i for i in np.argsort(values, kind="stable").tolist() if np.isfinite(values[i])):
        if abs(values[i] - level) <= _rounding(result, values[i : i + 1]):
            values[i] = level
        level = values[i]
    return values


def percent(share: float) -> str:
    """A share in percent, to two digits."""
    return f"{100.0 * share:.0f} %" if share >= 0.1 else f"{100.0 * share:.2g} %"


def points_of(result: Result) -> Floats:
    """Everything that should be in a plot: the modes, or the best point (n, D)."""
    points = np.array([mode.x for mode in result.modes] or [result.x])
    return points[np.isfinite(points).all(axis=1)]


def limits(result: Result, i: int) -> tuple[float, float]:
    """What to show of a coordinate: its bounds; where it is open, the modes and most of the paths to them."""
    low, high = (-np.inf, np.inf) if result.bounds is None else result.bounds[i]
    if np.isfinite(low) and np.isfinite(high):
        return (float(low), float(high)) if low < high else (float(low) - 0.5, float(high) + 0.5)
    seen = points_of(result)[:, i]
    if len(result.paths.points):
        seen = np.append(seen, np.quantile(result.paths.points[:, i], [0.05, 0.95]))
    first, last = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 0.0)
    room = _MARGIN * (last - first) if last > first else max(1.0, 0.1 * abs(first))
    return float(low) if np.isfinite(low) else first - room, float(high) if np.isfinite(high) else last + room


def is_log(result: Result, i: int) -> bool:
    """Whether a coordinate was searched in logarithms: its axis is logarithmic, too."""
    scale = result.settings.get("scale") or ()
    return len(scale) > i and scale[i] == "log"


def levels(result: Result, i: int) -> Floats | None:
    """The places of a coordinate that is no real number, evenly thinned if they are many; None for a real one."""
    listed = (result.settings.get("choices") or {}).get(str(i))
    if listed is not None:
        places = np.arange(len(listed)) if i in result.choices else np.array(listed)
    elif i in (result.settings.get("integrality") or []) and result.bounds is not None:
        places = np.arange(result.bounds[i, 0], result.bounds[i, 1] + 1.0)
    else:
        return None
    return np.asarray(places[:: -(-len(places) // _MOST_LEVELS)], dtype=np.float64)


def window(result: Result, i: int) -> tuple[float, float]:
    """The same as `limits`, with room for the first and the last level of a coordinate that is no real number."""
    low, high = limits(result, i)
    places = levels(result, i)
    if places is None or len(places) < 2:
        return low, high
    return low - 0.5 * (places[1] - places[0]), high + 0.5 * (places[-1] - places[-2])


def show(ax: Any, result: Result, pair: Sequence[int]) -> None:
    """Axes for two coordinates: what to show of each, on its scale."""
    for axis, i in zip("xy", pair, strict=True):
        show_one(ax, result, axis, i)


def make_log(ax: Any, axis: str) -> None:
    """A logarithmic axis, whose ticks are plain numbers where it spans less than two decades."""
    ax.set(**{f"{axis}scale": "log"})
    low, high = getattr(ax, f"get_{axis}lim")()
    if high < _PLAIN * low:
        decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.log10(high))
        ticks = np.outer(decades, _TICKS)
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        getattr(ax, f"{axis}axis").minorticks_off()
        ax.set(**{f"{axis}ticks": ticks, f"{axis}ticklabels": [f"{tick:g}" for tick in ticks]})


def show_one(ax: Any, result: Result, axis: str, i: int) -> None:
    """One axis for a coordinate: named choices by their names, whole numbers as such."""
    ax.set(**{f"{axis}lim": window(result, i)})
    if is_log(result, i):
        make_log(ax, axis)
    if i in result.choices:
        names = [label(str(each)) for each in result.choices[i]]
        shown = range(0, len(names), -(-len(names) // _MOST_NAMED))
        ax.set(**{f"{axis}ticks": list(shown), f"{axis}ticklabels": [names[k] for k in shown]})
    elif levels(result, i) is not None and not (result.settings.get("choices") or {}).get(str(i)):
        getattr(ax, f"{axis}axis").get_major_locator().set_params(integer=True)


def spaced(ends: tuple[float, float], n: int, log: bool) -> Floats:
    """Places from one end to the other, evenly on the scale of the axis."""
    return np.geomspace(ends[0], ends[1], n) if log else np.linspace(ends[0], ends[1], n)


def on_scale(result: Result, places: Sequence[int], x: Floats) -> Floats:
    """Coordinates (..., n) of these numbers, in logarithms where the axis is."""
    logs = [is_log(result, i) for i in places]
    return np.where(logs, np.log10(np.where(logs, x, 1.0)), x)


def widths(result: Result, places: Sequence[int]) -> Floats:
    """Of what is shown of coordinates, (n,), on their scales."""
    ends = np.array([limits(result, i) for i in places]).reshape(-1, 2).T
    return np.ptp(on_scale(result, places, ends), axis=0)


def light_is_good(cmap: str, maximise: bool) -> Any:
    """A colour map of matplotlib, turned so that its light end is at the good values; "grey" for plain greys."""
    from matplotlib import colormaps

    name = {"grey": "Greys", "gray": "Greys"}.get(cmap, cmap)
    if name not in colormaps:
        raise ValueError(
            f'cmap is {cmap!r}; wanted "grey" or a colour map of matplotlib, such as "viridis" or "cividis".'
        )
    colours = colormaps[name]
    low, high = (float(np.dot(colours(end)[:3], _LIGHTNESS)) for end in (0.0, 1.0))
    return colours if (high > low) == maximise else colours.reversed()


def panels(ax: Any, rows: int, columns: int) -> list[Any]:
    """Axes within axes; the outer ones become an invisible frame."""
    ax.set_axis_off()
    return [ax.inset_axes(place) for place in grid(rows, columns, _GAPS)]


def grid(rows: int, columns: int, gaps: tuple[float, float]) -> list[tuple[float, float, float, float]]:
    """Places of panels, row by row: left, bottom, width and height as shares of the axes; gaps across and down."""
    across, between = gaps
    height, width = (1.0 - between * (rows - 1)) / rows, (1.0 - across * (columns - 1)) / columns
    return [
        (column * (width + across), 1.0 - height - row * (height + between), width, height)
        for row in range(rows)
        for column in range(columns)
    ]


def legend_below(ax: Any, entries: Sequence[Any], columns: int = 2) -> None:
    """A legend under the axes, where it hides nothing."""
    if entries:
        ax.legend(
            handles=list(entries), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns, fontsize=SMALL,
            frameon=False, borderaxespad=_BELOW, handletextpad=0.5, columnspacing=1.2,
        )  # fmt: skip
