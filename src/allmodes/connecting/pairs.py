"""Which modes are neighbours: all pairs would be too many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box

Floats = NDArray[np.float64]
Pair = tuple[int, int]

_NEAREST = 40  # modes that a pair may be blocked by: those nearest to one of them
_MARGIN = 1e-6  # relative: a mode as far off as this does not block a pair
_BLOCK = 256  # modes whose distances are held at once


class Groups:
    """Which of n things are joined."""

    def __init__(self, n: int) -> None:
        self.parent = list(range(n))

    def of(self, i: int) -> int:
        """The number of the group that a thing belongs to."""
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, i: int, j: int) -> bool:
        """Make one group of two; whether they were two."""
        a, b = self.of(i), self.of(j)
        self.parent[max(a, b)] = min(a, b)
        return a != b


def neighbours(box: Box, points: Floats) -> tuple[list[Pair], list[Pair]]:
    """Pairs of points (n, d) that join all of them by the shortest lines, and further neighbours; shortest first.

    Two are neighbours if no third one is nearer to both of them than they are to each other.
    """
    n = len(points)
    rows: list[tuple[float, int, int]] = []
    for first in range(0, n, _BLOCK):
        apart = distances(box, points[first : first + _BLOCK], points)
        for i, own in enumerate(apart, first):
            near = np.argsort(own, kind="stable")[1 : _NEAREST + 1]
            others = distances(box, points[near], points)  # (k, n)
            is_blocked = (np.maximum(others, own[near][:, None]) < own * (1.0 - _MARGIN)).any(axis=0)
            rows += [(float(own[j]), i, int(j)) for j in np.flatnonzero(~is_blocked) if j > i]
    rows.sort()
    groups = Groups(n)
    joining: list[Pair] = []
    further: list[Pair] = []
    for _, i, j in rows:
        (joining if groups.join(i, j) else further).append((i, j))
    return joining, further


def distances(box: Box, a: Floats, b: Floats) -> Floats:
    """Between points (n, d) and (m, d): (n, m)."""
    return np.asarray(np.sqrt((box.difference(a[:, None, :], b[None, :, :]) ** 2).sum(axis=-1)))
