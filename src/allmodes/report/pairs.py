"""Modes and mixture by pairs of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.mixture import noise, sample
from allmodes.report import canvas, marks
from allmodes.result import Result

_MOST = 6  # coordinates whose pairs can be read on one page
_PANEL = 1.7  # inches
_GAP = 0.05  # between panels, as a share of the axes
_DRAWS = 600  # from the mixture
_NUMBERED = 12  # modes that bear their rank, of panels so small
_TITLE_PAD = 10.0  # points below the title: modes at the upper bound reach that far
_SEED = 0  # draws are for the eye: the same plot every time

Floats = NDArray[np.float64]


def pairs(result: Result, coordinates: Sequence[int | str] | None = None, ax: Any = None, fig: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.pairs`."""
    D = len(canvas.free(result))
    if D < 2:
        raise ValueError(f"pairs needs at least two free coordinates; this result has {D}. plot.landscape() shows it.")
    places = _most_telling(result) if coordinates is None else canvas.chosen(result, coordinates)
    m = len(places)
    if not 2 <= m <= _MOST:
        raise ValueError(f"coordinates has {m} of them; wanted 2 to {_MOST}: more panels cannot be read.")
    ax = _frame(m, ax, fig)
    drawn = _draws(result)
    names = canvas.labels(result)
    for k, place in enumerate(canvas.grid(m - 1, m - 1, (_GAP, _GAP))):
        row, column = divmod(k, m - 1)
        if column <= row:
            panel, pair = ax.inset_axes(place), [places[column], places[row + 1]]
            _panel(result, panel, pair, drawn)
            panel.set(xlabel=names[pair[0]] if row == m - 2 else "", ylabel=names[pair[1]] if column == 0 else "")
            panel.tick_params(labelbottom=row == m - 2, labelleft=column == 0)
    _explain(result, ax, m, len(drawn) > 0, coordinates is None and m < D)
    return ax


def _frame(m: int, ax: Any, fig: Any) -> Any:
    """Axes, given or new, that panels are put in."""
    if ax is not None and not hasattr(ax, "inset_axes"):
        raise ValueError(f"ax is of type {type(ax).__name__}; wanted one Axes, inside which the panels are drawn.")
    side = max(3.6, _PANEL * (m - 1) + 0.8)
    ax = fig.add_subplot() if ax is None and fig is not None else canvas.axes_or_new(ax, (side, side + 0.4))
    ax.set_axis_off()
    return ax


def _most_telling(result: Result) -> list[int]:
    """All free coordinates, or those few in which the modes differ most, as a share of what is shown of each."""
    places = canvas.free(result)
    if len(places) <= _MOST:
        return places
    points = canvas.on_scale(result, places, canvas.points_of(result)[:, places])
    spread = np.std(points, axis=0) / canvas.widths(result, places) if len(points) else np.zeros(len(places))
    return sorted(places[i] for i in np.argsort(-spread, kind="stable")[:_MOST])


def _draws(result: Result) -> Floats:
    """Points (n, D) from the mixture; none if there is none or it is not finite."""
    D = len(result.x)
    if result.mixture is None or not all(np.isfinite(mode.weight) for mode in result.modes):
        return np.zeros((0, D))
    family = Gaussian()
    points = sample(family, result.mixture, noise(family, np.random.default_rng(_SEED), _DRAWS, D))
    points = np.asarray(points, dtype=np.float64)
    is_inside = np.isfinite(points).all(axis=1)
    if result.bounds is not None:
        is_inside &= ((points >= result.bounds[:, 0]) & (points <= result.bounds[:, 1])).all(axis=1)
    return points[is_inside]


def _panel(result: Result, ax: Any, pair: list[int], drawn: Floats) -> None:
    canvas.show(ax, result, pair)
    ax.plot(*drawn[:, pair].T, linestyle="none", marker=".", markersize=2.0, color=canvas.REFERENCE, alpha=0.4,
            zorder=1, rasterized=True)  # fmt: skip
    marks.draw_modes(result, pair, ax, np.zeros(len(result.modes), bool), _NUMBERED, size=10.0)
    ax.tick_params(labelsize=canvas.SMALL - 1.0)
    for axis, i in zip("xy", pair, strict=True):
        if getattr(ax, f"get_{axis}scale")() == "linear" and i not in result.choices:
            ax.locator_params(axis=axis, nbins=4, prune="both")  # labels of neighbours do not meet


def _explain(result: Result, ax: Any, m: int, has_draws: bool, is_choice: bool) -> None:
    """Title and legend: in the corner that is empty, or below a single panel."""
    from matplotlib.lines import Line2D

    entries = marks.legend_of(result.modes)
    if has_draws:
        text = f"mixture (T = {result.temperature:.2g})"
        entries.append(Line2D([], [], linestyle="none", marker=".", color=canvas.REFERENCE, label=text))
    if m > 2:
        ax.legend(handles=entries, loc="upper right", fontsize=canvas.SMALL, frameon=False, borderaxespad=0.0)
    else:
        canvas.legend_below(ax, entries)
    title = f"{counted(len(result.modes), 'mode')} in {counted(len(result.x), 'dimension')}"
    if is_choice:
        title += f": the {m} coordinates in which they differ most (pass coordinates= for others)"
    canvas.set_title(ax, title, _TITLE_PAD)
