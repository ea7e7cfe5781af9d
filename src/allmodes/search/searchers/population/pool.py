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

_MOST_STARTS = 3000  # considered in a round: far more than can be begun
_BLOCK = 512  # rows of distances at a time: 12 MB
_NEIGHBOURS_UP_TO = 5  # dimensions, as for the queue

Array = NDArray[np.float64]


@stored
@dataclass
class Pool:
    """Points known by value, and the starts of this round.

    Attributes:
        queue: all points.
        seen: how many points there have been, failures included.
        radius: this round's radius of exclusion, root mean square over coordinates.
        round: how many rounds were begun.
        numbers: of the starts of this round, in their order, among all points that the queue ever had.
        points, spreads: (n, d) and (n,), the starts and the standard deviations of components there.
        is_open: which of them may still be taken.
    """

    box: Box
    queue: Queue = field(init=False)
    seen: int = 0
    radius: float = 0.0
    round: int = 0
    numbers: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    points: Array = field(init=False)
    spreads: Array = field(default_factory=lambda: np.zeros(0))
    is_open: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        self.queue, self.points = Queue(self.box), np.zeros((0, self.box.d))

    @property
    def cycle(self) -> int:
        """Rounds until the radius is large again."""
        return 1 + math.ceil(math.log(TUNING.last_radius / TUNING.first_radius) / math.log(TUNING.shrink))

    def draw(self, rng: np.random.Generator, wanted: int) -> Array:
        """New points for the next round: up to `wanted` in all, and never too few to be worth a round."""
        least = TUNING.round_points * self.box.d * (1 + TUNING.round_growth * self.round)
        return rng.random((int(max(least, wanted - self.seen)), self.box.d))

    def add(self, points: Array, values: Array) -> None:
        """Points (n, d) that were evaluated, whoever asked for them."""
        self.queue.add(points, values)
        self.seen += len(values)

    def begin_round(self, known: Array) -> None:
        """Shrink the radius and line up the starts that are farther than that from the known points (k, d)."""
        self.radius *= TUNING.shrink
        if self.radius < TUNING.last_radius:
            self.radius = TUNING.first_radius
        chosen = self.queue.local_bests()[:_MOST_STARTS]
        apart = self._nearest_better(self.queue.points[chosen])
        # In odd rounds those come first that are farthest from anything better, wherever neighbours mean something.
        if self.round % 2 == 1 and self.box.d <= _NEIGHBOURS_UP_TO:
            order = np.argsort(-apart, kind="stable")
            chosen, apart = chosen[order], apart[order]
        self.round += 1
        self.numbers, self.points = chosen + self.queue.forgotten, self.queue.points[chosen]
        self.spreads = np.minimum(TUNING.widest, TUNING.apart * apart / math.sqrt(self.box.d))
        self.is_open = np.ones(len(chosen), np.bool_)
        self.exclude(known)

    def exclude(self, known: Array) -> None:
        """Close the starts within the radius of a known point (k, d)."""
        places = np.flatnonzero(self.is_open)
        if not len(known) or not len(places):
            return
        from scipy.spatial import KDTree  # late: importing it takes a while

        limit, points = self.radius * math.sqrt(self.box.d), embed(self.box, self.points[places])
        distance, _ = KDTree(embed(self.box, known)).query(points, distance_upper_bound=limit)
        self.is_open[places[distance < limit]] = False

    def take(self) -> ComponentStart | None:
        """The next start, None when the round is over."""
        places = np.flatnonzero(self.is_open)
        if not len(places):
            return None
        first = places[0]
        number = int(self.numbers[first]) - self.queue.forgotten
        if number >= 0:
            self.queue.use(number)
        self.exclude(self.points[first : first + 1])
        return ComponentStart(self.points[first], float(self.spreads[first]), POOL)

    def _nearest_better(self, points: Array) -> Array:
        """Distance of each of the points (n, d), best first, to the nearest one before it."""
        from scipy.spatial.distance import cdist

        points = embed(self.box, points)
        apart = np.full(len(points), 2 * math.sqrt(self.box.d))  # the best has none: as far as it gets
        for begin in range(0, len(points), _BLOCK):
            end = min(begin + _BLOCK, len(points))
            distance = cdist(points[begin:end], points[:end])
            rows, columns = np.ogrid[begin:end, :end]
            distance[columns >= rows] = np.inf
            apart[begin:end] = np.minimum(apart[begin:end], distance.min(axis=1))
        return apart
