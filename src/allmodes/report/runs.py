"""Pictures of a run of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted, estimate
from allmodes.nva.engine import Run
from allmodes.objective import Objective
from allmodes.report import canvas, marks
from allmodes.report.landscape import SIZE, choose, draw_background
from allmodes.report.slices import through
from allmodes.result import AnnealingTrace, History, Result

_MARGIN = 0.1  # of the extent of the means, around them
_RESOLUTION = 101

Floats = NDArray[np.float64]


def as_result(run: Run) -> Result:
    """A run seen as a result without modes: what the plots of annealing need."""
    trace, d = run.trace, run.means.shape[1]
    n = len(trace)
    spent = np.round(trace.step * (run.nfev / max(run.nit, 1))).astype(np.int64)
    unknown = np.full((len(run.weights), d, d), np.nan)  # only those of the end are kept
    seen = AnnealingTrace(
        np.zeros(n, np.int64), trace.step, spent, trace.temperature, list(trace.weights), list(trace.means),
        [unknown] * (n - 1) + [run.covariances],
    )  # fmt: skip
    return Result(
        x=run.best_x, fun=run.best_value, success=run.success, status=run.status, message=run.message, nfev=run.nfev,
        njev=run.njev, nhev=run.nhev, nit=run.nit, modes=(), coverage=estimate(np.zeros(0, np.int64)),
        temperature=float(trace.temperature[-1]), nfail=0, failures=(), history=History(), mixture=None,
        method=run.algorithm.name, maximise=True, bounds=_extent(trace.means.reshape(-1, d)), trace=seen,
    )  # fmt: skip


def _extent(points: Floats) -> Floats:
    """Where means have been, and a margin: (d, 2)."""
    finite = points[np.isfinite(points).all(axis=1)]
    low, high = finite.min(axis=0), finite.max(axis=0)
    room = np.where(high > low, _MARGIN * (high - low), 1.0)
    return np.stack([low - room, high + room], axis=1)


def draw_run(
    run: Run, fun: Callable[..., Any] | Objective | None, coordinates: Sequence[int | str] | None, at: Any, ax: Any,
    resolution: int | None,
) -> Any:  # fmt: skip
    """See `allmodes.report.accessor.RunPlots.landscape`."""
    result = as_result(run)
    pair = choose(result, coordinates)
    if len(pair) != 2:
        raise ValueError("a landscape of a run needs two coordinates, and there is one.")
    is_own, ax = ax is None, canvas.axes_or_new(ax, SIZE)
    names = canvas.labels(result)
    canvas.show(ax, result, pair)
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    if fun is not None:
        draw_background(
            result, fun, pair, through(result, at), ax, resolution or _RESOLUTION, "value" if is_own else None
        )
    draw_paths(run, pair, ax)
    canvas.set_title(ax, f"{run.algorithm.name}: {counted(len(run.weights), 'component')}, {run.nit} steps")
    canvas.legend_below(ax, entries())
    return ax


def draw_paths(run: Run, pair: Sequence[int], ax: Any) -> None:
    """The path of every mean, its start, its end and its ellipse there."""
    for k in range(run.trace.means.shape[1]):
        colour = canvas.COLOURS[k % len(canvas.COLOURS)]
        path = run.trace.means[:, k][:, list(pair)]
        ax.plot(*path.T, color=colour, linewidth=1.0, alpha=0.9, zorder=3)
        ax.plot(*path[0], marker="o", markersize=7, markerfacecolor="white", color=colour, zorder=4)
        marks.ellipse(path[-1], run.covariances[k][np.ix_(pair, pair)], colour, ax)
        ax.plot(*path[-1], marker="o", markersize=8, color=colour, zorder=5)


def entries() -> list[Any]:
    """Of a legend."""
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "0.3"}
    return [
        Line2D([], [], **dot, markerfacecolor="white", label="start of a component"),
        Line2D([], [], **dot, label="end of a component"),
    ]
