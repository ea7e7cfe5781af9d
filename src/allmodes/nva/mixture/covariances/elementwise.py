"""What structures without entries off the diagonal have in common: every operation is a product of numbers."""

from __future__ import annotations

from abc import abstractmethod

from allmodes.arrays import Array, namespace
from allmodes.nva.mixture.covariances.covariance import Covariance, Factors


class Elementwise(Covariance):
    """Factors and blocks of shape (..., d) or (..., 1); both broadcast over coordinates."""

    @abstractmethod
    def width(self, d: int) -> int:
        """Numbers per component."""

    def matrices(self, factors: Factors, d: int) -> Array:
        if factors.A.shape[-1] != self.width(d):
            raise ValueError(f"factors have {factors.A.shape[-1]} numbers per component; {self!r} has {self.width(d)}.")
        return (factors.A**2)[..., None] * namespace(factors.A).eye(d)

    def colour(self, factors: Factors, z: Array) -> Array:
        return factors.A[..., None, :] * z

    def whiten(self, factors: Factors, x: Array) -> Array:
        return factors.C[..., None, :] * x

    def lift(self, factors: Factors, y: Array) -> Array:
        return factors.C[..., None, :] * y

    def pull_back(self, factors: Factors, gradients: Array) -> Array:
        return factors.A[..., None, :] * gradients

    def precision(self, factors: Factors) -> Array:
        return factors.C**2

    def sandwich(self, factors: Factors, blocks: Array) -> Array:
        return factors.A**2 * blocks

    def multiply(self, a: Array, b: Array) -> Array:
        return a * b

    def root(self, blocks: Array) -> Array:
        xp = namespace(blocks)
        return xp.sqrt(xp.where(blocks > 0, blocks, xp.nan))

    def advance(self, factors: Factors, R: Array, g: Array) -> tuple[Factors, Array]:
        A = factors.A / R
        return Factors(factors.C * R, A), A * g / R

    def damp(self, factors: Factors, tau: Array) -> Factors:
        A = namespace(factors.A).sqrt(factors.A**2 + tau)
        return Factors(1.0 / A, A)
