"""Which steps of trust-region searches are accepted, and how long the next ones may be."""

from __future__ import annotations

import numpy as np

from allmodes.search.context import Context
from allmodes.search.geometry import is_held
from allmodes.search.searchers.local import residuals
from allmodes.search.searchers.local.table import Array, Mask
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import TINY


def steepness(context: Context, points: Array, g: Array) -> Array:
    """The largest slope (n,) in the coordinates that no bound holds."""
    return np.asarray(np.abs(np.where(is_held(context.box, points, g), 0.0, g)).max(axis=1))


def is_taken(rise: Array, predicted: Array, rounding: Array, is_flatter: Mask | None) -> Mask:
    """Which trial points are accepted, by rise and prediction (n,); equally high ones if the slope is smaller."""
    is_better = (rise > TUNING.least_rise * predicted) & (rise > 0.0)
    is_better &= (rise < TUNING.most_rise * predicted) | (predicted <= rounding)
    is_level = np.abs(rise) <= rounding
    if is_level.any():
        is_better |= is_level & (predicted <= rounding if is_flatter is None else is_flatter)
    return np.asarray(is_better)


def missed_share(g: Array, H: Array, s: Array, rise: Array | None, slope: Array | None) -> Array:
    """Errors (n,) of models g, H over steps s, in rise and final slope, as shares of the predicted rise."""
    bent = g + (H @ s[..., None])[..., 0]
    predicted = 0.5 * np.einsum("nd,nd->n", g + bent, s)
    wrong = np.zeros(len(s)) if rise is None else np.abs(rise - predicted)
    if slope is not None:
        wrong = np.maximum(wrong, np.abs(np.einsum("nd,nd->n", slope - bent, s)))
    return np.where((predicted > 0.0) & np.isfinite(wrong), wrong / np.maximum(predicted, TINY), np.inf)


def reach_of(missed: Array, length: Array) -> Array:
    """How far models can be trusted that missed so much over a length: the error grows with its square."""
    return np.asarray(length * np.sqrt(TUNING.fresh / np.maximum(missed, TINY)))


def longest_step(context: Context, point: Array) -> Array:
    """The longest steps from points (n, d) unless models are exact: inside the box longer ones leave the basin."""
    inside = context.box.project(point)  # around periodic coordinates
    is_inside = ((inside >= 0.0) & (inside <= 1.0)).all(axis=1)
    return np.where(is_inside, residuals.first_radius(context), np.inf)


def resized(
    radius: Array, rise: Array, predicted: Array, length: Array, longest: Array, reach: Array,
    pace: residuals.Pace = residuals.USUAL,
) -> Array:  # fmt: skip
    """The next trust-region radii, by how well the models predicted the rise.

    They exceed `longest` only after a step to the edge of the trust region, and only as far as the models can be
    trusted (`reach`): after a step that ends inside, the next one changes direction.
    """
    ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
    is_at_end = length > 0.8 * radius
    grown = np.where((ratio > 0.75) & is_at_end, pace.growth * radius, radius)
    grown = np.minimum(grown, np.where(is_at_end, np.maximum(longest, reach), longest))
    return np.where(ratio < 0.25, pace.shrinkage * length, grown)
