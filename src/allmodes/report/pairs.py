"""Modes and mixture by pairs of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.mixture.families import Gaussian
from allmodes.mixture.mixture import noise, sample
from allmodes.modes.coverage import counted
from allmodes.report import canvas, marks
from allmodes.result import Result

_MOST = 6  # coordinates whose pairs can be read on one page
_PANEL = 1.7  # inches
_DRAWS = 600  # from the mixture
_NUMBERED = 12  # modes that bear their rank, of panels so small
_SEED = 0  # draws are for the eye: the same picture every time

Floats = NDArray[np.float64]


def pairs(result: Result, coordinates: Sequence[int | str] | None = None, ax: Any = None, fig: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.pairs`."""
    D = len(canvas.free(result))
    if D < 2:
        raise ValueError(f"pairs wants two free coordinates at least; this result has {D}. plot.landscape() shows it.")
    places = _most_telling(result) if coordinates is None else canvas.chosen(result, coordinates)
    m = len(places)
    if not 2 <= m <= _MOST:
        raise ValueError(f"coordinates has {m} of them; wanted 2 to {_MOST}: more panels cannot be read.")
    axes, figure = _axes(m, ax, fig)
    drawn = _draws(result)
    names = canvas.labels(result)
    for row in range(m - 1):
        for column in range(m - 1):
            panel = axes[row, column]
            if column > row:
                panel.set_axis_off()
                continue
            pair = [places[column], places[row + 1]]
            _panel(result, panel, pair, drawn)
            panel.set(xlabel=names[pair[0]] if row == m - 2 else "", ylabel=names[pair[1]] if column == 0 else "")
            panel.tick_params(labelbottom=row == m - 2, labelleft=column == 0)
    _explain(result, figure, axes, len(drawn) > 0, m if coordinates is None and m < D else 0)
    return axes


def _axes(m: int, ax: Any, fig: Any) -> tuple[Any, Any]:
    """Axes (m - 1, m - 1), given or new, and the figure that is ours to give a title; None if it is not."""
    if ax is not None:
        axes = np.asarray(ax, dtype=object)
        if axes.size != (m - 1) ** 2:
            raise ValueError(f"ax has {axes.size} axes; wanted {m - 1} x {m - 1} of them, for {m} coordinates.")
        return axes.reshape(m - 1, m - 1), None
    side = max(3.6, _PANEL * (m - 1) + 0.8)
    figure = canvas.new_figure((side, side + 0.4)) if fig is None else fig
    return figure.subplots(m - 1, m - 1, squeeze=False), figure


def _most_telling(result: Result) -> list[int]:
    """All free coordinates, or those few in which the modes differ most, as a share of what is shown of each."""
    places = canvas.free(result)
    if len(places) <= _MOST:
        return places
    points = canvas.points_of(result)[:, places]
    widths = np.array([np.ptp(canvas.limits(result, i)) for i in places])
    spread = np.std(points, axis=0) / widths if len(points) else np.zeros(len(places))
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
    ax.set(xlim=canvas.limits(result, pair[0]), ylim=canvas.limits(result, pair[1]))
    ax.plot(*drawn[:, pair].T, linestyle="none", marker=".", markersize=2.0, color=canvas.REFERENCE, alpha=0.4,
            zorder=1, rasterized=True)  # fmt: skip
    marks.draw_modes(result, pair, ax, np.zeros(len(result.modes), bool), _NUMBERED, size=10.0)
    ax.tick_params(labelsize=canvas.SMALL - 1.0)
    ax.locator_params(nbins=4)


def _explain(result: Result, figure: Any, axes: Any, has_draws: bool, shown: int) -> None:
    """Title and legend: in the corner that is empty, or below a single panel."""
    from matplotlib.lines import Line2D

    entries = marks.legend_of(result.modes)
    if has_draws:
        text = f"mixture (T = {result.temperature:.2g})"
        entries.append(Line2D([], [], linestyle="none", marker=".", color=canvas.REFERENCE, label=text))
    if len(axes) > 1:
        corner = axes[0, -1].legend(handles=entries, loc="upper right", fontsize=canvas.SMALL, frameon=False,
                           borderaxespad=0.0)  # fmt: skip
        corner.set_in_layout(False)  # the corner is empty, but its column is as wide as the others
    else:
        canvas.legend_below(axes[0, 0], entries)
    if figure is not None:
        title = f"{counted(len(result.modes), 'mode')} in {len(result.x)} dimensions"
        if shown:
            title += f": the {shown} coordinates in which\nthey differ most (pass coordinates= for others)"
        figure.suptitle(title, fontsize=10)
