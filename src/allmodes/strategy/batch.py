"""The launches that are under way: one row of every array for each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]


class Phase(IntEnum):
    """What a launch waits for."""

    START = 0  # everything at its start
    STEP = 1  # the value at its trial point, with derivatives if there are any
    SLOPE = 2  # difference points for the gradient at the point it has moved to
    CURVE = 3  # difference points for the curvature where it has arrived
    FINAL = 4  # the value at the last Newton step
    FLAT = 5  # values along directions in which the curvature vanishes
    FAR = 6  # values farther along directions that are level as far as was seen
    VALLEY = 7  # values on the way to a mode that is close
    CHECK = 8  # values along the direction that is curved least: a crease is none of a top


@stored
@dataclass
class Batch:
    """State of n launches.

    Attributes:
        point, value, gradient, hessian: where each is and its quadratic model there; the Hessian is a guess unless
            `is_measured`.
        radius: of the trust region.
        trial: where it wants to go.
        came_from, old_gradient: the point before, while the gradient at the new one is awaited.
        phase: what it waits for.
        arm: the kind of start, a number.
        picked: the mode it was launched near, or -1.
        rival: the mode that it may turn out to be, or -1.
        iterations, cost: steps and evaluations so far.
        is_measured: whether the Hessian was measured nearby rather than guessed.
        kind: what it has been seen to be, as a number of settling.KINDS.
        seen: modes known when it was last compared with them.
        is_bridge: whether it was launched to see if two level points are connected.
        distance: to the top of the last model; `shrinkage`, by how much it had shrunk then.
        number: of the launch, in the order in which they began.
    """

    point: Array
    value: Array
    gradient: Array
    hessian: Array
    radius: Array
    trial: Array
    came_from: Array
    old_gradient: Array
    phase: NDArray[np.int64]
    arm: NDArray[np.int64]
    picked: NDArray[np.int64]
    rival: NDArray[np.int64]
    iterations: NDArray[np.int64]
    cost: NDArray[np.int64]
    is_measured: NDArray[np.bool_]
    kind: NDArray[np.int64]
    seen: NDArray[np.int64]
    is_bridge: NDArray[np.bool_]
    distance: Array
    shrinkage: Array
    number: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.value)

    @staticmethod
    def at(points: Array, radius: Array, arm: NDArray[np.int64], picked: NDArray[np.int64]) -> Batch:
        """Launches about to begin at points (n, d)."""
        n, d = points.shape
        whole = [np.zeros(n, np.int64) for _ in range(5)]
        return Batch(
            points, np.full(n, -np.inf), np.zeros((n, d)), np.zeros((n, d, d)), radius, points, points,
            np.zeros((n, d)), np.full(n, Phase.START, dtype=np.int64), arm, picked, np.full(n, -1), whole[0], whole[1],
            np.zeros(n, bool), whole[2], whole[3], np.zeros(n, bool), np.zeros(n), np.zeros(n), whole[4],
        )  # fmt: skip

    def join(self, other: Batch) -> None:
        """Add launches."""
        for each in fields(self):
            setattr(self, each.name, np.concatenate([getattr(self, each.name), getattr(other, each.name)]))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Drop launches that are not chosen."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name)[chosen])
