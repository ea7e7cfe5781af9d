"""Whether two level points are parts of one mode: a launch from between them shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.strategy.archive import Found
from allmodes.strategy.ends import KINDS, End, Pillar
from allmodes.strategy.geometry import is_held
from allmodes.strategy.tops import Tops

Array = NDArray[np.float64]

_RIVALS = 4  # level modes that a level point is compared with before it counts as another
_WIDEST = 0.8  # how far from the middle of a piece a bridge may end, as a share of its length
_SHORT = 0.1  # of the box: longer pieces of a way are looked at again
_BESIDE = (0.0, 0.5, -0.5)  # of its length: where launches begin beside the middle of a piece, one after the other
_STRAIGHT = 0.15  # how far a short piece may bend, as a share of its length
_LOOKS = 12  # launches from between, after which a way that showed no gap is one
_FARTHER = 1e-3  # of the largest curvature: what distance counts when the point of a mode is chosen to go to
_MOST_NODES = 512  # points known to belong to level modes
_RADIUS = 0.05  # of the trust region of a bridge at first, at most


@dataclass
class Bridges(Tops):
    """Adds modes to the archive; level ones after a look at those of the same height.

    Attributes:
        nodes: points (n, d) that belong to level modes, and `owners`, these modes.
        pillars: level points that wait for a bridge.
        ends: launches that are over, for the strategy to count.
        parked: rows that leave the batch while a bridge is built from them.
        bridges: starts between level points, the direction from one to the other, first radius, number of the pillar.
    """

    nodes: list[Array] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    pillars: list[Pillar | None] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    parked: list[int] = field(default_factory=list)
    bridges: list[tuple[Array, Array, float, int]] = field(default_factory=list)

    def add(
        self, point: Array, value: float, gradient: Array, hessian: Array, kind: str, is_level: bool = False,
        source: str = "",
    ) -> int:  # fmt: skip
        """Freeze a mode; its number is returned."""
        search = self.search
        point = search.box.project(point)
        source = source or ("derivatives" if search.order == 2 else "differences")
        held = is_held(search.box, point, gradient)
        found = Found(gradient.copy(), hessian.copy(), held, kind, source, search.nfev)
        mode = search.archive.add(point, float(value), found)
        if is_level or kind == "flat":
            self._own(point[None], mode)
        return mode

    # ---- level modes

    def _own(self, points: Array, mode: int) -> None:
        """Points (n, d) belong to a level mode."""
        for point in points[: _MOST_NODES - len(self.nodes)]:
            self.nodes.append(point.copy())
            self.owners.append(mode)

    def _end_of(self, mode: int, point: Array, hessian: Array) -> tuple[Array, float]:
        """The point of a mode on the way to which the model at another point falls least, and this fall.

        Of several that the model calls level the closest.
        """
        own = [node for node, owner in zip(self.nodes, self.owners, strict=True) if owner == mode]
        candidates = np.array([self.search.archive.means[mode], *own])
        way = self.search.box.difference(candidates, point)
        metric = _FARTHER * max(float(np.abs(hessian).max(initial=0.0)), 1e-300) * np.eye(len(point)) - hessian
        falls = np.einsum("nd,de,ne->n", way, metric, way)
        return candidates[falls.argmin()], float(falls.min())

    def _level_modes(self, value: float) -> NDArray[np.intp]:
        """Level modes at this height: level ground has one."""
        archive = self.search.archive
        level = np.array([found.kind == "flat" for found in archive.found], dtype=bool)
        level[self.owners] = True
        return np.flatnonzero(level & (np.abs(archive.values - value) <= self.search.tie))

    def _closest_level(self, value: float, point: Array, hessian: Array, tried: tuple[int, ...] = ()) -> int:
        """The level mode at this height that comes closest to a point, but for some, or -1."""
        others = [int(j) for j in self._level_modes(value) if j not in tried]
        falls = [self._end_of(j, point, hessian)[1] for j in others]
        return others[int(np.argmin(falls))] if others else -1

    # ---- bridges

    def _park(self, k: int, mode: int) -> None:
        """Whether two level points at the same height are connected is seen by launches from between them."""
        batch = self.batch
        point = batch.point[k].copy()
        pillar = Pillar(
            point, float(batch.value[k]), batch.gradient[k].copy(), batch.hessian[k].copy(), KINDS[batch.kind[k]],
            mode, int(batch.arm[k]), int(batch.cost[k]), (mode,), self._first_way(mode, point, batch.hessian[k]),
        )  # fmt: skip
        self.parked.append(k)
        self._bridge(pillar)

    def _first_way(self, mode: int, point: Array, hessian: Array) -> Array:
        """From a mode straight to a point, (2, d); periodic coordinates may leave the box."""
        return np.stack([point + self.search.box.difference(self._end_of(mode, point, hessian)[0], point), point])

    def _bridge(self, pillar: Pillar) -> None:
        """Launch from the middle of the longest piece, or from beside it, across it."""
        box, ends = self.search.box, pillar.way[pillar.piece : pillar.piece + 2]
        reach = float(_length(ends[1] - ends[0]))
        along = (ends[1] - ends[0]) / reach
        aside = np.eye(box.d)[np.abs(along).argmin()]
        aside = aside - (aside @ along) * along
        aside = aside / max(float(_length(aside)), 1e-300)
        start = ends.mean(axis=0) + _BESIDE[pillar.side] * reach * aside
        start = np.minimum(np.maximum(start, box.lower_unit), box.upper_unit)
        self.bridges.append((start, along, min(_RADIUS, 0.5 * reach), len(self.pillars)))
        self.pillars.append(pillar)

    def build(self, k: int) -> None:
        """A bridge has ended: level ground at the same height between its ends is a point of the way."""
        search, batch = self.search, self.batch
        number = int(batch.picked[k])
        pillar = self.pillars[number]
        assert pillar is not None
        self.pillars[number] = None
        self.parked.append(k)
        at = pillar.piece
        ends = pillar.way[at : at + 2]
        middle = ends.mean(axis=0)
        landed = middle + search.box.difference(batch.point[k], middle)
        reach, bow = _length(ends[1] - ends[0]), _length(landed - middle)
        heights = np.array([pillar.value, search.archive.values[pillar.mode]])
        is_level = heights.min() - search.tie <= batch.value[k] <= heights.max() + search.tie
        if bow > _WIDEST * reach or not is_level:
            if pillar.side + 1 < len(_BESIDE):
                self._bridge(pillar._replace(side=pillar.side + 1))
            else:
                self._next_rival(pillar)
            return
        is_proven = reach <= _SHORT * np.sqrt(search.box.d) and bow <= _STRAIGHT * reach
        halves = (is_proven | (_length(ends - landed) < 10.0 * search.xtol)).tolist()
        pillar = pillar._replace(
            way=np.insert(pillar.way, at + 1, landed, axis=0), looks=pillar.looks + 1, side=0,
            proven=(*pillar.proven[:at], *halves, *pillar.proven[at + 1 :]),
        )  # fmt: skip
        if pillar.piece >= 0 and pillar.looks < _LOOKS:
            self._bridge(pillar)
            return
        self._own(pillar.way[1:], pillar.mode)
        self.ends.append(End(-1, pillar.arm, pillar.cost, pillar.mode))

    def _next_rival(self, pillar: Pillar) -> None:
        """A bridge has failed: try the next level mode of the same height, or take the point for a new mode."""
        search = self.search
        distance = np.abs(search.box.difference(search.archive.means, pillar.point)).max(axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] < 10.0 * search.xtol:  # found by another launch in the meantime
            self.ends.append(End(-1, pillar.arm, pillar.cost, nearest))
            return
        rival = self._closest_level(pillar.value, pillar.point, pillar.hessian, pillar.tried)
        if rival >= 0 and len(pillar.tried) < _RIVALS:
            way = self._first_way(rival, pillar.point, pillar.hessian)
            tried = (*pillar.tried, rival)
            self._bridge(pillar._replace(mode=rival, tried=tried, way=way, proven=(False,), looks=0, side=0))
            return
        mode = self.add(pillar.point, pillar.value, pillar.gradient, pillar.hessian, pillar.kind, True)
        self.ends.append(End(-1, pillar.arm, pillar.cost, mode, True))


def _length(vectors: Array) -> Array:
    return np.sqrt((vectors**2).sum(axis=-1))
