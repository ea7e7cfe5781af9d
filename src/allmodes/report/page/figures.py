"""Which plots the report page has, and what is said of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from allmodes.modes.coverage import counted
from allmodes.result import Result
from allmodes.result.columns import weighed

_MANY = 30  # modes beyond which not all ranks are written on the points
_PAIRED = 4  # coordinates that are drawn against each other, at most


_HINT = " Pass the function to see its contours here: result.report(path, fun=fun), or --fun in a shell."
_SHAPES = {
    "boundary": "squares sit at a bound", "constrained": "pentagons at a constraint", "flat": "diamonds are flat",
    "unverified": "triangles are unverified",
}  # fmt: skip


class Figure(NamedTuple):
    """A plot: its key in the script, its heading, its text alternative, and how to read it."""

    key: str
    heading: str
    alternative: str
    caption: str


def of(result: Result, data: dict[str, Any], has_function: bool = False) -> list[Figure]:
    """The plots that make sense for this result."""
    found = counted(len(result.modes), "mode")
    is_empty = not (result.modes or data["paths"] or data["slices"] or np.isfinite(result.x).all())
    figures = [] if is_empty else [_slice(result, data, has_function)]
    if not result.modes:
        return [*figures, *_course(result, data)]
    if len(result.x) > 2:
        which = f"The {_PAIRED} coordinates in which the modes differ most. " if len(result.x) > _PAIRED else ""
        figures.append(
            Figure("pairs", "Pairs of coordinates", f"{found}, by every pair of coordinates.",
                   f"{which}A click on a point shows these two in the landscape.")
        )  # fmt: skip
    if data["map"]:
        whose = "; ".join(["thin lines: local searches"] * bool(data["map"]["paths"]) +
                          ["thick lines: the lowest ways between modes"] * bool(data["map"]["ways"]))  # fmt: skip
        figures.append(
            Figure("map", "Map", f"{found} on the plane in which they differ most.",
                   f"The plane of the two principal components of the modes, in shares of the bounds; it shows "
                   f"{data['map']['share']} of how they differ.{f' {whose.capitalize()}.' if whose else ''}")
        )  # fmt: skip
    if data["tree"]:
        figures.append(_tree(result))
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


def _slice(result: Result, data: dict[str, Any], has_function: bool) -> Figure:
    hint = "" if has_function or result.is_roots else _HINT
    if len(result.x) == 1:
        curve = " The line is the function." if data["slices"] else hint
        return Figure("slice", "Landscape", "Values of the modes against the coordinate.",
                      f"Blue and filled: global; orange and hollow: local.{curve}")  # fmt: skip
    parts = ["Blue and filled: global; orange and hollow: local."] if result.modes else []
    if not result.modes or not np.array_equal(result.x, result.modes[0].x):
        parts.append("Green cross: the best point evaluated.")
    if result.modes:
        parts.append("Numbers are ranks." if len(result.modes) <= _MANY else "Numbers are ranks of the best modes.")
    if (data["tree"] or {}).get("ways") and len(result.x) == 2:
        parts.append("Thick lines: the lowest ways between modes, with crosses at their passes.")
    if data["covariances"]:
        parts.append("Ellipses: two standard deviations of the mixture at the temperature of the weights.")
    if data["paths"]:
        whose = "local searches" if result.trace is None else "annealed components"
        parts.append(f"Thin lines: paths of {whose}.")
    if data["slices"]:
        through = "" if len(result.x) == 2 else " on the plane through the best point"
        parts.append(f"Light colours are good values of the function{through}.")
    if data["slices"] and any(data["isLevels"]):
        parts.append("Whole numbers and choices are dots.")
    if data["regions"]:
        parts.append("Orange is not feasible; equality constraints are orange lines.")
    if not data["isWhole"]:
        parts.append("The function takes so long that it is drawn for some pairs of coordinates, or none.")
    if len(result.x) > 2:
        parts.append("Pale modes are beside that plane.")
    shapes = [text for kind, text in _SHAPES.items() if any(mode.kind == kind for mode in result.modes)]
    parts += [f"{'; '.join(shapes).capitalize()}."] if shapes else []
    return Figure("slice", "Landscape", "Modes in the plane of two coordinates.", " ".join(parts) + hint)


def _tree(result: Result) -> Figure:
    barriers = result.barriers
    assert barriers is not None
    found = counted(len(barriers.ways), "way")
    worst = "lowest" if result.maximise else "highest"
    caption = (
        f"Every line ends at the value of a mode; lines join at the barrier between their modes, the {worst} point of "
        f"the best way found ({found}, {counted(barriers.nfev, 'evaluation')}). "
    )
    if not all(merge.way.is_saddle for merge in barriers.merges):
        caption += "Where a join is dotted, it is no saddle but the worst point seen. "
    if len(barriers.merges) < len(result.modes) - 1:
        caption += "Between dashed lines no way is known."
    return Figure("tree", "Barriers between modes", f"A tree of {counted(len(result.modes), 'mode')}, joined at the "
                  "barriers between them.", caption.strip())  # fmt: skip


def _course(result: Result, data: dict[str, Any]) -> list[Figure]:
    """How the search went."""
    figures = []
    if len(result.history):
        figures.append(
            Figure("convergence", "Convergence", "Modes found and best value against evaluations.",
                   "Modes found and best value as the evaluations went on; a chosen mode is where it was found.")
        )  # fmt: skip
    if data["trace"]:
        figures.append(
            Figure("weights", "Annealing", "Weights of the components and temperature against evaluations.",
                   "Weights of the components and the temperature, one run of annealing after the other.")
        )  # fmt: skip
    return figures
