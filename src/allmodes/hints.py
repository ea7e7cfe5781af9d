"""Types of arguments: what the public calls take, under the names that the reference shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Bounds",
    "Constraints",
    "Derivative",
    "Names",
    "Per",
    "Random",
    "Scales",
    "Starts",
    "Symmetry",
    "Table",
    "Wrapped",
]


class Table(Protocol):
    """A table with named columns: a dict of arrays, a pandas DataFrame."""

    def keys(self) -> Iterable[Any]:
        """The names of the columns."""
        ...

    def __getitem__(self, name: Any, /) -> Any:
        """A column."""
        ...


Bounds: TypeAlias = Sequence[Any] | NDArray[Any] | scipy.optimize.Bounds
"""(lower, upper) for each coordinate, None or inf where it is open; lists of choices; or a scipy.optimize.Bounds."""

Derivative: TypeAlias = Callable[..., Any] | str | bool
"""A function; the name of a package that differentiates, or of a difference; True if fun returns it with the value."""

Starts: TypeAlias = ArrayLike | Callable[[np.random.Generator, int], ArrayLike]
"""Points (n, d), or a sampler (rng, n) -> (n, d)."""

Wrapped: TypeAlias = bool | ArrayLike
"""True for all coordinates; a boolean for each; or the numbers of some."""

Per: TypeAlias = float | ArrayLike
"""One number for all coordinates, or one for each."""

Scales: TypeAlias = str | Sequence[str] | Mapping[Any, str]
""" "log" or "linear" for all coordinates or for each, or a dict from names or numbers of some."""

Symmetry: TypeAlias = Sequence[Any] | Mapping[str, Any] | Callable[..., Any]
"""Blocks of coordinates that may be exchanged; a dict with "exchange" and "sign"; or a function x -> representative."""

Constraints: TypeAlias = (
    scipy.optimize.LinearConstraint | scipy.optimize.NonlinearConstraint | Mapping[str, Any] | Sequence[Any]
)
"""As in scipy.optimize.minimize: a constraint, a dict, or a list of them."""

Names: TypeAlias = Sequence[str] | NDArray[Any]
"""A name for each coordinate."""

Random: TypeAlias = int | np.random.Generator | np.random.SeedSequence | np.random.BitGenerator
"""A seed, or a generator."""
