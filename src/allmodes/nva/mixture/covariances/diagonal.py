"""Diagonal covariance matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.nva.mixture.covariances.covariance import Factors
from allmodes.nva.mixture.covariances.elementwise import Elementwise


@dataclass(frozen=True)
class Diagonal(Elementwise):
    """One variance per coordinate: d numbers per component, linear cost in d."""

    def width(self, d: int) -> int:
        return d

    def start(self, matrices: NDArray[np.float64]) -> Factors:
        variances = np.diagonal(matrices, axis1=-2, axis2=-1)
        if not (matrices == variances[..., None] * np.eye(matrices.shape[-1])).all():
            raise ValueError(
                "covariances has entries off the diagonal; Diagonal() holds none. Pass d variances, or use Full()."
            )
        A = np.sqrt(variances)
        return Factors(1.0 / A, A)

    def log_det_root_precision(self, factors: Factors, d: int) -> Array:
        return namespace(factors.C).log(factors.C).sum(axis=-1)

    def gram(self, a: Array, b: Array) -> Array:
        return (a * b).sum(axis=-2)

    def project(self, matrices: Array) -> Array:
        return matrices.diagonal(axis1=-2, axis2=-1)

    def identity(self, scale: Array, d: int) -> Array:
        return scale[..., None] * namespace(scale).ones(d)
