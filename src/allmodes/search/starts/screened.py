"""Values at many space-filling points, to begin local searches only at the most promising ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import SCREENED, Start
from allmodes.search.context import Context
from allmodes.search.starts.queue import Queue
from allmodes.search.starts.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_AT_ONCE = 64  # points that are compared with known modes together


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
        """Points (n, d) were screened: of all that were not starts yet, the local bests wait."""
        self.queue.add(points, values)
        self.waiting = self.queue.local_bests().tolist()
        self.misses = 0

    def take(self, context: Context) -> Start | None:
        """The best point that no known mode explains, or None when new points should be screened."""
        if self.misses >= TUNING.misses:
            self.waiting = []
        while self.waiting:
            numbers = np.array(self.waiting[:_AT_ONCE])
            points = self.queue.points[numbers]
            unknown = np.flatnonzero(~is_explained(context, points, self.queue.values[numbers]))
            passed = int(unknown[0]) + 1 if len(unknown) else len(numbers)
            self.queue.use(numbers[:passed])
            self.waiting = self.waiting[passed:]
            if len(unknown):
                return Start(points[unknown[0]], SCREENED)
        return None

    def report(self, is_success: bool) -> None:
        """What came of a search from a screened point."""
        self.misses = 0 if is_success else self.misses + 1


def is_explained(context: Context, points: Array, values: Array) -> NDArray[np.bool_]:
    """Whether values (n,) at points (n, d) are about what a known mode's component says they should be, (n,)."""
    archive = context.archive
    if not len(archive):
        return np.zeros(len(points), bool)
    modes = archive.neighbours(points)
    falls, heights = archive.falls(points, modes), archive.values[modes]
    climbs = heights - values[:, None]
    is_inside = falls < np.maximum(heights - context.level, TUNING.lowest_hill * context.scale)
    return np.asarray((is_inside & (np.abs(climbs - falls) < TUNING.explained * climbs)).any(axis=1))
