"""What a test function of global optimisation is, and short words for writing many of them.

A function takes points (..., d) and returns values (...); sums and products go over the last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Any], Any]


class Known(NamedTuple):
    """A function with its bounds, the lowest value in them, and one place where it has that value."""

    name: str
    fun: Function
    bounds: Sequence[tuple[float, float]]
    minimum: float
    place: Sequence[float]

    def values(self, points: Any) -> Any:
        """At points (..., d). Some formulas divide by zero or overflow at a bound; the infinity they give is meant."""
        with np.errstate(all="ignore"):
            return np.asarray(self.fun(np.asarray(points, dtype=np.float64)), dtype=np.float64)

    def box(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds, (d,) each."""
        lower, upper = np.array(self.bounds, dtype=np.float64).T
        return lower, upper


def columns(fun: Callable[..., Any]) -> Function:
    """A function of points from a formula in their coordinates."""
    return lambda x: fun(*np.moveaxis(x, -1, 0))


def residuals(model: Callable[..., Any], data: Any) -> Function:
    """The sum of squares of a model of d coordinates, each (..., 1), against data."""
    return lambda x: total((model(*np.moveaxis(x, -1, 0)[..., None]) - data) ** 2)


def total(v: Any) -> Any:
    """Sum over the last axis."""
    return v.sum(axis=-1)


def product(v: Any) -> Any:
    """Product over the last axis."""
    return v.prod(axis=-1)


def numbers(x: Any) -> Any:
    """1, 2, ..., d for points (..., d)."""
    return np.arange(1.0, x.shape[-1] + 1.0)


def norm(*coordinates: Any) -> Any:
    """Length of the vector with these coordinates."""
    return np.sqrt(sum(u * u for u in coordinates))
