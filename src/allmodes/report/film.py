"""Annealing as a film."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.objective import Objective
from allmodes.report import canvas, marks
from allmodes.report.course import annealed
from allmodes.report.landscape import choose, draw_background
from allmodes.report.slices import through
from allmodes.result import AnnealingTrace, Result

_SIZE = (4.8, 4.6)
_DPI = 90
_SHARES = (4.0, 14.0)  # sizes of the marker of a component: without weight, and with all of it
_RESOLUTION = 81
_TITLE = 9  # points
_LAST = 1.0  # seconds that the last frame stays before the film starts over


def animate(
    result: Result,
    path: str | os.PathLike[str],
    fun: Callable[..., Any] | Objective | None = None,
    coordinates: Sequence[int | str] | None = None,
    at: Any = None,
    ax: Any = None,
    run: int | None = 0,
    frames: int = 60,
    fps: int = 8,
) -> Any:
    """See `allmodes.report.accessor.Plots.animate`."""
    trace = annealed(result, "animate")
    pair = choose(result, coordinates)
    if len(pair) != 2:
        raise ValueError("animate needs two coordinates, and there is one; plot.weights() shows how annealing went.")
    ax = canvas.axes_or_new(ax, _SIZE)
    names = canvas.labels(result)
    canvas.show(ax, result, pair)
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    if fun is not None:
        draw_background(result, fun, pair, through(result, at), ax, _RESOLUTION, None)
    for mode in result.modes:
        ax.plot(*mode.x[pair], linestyle="none", marker="+", markersize=9.0, color="black", zorder=6)
    film(trace, pair, ax, Path(path), _choose(trace, run, frames), fps)
    return ax


def _choose(trace: AnnealingTrace, run: int | None, most: int) -> list[int]:
    """At most this many frames of a run, or of all, evenly spaced, with the first and the last."""
    if most < 1:
        raise ValueError(f"frames is {most}; wanted at least 1.")
    kept = np.unique(trace.run).tolist()
    if run is not None and run not in kept:
        raise ValueError(f"run is {run!r}; wanted None for all runs, or one that was kept: {kept}.")
    those = np.arange(len(trace)) if run is None else np.flatnonzero(trace.run == run)
    return [int(i) for i in np.unique(those[np.linspace(0, len(those) - 1, min(len(those), most)).round().astype(int)])]


def film(trace: AnnealingTrace, pair: list[int], ax: Any, path: Path, frames: list[int], fps: int) -> None:
    """Draw the frames one after the other and write them as a GIF; the last one stays on the axes."""
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError("animate writes its GIF with pillow: pip install 'allmodes[plot]'.") from error
    from matplotlib.animation import PillowWriter

    if path.suffix.lower() != ".gif":
        raise ValueError(f"path is {os.fspath(path)}; animate writes a GIF: give it the ending .gif.")
    writer = PillowWriter(fps=fps)
    ax.set_title(" ", fontsize=_TITLE)
    figure = ax.figure.figure  # of a subfigure the whole
    figure.draw_without_rendering()  # the layout is made once, or the film would jitter
    engine = figure.get_layout_engine()
    figure.set_layout_engine("none")
    shown: list[Any] = []
    with writer.saving(figure, os.fspath(path), _DPI):
        for frame in frames:
            for artist in shown:
                artist.remove()
            shown = _draw(trace, pair, ax, frame)
            writer.grab_frame()
        for _ in range(int(_LAST * fps)):
            writer.grab_frame()
    if engine is not None:
        figure.set_layout_engine(engine)


def _draw(trace: AnnealingTrace, pair: list[int], ax: Any, frame: int) -> list[Any]:
    """The components of a frame; returns what is to be removed again."""
    shown = []
    blocks = trace.block(frame, pair)
    small, large = _SHARES
    for k, (mean, weight) in enumerate(zip(trace.means[frame][:, pair], trace.weights[frame], strict=True)):
        colour = canvas.LINES[k % len(canvas.LINES)]
        shown.append(marks.ellipse(mean, blocks[k], colour, ax, linewidth=1.4))
        size = small + (large - small) * float(np.sqrt(weight))
        shown += ax.plot(*mean, linestyle="none", marker="o", markersize=size, color=colour, markeredgecolor="white",
                         zorder=5)  # fmt: skip
    text = f"temperature {trace.temperature[frame]:.3g}, {trace.nfev[frame]} evaluations"
    if len(trace.runs) > 1:
        text = f"run {trace.run[frame] + 1}: {text}"
    ax.set_title(text, fontsize=_TITLE)
    return [artist for artist in shown if artist is not None]
