"""Problems with constraints whose minima are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEP = 1e-30  # of a complex step: nothing is subtracted, so that it may be this short
_SAME = 1e-3  # of the bounds: two places are one

Floats = NDArray[np.float64]
Rows = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True, eq=False)
class ConstrainedProblem:
    """A function to minimise where rows of inequalities are at least 0 and rows of equalities 0.

    Args:
        name: of the problem.
        objective: d coordinates, each a number or an array of them, real or complex, -> value; analytic.
        bounds: (d, 2).
        inequalities, equalities: the same coordinates -> rows; None if there are none.
        minima: (J, d), all local minima that dense multistart knows, best first.
        best: the value that is published, or NaN.
        source: where the formulas are from.

    >>> from allmodes.problems import constrained_problems
    >>> disc = constrained_problems()["Himmelblau in a disc"]
    >>> len(disc.minima), float(disc.violation(disc.minima[0])) < 1e-8
    (3, True)
    """

    name: str
    objective: Callable[[Sequence[Any]], Any]
    bounds: Floats
    inequalities: Rows | None = None
    equalities: Rows | None = None
    minima: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    best: float = np.nan
    source: str = ""

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def value(self, x: Any) -> Any:
        """At a point (d,)."""
        return self.objective(x)

    def gradient(self, x: Floats) -> Floats:
        """At a point (d,): (d,), exact to rounding, by complex steps."""
        return np.asarray(self.objective(_shifted(x)).imag / _STEP)

    def rows(self, x: Floats, kind: Rows) -> Floats:
        """Of constraints of a kind at a point (d,): (m,)."""
        return np.array(kind(list(x)), dtype=np.float64)

    def jacobian(self, x: Floats, kind: Rows) -> Floats:
        """Of the rows at a point (d,): (m, d)."""
        rows = kind(_shifted(x))
        return np.stack([np.broadcast_to(row, (len(x),)).imag / _STEP for row in rows])

    @property
    def constraints(self) -> list[Any]:
        """As find_minima and SciPy take them, with their Jacobians."""
        from scipy.optimize import NonlinearConstraint  # late: importing it takes a while

        chosen = [(kind, upper) for kind, upper in ((self.inequalities, np.inf), (self.equalities, 0.0)) if kind]
        return [
            NonlinearConstraint(partial(self.rows, kind=kind), 0.0, upper, jac=partial(self.jacobian, kind=kind))
            for kind, upper in chosen
        ]

    def violation(self, x: Floats) -> float:
        """The largest violation at a point (d,), in units of the rows."""
        sizes = [0.0]
        if self.inequalities is not None:
            sizes.append(float(np.max(-self.rows(x, self.inequalities))))
        if self.equalities is not None:
            sizes.append(float(np.abs(self.rows(x, self.equalities)).max()))
        return max(sizes)

    def found(self, points: Any, tolerance: float = _SAME) -> NDArray[np.bool_]:
        """Which minima have a point within the tolerance, a share of the bounds, in every coordinate: (J,)."""
        points = np.asarray(points, dtype=np.float64).reshape(-1, self.dimension)
        apart = np.abs(points[:, None] - self.minima) / np.ptp(self.bounds, axis=1)
        return np.asarray((apart <= tolerance).all(axis=2).any(axis=0))


def _shifted(x: Floats) -> list[Any]:
    """Coordinates (d,) of d points, each moved along one of them by a complex step."""
    return list(np.asarray(x)[:, None] + 1j * _STEP * np.eye(len(x)))
