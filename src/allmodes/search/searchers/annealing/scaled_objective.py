"""The function that is annealed: scaled inside the box, with a penalty outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.context import Context
from allmodes.search.geometry import clip
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_LARGEST = 1e50  # scaled values and derivatives beyond are cut: their squares are finite


@stored
class ScaledObjective(NamedTuple):
    """Scaled values are (l - level) / scale, so that the temperature begins at 1."""

    level: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(context: Context) -> ScaledObjective:
        """Median and interquartile range over the box; the range where that is 0, and 1 where all values are equal."""
        sampled = context.sampled
        if not len(sampled):
            return ScaledObjective()
        with np.errstate(over="ignore"):
            widths = (context.scale, float(np.ptp(sampled)))
        usable = [width for width in widths if np.isfinite(width) and width > 0]
        return ScaledObjective(context.level, usable[0] if usable else 1.0)

    def scaled(self, box: Box, drawn: Array, evaluation: Evaluation, lowest: float) -> Evaluation:
        """The function at the points drawn (N, d), from what is known at their projections on the box.

        Outside it is the value on the boundary less a quadratic penalty. Failures rank one scale below the `lowest`
        scaled value; their derivatives are taken as 0.
        """
        outside = drawn - clip(box, drawn)
        is_inside = outside == 0.0
        values, gradient, hessian = evaluation
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.clip((values - self.level) / self.scale, -_LARGEST, _LARGEST)
            scaled = np.where(np.isfinite(values), scaled, lowest - 1.0)
            scaled -= TUNING.penalty * np.einsum("nd,nd->n", outside, outside)
            if gradient is not None:
                gradient = _finite(gradient / self.scale) * is_inside - 2.0 * TUNING.penalty * outside
            if hessian is not None:
                hessian = _finite(hessian / self.scale) * (is_inside[:, :, None] & is_inside[:, None, :])
                np.einsum("nii->ni", hessian)[...] -= 2.0 * TUNING.penalty * ~is_inside
        return Evaluation(scaled, gradient, hessian)


def _finite(derivatives: Array) -> Array:
    return np.clip(np.nan_to_num(derivatives, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
