"""Where local searches got stuck: too rough for slopes, and often high up a hill that nobody has climbed yet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import embed
from allmodes.search.searchers.population.arms import STUCK, ComponentStart
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts.queue import Queue
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class StuckPoints:
    """Points where local searches ended at no optimum. `is_open` says whether another start may be worth it."""

    box: Box
    queue: Queue = field(init=False)
    is_open: bool = False

    def __post_init__(self) -> None:
        self.queue = Queue(self.box)

    def add(self, point: Array, value: float) -> None:
        """A local search got stuck at a point (d,)."""
        self.queue.add(point[None], np.array([value]))
        self.is_open = not bool(self.queue.is_used.all())

    def take(self, modes: Array, heights: Array) -> ComponentStart | None:
        """The best one that is better than its neighbours, among them modes (k, d) of these heights; or None.

        Components begin small there, for most of the hill has been climbed.
        """
        queue, d = self.queue, self.box.d
        chosen = queue.local_bests(modes, heights, neighbours=d + 1)
        self.is_open = len(chosen) > 0
        if not self.is_open:
            return None
        number = int(chosen[0])
        queue.use(number)
        points, values = np.concatenate([queue.points, modes]), np.append(queue.values, heights)
        better = embed(self.box, points[values > queue.values[number]])
        apart = np.linalg.norm(better - embed(self.box, queue.points[number][None]), axis=1).min(initial=np.inf)
        spread = TUNING.apart * min(TUNING.first_step, float(apart) / math.sqrt(d))
        return ComponentStart(queue.points[number], spread, STUCK)
