"""Has a local search arrived? By the maximum of its model, by its slope, and by how its steps shrink."""

from __future__ import annotations

import numpy as np

from allmodes.search.context import Context
from allmodes.search.geometry import is_held, lengths
from allmodes.search.searchers.local.models import Model
from allmodes.search.searchers.local.table import Array, Counts, Mask
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY


def last_step(context: Context) -> float:
    """A measured model whose step is shorter needs no further gradient: Newton's method squares its error."""
    return float(np.sqrt(TUNING.negligible * context.xtol))


def is_stationary(
    context: Context, model: Model, value: Array, far: Array, promised: Array,
    measured: Mask, measurements: Counts, last_steps: Array,
) -> Mask:  # fmt: skip
    """Which searches are at the maximum of their model, or have nothing left to gain, (n,).

    `far` and `promised` say how far away the maximum of the model is, and how much higher. A guessed model counts when
    its step, and the one before, are short enough to be worth a measurement; after measurements that came too early,
    shorter still.
    """
    order, xtol, tolerances = context.order, context.xtol, context.tolerances
    steepest, curve = model.eigenvalues[:, -1], np.abs(model.eigenvalues).max(axis=1)
    tolerance = TUNING.arrival * xtol if order else last_step(context)
    is_settled = last_steps <= TUNING.settled * tolerances.near
    guessed = np.where(is_settled, tolerances.near * TUNING.remeasure**measurements, 0.0)
    near = (steepest < 0.0) & (far <= np.where(measured, tolerance, np.maximum(guessed, xtol)))
    # a gradient shows the way even where an added constant hides the rise
    nothing = promised <= tolerances.error_of(np.minimum(np.abs(value), context.scale or np.inf) if order else value)
    if nothing.any():
        is_bent = (steepest > xtol * curve) & (curve > xtol * context.scale)
        near |= nothing & ~(measured & is_bent)
    return np.asarray(near)


def stretch(
    far: Array, distance: Array, shrinkage: Array, is_sure: Mask, slowest: float = 1.0 - TUNING.quadratic
) -> tuple[Array, Array]:
    """How much to lengthen Newton steps that shrink by the same factor q again and again: 1 / (1 - q), or 0; and q.

    That happens where the curvature vanishes at the optimum; the steps that are left add up to a geometric series.
    `far` and `distance` are the distances to the maximum of the model now and a step ago, `shrinkage` is q a step ago,
    and `is_sure` says whether the model was measured and has a maximum. Steps that hardly shrink, by more than
    `slowest`, are left as they are.
    """
    q = np.where(is_sure, far / np.maximum(distance, TINY), 0.0)
    is_slow = (q > TUNING.slow) & (q < slowest) & (np.abs(q - shrinkage) < 0.5 * TUNING.quadratic)
    return np.where(is_slow, 1.0 / (1.0 - np.where(is_slow, q, 0.0)), 0.0), q


def is_short(context: Context, rise: float, predicted: float, slack: float) -> bool:
    """Whether the last step has ended so far below the maximum that the mode would not tie with its equals.

    A model that is wrong by a share q misses the rise by q of it, and leaves q^2 of it to be gained.
    """
    miss, least = abs(rise - predicted), max(TUNING.little * context.tolerances.tie, slack)
    return rise > 0.0 and context.scale > 0.0 and miss**2 > least * max(miss, predicted)


def free_slope(context: Context, point: Array, g: Array) -> Array:
    """The size of gradients (..., d) in the coordinates that no bound holds; NaN where it is unknown."""
    return lengths(np.where(is_held(context.box, point, g), 0.0, g))


def no_slope(context: Context) -> float:
    """A slope so small that the function does not change over the wanted, or possible, accuracy of positions."""
    error = context.tolerances.rounding()
    return error / max(TUNING.arrival * context.xtol, context.tolerances.located)
