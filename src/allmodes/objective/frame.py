"""Between the user's world and the solver's: coordinates, sign, size of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.evaluation import Evaluation
from allmodes.storage import stored

Array = NDArray[np.float64]

_MOST = 1023  # binary digits that values can be raised by
_ORDINARY = (1e-60, 1e60)  # sizes of values whose squares and fourth powers can be computed


@stored
@dataclass
class Frame:
    """Inside, points are unit coordinates and values are maximised and of ordinary size.

    Attributes:
        box: the coordinates.
        maximise: whether the user's function is to be maximised.
        factor: power of two that values are multiplied by inside; set by the first finite values.
    """

    box: Box
    maximise: bool
    factor: float = 0.0

    @property
    def sign(self) -> float:
        return 1.0 if self.maximise else -1.0

    def inward(
        self, value: Array, gradient: Any = None, hessian: Any = None, points: Any = None, is_model: bool = False
    ) -> Evaluation:
        """The user's values and derivatives at points (N, D) in the solver's terms; failures are -inf.

        A Hessian that is a model, Gauss and Newton's, has no part that comes from the gradient.
        """
        if not self.factor:
            self._measure(value)
        c = self.sign * (self.factor or 1.0)
        inside = c * value
        inside[~np.isfinite(inside)] = -np.inf
        if gradient is not None:
            gradient = self.box.gradient_to_unit(c * gradient, points)
        if hessian is not None:
            hessian = self.box.hessian_to_unit(c * hessian, points, None if is_model else gradient)
        return Evaluation(inside, gradient, hessian)

    def equations_inward(self, value: Array, F: Any, J: Any, points: Array) -> Evaluation:
        """Half the sum of squares of equations at points (N, D), with their own values and Jacobian (see `Equations`).

        They become as much smaller as the sum of squares does, and keep their sign.
        """
        inside, d = self.inward(value).value, self.box.d
        c = np.sqrt(self.factor or 1.0)
        F = None if F is None else c * F[:, :d]
        J = None if J is None else self.box.gradient_to_unit(c * J[:, :d], points[:, None, :])
        return Evaluation(inside, F, J)

    def _measure(self, value: Array) -> None:
        sizes = np.abs(value[np.isfinite(value) & (value != 0.0)])
        if len(sizes):
            size = sizes.max()
            is_ordinary = _ORDINARY[0] < size < _ORDINARY[1]
            self.factor = 1.0 if is_ordinary else float(np.ldexp(1.0, min(-int(np.frexp(size)[1]), _MOST)))

    def value(self, inside: float) -> float:
        """A value in the user's sign and size."""
        return float(self.sign * inside / (self.factor or 1.0))

    def gradient(self, inside: Array, point: Array | None = None) -> Array:
        """A gradient by the user's coordinates (..., D), at a point (..., D) that only logarithms need."""
        return self.box.gradient_to_user(inside, point) * (self.sign / (self.factor or 1.0))

    def hessian(self, inside: Array, point: Array | None = None, gradient: Array | None = None) -> Array:
        """A Hessian by the user's coordinates (..., D, D), at a point with such a gradient inside (..., d)."""
        return self.box.hessian_to_user(inside, point, gradient) * (self.sign / (self.factor or 1.0))
