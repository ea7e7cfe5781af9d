"""Values at many space-filling points, to begin local searches only at the most promising ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import SCREENED, Start
from allmodes.search.starts.queue import Queue
from allmodes.search.starts.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Screened:
    """Evaluated points, and which of them wait to be starts.

    Attributes:
        queue: the points.
        waiting: numbers of those that are better than their neighbours, best first.
        misses: searches from screened points since the last success or the last screening.
    """

    queue: Queue
    waiting: list[int] = field(default_factory=list)
    misses: int = 0

    @property
    def wanted(self) -> int:
        """How many points to screen next."""
        return max(TUNING.screened_each * self.queue.box.d, int(TUNING.screened_growth * len(self.queue)))

    def add(self, points: Array, values: Array) -> None:
        """Points (n, d) were screened: of all that have not been starts yet, the local bests wait."""
        self.queue.add(points, values)
        self.waiting = self.queue.local_bests().tolist()
        self.misses = 0

    def take(self, n: int) -> list[Start]:
        """The best n points that wait; fewer when new points should be screened."""
        if self.misses >= TUNING.misses:
            self.waiting = []
        taken, self.waiting = self.waiting[:n], self.waiting[n:]
        self.queue.use(np.array(taken, np.intp))
        return [Start(self.queue.points[i], SCREENED) for i in taken]

    def report(self, is_success: bool) -> None:
        """How a search from a screened point ended."""
        self.misses = 0 if is_success else self.misses + 1
