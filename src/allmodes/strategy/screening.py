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
_SHARE = 0.5  # of all evaluations, spent on screening
_MISSES = 3  # launches in a row that find nothing before new points are screened
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
        d = search.box.d
        return max(_FIRST * d, int(_SHARE * search.nfev) - len(self.values))

    def add(self, points: Array, values: Array, search: Search) -> None:
        """New points: the queue is made anew from all that are better than their neighbours."""
        is_fine = np.isfinite(values)
        self.points = np.concatenate([self.points, points[is_fine]])
        self.values = np.append(self.values, values[is_fine])
        self.is_used = np.append(self.is_used, np.zeros(int(is_fine.sum()), bool))
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
            i = self.queue.pop(0)
            self.is_used[i] = True
            if not _is_explained(search, self.points[i], self.values[i]):
                return self.points[i]
        return None

    def report(self, is_success: bool) -> None:
        """What came of a launch from a screened point."""
        self.misses = 0 if is_success else self.misses + 1


def _is_explained(search: Search, point: Array, value: float) -> bool:
    """Whether a value is about what a known mode's component says it should be."""
    archive = search.archive
    if not len(archive):
        return False
    whitened = archive.whitened(point[None])[:, 0]
    fall = 0.5 * np.einsum("jd,jd->j", whitened, whitened)
    climb = archive.values - value
    is_inside = fall < np.maximum(archive.values - search.level, 1e-3 * search.scale)
    return bool((is_inside & (np.abs(climb - fall) < 0.5 * climb)).any())
