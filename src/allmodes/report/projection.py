"""Modes in many dimensions on the plane in which they differ most: their principal components."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.report import canvas, marks
from allmodes.result import Result

_SIZE = (5.6, 5.4)
_TERMS = 3  # coordinates in the name of an axis
_LEAST = 0.25  # of the largest share in an axis: coordinates with less are not named
_MARGIN = 0.08

Floats = NDArray[np.float64]


class Plane(NamedTuple):
    """Two directions (2, D) of coordinates as shares of what is shown of each, their middle, and how much they show."""

    result: Result
    middle: Floats
    axes: Floats
    shares: Floats

    def of(self, x: Floats) -> Floats:
        """Points (n, D) on the plane, (n, 2)."""
        return np.asarray((_shares(self.result, x) - self.middle) @ self.axes.T)


def _shares(result: Result, x: Floats) -> Floats:
    """Coordinates (n, D) as shares of what is shown of them, in logarithms where the search was."""
    places = list(range(x.shape[1]))
    ends = canvas.on_scale(result, places, np.array([canvas.limits(result, i) for i in places]).T)
    return np.asarray(
        (canvas.on_scale(result, places, x) - ends[0]) / np.where(ends[1] > ends[0], ends[1] - ends[0], 1.0)
    )


def plane_of(result: Result) -> Plane:
    """In which the modes differ most; of fewer than three modes, and the points of local searches."""
    points = canvas.points_of(result)
    if len(points) < 3 and len(result.paths.points):
        points = np.concatenate([points, result.paths.points])
    shares = _shares(result, points)
    middle = shares.mean(axis=0)
    _, sizes, axes = np.linalg.svd(
        np.concatenate([shares - middle, np.zeros((2, shares.shape[1]))]), full_matrices=False
    )
    axes, sizes = axes[:2], sizes**2 / max(float((sizes**2).sum()), 1e-300)
    signs = np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])
    return Plane(result, middle, axes * signs[:, None], sizes[:2])


def names_of(plane: Plane) -> list[str]:
    """What the two axes are made of."""
    return [_name(axis, canvas.labels(plane.result)) for axis in plane.axes]


def map_of_modes(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.map`."""
    from matplotlib.lines import Line2D

    free = canvas.free(result)
    if len(free) < 3:
        raise ValueError(f"a map shows three coordinates or more on a plane; here are {len(free)}: use plot.landscape.")
    ax = canvas.axes_or_new(ax, _SIZE)
    if not result.modes:
        return canvas.say(ax, "No mode was found.")
    plane = plane_of(result)
    places = plane.of(np.array([mode.x for mode in result.modes]))
    entries = []
    if any(len(path) > 1 for path in result.paths):
        drawn = [marks.broken(result, path) for path in marks.some_paths(result)]
        for path in drawn:
            ax.plot(*plane.of(path).T, color=canvas.PATH, linewidth=0.8, alpha=0.4, zorder=2)
        entries.append(Line2D([], [], color=canvas.PATH, linewidth=1.0, label="local searches"))
    if result.barriers is not None and result.barriers.merges:
        for merge in result.barriers.merges:
            ax.plot(*plane.of(marks.broken(result, merge.way.points)).T, color=canvas.WAY, linewidth=1.2, zorder=3)
        entries.append(Line2D([], [], color=canvas.WAY, linewidth=1.2, label="lowest ways"))
    room = _MARGIN * np.maximum(np.ptp(places, axis=0), 1e-3)
    ax.set(xlim=(places[:, 0].min() - room[0], places[:, 0].max() + room[0]))
    ax.set(ylim=(places[:, 1].min() - room[1], places[:, 1].max() + room[1]))
    ax.set(**dict(zip(("xlabel", "ylabel"), names_of(plane), strict=True)))
    entries = marks.draw_at(result, places, ax) + entries
    shown = canvas.percent(float(plane.shares.sum()))
    canvas.set_title(ax, f"{counted(len(result.modes), 'mode')}; the plane shows {shown} of how they differ")
    canvas.legend_below(ax, entries)
    return ax


def _name(axis: Floats, names: list[str]) -> str:
    """An axis by the coordinates that it is made of: those with the largest shares."""
    largest = np.argsort(-np.abs(axis), kind="stable")[:_TERMS]
    named = [i for i in largest if abs(axis[i]) >= _LEAST * np.abs(axis).max()]
    if len(named) == 1 and (np.abs(axis) > 0.1 * np.abs(axis).max()).sum() == 1:
        return names[named[0]]
    terms = [f"{'+' if axis[i] > 0 else chr(8722)} {abs(axis[i]):.2f} {names[i]}" for i in named]
    more = " ..." if (np.abs(axis) > 0.1 * np.abs(axis).max()).sum() > len(named) else ""
    return " ".join(terms).removeprefix("+ ") + more
