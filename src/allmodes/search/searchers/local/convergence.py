"""Has a local search arrived? By the maximum of its model, by its slope, and by how its steps shrink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.geometry import is_held, lengths
from allmodes.search.searchers.local.finite_differences import gradient_step
from allmodes.search.searchers.local.models import Model
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON, TINY

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def last_step(context: Context) -> float:
    """A measured model whose step is shorter needs no further gradient: Newton's method squares its error."""
    return float(np.sqrt(TUNING.negligible * context.xtol))


def is_stationary(
    context: Context,
    model: Model,
    value: Array,
    far: Array,
    gains: Array,
    measured: Mask,
    measurements: NDArray[np.int64],
) -> Mask:
    """Which searches are at the maximum of their model, or on flat ground, (n,).

    A guessed model counts when its step is short enough to be worth a measurement; after a measurement that was
    followed by a long way, shorter still.

    Args:
        model, value: at the searches' points.
        far, gains: distance to the maximum of the model, and how much higher that is.
        measured, measurements: whether the model was measured, and how often that was done.
    """
    order, scale = context.order, context.scale
    is_concave = model.eigenvalues[:, -1] < 0.0
    tolerance = TUNING.arrival * context.xtol if order else last_step(context)
    guessed = context.tolerances.near * (1.0 if order else TUNING.remeasure**measurements)
    near = is_concave & (far <= np.where(measured, tolerance, np.maximum(guessed, context.xtol)))
    curve = np.abs(model.eigenvalues).max(axis=1)
    size = np.minimum(scale, curve)
    if order == 0:  # what rounding of values makes of a slope
        size += 4.0 * EPSILON * np.abs(value) / (gradient_step(context) * TUNING.level_slope)
    is_flat = np.abs(model.g).max(axis=1) <= TUNING.level_slope * size
    if is_flat.any():
        is_bent = (model.eigenvalues[:, -1] > 1e-6 * curve) & (curve > 1e-6 * scale)
        # along the floor of a steep valley a slope that is small may still lead far
        is_rising = measured & is_concave & (gains > context.tolerances.rounding(0.0)) & (order > 0)
        near |= is_flat & ~(measured & is_bent) & ~is_rising
    return np.asarray(near)


def stretch(far: Array, distance: Array, shrinkage: Array, is_sure: Mask) -> tuple[Array | None, Array | float]:
    """How much to lengthen Newton steps that shrink by the same factor q again and again: 1 / (1 - q), or 0; and q.

    That happens where the curvature vanishes at the optimum; the steps that are left add up to a geometric series.
    None where nothing is to be lengthened.

    Args:
        far, distance: to the maximum of the model, now and a step ago, (n,).
        shrinkage: q a step ago.
        is_sure: whether the model was measured and has a maximum.
    """
    if not is_sure.any():
        return None, 0.0
    q = np.where(is_sure, far / np.maximum(distance, TINY), 0.0)
    most = 1.0 - 1.0 / TUNING.longest_stretch
    is_slow = (q > TUNING.slow) & (q < most) & (np.abs(q - shrinkage) < TUNING.steady)
    return (np.where(is_slow, 1.0 / (1.0 - np.minimum(q, most)), 0.0) if is_slow.any() else None), q


def is_short(context: Context, rise: float, predicted: float, slack: float) -> bool:
    """Whether the last step has ended so far below the maximum that the mode would not tie with its equals.

    A model that is wrong by a share q misses the rise by q of it, and leaves q^2 of it to be gained.
    """
    miss = abs(rise - predicted)
    if not (rise > 0.0 and context.scale > 0.0):
        return False
    return bool(miss**2 > max(TUNING.little * context.tolerances.tie, slack) * max(miss, predicted))


def free_slope(context: Context, point: Array, g: Array) -> float:
    """The size of the gradient (d,) in the coordinates that no bound holds; NaN where it is unknown."""
    return float(lengths(np.where(is_held(context.box, point, g), 0.0, g)))


def no_slope(context: Context) -> float:
    """A slope that makes no difference over the accuracy of positions."""
    return context.tolerances.rounding() / (TUNING.arrival * context.xtol)
