"""Full covariance matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, cholesky, namespace, solve_lower
from allmodes.nva.mixture.covariances.covariance import Covariance, Factors


def _upper_cholesky(matrices: Array) -> Array:
    """Upper-triangular U with U U^T = matrices: Cholesky with rows and columns in reverse order."""
    return cholesky(matrices[..., ::-1, ::-1])[..., ::-1, ::-1]


@dataclass(frozen=True)
class Full(Covariance):
    """Any positive-definite matrix: d (d + 1) / 2 numbers per component.

    C stays lower and A upper triangular in every update, so that log det C is a sum over the diagonal.
    """

    def start(self, matrices: NDArray[np.float64]) -> Factors:
        A = _upper_cholesky(matrices)
        C = np.linalg.solve(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape)).mT
        return Factors(np.tril(C), A)

    def matrices(self, factors: Factors, d: int) -> Array:
        return factors.A @ factors.A.mT

    def colour(self, factors: Factors, z: Array) -> Array:
        return z @ factors.A.mT

    def whiten(self, factors: Factors, x: Array) -> Array:
        return x @ factors.C

    def lift(self, factors: Factors, y: Array) -> Array:
        return y @ factors.C.mT

    def pull_back(self, factors: Factors, gradients: Array) -> Array:
        return gradients @ factors.A

    def log_det_root_precision(self, factors: Factors, d: int) -> Array:
        return namespace(factors.C).log(factors.C.diagonal(axis1=-2, axis2=-1)).sum(axis=-1)

    def precision(self, factors: Factors) -> Array:
        return factors.C @ factors.C.mT

    def gram(self, a: Array, b: Array) -> Array:
        return a.mT @ b

    def project(self, matrices: Array) -> Array:
        return matrices

    def sandwich(self, factors: Factors, blocks: Array) -> Array:
        return factors.A.mT @ blocks @ factors.A

    def identity(self, scale: Array, d: int) -> Array:
        xp = namespace(scale)
        return scale[..., None, None] * xp.eye(d)

    def multiply(self, a: Array, b: Array) -> Array:
        return a @ b

    def root(self, blocks: Array) -> Array:
        return cholesky(blocks)

    def advance(self, factors: Factors, R: Array, g: Array) -> tuple[Factors, Array]:
        xp = namespace(R)
        # One solve for both: R^-1 A^T = A_new^T, and R^-1 g.
        solved = solve_lower(R, xp.concat([factors.A.mT, g[..., None]], axis=-1))
        A = solved[..., :-1].mT
        return Factors(factors.C @ R, A), (A @ solved[..., -1:])[..., 0]

    def damp(self, factors: Factors, tau: Array) -> Factors:
        # A A^T + tau I = A (I + tau C^T C) A^T; an upper factor U of the bracket keeps A upper triangular.
        C, A = factors
        U = _upper_cholesky(namespace(C).eye(C.shape[-1]) + tau * (C.mT @ C))
        # C_new = C U^-T, row by row; reversing both axes makes U^T upper into a lower-triangular solve.
        reverse = (..., slice(None, None, -1), slice(None, None, -1))
        C_new = solve_lower(U[reverse], C.mT[reverse])[reverse].mT
        return Factors(C_new, A @ U)
