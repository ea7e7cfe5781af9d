"""A pool of evenly spread points, and the choice of starts among them: good, and far from what is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from allmodes.objective.bounds import Box
from allmodes.storage import stored

FIRST_RADIUS = 0.25  # of exclusion around known points, root mean square over coordinates, as a share of the box
NEXT_RADIUS = 0.225  # of every cycle but the first
SHRINK = 0.75  # of the radius per round
LAST_RADIUS = 0.004  # below it a new cycle begins
CYCLE = 1 + int(np.ceil(np.log(LAST_RADIUS / NEXT_RADIUS) / np.log(SHRINK)))  # rounds of a cycle
_POINTS_PER_DIMENSION = 100  # of the first round; each round adds 30 % of it
_GROWTH = 0.3
_MOST_QUEUED = 3000  # starts considered in a round: far more than can be launched
_MOST_LOCAL = 5  # dimensions up to which neighbours say something about a point
_MOST_POINTS = 2**17  # kept: the oldest are forgotten, for memory must not grow with the number of evaluations
_BLOCK = 512  # rows of distances at a time: 12 MB
_WIDEST_START = 0.1  # standard deviation of a launched component
START_SHARE = 0.5  # of the distance to the nearest better start, per root of d

Floats = NDArray[np.float64]


@stored
@dataclass
class Pool:
    """Points known by value, and the queue of this round's starts.

    Attributes:
        points, values, is_used: all points (n, d), their values, and which were starts already.
        radius: this round's radius of exclusion.
        round: how many rounds were begun.
        queue: numbers of the starts of this round, in their order.
        is_open: which of the queue are still to be taken.
        spreads: standard deviation of a component that starts there.
        forgotten: how many points are not kept any more.
    """

    box: Box
    points: Floats = field(init=False)
    values: Floats = field(default_factory=lambda: np.zeros(0))
    is_used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    radius: float = 0.0
    round: int = 0
    queue: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    is_open: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    spreads: Floats = field(default_factory=lambda: np.zeros(0))
    forgotten: int = 0

    def __post_init__(self) -> None:
        self.points = np.zeros((0, self.box.d))

    def __len__(self) -> int:
        return len(self.values)

    def draw(self, rng: np.random.Generator, wanted: int) -> Floats:
        """New points for the next round: up to `wanted` in all, and never too few to be worth a round."""
        least = _POINTS_PER_DIMENSION * self.box.d * (1 + _GROWTH * self.round)
        return rng.random((int(max(least, wanted - len(self) - self.forgotten)), self.box.d))

    def add(self, points: Floats, values: Floats) -> None:
        """Points that were paid for, whoever asked for them."""
        self.points = np.concatenate([self.points, points])
        self.values = np.append(self.values, values)
        self.is_used = np.append(self.is_used, np.zeros(len(values), np.bool_))

    def begin_round(self, known: Floats) -> None:
        """Shrink the radius and line up the starts that are farther than that from the known points (k, d)."""
        if self.round == 0:
            self.radius = FIRST_RADIUS
        else:
            self.radius *= SHRINK
            if self.radius < LAST_RADIUS:
                self.radius = NEXT_RADIUS
        self._forget()
        chosen = self._candidates()
        apart = self._nearest_better(chosen)
        # In odd rounds those come first that are farthest from anything better, wherever neighbours mean something.
        if self.round % 2 == 1 and self.box.d <= _MOST_LOCAL:
            order = np.argsort(-apart, kind="stable")
            chosen, apart = chosen[order], apart[order]
        self.round += 1
        self.queue = chosen
        self.is_open = np.ones(len(chosen), np.bool_)
        self.spreads = np.minimum(_WIDEST_START, START_SHARE * apart / np.sqrt(self.box.d))
        self.exclude(known)

    def _forget(self) -> None:
        """Drop the oldest points when there are too many; between two rounds nothing refers to them."""
        excess = len(self) - _MOST_POINTS
        if excess > 0:
            self.points, self.values, self.is_used = self.points[excess:], self.values[excess:], self.is_used[excess:]
            self.forgotten += excess

    def exclude(self, known: Floats) -> None:
        """Close the starts within the radius of a known point (k, d)."""
        places = np.flatnonzero(self.is_open)
        if not len(known) or not len(places):
            return
        limit = self.radius * np.sqrt(self.box.d)
        tree = cKDTree(embed(self.box, known)) if len(known) > 1 else None
        points = embed(self.box, self.points[self.queue[places]])
        if tree is None:
            difference = points - embed(self.box, known)
            distance = np.sqrt(np.einsum("nd,nd->n", difference, difference))
        else:
            distance, _ = tree.query(points, distance_upper_bound=limit)
        self.is_open[places[distance < limit]] = False

    def take(self) -> tuple[Floats, float, float] | None:
        """The next start: its point (d,), standard deviation and value; None when the round is over."""
        first = int(self.is_open.argmax()) if len(self.is_open) else 0
        if not len(self.is_open) or not self.is_open[first]:
            return None
        number = self.queue[first]
        self.is_open[first] = False
        self.is_used[number] = True
        point = self.points[number]
        self.exclude(point[None])
        return point, float(self.spreads[first]), float(self.values[number])

    def _candidates(self) -> NDArray[np.intp]:
        """Unused points, best first; in few dimensions those alone that are better than their nearest neighbours."""
        d = self.box.d
        is_wanted = ~self.is_used & (self.values > -np.inf)
        if d <= _MOST_LOCAL and len(self) > 1:
            points = embed(self.box, self.points)
            neighbours = min(2 * d + 2, len(self) - 1)
            _, near = cKDTree(points).query(points, k=neighbours + 1)
            is_wanted &= ~(self.values[near] > self.values[:, None]).any(axis=1)
        chosen = np.flatnonzero(is_wanted)
        return chosen[np.argsort(-self.values[chosen], kind="stable")][:_MOST_QUEUED]

    def _nearest_better(self, chosen: NDArray[np.intp]) -> Floats:
        """Distance of each chosen point, best first, to the nearest one before it."""
        points = embed(self.box, self.points[chosen])
        apart = np.full(len(chosen), 2 * np.sqrt(self.box.d))  # the best has none: as far as it gets
        for begin in range(0, len(chosen), _BLOCK):
            end = min(begin + _BLOCK, len(chosen))
            distance = cdist(points[begin:end], points[:end])
            rows, columns = np.ogrid[begin:end, :end]
            distance[columns >= rows] = np.inf
            apart[begin:end] = np.minimum(apart[begin:end], distance.min(axis=1))
        return apart


def embed(box: Box, points: Floats) -> Floats:
    """Points among which straight distances are right: periodic coordinates become circles of length one."""
    places = box.periodic_unit
    if not places.size:
        return points
    angle = 2 * np.pi * points[:, places]
    rest = np.delete(points, places, axis=1)
    return np.concatenate([rest, np.cos(angle) / (2 * np.pi), np.sin(angle) / (2 * np.pi)], axis=1)
