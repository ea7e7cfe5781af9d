"""A place to begin a local search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored


@stored
class Start(NamedTuple):
    """A point to begin a local search at.

    Attributes:
        point: (d,), in unit coordinates.
        kind: of start, one of those in candidate.py.
        radius: of the first trust region; 0 for the usual one.
        home: number of the mode that it lies around, or -1.
    """

    point: NDArray[np.float64]
    kind: str
    radius: float = 0.0
    home: int = -1
