"""Covariances that are multiples of the identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.nva.mixture.covariances.covariance import Factors
from allmodes.nva.mixture.covariances.elementwise import Elementwise


@dataclass(frozen=True)
class Isotropic(Elementwise):
    """One variance per component, stored as (K, 1)."""

    def width(self, d: int) -> int:
        return 1

    def start(self, matrices: NDArray[np.float64]) -> Factors:
        variance = matrices[..., :1, 0]
        if not (matrices == variance[..., None] * np.eye(matrices.shape[-1])).all():
            raise ValueError(
                "covariances is not a multiple of the identity, and Isotropic() holds nothing else. Pass one variance "
                "(a number), or use Diagonal() or Full()."
            )
        A = np.sqrt(variance)
        return Factors(1.0 / A, A)

    def log_det_root_precision(self, factors: Factors, d: int) -> Array:
        return d * namespace(factors.C).log(factors.C[..., 0])

    def gram(self, a: Array, b: Array) -> Array:
        return (a * b).mean(axis=-1, keepdims=True).sum(axis=-2)

    def project(self, matrices: Array) -> Array:
        return matrices.diagonal(axis1=-2, axis2=-1).mean(axis=-1, keepdims=True)

    def identity(self, scale: Array, d: int) -> Array:
        return scale[..., None]
