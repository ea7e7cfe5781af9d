"""Hessians known along a few directions and assumed equal along all others: what many dimensions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

MANY = 30  # from this dimension on a dozen directions are far fewer than all, and d^2 numbers per mode are a burden
_TINY = 1e-300  # avoids division by zero
_FLOOR = 1e-3  # smallest curvature to divide by, as a share of the largest: as in frozen components


@stored
@dataclass(frozen=True)
class LowRank:
    """A symmetric matrix (d, d) given by r of its eigenvectors; all others share one eigenvalue.

    It can replace an array that is only read: NumPy converts it.

    Attributes:
        base: the eigenvalue along everything orthogonal to the axes.
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
        """The product with one vector (d,)."""
        return self.base * vector + self.axes.T @ ((self.eigenvalues - self.base) * (self.axes @ vector))

    def copy(self) -> LowRank:
        """Itself: nobody writes into it."""
        return self

    @property
    def spectrum(self) -> Array:
        """The distinct eigenvalues that are stored, (r,) or (r + 1,)."""
        r, d = self.axes.shape
        return self.eigenvalues if r == d else np.append(self.eigenvalues, self.base)

    def squares(self, vectors: Array) -> Array:
        """sum_i |s_i| (a_i v)^2 for vectors (n, d), over all eigenvalues s_i, bounded below, (n,)."""
        least = max(_FLOOR * largest(self), _TINY)
        sizes, base = np.maximum(np.abs(self.eigenvalues), least), max(abs(self.base), least)
        inside = (vectors @ self.axes.T) ** 2
        return np.asarray(base * np.einsum("nd,nd->n", vectors, vectors) + inside @ (sizes - base))


Curvature: TypeAlias = Array | LowRank


def largest(H: Curvature) -> float:
    """The largest absolute entry of a Hessian, or the largest absolute eigenvalue of a `LowRank` one."""
    entries = H.spectrum if isinstance(H, LowRank) else H
    return float(np.abs(entries).max(initial=0.0))


def weakest(H: Curvature) -> float:
    """The smallest absolute curvature; infinite without coordinates."""
    eigenvalues = H.spectrum if isinstance(H, LowRank) else np.linalg.eigvalsh(H)
    return float(np.abs(eigenvalues).min(initial=np.inf))


def squares(H: Curvature, vectors: Array) -> Array:
    """Twice how much a function with this Hessian changes over vectors (n, d), as absolute values (n,)."""
    return H.squares(vectors) if isinstance(H, LowRank) else np.abs(np.einsum("nd,de,ne->n", vectors, H, vectors))
