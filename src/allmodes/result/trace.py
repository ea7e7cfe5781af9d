"""How annealing went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class AnnealingTrace:
    """Mixtures that annealing went through, in the user's coordinates. Of long searches only some are kept.

    Attributes:
        run: which annealing run, (n,), from 0.
        step: steps of it done, (n,); 0 is its start.
        nfev: evaluations made by then, (n,).
        temperature: of the step that led there, in units of the function, (n,).
        weights: n arrays (K,); runs differ in the number of components.
        means: n arrays (K, D).
        covariances: n arrays (K, D, D), or in many dimensions the variances alone, (K, D).
    """

    run: NDArray[np.int64]
    step: NDArray[np.int64]
    nfev: NDArray[np.int64]
    temperature: Floats
    weights: list[Floats]
    means: list[Floats]
    covariances: list[Floats]

    def __len__(self) -> int:
        return len(self.run)

    @property
    def runs(self) -> list[NDArray[np.intp]]:
        """The frames of every run that is kept, in order."""
        return [np.flatnonzero(self.run == number) for number in np.unique(self.run)]

    def block(self, frame: int, coordinates: Sequence[int]) -> Floats:
        """Covariances of some coordinates in a frame, (K, m, m)."""
        chosen, whole = list(coordinates), self.covariances[frame]
        if whole.ndim == 3:
            return whole[:, chosen][:, :, chosen]
        return whole[:, chosen, None] * np.eye(len(chosen))

    def __repr__(self) -> str:
        return f"AnnealingTrace of {len(self)} mixtures from {len(self.runs)} runs"
