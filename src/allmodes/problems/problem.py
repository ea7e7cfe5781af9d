"""An objective with known modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, Objective


@dataclass(frozen=True)
class Problem:
    """A function to maximise, where to look, and what there is to find.

    Attributes:
        objective: vectorized, with gradient and Hessian; runs in NumPy and in JAX.
        bounds: (d, 2), the box in which searches start.
        modes: (J, d), all maxima in the box, best first.
        is_global: (J,), which of them are global.
    """

    name: str
    objective: Objective
    bounds: NDArray[np.float64]
    modes: NDArray[np.float64]
    is_global: NDArray[np.bool_]

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def found(self, points: NDArray[np.float64], tolerance: float = 0.1) -> NDArray[np.bool_]:
        """Which modes have a point within the tolerance in every coordinate, (J,).

        Paper: eq:gpr_metric
        """
        apart = np.abs(self.modes[:, None, :] - np.asarray(points)[None, :, :])
        return np.any(np.all(apart <= tolerance, axis=2), axis=1)


def refine(objective: Objective, points: NDArray[np.float64], iterations: int = 20) -> NDArray[np.float64]:
    """Newton's method from points close to maxima."""
    for _ in range(iterations):
        here = objective.evaluate(points, GRADIENT | HESSIAN)
        points = points - np.linalg.solve(here.hessian, here.gradient[..., None])[..., 0]
    return points
