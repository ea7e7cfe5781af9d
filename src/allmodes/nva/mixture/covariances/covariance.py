"""What a covariance structure must be able to do.

A component keeps two factors instead of a matrix: S = C C^T (precision) and Sigma = A A^T (covariance), A = C^-T.
Samples are xi = mu + A z; whitened residuals are y = C^T (xi - mu). All updates happen in whitened coordinates, where
the precision of every component is the identity: they stay accurate however small the covariances get, and nothing
is ever inverted.

A structure stores "blocks": (d, d) for a full matrix, (d,) for a diagonal, (1,) for a multiple of the identity.
A (d, d) matrix is brought to that form by its projection (the matrix, its diagonal, the mean of its diagonal), which
is what restricting the exponential family does to a natural gradient.

To add a structure, write one file with a subclass of Covariance whose constructor needs no arguments; the contract
tests find it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array
from allmodes.checks import real_array
from allmodes.storage import stored


@stored
class Factors(NamedTuple):
    """S = C C^T and Sigma = A A^T with A = C^-T, for K components."""

    C: Array
    A: Array


class Covariance(ABC):
    """Operations on the factors of K covariances; leading axes broadcast."""

    @abstractmethod
    def start(self, matrices: NDArray[np.float64]) -> Factors:
        """Factors of positive-definite matrices (K, d, d); ValueError when the structure cannot hold them."""

    @abstractmethod
    def matrices(self, factors: Factors, d: int) -> Array:
        """Sigma = A A^T as matrices (K, d, d)."""

    @abstractmethod
    def colour(self, factors: Factors, z: Array) -> Array:
        """A z for z (K, n, d)."""

    @abstractmethod
    def whiten(self, factors: Factors, x: Array) -> Array:
        """C^T x for x (K, n, d)."""

    @abstractmethod
    def lift(self, factors: Factors, y: Array) -> Array:
        """C y for y (K, n, d): takes whitened residuals to S (xi - mu)."""

    @abstractmethod
    def pull_back(self, factors: Factors, gradients: Array) -> Array:
        """A^T g for gradients (K, n, d): takes gradients to whitened coordinates."""

    @abstractmethod
    def log_det_root_precision(self, factors: Factors, d: int) -> Array:
        """log det C, (K,)."""

    @abstractmethod
    def precision(self, factors: Factors) -> Array:
        """S as blocks (K, ...)."""

    @abstractmethod
    def gram(self, a: Array, b: Array) -> Array:
        """Projection of sum_n a_n b_n^T for a, b (..., n, d), as blocks (...)."""

    @abstractmethod
    def project(self, matrices: Array) -> Array:
        """Matrices (..., d, d) as blocks (...)."""

    @abstractmethod
    def sandwich(self, factors: Factors, blocks: Array) -> Array:
        """A^T H A for blocks H (K, ...)."""

    @abstractmethod
    def identity(self, scale: Array, d: int) -> Array:
        """scale times the identity as blocks, for scale (...)."""

    @abstractmethod
    def multiply(self, a: Array, b: Array) -> Array:
        """Products of blocks."""

    @abstractmethod
    def root(self, blocks: Array) -> Array:
        """R with R R^T = blocks; NaN where they are not positive definite."""

    @abstractmethod
    def advance(self, factors: Factors, R: Array, g: Array) -> tuple[Factors, Array]:
        """The factors of S_new = C R R^T C^T, and the displacement Sigma_new A^-T g for g (K, d)."""

    @abstractmethod
    def damp(self, factors: Factors, tau: Array) -> Factors:
        """The factors of Sigma + tau I.

        Paper: app:cec_benchmark
        """


def as_matrices(given: Any, K: int, d: int) -> NDArray[np.float64]:
    """A number, variances (d,), a matrix (d, d) or matrices (K, d, d) as K symmetric matrices."""
    wanted = f"a number, {d} variances, a matrix {(d, d)} or {K} matrices {(K, d, d)}"
    array = real_array("covariances", given, wanted)
    if array.shape == ():
        array = array * np.eye(d)
    elif array.shape == (d,):
        array = np.diag(array)
    if array.shape not in ((d, d), (K, d, d)):
        raise ValueError(f"covariances has shape {array.shape}; wanted {wanted}, to go with means {(K, d)}.")
    matrices = np.broadcast_to(array, (K, d, d))
    if not np.allclose(matrices, np.swapaxes(matrices, -1, -2), rtol=1e-10, atol=0.0):
        raise ValueError("covariances is not symmetric; pass (M + M.T) / 2 if it should be.")
    smallest = np.linalg.eigvalsh(matrices)[:, 0]
    if not (smallest > 0).all():
        k = int(np.argmin(smallest))
        raise ValueError(
            f"covariances is not positive definite: component {k} has smallest eigenvalue {smallest[k]:.3g}; wanted "
            "> 0. Add a small multiple of the identity, or pass a positive number."
        )
    return np.array(matrices)
