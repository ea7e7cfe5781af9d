"""How launches end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

KINDS = ("", "optimum", "boundary", "flat")


@stored
class Pillar(NamedTuple):
    """A level point that waits for a bridge: whether a path at the same height leads from it to a mode."""

    point: Array
    value: float
    gradient: Array
    hessian: Array
    mode: int
    arm: int
    cost: int
    tried: tuple[int, ...] = ()


LOST, FAILED = -1, -2  # ends that are no modes: a launch that went nowhere, or could not begin


class End(NamedTuple):
    """A launch that is over: its row (or -1 if it has none any more), kind of start, cost, mode (or LOST), if new."""

    row: int
    arm: int
    cost: int
    mode: int
    is_new: bool = False
