"""Hessians known along a few directions, and guessed to be alike along all others: what many dimensions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

MANY = 30  # dimensions from which a dozen directions are far fewer than all, and d^2 numbers for each mode are felt
_TINY = 1e-300  # added to what is divided by
_FLOOR = 1e-3  # smallest curvature where it is divided by, as a share of the largest: as of frozen components


@stored
@dataclass(frozen=True)
class LowRank:
    """A symmetric matrix (d, d) by r of its eigenvectors; all others have one eigenvalue.

    It takes the place of an array where it is only read: NumPy makes one of it.

    Attributes:
        base: the eigenvalue along everything that is at right angles to the axes.
        eigenvalues: (r,), ascending.
        axes: (r, d), orthonormal.
    """

    base: float
    eigenvalues: Array
    axes: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        d = self.axes.shape[1]
        dense = self.base * np.eye(d) + (self.axes.T * (self.eigenvalues - self.base)) @ self.axes
        return dense if dtype is None else dense.astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __len__(self) -> int:
        return self.axes.shape[1]

    def __matmul__(self, vector: Array) -> Array:
        """With one vector (d,)."""
        return self.base * vector + self.axes.T @ ((self.eigenvalues - self.base) * (self.axes @ vector))

    def copy(self) -> LowRank:
        """Itself: nobody writes into it."""
        return self

    @property
    def spectrum(self) -> Array:
        """The eigenvalues (r,) or (r + 1,) that it has."""
        r, d = self.axes.shape
        return self.eigenvalues if r == d else np.append(self.eigenvalues, self.base)

    def squares(self, vectors: Array) -> Array:
        """sum_i |s_i| (a_i v)^2 of vectors (n, d), over all eigenvalues s_i, floored, (n,)."""
        least = max(_FLOOR * largest(self), _TINY)
        sizes, base = np.maximum(np.abs(self.eigenvalues), least), max(abs(self.base), least)
        inside = (vectors @ self.axes.T) ** 2
        return np.asarray(base * np.einsum("nd,nd->n", vectors, vectors) + inside @ (sizes - base))


Curvature: TypeAlias = Array | LowRank


def largest(H: Curvature) -> float:
    """The largest entry of a Hessian by its size; of one that is known along a few axes, the largest eigenvalue."""
    entries = H.spectrum if isinstance(H, LowRank) else H
    return float(np.abs(entries).max(initial=0.0))


def weakest(H: Curvature) -> float:
    """The smallest curvature by its size; infinite without coordinates."""
    eigenvalues = H.spectrum if isinstance(H, LowRank) else np.linalg.eigvalsh(H)
    return float(np.abs(eigenvalues).min(initial=np.inf))


def squares(H: Curvature, vectors: Array) -> Array:
    """How much functions with this Hessian fall over vectors (n, d), twice that, (n,)."""
    return H.squares(vectors) if isinstance(H, LowRank) else np.abs(np.einsum("nd,de,ne->n", vectors, H, vectors))
