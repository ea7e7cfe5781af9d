"""Which plots the report page has, and what is said of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allmodes.modes.coverage import counted
from allmodes.result import Result
from allmodes.result.table import weighed

_MANY = 40  # modes beyond which ranks are not written on the points
_PAIRED = 4  # coordinates that are drawn against each other, at most


class Figure(NamedTuple):
    """A plot: its key in the script, its heading, its text alternative, and how to read it."""

    key: str
    heading: str
    alternative: str
    caption: str


def of(result: Result, data: dict[str, Any]) -> list[Figure]:
    """The plots that make sense for this result."""
    found = counted(len(result.modes), "mode")
    is_empty = not (result.modes or data["paths"] or data["slices"] or np.isfinite(result.x).all())
    figures = [] if is_empty else [_slice(result, data)]
    if not result.modes:
        return [*figures, *_course(result, data)]
    if len(result.x) > 2:
        which = f"The {_PAIRED} coordinates in which the modes differ most. " if len(result.x) > _PAIRED else ""
        figures.append(
            Figure("pairs", "Pairs of coordinates", f"{found}, by every pair of coordinates.",
                   f"{which}A click on a point shows its pair in the slice.")
        )  # fmt: skip
    if not result.is_roots:  # their values are rounding, and they all weigh the same
        what = "Values, weights and flatness" if weighed(result) else "Values"
        flat = " Flat modes, whose flatness is infinite, have no bar there." if weighed(result) else ""
        figures.append(Figure("modes", what, f"{what} of {found}, by rank.", f"By rank, best first.{flat}"))
    if len(result.x) > 1:
        figures.append(
            Figure("parallel", "Parallel coordinates", f"{found}, a line each over all coordinates.",
                   "Every line is a mode; each coordinate runs from its lower to its upper bound (where there is none: "
                   "around the modes). Coloured by value, from blue for global modes to yellow for the worst.")
        )  # fmt: skip
    return [*figures, *_course(result, data)]


def _slice(result: Result, data: dict[str, Any]) -> Figure:
    if len(result.x) == 1:
        curve = " The line is the function." if data["slices"] else ""
        return Figure("slice", "Landscape", "Values of the modes against the coordinate.",
                      f"Blue and filled: global; orange and hollow: local.{curve}")  # fmt: skip
    parts = ["Blue and filled: global; orange and hollow: local."] if result.modes else []
    if not result.modes or not np.array_equal(result.x, result.modes[0].x):
        parts.append("Green cross: the best point evaluated.")
    if 0 < len(result.modes) <= _MANY:
        parts.append("Numbers are ranks.")
    if data["covariances"]:
        parts.append("Ellipses: two standard deviations of the mixture at the temperature of the weights.")
    if data["paths"]:
        whose = "local searches" if result.trace is None else "annealed components"
        parts.append(f"Thin lines: paths of {whose}.")
    if data["slices"]:
        through = "" if len(result.x) == 2 else " on the plane through the best point"
        parts.append(f"The greyer, the worse the function{through}.")
    if data["slices"] and any(data["isLevels"]):
        parts.append("Whole numbers and choices are dots.")
    if data["regions"]:
        parts.append("Orange is not feasible; equality constraints are orange lines.")
    if not data["isWhole"]:
        parts.append("The function takes so long that it is drawn for some pairs of coordinates, or none.")
    if len(result.x) > 2:
        parts.append("Pale modes are beside that plane.")
    return Figure("slice", "Landscape", "Modes in the plane of two coordinates.", " ".join(parts))


def _course(result: Result, data: dict[str, Any]) -> list[Figure]:
    """How the search went."""
    figures = []
    if len(result.history):
        figures.append(
            Figure("convergence", "Convergence", "Modes found and best value against evaluations.",
                   "Modes found and best value as the evaluations went on.")
        )  # fmt: skip
    if data["trace"]:
        figures.append(
            Figure("weights", "Annealing", "Weights of the components and temperature against evaluations.",
                   "Weights of the components and the temperature, one run of annealing after the other.")
        )  # fmt: skip
    return figures
