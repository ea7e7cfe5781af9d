"""Where launches got stuck: too rough for slopes, and often high up a hill that nobody has climbed yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.pool import START_SHARE, embed

_MOST = 1000  # kept, the best
_WIDEST = 0.01  # standard deviation of a component that starts at one: it has climbed most of its hill

Floats = NDArray[np.float64]


@stored
@dataclass
class Strands:
    """Points (n, d) where launches ended nowhere, their values, and which of them were starts already.

    `is_open` says whether another may be worth it.
    """

    box: Box
    points: Floats = field(init=False)
    values: Floats = field(default_factory=lambda: np.zeros(0))
    is_used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    is_open: bool = False

    def __post_init__(self) -> None:
        self.points = np.zeros((0, self.box.d))

    def __len__(self) -> int:
        return len(self.values)

    def add(self, points: Floats, values: Floats) -> None:
        """Launches ended at these points."""
        is_fine = np.isfinite(values)
        self.points = np.concatenate([self.points, points[is_fine]])
        self.values = np.append(self.values, values[is_fine])
        self.is_used = np.append(self.is_used, np.zeros(int(is_fine.sum()), np.bool_))
        self.is_open = not bool(self.is_used.all())
        if len(self) > _MOST:
            best = np.sort(np.argsort(-self.values, kind="stable")[:_MOST])
            self.points, self.values, self.is_used = self.points[best], self.values[best], self.is_used[best]

    def take(self, modes: Floats, heights: Floats) -> tuple[Floats, float] | None:
        """The best one that is better than its neighbours, among them modes (k, d) of these heights.

        Its point (d,) and the standard deviation of a component that starts there; None without any.
        """
        points = embed(self.box, np.concatenate([self.points, modes]))
        values = np.append(self.values, heights)
        unused = np.flatnonzero(~self.is_used)
        near = cKDTree(points).query(points[unused], k=[*range(1, min(self.box.d + 2, len(points)) + 1)])[1]
        unused = unused[~(values[near] > values[unused, None]).any(axis=1)]
        self.is_open = len(unused) > 0
        if not self.is_open:
            return None
        chosen = int(unused[values[unused].argmax()])
        self.is_used[chosen] = True
        better = points[values > values[chosen]]
        apart = np.sqrt(((better - points[chosen]) ** 2).sum(axis=1)).min(initial=np.inf)
        return self.points[chosen], float(min(_WIDEST, START_SHARE * apart / np.sqrt(self.box.d)))
