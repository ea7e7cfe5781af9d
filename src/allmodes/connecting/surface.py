"""The function as a surface of heights over the unit box: counted, and never evaluated more often than allowed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.evaluation import GRADIENT, VALUE
from allmodes.objective.evaluator import Evaluator

Floats = NDArray[np.float64]


class SpentError(Exception):
    """More evaluations would be needed than are left."""


class Surface:
    """Heights, of which low is good whichever sign the user's function has; infinite where it fails.

    Args:
        evaluator: of the user's function.
        box: between the user's coordinates and those here.
        maximise: whether large values of the function are good.
        maxfev: evaluations allowed.
    """

    def __init__(self, evaluator: Evaluator, box: Box, maximise: bool, maxfev: int) -> None:
        self.evaluator, self.box, self.maxfev = evaluator, box, maxfev
        self.sign = -1.0 if maximise else 1.0
        self.has_gradient = evaluator.source.order > 0
        self.cost = {needs: evaluator.source.cost(needs) for needs in (VALUE, GRADIENT if self.has_gradient else VALUE)}

    @property
    def left(self) -> int:
        """Evaluations that are allowed still."""
        return self.maxfev - self.evaluator.nfev

    def heights(self, points: Floats) -> Floats:
        """At points (n, d)."""
        if len(points) * self.cost[VALUE] > self.left:
            raise SpentError
        found = self.sign * self.evaluator.evaluate(self.box.to_user(points), VALUE).value
        return np.where(np.isfinite(found), found, np.inf)

    def slopes(self, points: Floats) -> tuple[Floats, Floats]:
        """Heights (n,) and gradients (n, d) by the user's derivatives."""
        if len(points) * self.cost[GRADIENT] > self.left:
            raise SpentError
        x = self.box.to_user(points)
        found = self.evaluator.evaluate(x, GRADIENT)
        heights = self.sign * found.value
        return np.where(np.isfinite(heights), heights, np.inf), self.sign * self.box.gradient_to_unit(found.gradient, x)

    def slope(self, point: Floats, step: float) -> tuple[float, Floats]:
        """Height and gradient (d,) at a point, by central differences where there are no derivatives."""
        if self.has_gradient:
            heights, gradients = self.slopes(point[None])
            return float(heights[0]), gradients[0]
        d = len(point)
        low, high = self._beside(point, step)
        found = self.heights(np.concatenate([point[None], high, low]))
        with np.errstate(all="ignore"):
            gradient = (found[1 : d + 1] - found[d + 1 :]) / np.diag(high - low)
        return float(found[0]), gradient

    def curvature(self, point: Floats, step: float) -> tuple[float, Floats, Floats]:
        """Height, gradient (d,) and Hessian (d, d) at a point, by differences."""
        d = len(point)
        low, high = self._beside(point, step)
        with np.errstate(all="ignore"):
            if self.has_gradient:
                heights, gradients = self.slopes(np.concatenate([point[None], high]))
                H = (gradients[1:] - gradients[0]) / np.diag(high - point)[:, None]
                return float(heights[0]), gradients[0], 0.5 * (H + H.T)
            first, second = np.triu_indices(d, 1)
            both = high[first] + high[second] - point
            found = self.heights(np.concatenate([point[None], high, low, both]))
            height, up, down = found[0], found[1 : d + 1], found[d + 1 : 2 * d + 1]
            far, near = np.diag(high - point), np.diag(low - point)
            H = np.diag(2.0 * ((up - height) / far - (down - height) / near) / (far - near))
            mixed = (found[2 * d + 1 :] - up[first] - up[second] + height) / (far[first] * far[second])
            H[first, second] = H[second, first] = mixed
            slope_up, slope_down = (up - height) / far, (down - height) / near
            gradient = (slope_down * far - slope_up * near) / (far - near)
        return float(height), gradient, H

    def _beside(self, point: Floats, step: float) -> tuple[Floats, Floats]:
        """Points (d, d) on both sides along every axis, both inwards where a bound is near."""
        steps = step * np.eye(len(point))
        low, high = point - steps, point + steps
        is_out = np.diag(high) > self.box.upper_unit
        high = np.where(is_out[:, None] & (steps > 0.0), point - 2.0 * steps, high)
        is_out = np.diag(low) < self.box.lower_unit
        low = np.where(is_out[:, None] & (steps > 0.0), point + 2.0 * steps, low)
        return low, high
