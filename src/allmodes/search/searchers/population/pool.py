"""Rounds of space-filling points, and the choice of starts among them: good, and far from what is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import embed
from allmodes.search.searchers.population.arms import POOL, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts.queue import Queue
from allmodes.storage import stored

_MOST_STARTS = 1000  # considered in a round: far more than can be begun

Array = NDArray[np.float64]


@stored
@dataclass
class Pool:
    """Points known by value, and the starts of this round.

    Attributes:
        queue: all points that were evaluated, whoever asked for them.
        radius: this round's radius of exclusion, root mean square over coordinates.
        round: how many rounds were begun.
        points, spreads: (n, d) and (n,), the starts of this round that are left, and deviations of components there.
        numbers: of these starts among all points that the queue ever had, (n,).
    """

    box: Box
    queue: Queue = field(init=False)
    radius: float = 0.0
    round: int = 0
    points: Array = field(init=False)
    spreads: Array = field(default_factory=lambda: np.zeros(0))
    numbers: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))

    def __post_init__(self) -> None:
        self.queue, self.points = Queue(self.box), np.zeros((0, self.box.d))

    @property
    def cycle(self) -> int:
        """Rounds until the radius is large again."""
        return 1 + math.ceil(math.log(TUNING.first_step / TUNING.first_radius) / math.log(TUNING.shrink))

    def draw(self, rng: np.random.Generator) -> Array:
        """New points for the next round: ever more, for starts that are closer together."""
        n = TUNING.round_points * self.box.d * (1 + TUNING.round_growth * self.round)
        return rng.random((int(n), self.box.d))

    def begin_round(self, known: Array) -> None:
        """Shrink the radius and line up the starts that are farther than that from the known points (k, d)."""
        self.radius *= TUNING.shrink
        if self.radius < TUNING.first_step:
            self.radius = TUNING.first_radius
        chosen = self.queue.local_bests()[:_MOST_STARTS]
        apart = self._nearest_better(self.queue.points[chosen])
        self.round += 1
        self.numbers, self.points = chosen + self.queue.forgotten, self.queue.points[chosen]
        self.spreads = np.minimum(TUNING.widest, TUNING.apart * apart / math.sqrt(self.box.d))
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

    def _nearest_better(self, points: Array) -> Array:
        """Distance of each of the points (n, d), best first, to the nearest one before it."""
        from scipy.spatial.distance import cdist

        points = embed(self.box, points)
        is_before = np.tri(len(points), k=-1, dtype=bool)
        far = 2 * math.sqrt(self.box.d)  # the best has none: as far as it gets
        return np.asarray(np.where(is_before, cdist(points, points), far).min(axis=1, initial=far))
