"""The modes side by side: value, weight, flatness."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.report import canvas, marks
from allmodes.result import Result

_MOST = 30  # bars that can be told apart
_SIZE = (6.8, 1.5)  # inches, of the figure without bars
_ROW = 0.16  # inches for each bar
_LARGE_RANGE = 1e3  # of flatness, from which on it is drawn by orders of magnitude
_FEWEST = 5  # rows that a bar is thinned for: few bars are not thick
_THICKNESS = 0.62  # of a bar, as a share of its row
_ROOM = 1.45  # of the axis to the longest bar, for the number behind it

Floats = NDArray[np.float64]


def modes(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.modes`."""
    shown = result.modes[:_MOST]
    ax = canvas.axes_or_new(ax, (_SIZE[0], _SIZE[1] + _ROW * max(len(shown), 8)))
    if not shown:
        return canvas.say(ax, "No mode was found.")
    value, weight, flatness = canvas.panels(ax, 1, 3)
    colours = [canvas.GLOBAL if mode.is_global else canvas.LOCAL for mode in shown]
    _values(result, value, colours)
    weights = np.array([mode.weight for mode in shown])
    _bars(weight, weights, colours, [_text(w, f"{w:.3f}" if w >= 5e-4 or w == 0.0 else f"{w:.0e}") for w in weights])
    weight.set(xlabel=f"weight (T = {result.temperature:.2g})")
    flat = np.array([mode.flatness for mode in shown])
    _bars(flatness, flat, colours, [_text(z, f"{z:.2g}") for z in flat])
    flatness.set(xlabel="flatness")
    for panel in (weight, flatness):
        panel.tick_params(labelleft=False)
    more = len(result.modes) - len(shown)
    canvas.set_title(
        ax, f"{counted(len(result.modes), 'mode')} by rank" + (f"; the best {len(shown)} are shown" if more else "")
    )
    canvas.legend_below(ax, _legend(result))
    return ax


def _values(result: Result, ax: Any, colours: list[str]) -> None:
    """Dots rather than bars: a value has no natural zero. Lines show how much worse than the best it is."""
    shown = result.modes[:_MOST]
    ranks = np.arange(1, len(shown) + 1)
    values = np.array([mode.fun for mode in shown])
    ax.hlines(ranks, result.modes[0].fun, values, color=colours, linewidth=2.5)
    for rank, mode in zip(ranks, shown, strict=True):
        ax.plot(mode.fun, rank, **marks.appearance(mode), markersize=6.0)
        if mode.standard_error is not None and np.isfinite(mode.standard_error):
            ax.errorbar(mode.fun, rank, xerr=2.0 * mode.standard_error, color="0.3", linewidth=1.0, capsize=2.0)
    ax.set(xlabel="value", ylabel="rank")
    low, high = canvas.value_range(result, _MOST)
    room = 0.12 * (high - low) if high > low else max(np.nan_to_num(result.temperature), 1e-3 * abs(low), 1e-9)
    ax.set_xlim(low - room, high + room)
    ax.ticklabel_format(axis="x", useOffset=False)
    _ranks(ax, len(shown))


def _bars(ax: Any, lengths: Floats, colours: list[str], texts: list[str]) -> None:
    """Bars with their numbers; none for what is not finite."""
    ranks = np.arange(1, len(lengths) + 1)
    is_finite = np.isfinite(lengths)
    finite = lengths[is_finite & (lengths > 0.0)]
    drawn = np.where(is_finite, lengths, 0.0)
    is_log = len(finite) > 1 and finite.max() > _LARGE_RANGE * finite.min() and not (lengths <= 1.0).all()
    if is_log:
        ax.set_xscale("log")
        ax.set_xlim(finite.min() / 3.0, finite.max() * (finite.max() / finite.min()) ** (_ROOM - 1.0))
    else:
        ax.set_xlim(0.0, _ROOM * (finite.max() if len(finite) else 1.0))
    ax.barh(ranks, drawn, color=colours, height=_THICKNESS * min(1.0, len(lengths) / _FEWEST))
    start = ax.get_xlim()[0]
    for rank, length, text in zip(ranks, drawn, texts, strict=True):
        ax.annotate(text, (max(length, start), rank), xytext=(3.0, 0.0), textcoords="offset points", fontsize=7.0,
                    va="center")  # fmt: skip
    _ranks(ax, len(lengths))


def _text(number: float, finite: str) -> str:
    return finite if np.isfinite(number) else "not known" if np.isnan(number) else "∞"


def _ranks(ax: Any, n: int) -> None:
    """Rank 1 at the top."""
    step = -(-n // 15)
    ax.set(ylim=(n + 0.7, 0.3), yticks=[1, *range(step, n + 1, step)] if step > 1 else range(1, n + 1))
    ax.tick_params(labelsize=canvas.SMALL)
    ax.locator_params(axis="x", nbins=4) if ax.get_xscale() == "linear" else None
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _legend(result: Result) -> list[Any]:
    return marks.legend_of(result.modes[:_MOST])
