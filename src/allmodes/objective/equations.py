"""Equations as they are: as many as unknowns, with their Jacobian, for searches that follow each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.evaluation import Evaluation, Needs
from allmodes.objective.parts import GRADIENT_NAME, HESSIAN_NAME, VALUE_NAME, Counts
from allmodes.objective.residuals import SumOfSquares

PER_ROOT = 9  # evaluations of F, besides a Jacobian, that the last steps to a root and its proof take

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Equations:
    """F and its Jacobian, beside half the sum of squares; a part that the evaluator calls.

    In the place of the gradient is F, and in that of the Hessian the Jacobian, with rows of zeros where coordinates are
    fixed. So F costs nothing beside its own sum of squares, and a Jacobian is made only where it is asked for.
    """

    part: SumOfSquares
    provides: ClassVar[Needs] = frozenset({VALUE_NAME, GRADIENT_NAME, HESSIAN_NAME})

    @property
    def batched(self) -> bool:
        """Whether F takes points (N, D)."""
        return self.part.batched

    @property
    def jac(self) -> Any:
        """The user's Jacobian; None for differences."""
        return self.part.jac

    def coarser(self, rounding: float) -> Equations:
        """The same, of an F that is off by such a share."""
        return replace(self, part=self.part.coarser(rounding))

    def cost(self, wanted: Needs) -> Counts:
        """F, and with a Jacobian that: given, or one more F for each free coordinate."""
        return self.part.cost(self.part.provides if HESSIAN_NAME in wanted else frozenset({VALUE_NAME}))

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """Value, F and its Jacobian at a point (D,), or if batched at points (N, D)."""
        points = x.reshape(-1, self.part.box.D)
        F = self.part.residuals(points)
        found: dict[str, Any] = {VALUE_NAME: self.part.loss.cost(F), GRADIENT_NAME: _padded(F, points.shape)}
        if HESSIAN_NAME in wanted:
            found[HESSIAN_NAME] = _padded(self.part.jacobian(points, F), (*points.shape, points.shape[1]))
        return found if x.ndim == 2 else {name: each[0] for name, each in found.items()}


def slopes_of_squares(told: Evaluation) -> Evaluation:
    """Half the sum of squares with its gradient J^T F, where F and J were told."""
    if told.gradient is None or told.hessian is None:
        return Evaluation(told.value)
    return Evaluation(told.value, np.einsum("nm,nmd->nd", told.gradient, told.hessian))


def _padded(rows: Floats, shape: tuple[int, ...]) -> Floats:
    """Rows (N, m, ...), and zeros for the others."""
    if rows.shape == shape:
        return rows
    whole = np.zeros(shape)
    whole[:, : rows.shape[1]] = rows
    return whole
