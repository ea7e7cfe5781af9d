"""The kinds of starts that components have: the arms of the population's bandit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

POOL, RAY, MIX, HOP, STUCK = ARMS = ("pool", "ray", "mix", "hop", "stuck")


@stored
class ComponentStart(NamedTuple):
    """Where a component begins: its mean (d,), its standard deviation, and the kind of start.

    A hop has a value to beat (`target`), and a number (`hop`, else -1) by which it is known when it ends.
    """

    point: NDArray[np.float64]
    spread: float
    arm: str
    target: float = np.inf
    hop: int = -1
