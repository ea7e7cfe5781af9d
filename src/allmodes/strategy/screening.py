"""Cheap values at many even points, to launch only from the most promising ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from allmodes.storage import stored
from allmodes.strategy.search import Search

Array = NDArray[np.float64]

_FIRST = 100  # points for each coordinate in the first screening, and at least in the others
_GROWTH = 0.1  # by which later screenings add to the points there are: neighbours are looked up anew each time
_AT_ONCE = 64  # points of the queue that are compared with known modes together
_MISSES = 3  # launches in a row that find nothing before new points are screened
_MOST_POINTS = 2**17  # kept: the oldest are forgotten, for memory must not grow with the number of evaluations
_NEIGHBOURS_UP_TO = 5  # dimensions: in higher ones every point is its neighbours' best


@stored
@dataclass
class Screen:
    """Points with values, and which of them wait to be launched from, best first."""

    points: Array
    values: Array = field(default_factory=lambda: np.zeros(0))
    is_used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    queue: list[int] = field(default_factory=list)
    misses: int = 0

    def wanted(self, search: Search) -> int:
        """How many points to screen next."""
        return max(_FIRST * search.box.d, int(_GROWTH * len(self.values)))

    def add(self, points: Array, values: Array, search: Search) -> None:
        """New points: the queue is made anew from all that are better than their neighbours."""
        is_fine = np.isfinite(values)
        self.points = np.concatenate([self.points, points[is_fine]])[-_MOST_POINTS:]
        self.values = np.append(self.values, values[is_fine])[-_MOST_POINTS:]
        self.is_used = np.append(self.is_used, np.zeros(int(is_fine.sum()), bool))[-_MOST_POINTS:]
        chosen = ~self.is_used
        d = search.box.d
        if d <= _NEIGHBOURS_UP_TO and len(self.values) > 2 * d + 2:
            _, near = KDTree(self.points).query(self.points, k=2 * d + 3)
            chosen &= ~(self.values[near] > self.values[:, None]).any(axis=1)
        numbers = np.flatnonzero(chosen)
        self.queue = numbers[np.argsort(-self.values[numbers], kind="stable")].tolist()
        self.misses = 0

    def take(self, search: Search) -> Array | None:
        """The best point that no known mode explains, or None when new points should be screened."""
        if self.misses >= _MISSES:
            self.queue = []
        while self.queue:
            numbers = np.array(self.queue[:_AT_ONCE])
            unknown = np.flatnonzero(~_is_explained(search, self.points[numbers], self.values[numbers]))
            passed = int(unknown[0]) + 1 if len(unknown) else len(numbers)
            self.is_used[numbers[:passed]] = True
            self.queue = self.queue[passed:]
            if len(unknown):
                return self.points[numbers[unknown[0]]]
        return None

    def report(self, is_success: bool) -> None:
        """What came of a launch from a screened point."""
        self.misses = 0 if is_success else self.misses + 1


def _is_explained(search: Search, points: Array, values: Array) -> NDArray[np.bool_]:
    """Whether values are about what a known mode's component says they should be, (n,)."""
    archive = search.archive
    if not len(archive):
        return np.zeros(len(points), bool)
    modes = archive.neighbours(points)
    whitened = archive.whitened_at(points, modes)
    falls = 0.5 * np.einsum("nkd,nkd->nk", whitened, whitened)
    heights = archive.values[modes]
    climbs = heights - values[:, None]
    is_inside = falls < np.maximum(heights - search.level, 1e-3 * search.scale)
    return np.asarray((is_inside & (np.abs(climbs - falls) < 0.5 * climbs)).any(axis=1))
