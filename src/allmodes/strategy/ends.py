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
    """A level point that waits for a bridge: whether a way at the same height leads from it to a mode.

    Attributes:
        point, value, gradient, hessian, kind, arm, cost: of the launch that has arrived there.
        mode: the one at the other end; `tried`, those looked at so far.
        way: points (n, d) at this height, from the mode to the level point.
        proven: for each piece of the way whether it is so short and straight that it needs no more looks.
        looks: launches made from between.
        side: how often the last piece was looked at in vain; the next launch begins elsewhere.
    """

    point: Array
    value: float
    gradient: Array
    hessian: Array
    kind: str
    mode: int
    arm: int
    cost: int
    tried: tuple[int, ...]
    way: Array
    proven: tuple[bool, ...] = (False,)
    looks: int = 0
    side: int = 0

    @property
    def piece(self) -> int:
        """The longest piece of the way that is not proven, or -1."""
        length = np.where(self.proven, -1.0, np.abs(np.diff(self.way, axis=0)).max(axis=1))
        return -1 if all(self.proven) else int(length.argmax())


LOST, FAILED = -1, -2  # ends that are no modes: a launch that went nowhere, or could not begin


class End(NamedTuple):
    """A launch that is over: its row (or -1 if it has none any more), kind of start, cost, mode (or LOST), if new."""

    row: int
    arm: int
    cost: int
    mode: int
    is_new: bool = False
