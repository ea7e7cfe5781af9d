"""Pictures of problems, and figures in files. Pictures of results are `result.plot`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.nva.engine import Run
from allmodes.objective import VALUE
from allmodes.problems import Problem
from allmodes.report import runs
from allmodes.report.canvas import COLOURS, axes_or_new, new_figure

__all__ = ["COLOURS", "draw_contours", "save_figure", "trajectories"]

_LEVELS = 24
_RESOLUTION = 241
_DPI = 110
_SIZE = (5.2, 5.0)


def save_figure(path: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> None:
    """Make a figure of this size in inches, let `draw` fill it, and write it."""
    figure = new_figure(size)
    draw(figure)
    figure.savefig(path, dpi=_DPI)


def trajectories(run: Run, problem: Problem, ax: Any = None) -> Any:
    """Paths of the component means over the contours of a two-dimensional problem, and its modes.

    Ellipses are two standard deviations of the components at the end.
    """
    if problem.dimension != 2:
        raise ValueError(f"problem has dimension {problem.dimension}; trajectories are drawn in 2 dimensions.")
    ax = axes_or_new(ax, _SIZE)
    draw_contours(problem, ax)
    runs.draw_paths(run, (0, 1), ax)
    for is_global, size in ((True, 11), (False, 6)):
        label = "true mode, global" if is_global else "true mode, local"
        chosen = problem.modes[problem.is_global == is_global]
        ax.plot(*chosen.T, linestyle="none", marker="+", markersize=size, color="black", label=label, zorder=6)
    marked = ax.get_legend_handles_labels()[0]
    ax.legend(handles=[*marked, *runs.entries()], loc="upper right", fontsize=8, framealpha=0.9)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"{run.algorithm.name} on the {problem.name}", aspect="equal")
    return ax


def draw_contours(problem: Problem, ax: Any) -> None:
    """The problem over its bounds; light is good."""
    low, high = problem.bounds.T
    axes = [np.linspace(a, b, _RESOLUTION) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = problem.objective.evaluate(grid, VALUE).value.reshape(_RESOLUTION, _RESOLUTION)
    # Levels at quantiles show flat maxima and steep flanks alike.
    levels = np.unique(np.quantile(values, 1.0 - np.linspace(0.0, 1.0, _LEVELS) ** 2))
    ax.contourf(*axes, values.T, levels=levels, cmap="Greys_r", alpha=0.35)
    ax.contour(*axes, values.T, levels=levels, colors="0.65", linewidths=0.5, linestyles="solid")
