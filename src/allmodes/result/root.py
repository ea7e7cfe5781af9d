"""What is known of a root: how nearly F is zero, how well it is determined, and whether it is proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Root:
    """One root of a system of equations, of `find_roots`; a mode has its attributes, too.

    Attributes:
        residual: F(x), (m,).
        condition: of the Jacobian, with coordinates in units of the bounds; infinite where it is singular.
        rank: of the Jacobian, up to rounding.
        is_singular: whether the rank is less than the number of unknowns.
        multiplicity: 1 for a regular root; of a singular one that is isolated the estimate by the rate at which
            Newton's method converges; None on a curve of roots, and where the rate says nothing.
        certified: whether it is proved that `box` has exactly one root in it.
        box: (D, 2), the box of the proof, and `enclosure`, a part of it that has the root; None without a proof.
        reason: why there is no proof; empty if there is one.
    """

    residual: Floats
    condition: float
    rank: int
    is_singular: bool
    multiplicity: int | None
    certified: bool
    box: Floats | None
    enclosure: Floats | None
    reason: str

    @property
    def residual_norm(self) -> float:
        """The length of F(x)."""
        return float(np.sqrt((self.residual**2).sum()))

    @property
    def radius(self) -> float | None:
        """Half the largest side of `box`; None without a proof."""
        return None if self.box is None else float(0.5 * np.ptp(self.box, axis=1).max())
