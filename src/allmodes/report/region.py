"""Where a slice of the box is feasible: the constraints of a search on a grid, and what of it is shaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.result import Result

_SHADE: dict[str, Any] = {"facecolor": "#D55E0022", "edgecolor": "#D55E0066", "hatch": "///", "linewidth": 0.0}
_EDGE = "#D55E00"
_FAILED = -1e300  # where a constraint fails, nothing is feasible

Floats = NDArray[np.float64]


class Margins(NamedTuple):
    """Constraints on a grid of n places along each side.

    Attributes:
        inequality: by how much the worst inequality holds, in units of its scale; negative where it does not. None
            without inequalities.
        equalities: what is to be 0, one grid for each equality.
    """

    inequality: Floats | None
    equalities: list[Floats]


def known(result: Result, constraints: Any = None) -> Constraints | None:
    """The constraints that were passed or, if none were, those that the result has."""
    if constraints is None:
        found = result.constraints
        return found if isinstance(found, Constraints) else None
    asked = result.settings
    box = Box.make(result.bounds, result.x, asked.get("periodic"), None, asked.get("scale"), result.coordinate_names)
    return Constraints.make(constraints, box, bool(asked.get("vectorized")))


def margins(constraints: Constraints, coordinates: Sequence[int], point: Floats, sides: Sequence[Floats]) -> Margins:
    """The constraints on a grid of the chosen coordinates, the others as in the point."""
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    points = np.tile(point, (grid[..., 0].size, 1))
    points[:, list(coordinates)] = grid.reshape(-1, len(coordinates))
    with np.errstate(all="ignore"):
        values = constraints.values(constraints.box.to_unit(points))[:, constraints.index]
        rows = constraints.sign * (values - constraints.bound) / constraints.scale[constraints.index]
    rows = np.where(np.isfinite(rows), rows, _FAILED).T.reshape(-1, *grid.shape[:-1])
    inequalities = rows[~constraints.is_equality]
    return Margins(inequalities.min(axis=0) if len(inequalities) else None, list(rows[constraints.is_equality]))


def shade(
    constraints: Constraints, coordinates: Sequence[int], point: Floats, sides: Sequence[Floats], ax: Any
) -> list[Any]:
    """Hatch what is not feasible, and draw equalities as lines; returns entries of a legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found = margins(constraints, coordinates, point, sides)
    entries: list[Any] = []
    if found.inequality is not None and (found.inequality < 0.0).any():
        _hatch(found.inequality, sides, ax)
        entries.append(Patch(**_SHADE, label="not feasible"))
    lines = [each for each in found.equalities if each.ndim > 1 and each.min() < 0.0 < each.max()]
    for each in lines:
        ax.contour(*sides, each.T, levels=[0.0], colors=_EDGE, linewidths=1.4, zorder=1.5)
    if lines:
        entries.append(Line2D([], [], color=_EDGE, linewidth=1.4, label="equality constraint"))
    return entries


def _hatch(margin: Floats, sides: Sequence[Floats], ax: Any) -> None:
    if margin.ndim == 1:
        where = margin < 0.0
        ax.fill_between(sides[0], 0.0, 1.0, where=where, transform=ax.get_xaxis_transform(), **_SHADE, zorder=0.5)
        return
    clipped = np.clip(margin, -1.0, 1.0).T
    area = ax.contourf(*sides, clipped, levels=[-2.0, 0.0], colors=[_SHADE["facecolor"]], hatches=["///"], zorder=1.2)
    area.set_edgecolor(_SHADE["edgecolor"])
    area.set_linewidth(0.0)
    if margin.max() > 0.0:
        ax.contour(*sides, clipped, levels=[0.0], colors=_EDGE, linewidths=1.0, zorder=1.3)


def as_data(constraints: Constraints, coordinates: Sequence[int], point: Floats, sides: Sequence[Floats]) -> Margins:
    """The same for other ways of drawing: clipped to -1 to 1."""
    found = margins(constraints, coordinates, point, sides)
    clipped = None if found.inequality is None else np.clip(found.inequality, -1.0, 1.0)
    return Margins(clipped, [np.clip(each, -1.0, 1.0) for each in found.equalities])
