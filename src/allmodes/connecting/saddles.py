"""From a high point of a way to the saddle beside it: uphill along the way, downhill across it.

Steps are Newton's on the image of the surface in which the direction of the way is turned over, so that a saddle looks
like a minimum (Smith, 1990); their length is limited by how well the model has predicted heights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.connecting.surface import Surface
from allmodes.connecting.tuning import TUNING

Floats = NDArray[np.float64]

_GOOD, _BAD = 0.3, 0.8  # relative errors of a predicted change: steps may become longer, must become shorter
_GROW, _SHRINK = 2.0, 0.35
_ROUNDING = 1e-10  # of a height: changes that mean nothing
_HALVINGS = 60


class Lowered(NamedTuple):
    """Where a high point was moved to, its height, and whether that is a saddle."""

    point: Floats
    height: float
    is_saddle: bool


def lower(
    surface: Surface, point: Floats, along: Floats, length: float, guess: Floats | None, across_only: bool = False
) -> Lowered | None:
    """The saddle beside a high point; None if there is none within reach.

    Args:
        surface: of heights.
        point: (d,), high on a way.
        along: (d,), the direction of the way there.
        length: of the straight way, which lengths are shares of.
        guess: a Hessian (d, d), used where measuring it would cost too much; None if nothing is known.
        across_only: whether to move across the way alone, and downhill only: wherever that ends is an answer.
    """
    along = along / np.linalg.norm(along)
    step = TUNING.difference * length
    height, gradient, H = _begin(surface, point, step, guess, along)
    if not (np.isfinite(height) and np.isfinite(gradient).all() and np.isfinite(H).all()):
        return None
    here, radius, first = point, TUNING.first_radius * length, point
    for _ in range(TUNING.steps):
        held = _held(surface, here, gradient)
        move, followed, is_stationary = _step(gradient, H, along, held, radius, TUNING.arrived * length, across_only)
        if is_stationary:
            return Lowered(here, height, not across_only and _is_saddle(H, held))
        there = np.clip(here + move, surface.box.lower_unit, surface.box.upper_unit)
        move = there - here
        size = float(np.linalg.norm(move))
        if size <= TUNING.arrived * length or radius < TUNING.smallest_radius * length:
            break
        new_height, new_gradient = surface.slope(there, step)
        is_known = np.isfinite(new_height) and bool(np.isfinite(new_gradient).all())
        if is_known:
            predicted = float(gradient @ move + 0.5 * move @ H @ move)
            change, slack = new_height - height, _ROUNDING * max(abs(height), abs(new_height))
            error = abs(change - predicted) / max(abs(predicted), slack, 1e-300)
            is_worse = across_only and change > slack
            error = 0.0 if max(abs(change), abs(predicted)) <= slack else error
            H = _updated(H, move, new_gradient - gradient)
        if not is_known or error > 2.0 or is_worse:
            radius = _SHRINK * min(size, radius)
            continue
        radius = min(_GROW * max(size, radius), TUNING.largest_radius * length) if error < _GOOD else radius
        radius = _SHRINK * max(size, radius) if error > _BAD else radius
        here, height, gradient, along = there, new_height, new_gradient, along if across_only else followed
        if np.linalg.norm(here - first) > TUNING.farthest * length:
            return None
    return Lowered(here, height, False) if across_only else None


def _begin(
    surface: Surface, point: Floats, step: float, guess: Floats | None, along: Floats
) -> tuple[float, Floats, Floats]:
    """Height, gradient and curvature at the first point."""
    if len(point) <= TUNING.measured or guess is None:
        return surface.curvature(point, step)
    height, gradient = surface.slope(point, step)
    ends = surface.heights(np.clip(point + np.outer([10.0 * step, -10.0 * step], along),
                                   surface.box.lower_unit, surface.box.upper_unit))  # fmt: skip
    bend = float(ends.sum() - 2.0 * height) / (10.0 * step) ** 2
    H = guess + (bend - along @ guess @ along) * np.outer(along, along)
    return height, gradient, H


def _held(surface: Surface, point: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """Coordinates at a bound beyond which it goes down."""
    low, high = surface.box.edges
    return ((point <= low) & (gradient > 0.0)) | ((point >= high) & (gradient < 0.0))


def _step(
    gradient: Floats,
    H: Floats,
    along: Floats,
    held: NDArray[np.bool_],
    radius: float,
    arrived: float,
    across_only: bool,
) -> tuple[Floats, Floats, bool]:
    """The next step (d,), the direction that it climbs (d,), and whether Newton's step is too short to matter."""
    free = np.flatnonzero(~held)
    if across_only:  # what is left of all directions without that of the way
        left = np.eye(len(gradient))[free] - np.outer(along[free], along)
        basis = np.linalg.svd(left, full_matrices=False)
        axes = basis[2][basis[1] > 1e-6]
        axes = axes * 1.0 if len(held) == len(free) else _within(axes, held)
    else:
        axes = np.eye(len(gradient))[free]
    if not len(axes):
        return np.zeros_like(gradient), along, True
    values, vectors = np.linalg.eigh(axes @ H @ axes.T)
    slopes = vectors.T @ (axes @ gradient)
    followed = along
    if not across_only:
        k = int(np.abs(vectors.T @ (axes @ along)).argmax())
        followed = axes.T @ vectors[:, k]
        turned = np.ones(len(values))
        turned[k] = -1.0
        values, slopes = turned * values, turned * slopes
    newton = np.abs(slopes) / np.maximum(np.abs(values), 1e-300)
    is_level = np.abs(slopes) <= 1e-300
    is_stationary = bool(np.where(is_level, 0.0, newton).max() <= arrived)
    return axes.T @ (vectors @ _limited(slopes, values, radius)), followed, is_stationary


def _within(axes: Floats, held: NDArray[np.bool_]) -> Floats:
    """Directions without the coordinates that are held, orthonormal again."""
    kept = np.where(held, 0.0, axes)
    basis = np.linalg.svd(kept, full_matrices=False)
    return basis[2][basis[1] > 1e-6]


def _limited(slopes: Floats, values: Floats, radius: float) -> Floats:
    """The lowest point of a quadratic with these slopes and curvatures within a radius, along its axes."""
    least = float(values.min())
    if least > 0.0:
        move = -slopes / values
        if np.linalg.norm(move) <= radius:
            return move
    low = max(0.0, -least)
    high = low + float(np.linalg.norm(slopes)) / radius + 1e-300
    for _ in range(_HALVINGS):
        shift = 0.5 * (low + high)
        with np.errstate(all="ignore"):
            length = float(np.linalg.norm(slopes / (values + shift)))
        low, high = (shift, high) if not length <= radius else (low, shift)
    return np.nan_to_num(-slopes / np.maximum(values + high, 1e-300))


def _is_saddle(H: Floats, held: NDArray[np.bool_]) -> bool:
    """Whether it falls to two sides only."""
    free = ~held
    values = np.linalg.eigvalsh(H[np.ix_(free, free)])
    return bool((values < 0.0).sum() == 1)


def _updated(H: Floats, move: Floats, change: Floats) -> Floats:
    """The Hessian after a step, by Bofill's mixture of two updates that need not be definite."""
    rest = change - H @ move
    length = float(move @ move)
    if length <= 0.0 or not np.isfinite(rest).all():
        return H
    product, size = float(rest @ move), float(rest @ rest)
    if size <= 0.0:
        return H
    outer = np.outer(rest, move)
    powell = (outer + outer.T) / length - product * np.outer(move, move) / length**2
    share = product**2 / (size * length)
    ranked = np.outer(rest, rest) / product if share > 1e-8 else 0.0
    return np.asarray(H + share * ranked + (1.0 - share) * powell)
