"""Points on both sides of where a local search arrived, along its active set: they show what curvature cannot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.constraints import Constraints
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.optimality import Hold, steepest
from allmodes.search.searchers.constrained.subproblem import reachable, restored
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.search.verify.tuning import TUNING as VERIFY

Array = NDArray[np.float64]

WIDER = 10.0  # times the width: second differences are a hundred times as large there, at a kink ten times
_NARROW = 100.0  # of the scale of the function: with gradients a smaller curvature is no kink


def beside(constraints: Constraints, point: Array, hold: Hold, way: Array) -> Array:
    """The point at that distance along the active set."""
    if not hold.held.any():
        return point + way
    found = restored(constraints, point + way, hold.held)
    assert found is not None
    return found


def where_steep(context: Context, point: Array, value: float, hold: Hold, reduced: Array, width: float) -> Array:
    """Points (2, d) farther away along the largest curvature, since a kink looks like a narrow valley; or (0, d)."""
    constraints, none = context.constraints, np.zeros((0, len(point)))
    assert constraints is not None
    if not len(reduced) or hold.tangent.shape[1] != len(reduced):
        return none
    size, way = steepest(reduced)
    is_wide = context.order > 0 and size < _NARROW * context.scale
    if is_wide or size * width**2 < 1e3 * float(context.tolerances.error_of(value)):
        return none
    step = WIDER * width * (hold.tangent @ way)
    points = np.array([beside(constraints, point, hold, side * step) for side in (1.0, -1.0)])
    is_open = context.box.inside(points).all() and constraints.is_feasible(points).all()
    return points if is_open else none


def where_weak(context: Context, point: Array, hold: Hold, reduced: Array) -> Array:
    """Points (n, d) on both sides along the least curvature, for there is some right beside an inflection, too.

    They are nearer where it is not small: in a narrow basin those farther away belong to other basins.
    """
    constraints, none = context.constraints, np.zeros((0, len(point)))
    assert constraints is not None
    if not len(reduced) or hold.tangent.shape[1] != len(reduced):
        return none
    sizes, vectors = np.linalg.eigh(reduced)
    least = VERIFY.gentle * context.spread
    asked = sizes < max(least, 1.01 * sizes[0])
    lengths = TUNING.probe * np.sqrt(np.minimum(1.0, least / np.maximum(sizes[asked], TINY)))
    moves = lengths[:, None] * (hold.tangent @ vectors[:, asked]).T
    return reachable(constraints, point, np.concatenate([moves, -moves]))
