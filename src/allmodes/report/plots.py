"""Plots with matplotlib (extra [plot]). Every function takes `ax=` and returns it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.engine import Run
from allmodes.objective import VALUE
from allmodes.problems import Problem
from allmodes.result import Result

# A palette that stays readable with colour-blind eyes (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
_LEVELS = 24
_RESOLUTION = 241
_DPI = 110


def _new_figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'allmodes[plot]'.") from error
    return Figure(figsize=size, layout="constrained")


def _new_axes() -> Any:
    return _new_figure((5.2, 5.0)).add_subplot()


def save_figure(path: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> None:
    """Make a figure of this size in inches, let `draw` fill it, and write it."""
    figure = _new_figure(size)
    draw(figure)
    figure.savefig(path, dpi=_DPI)


def trajectories(run: Run, problem: Problem, ax: Any = None) -> Any:
    """Paths of the component means over the contours of a two-dimensional problem.

    Ellipses are two standard deviations of the components at the end.
    """
    if problem.dimension != 2:
        raise ValueError(f"problem has dimension {problem.dimension}; trajectories are drawn in 2 dimensions.")
    ax = _new_axes() if ax is None else ax
    draw_contours(problem, ax)
    for k in range(run.trace.means.shape[1]):
        colour = COLOURS[k % len(COLOURS)]
        path = run.trace.means[:, k]
        ax.plot(*path.T, color=colour, linewidth=1.0, alpha=0.9, zorder=3)
        ax.plot(*path[0], marker="o", markersize=7, markerfacecolor="white", color=colour, zorder=4)
        _draw_ellipse(run.means[k], run.covariances[k], colour, ax)
        ax.plot(*path[-1], marker="o", markersize=8, color=colour, zorder=5)
    for is_global, size in ((True, 11), (False, 6)):
        label = "true mode, global" if is_global else "true mode, local"
        chosen = problem.modes[problem.is_global == is_global]
        ax.plot(*chosen.T, linestyle="none", marker="+", markersize=size, color="black", label=label, zorder=6)
    ax.plot([], [], linestyle="none", marker="o", markerfacecolor="white", color="0.3", label="start of a component")
    ax.plot([], [], linestyle="none", marker="o", color="0.3", label="end of a component")
    ax.legend(loc="upper right", fontsize=8, framealpha=0.9)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"{run.algorithm.name} on the {problem.name}", aspect="equal")
    return ax


def landscape(result: Result, problem: Problem, ax: Any = None) -> Any:
    """Modes found, numbered by rank, over the contours of a two-dimensional problem.

    Filled circles are global modes. Ellipses show where the function has fallen by the temperature of the weights.
    """
    if problem.dimension != 2:
        raise ValueError(f"problem has dimension {problem.dimension}; a landscape is drawn in 2 dimensions.")
    ax = _new_axes() if ax is None else ax
    draw_contours(problem, ax)
    for rank, mode in enumerate(result.modes, 1):
        colour = COLOURS[0] if mode.is_global else COLOURS[1]
        if mode.kind in ("minimum", "maximum"):
            sign = -1.0 if result.maximise else 1.0
            _draw_ellipse(mode.x, 0.5 * result.temperature * np.linalg.inv(sign * mode.hessian), colour, ax)
        ax.plot(*mode.x, marker="o", markersize=13, color=colour, markerfacecolor=colour if mode.is_global else "white",
                clip_on=False, zorder=5)  # fmt: skip
        text = "white" if mode.is_global else colour
        ax.annotate(str(rank), mode.x, color=text, fontsize=8, ha="center", va="center", zorder=6)
    for is_global, colour in ((True, COLOURS[0]), (False, COLOURS[1])):
        label = "global mode" if is_global else "local mode"
        face = colour if is_global else "white"
        ax.plot([], [], linestyle="none", marker="o", color=colour, markerfacecolor=face, label=label)
    ax.legend(loc="upper right", fontsize=8, framealpha=0.9)
    names = result.names or ("x0", "x1")
    title = f"{len(result.modes)} modes of the {problem.name}, {result.nfev} evaluations"
    ax.set(xlabel=names[0], ylabel=names[1], title=title, xlim=problem.bounds[0], ylim=problem.bounds[1])
    return ax


def draw_contours(problem: Problem, ax: Any) -> None:
    low, high = problem.bounds.T
    axes = [np.linspace(a, b, _RESOLUTION) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = problem.objective.evaluate(grid, VALUE).value.reshape(_RESOLUTION, _RESOLUTION)
    # Levels at quantiles show the flat top and the steep flanks alike.
    levels = np.unique(np.quantile(values, 1.0 - np.linspace(0.0, 1.0, _LEVELS) ** 2))
    ax.contourf(*axes, values.T, levels=levels, cmap="Greys_r", alpha=0.35)
    ax.contour(*axes, values.T, levels=levels, colors="0.65", linewidths=0.5, linestyles="solid")


def _draw_ellipse(mean: Any, covariance: Any, colour: str, ax: Any) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 90)
    circle = 2.0 * np.stack([np.cos(angle), np.sin(angle)])
    ax.plot(*(mean[:, None] + np.linalg.cholesky(covariance) @ circle), color=colour, linewidth=1.0, zorder=4)
