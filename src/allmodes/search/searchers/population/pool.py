"""Rounds of space-filling points, and the choice of good starts among them that are far from what is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import embed
from allmodes.search.searchers.population.components import POOL, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts.queue import Queue
from allmodes.storage import stored

_MOST_STARTS = 1000  # considered in a round: far more than can be begun

Array = NDArray[np.float64]


@stored
@dataclass
class Pool:
    """Points known by value, whoever asked for them, and the starts of this round that are left."""

    box: Box
    queue: Queue = field(init=False)  # all points
    radius: float = 0.0  # of exclusion in this round, root mean square over coordinates
    round: int = 0  # how many were begun
    points: Array = field(init=False)  # the starts, (n, d)
    spreads: Array = field(default_factory=lambda: np.zeros(0))  # standard deviations of components there, (n,)
    numbers: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))  # among all points ever, (n,)

    def __post_init__(self) -> None:
        self.queue, self.points = Queue(self.box), np.zeros((0, self.box.d))

    @property
    def cycle(self) -> int:
        """Rounds until the radius is large again."""
        return 1 + math.ceil(math.log(TUNING.first_step / TUNING.first_radius) / math.log(TUNING.shrink))

    @property
    def wanted(self) -> int:
        """New points for the next round: ever more, for starts that are closer together."""
        return int(TUNING.round_points * self.box.d * (1 + TUNING.round_growth * self.round))

    def begin_round(self, known: Array) -> None:
        """Shrink the radius and queue the starts that are farther than that from the known points (k, d)."""
        self.radius *= TUNING.shrink
        if self.radius < TUNING.first_step:
            self.radius = TUNING.first_radius
        self.round += 1
        chosen = self.queue.local_bests()[:_MOST_STARTS]
        self.numbers, self.points = chosen + self.queue.forgotten, self.queue.points[chosen]
        apart = self._nearest_better() / math.sqrt(self.box.d)
        self.spreads = np.minimum(TUNING.widest, TUNING.apart * apart)
        self.exclude(known)

    def exclude(self, known: Array) -> None:
        """Drop the starts within the radius of a known point (k, d)."""
        if not len(known) or not len(self.points):
            return
        from scipy.spatial import KDTree  # late: importing it takes a while

        distance, _ = KDTree(embed(self.box, known)).query(embed(self.box, self.points))
        kept = distance >= self.radius * math.sqrt(self.box.d)
        self.points, self.spreads, self.numbers = self.points[kept], self.spreads[kept], self.numbers[kept]

    def take(self) -> ComponentStart | None:
        """The next start, None when the round is over."""
        if not len(self.points):
            return None
        start = ComponentStart(self.points[0], float(self.spreads[0]), POOL)
        number = int(self.numbers[0]) - self.queue.forgotten
        if number >= 0:
            self.queue.use(number)
        self.exclude(start.point[None])
        return start

    def _nearest_better(self) -> Array:
        """Distance of each start to the nearest one before it, which is better; infinite for the best."""
        from scipy.spatial.distance import cdist

        points = embed(self.box, self.points)
        is_before = np.tri(len(points), k=-1, dtype=bool)
        return np.asarray(np.where(is_before, cdist(points, points), np.inf).min(axis=1, initial=np.inf))
