"""An objective with known modes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Objective

EQUAL = 1e-7  # values closer than this are equal: far above rounding, far below any difference between two modes


@dataclass(frozen=True)
class Problem:
    """A function to maximise, where to look, and what there is to find.

    Attributes:
        objective: vectorized, with gradient and Hessian; runs in NumPy and in JAX, those of `applications` in NumPy
            and without Hessian.
        bounds: (d, 2), the box in which searches start.
        modes: (J, d), the maxima in the interior of the box, best first. Maxima on the boundary are listed for
            `applications` alone; a problem with too many modes to list has the global ones only, and says so.
        is_global: (J,), which of them are global.
        periodic: coordinates that wrap around, from one bound to the other.
    """

    name: str
    objective: Objective
    bounds: NDArray[np.float64]
    modes: NDArray[np.float64]
    is_global: NDArray[np.bool_]
    periodic: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def apart(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far points (N, d) are from each mode, in every coordinate, (N, J, d)."""
        gaps = np.abs(np.asarray(points)[:, None, :] - self.modes)
        for i in self.periodic:
            turned = np.ptp(self.bounds[i]) - gaps[..., i]
            gaps[..., i] = np.minimum(gaps[..., i], np.abs(turned))
        return gaps

    def found(self, points: NDArray[np.float64], tolerance: float = 0.1) -> NDArray[np.bool_]:
        """Which modes have a point within the tolerance in every coordinate, (J,).

        Paper: eq:gpr_metric
        """
        return np.any(np.all(self.apart(points) <= tolerance, axis=2), axis=0)


def best_first(
    name: str,
    objective: Objective,
    bounds: NDArray[np.float64],
    modes: NDArray[np.float64],
    equal: float = EQUAL,
    periodic: tuple[int, ...] = (),
) -> Problem:
    """The problem with its modes sorted by value; global are those within `equal` of the best."""
    values = objective.evaluate(modes, VALUE).value
    order = np.argsort(-values, kind="stable")
    return Problem(name, objective, bounds, modes[order], values[order] >= values.max() - equal, periodic=periodic)


def refine(objective: Objective, points: NDArray[np.float64], iterations: int = 20) -> NDArray[np.float64]:
    """Newton's method from points close to maxima."""
    for _ in range(iterations):
        here = objective.evaluate(points, GRADIENT | HESSIAN)
        points = points - np.linalg.solve(here.hessian, here.gradient[..., None])[..., 0]
    return points


def symmetric_2x2(xx: Array, xy: Array, yy: Array) -> Array:
    """Matrices (..., 2, 2) from their three different entries (...)."""
    xp = namespace(xx)
    return xp.stack([xp.stack([xx, xy], axis=-1), xp.stack([xy, yy], axis=-1)], axis=-2)
