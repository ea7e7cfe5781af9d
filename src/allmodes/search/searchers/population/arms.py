"""The kinds of starts that components have: the arms of the population's bandit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

POOL, RAY, MIX, REHEAT, HOP, STUCK = ARMS = ("pool", "ray", "mix", "reheat", "hop", "stuck")


@stored
class ComponentStart(NamedTuple):
    """Where a component begins.

    Attributes:
        point: (d,), its mean.
        spread: its standard deviation.
        arm: the kind of start.
        target: the value that it has to beat, for hops.
        hop: the ticket of the hop, or -1.
    """

    point: NDArray[np.float64]
    spread: float
    arm: str
    target: float = np.inf
    hop: int = -1


class LocalOptimum(NamedTuple):
    """Where a component ended, and how it began."""

    point: NDArray[np.float64]
    value: float
    arm: str
    hop: int
