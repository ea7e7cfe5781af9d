"""Two small pictures of a result as SVG, made by hand: they need no package, and take their colour from the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.result.columns import is_logarithmic, values_of
from allmodes.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allmodes.result.mode import Mode
    from allmodes.result.result import Result

_MOST = 200  # modes that are drawn
_NUMBERED = 20  # that have their rank beside them
_WIDTH, _HEIGHT = 250, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 32
_RADIUS = 4
_BLUE = "#3b82c4"  # seen on white and on black
_LONGEST_NAME = 24

Floats = NDArray[np.float64]


class Axis(NamedTuple):
    """One side of a picture: what is along it, its ends, and how these are written."""

    name: str
    places: Floats
    low: float
    high: float
    ends: tuple[str, str]

    def at(self, length: float) -> Floats:
        """Places along a side of this length."""
        wide = self.high - self.low
        return length * ((self.places - self.low) / wide if wide > 0.0 else np.full(len(self.places), 0.5))


def sketches_of(result: Result) -> str:
    """Where the modes are, and how good; as far as there is anything to be seen."""
    modes = [mode for mode in result.modes[:_MOST] if np.isfinite(mode.fun) and np.isfinite(mode.x).all()]
    if not modes:
        return ""
    values = np.array([float(text) for text in values_of(result, modes)])  # without rounding noise
    shown = _chosen(result, modes)
    if not shown:
        return ""
    axes = [_coordinate(result, i, modes) for i in shown]
    if len(axes) == 1:
        return _picture(axes[0], _plain("value", values), modes)
    ranks = _plain("rank", np.arange(1.0, len(modes) + 1.0))
    waterfall = _picture(ranks, _plain("value", values), modes, False) if np.ptp(values) and len(modes) > 2 else ""
    return _picture(axes[0], axes[1], modes) + waterfall


def _chosen(result: Result, modes: Sequence[Mode]) -> list[int]:
    """The two coordinates in which modes differ most beside their bounds, in order, or the only one that is free."""
    points = np.array([mode.x for mode in modes])
    widths = np.ptp(points, axis=0) if result.bounds is None else np.ptp(result.bounds, axis=1)
    free = [i for i in range(len(result.x)) if widths[i] > 0.0]
    share = {i: np.ptp(points[:, i]) / widths[i] if np.isfinite(widths[i]) else 1.0 for i in free}
    return sorted(sorted(free, key=lambda i: -share[i])[:2])


def _coordinate(result: Result, i: int, modes: Sequence[Mode]) -> Axis:
    places = np.array([mode.x[i] for mode in modes])
    is_log = is_logarithmic(result, i)
    low, high = (np.nan, np.nan) if result.bounds is None else result.bounds[i].tolist()
    room = 0.1 * float(np.ptp(places)) or 0.5
    low = low if np.isfinite(low) else float(places.min()) / 2.0 if is_log else float(places.min()) - room
    high = high if np.isfinite(high) else float(places.max()) * 2.0 if is_log else float(places.max()) + room
    ends = f"{low:.3g}", f"{high:.3g}"
    if is_log:
        places, low, high = np.log10(places), float(np.log10(low)), float(np.log10(high))
    return Axis(result.coordinate_names[i], places, low, high, ends)


def _plain(name: str, places: Floats) -> Axis:
    """With a little room beside the places."""
    room = 0.06 * float(np.ptp(places)) or 0.5
    ends = (f"{places.min():.3g}", f"{places.max():.3g}") if np.ptp(places) else ("", f"{places.max():.3g}")
    return Axis(name, places, float(places.min()) - room, float(places.max()) + room, ends)


def _picture(across: Axis, up: Axis, modes: Sequence[Mode], is_numbered: bool = True) -> str:
    x = _LEFT + across.at(_WIDTH - _LEFT - _RIGHT)
    y = _HEIGHT - _BOTTOM - up.at(_HEIGHT - _TOP - _BOTTOM)
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = [
        f'<rect x="{_LEFT}" y="{_TOP}" width="{right - _LEFT}" height="{bottom - _TOP}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.35"/>',
        _text(_LEFT, bottom + 12, across.ends[0], "start"), _text(right, bottom + 12, across.ends[1], "end"),
        _text(_LEFT - 4, bottom, up.ends[0], "end"), _text(_LEFT - 4, _TOP + 9, up.ends[1], "end"),
        _text((_LEFT + right) / 2, bottom + 24, _short(across.name), "middle"),
        f'<g transform="translate(11 {(bottom + _TOP) / 2:g}) rotate(-90)">',
        _text(0, 0, _short(up.name), "middle") + "</g>",
    ]  # fmt: skip
    parts += [_mark(x[i], y[i], modes[i].is_global) for i in reversed(range(len(modes)))]  # the best on top
    for i in _apart(x, y) if is_numbered else ():
        is_right = x[i] > right - 14
        shift = -_RADIUS - 2 if is_right else _RADIUS + 2
        parts.append(_text(x[i] + shift, y[i] + 3, str(i + 1), "end" if is_right else "start"))
    said = f"{_short(up.name)} over {_short(across.name)} of {len(modes)} modes"
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'style="margin:0.4em 1em 0 0;max-width:100%"><title>{escape(said)}</title>{"".join(parts)}</svg>'
    )


def _apart(x: Floats, y: Floats) -> list[int]:
    """Which of the first modes get their rank: of those that are nearly in one place the best."""
    numbered: list[int] = []
    for i in range(min(len(x), _NUMBERED)):
        if all(abs(x[i] - x[j]) > 16.0 or abs(y[i] - y[j]) > 10.0 for j in numbered):
            numbered.append(i)
    return numbered


def _mark(x: float, y: float, is_global: bool) -> str:
    """Global modes are filled."""
    fill = _BLUE if is_global else "none"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{fill}" stroke="{_BLUE}" stroke-width="1.5"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" font-family="sans-serif" fill="currentColor" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "~"
