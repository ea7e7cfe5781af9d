"""Covariances that are kept as they start."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.checks import instance
from allmodes.nva.mixture.covariances.covariance import Covariance
from allmodes.nva.mixture.covariances.full import Full


@dataclass(frozen=True)
class Fixed:
    """The "(fc)" variants: wraps any structure; only means and weights are updated.

    Estimators that would need derivatives for the covariance alone do not ask for them.

    >>> Fixed(Full())
    Fixed(structure=Full())
    """

    structure: Covariance = Full()

    def __post_init__(self) -> None:
        instance(
            "structure", self.structure, Covariance, "Write Fixed(Full()), Fixed(Diagonal()) or Fixed(Isotropic())."
        )
