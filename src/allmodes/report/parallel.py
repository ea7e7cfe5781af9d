"""All coordinates of all modes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.report import canvas
from allmodes.result import Result

_HEIGHT = 4.2
_WIDTH = (4.2, 12.0)  # inches, at least and at most
_PER_COORDINATE = 0.75
_NAMED = 20  # coordinates with a name each; of more, some have one
_CLOSE = 12  # coordinates from which on there is no room for level text
_OUTSIDE = 1.03
_PAD = 14.0  # points between an axis and its name: the lower end stands there
_LETTER = 5.6  # points along a name for each letter
_ANGLE = 60.0  # degrees that long names are turned
_MOST_FOR_NAMES = 0.6  # of the height

Floats = NDArray[np.float64]


def parallel(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.parallel`."""
    D = len(result.x)
    ax = canvas.axes_or_new(ax, (float(np.clip(1.5 + _PER_COORDINATE * D, *_WIDTH)), _HEIGHT))
    if not result.modes:
        return canvas.say(ax, "No mode was found.")
    sides = np.array([canvas.limits(result, i) for i in range(D)])
    low, high = canvas.on_scale(result, range(D), sides.T)
    shares = (canvas.on_scale(result, range(D), np.array([mode.x for mode in result.modes])) - low) / (high - low)
    _draw_lines(result, ax, shares)
    step = -(-D // _NAMED)
    shown = np.arange(0, D, step)
    for i in shown:
        ax.plot([i, i], [-0.02, 1.02], color="0.75", linewidth=0.8, zorder=1)
    ax.spines["bottom"].set_position(("data", -0.02))  # before there are ticks: it makes them anew
    room = _label(result, ax, sides, shown)
    ax.set(xlim=(-0.35, D - 0.65), ylim=(-0.02 - room, 1.02), yticks=[])
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(False)
    ax.set_title(f"{counted(len(result.modes), 'mode')}, each a line; thick: global", fontsize=10, pad=22.0)
    return ax


def _draw_lines(result: Result, ax: Any, shares: Floats) -> None:
    """The best last, on top."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    values = np.array([mode.fun for mode in result.modes])
    low, high = canvas.value_range(result)
    norm = Normalize(low, high if high > low else low + 1.0)
    name = canvas.VALUES + "_r" if result.maximise else canvas.VALUES  # good is dark
    colours = ScalarMappable(norm, colormaps[name])
    for i in reversed(range(len(result.modes))):
        is_global = result.modes[i].is_global
        colour = colours.to_rgba(values[i]) if high > low else canvas.GLOBAL
        ax.plot(shares[i], color=colour, linewidth=2.4 if is_global else 1.0, marker="o",
                markersize=5.0 if is_global else 3.0, alpha=1.0 if is_global else 0.8, clip_on=False,
                zorder=3 + is_global)  # fmt: skip
    if high > low:
        bar = ax.figure.colorbar(colours, ax=ax, label="value", shrink=0.8, pad=0.02)
        bar.ax.tick_params(labelsize=canvas.SMALL)


def _label(result: Result, ax: Any, sides: Floats, shown: Any) -> float:
    """Names below, the ends of every axis beside it; those that are no bounds in brackets.

    Returns the room that turned names need inside the axes, as a share of the rest: figures need not make any.
    """
    names = canvas.labels(result)
    turned = {"rotation": _ANGLE, "ha": "right", "rotation_mode": "anchor"}
    longest = max(len(names[i]) for i in shown)
    is_long = len(shown) > _CLOSE or longest > 8
    ax.set_xticks(shown, [names[i] for i in shown], **(turned if is_long else {}))
    ax.tick_params(axis="x", length=0.0, pad=14.0)
    for i in shown:
        for end, place, align in ((0, 1.0 - _OUTSIDE, "top"), (1, _OUTSIDE, "bottom")):
            is_bound = result.bounds is not None and np.isfinite(result.bounds[i, end])
            text = f"{sides[i, end]:.3g}" if is_bound else f"({sides[i, end]:.2g})"
            text = text.replace("-", "\N{MINUS SIGN}")
            text = canvas.label(str(result.choices[i][-end])) if i in result.choices else text
            ax.text(i, place, text, ha="center", va=align, fontsize=canvas.SMALL - 1.0, color="0.35")
    if not is_long:
        return 0.0
    wanted = (_PAD + _LETTER * longest * np.sin(np.radians(_ANGLE))) / canvas.size_in_points(ax)[1]
    share = min(float(wanted), _MOST_FOR_NAMES)
    return share / (1.0 - share)
