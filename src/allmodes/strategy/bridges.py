"""Whether two level points are parts of one mode: a launch from between them shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.strategy.archive import Found
from allmodes.strategy.ends import End, Pillar
from allmodes.strategy.geometry import is_held
from allmodes.strategy.tops import Tops

Array = NDArray[np.float64]

_RIVALS = 4  # level modes that a level point is compared with before it counts as another
_HALFWAY = 0.95  # a bridge ends closer to both of its ends than they are to each other, by this factor


@dataclass
class Bridges(Tops):
    """Adds modes to the archive; level ones after a look at those of the same height.

    Attributes:
        pillars: level points that wait for a bridge.
        ends: launches that are over, for the strategy to count.
        parked: rows that leave the batch while a bridge is built from them.
        bridges: starts between level points, with the number of their pillar.
    """

    pillars: list[Pillar | None] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    parked: list[int] = field(default_factory=list)
    bridges: list[tuple[Array, int]] = field(default_factory=list)

    def _add(self, point: Array, value: float, gradient: Array, hessian: Array, kind: str) -> int:
        search = self.search
        point = search.box.project(point)
        source = "derivatives" if search.order == 2 else "differences"
        held = is_held(search.box, point, gradient)
        found = Found(gradient.copy(), hessian.copy(), held, kind, source, search.nfev)
        return search.archive.add(point, float(value), found)

    def _park(self, k: int, mode: int) -> None:
        """Whether two level points at the same height are connected is seen by a launch from between them."""
        batch = self.batch
        pillar = Pillar(
            batch.point[k].copy(), float(batch.value[k]), batch.gradient[k].copy(), batch.hessian[k].copy(), mode,
            int(batch.arm[k]), int(batch.cost[k]), (mode,),
        )  # fmt: skip
        self.parked.append(k)
        self._bridge(pillar)

    def _bridge(self, pillar: Pillar) -> None:
        way = self.search.box.difference(self.search.archive.means[pillar.mode], pillar.point)
        self.bridges.append((pillar.point + 0.5 * way, len(self.pillars)))
        self.pillars.append(pillar)

    def build(self, k: int) -> None:
        """A bridge has ended: level ground at the same height between its ends says that they are one mode."""
        search, batch = self.search, self.batch
        number = int(batch.picked[k])
        pillar = self.pillars[number]
        assert pillar is not None
        self.pillars[number] = None
        self.parked.append(k)
        ends = np.stack([pillar.point, search.archive.means[pillar.mode]])
        reach = np.sqrt((search.box.difference(ends[0], ends[1]) ** 2).sum())
        apart = np.sqrt((search.box.difference(ends, batch.point[k]) ** 2).sum(axis=1))
        height = min(pillar.value, search.archive.values[pillar.mode])
        if (apart < _HALFWAY * reach).all() and batch.value[k] >= height - search.tie:
            self.ends.append(End(-1, pillar.arm, pillar.cost, pillar.mode))
            return
        self._next_rival(pillar)

    def _next_rival(self, pillar: Pillar) -> None:
        """A bridge has failed: try the next level mode of the same height, or take the point for a new mode."""
        search = self.search
        archive = search.archive
        distance = np.abs(search.box.difference(archive.means, pillar.point)).max(axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] < 10.0 * search.xtol:  # found by another launch in the meantime
            self.ends.append(End(-1, pillar.arm, pillar.cost, nearest))
            return
        others = [int(j) for j in self._level_modes(pillar.value) if j not in pillar.tried]
        if others and len(pillar.tried) < _RIVALS:
            rival = min(others, key=lambda j: float(distance[j]))
            self._bridge(pillar._replace(mode=rival, tried=(*pillar.tried, rival)))
            return
        mode = self._add(pillar.point, pillar.value, pillar.gradient, pillar.hessian, "flat")
        self.ends.append(End(-1, pillar.arm, pillar.cost, mode, True))

    def _level_modes(self, value: float) -> NDArray[np.intp]:
        """Level modes at this height: level ground has one."""
        archive = self.search.archive
        level = np.array([found.kind == "flat" for found in archive.found], dtype=bool)
        return np.flatnonzero(level & (np.abs(archive.values - value) <= self.search.tie))
