"""Is an optimum a known one? By a straight line between the two, then, for level ones, by a bent path.

A bent path is found by halving: a local search from the middle of the longest piece shows whether there is level ground
between its ends. Points that have proved to belong to a level mode are remembered, so that later candidates find the
nearest part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.curvature import largest
from allmodes.search.events import Arrived, Continue, SearchEvent, Stuck
from allmodes.search.geometry import clip, lengths
from allmodes.search.tolerances import TINY
from allmodes.search.verify.question import BySearch, ByValues, Different, Optimum, Same, Step
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.search.verify.stationarity import shape
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_BESIDE = (0.0, 0.5, -0.5)  # of its length: where searches begin beside the middle of a piece, one after the other
_MOST_NODES = 512  # points kept of level modes: a bound on memory
_FARTHER = 1e-3  # of the largest curvature: how much distance itself counts besides the fall of the model


@stored
@dataclass
class LevelSets:
    """Level modes, and points that have proved to belong to them.

    Attributes:
        nodes: points (d,), and `owners`, the modes they belong to.
    """

    nodes: list[Array] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def add(self, points: Array, mode: int) -> None:
        """Points (n, d) belong to a level mode."""
        for point in points[: _MOST_NODES - len(self.nodes)]:
            self.nodes.append(point.copy())
            self.owners.append(mode)

    def rivals(self, context: Context, candidate: Candidate) -> list[int]:
        """The few level modes of its height that are nearest by its model; for a component any mode counts."""
        archive = context.archive
        is_level = np.array([record.kind == "flat" for record in archive.records], dtype=bool)
        is_level[self.owners] = True
        if candidate.source == "component":
            is_level[:] = True
        is_level &= np.abs(archive.values - candidate.value) <= context.tolerances.tie
        others = np.flatnonzero(is_level).tolist()
        return sorted(others, key=lambda j: self.end_of(context, j, candidate)[1])[: TUNING.level_rivals]

    def end_of(self, context: Context, mode: int, candidate: Candidate) -> tuple[Array, float]:
        """The point of a mode to which the candidate's model falls least, and this fall."""
        own = [node for node, owner in zip(self.nodes, self.owners, strict=True) if owner == mode]
        points = np.array([context.archive.means[mode], *own])
        apart = context.box.difference(points, candidate.point)
        H = np.asarray(candidate.hessian)
        metric = _FARTHER * max(largest(H), TINY) * np.eye(len(H)) - H
        falls = np.einsum("nd,de,ne->n", apart, metric, apart)
        return points[falls.argmin()], float(falls.min())


@stored
@dataclass(frozen=True)
class Between(ByValues):
    """Does the function fall on the straight line from an optimum to a mode, or to a point `end` that belongs to it?"""

    optimum: Optimum
    mode: int
    end: Array

    def points(self, context: Context) -> Array:
        return points_between(context.box, self.optimum.candidate.point, self.end)

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        candidate, height = self.optimum.candidate, float(context.archive.values[self.mode])
        line = context.box.difference(self.end, candidate.point)
        if is_one_hill(min(candidate.value, height), values, self._slack(context, line)):
            return Same(self.optimum, self.mode)
        is_tie = abs(candidate.value - height) <= context.tolerances.tie
        if self.optimum.is_level and is_tie and context.box.d > 1:
            nodes = np.stack([candidate.point + line, candidate.point])
            path = LevelPath(self.optimum, self.mode, nodes, is_kinked=candidate.is_kinked)
            is_curved = self.optimum.kind in ("optimum", "boundary") and not candidate.is_kinked
            return Ridge(self.optimum, path) if is_curved and candidate.source != "component" else path
        return Different(self.optimum, self.mode)

    def _slack(self, context: Context, line: Array) -> float:
        """A fall that proves nothing: it may be rounding, what a component has yet to gain, or a bent ridge."""
        candidate, tolerances = self.optimum.candidate, context.tolerances
        if candidate.is_kinked:
            slope = float(np.sqrt((candidate.gradient**2).sum() * (line**2).sum()))
            return TUNING.kink_valley * slope + tolerances.rounding()
        if candidate.source == "component":
            return tolerances.tie
        return tolerances.rounding(largest(candidate.hessian))


@stored
@dataclass(frozen=True)
class Ridge(BySearch):
    """Does the function fall along the ridge, on both sides of an optimum that is curved as far as values tell?

    Then no path at one height begins there, wherever it leads to: two short searches show it, and a path takes many.

    Attributes:
        optimum: the candidate.
        path: what is asked if the ridge does not fall.
        side: of the optimum, 1 or -1.
    """

    optimum: Optimum
    path: LevelPath
    side: float = 1.0

    def search(self, context: Context, origin: Origin) -> Continue:
        """Across the axis of least curvature, as far along it as ground that looks level is probed."""
        candidate = self.optimum.candidate
        axis, distance = shape(context, candidate).axes[-1], TUNING.probe_ratio * TUNING.probe_near
        point = clip(context.box, candidate.point + self.side * distance * axis)
        return Continue(origin, point, 0.5 * distance, along=axis, ceiling=self._height(context))

    def _height(self, context: Context) -> float:
        return self.optimum.candidate.value - context.tolerances.tie

    def ended(self, context: Context, event: SearchEvent) -> Step:
        if not isinstance(event, Arrived) or event.candidate.value > self._height(context):
            return self.path
        if self.side > 0.0:
            return replace(self, side=-1.0)
        return Different(self.optimum._replace(is_level=False), self.path.mode)


@stored
@dataclass(frozen=True)
class LevelPath(BySearch):
    """Is there a path at one height from a mode to a level optimum?

    Attributes:
        nodes: points (n, d) at this height, from the mode to the optimum; periodic coordinates may leave the box.
        proven: for each piece between two nodes whether it is so short and straight that no search is needed there.
        searches: made from points between.
        side: how many searches from the current piece were in vain: the next one begins beside its middle.
        is_kinked: whether searches take the function to be kinked: since the optimum is, or since one got stuck.
    """

    optimum: Optimum
    mode: int
    nodes: Array
    proven: tuple[bool, ...] = (False,)
    searches: int = 0
    side: int = 0
    is_kinked: bool = False

    @property
    def piece(self) -> int:
        """The longest piece that is not proven."""
        return int(np.where(self.proven, -1.0, np.abs(np.diff(self.nodes, axis=0)).max(axis=1)).argmax())

    @property
    def ends(self) -> Array:
        """The ends (2, d) of this piece."""
        return self.nodes[self.piece : self.piece + 2]

    def search(self, context: Context, origin: Origin) -> Continue:
        """From the middle of the longest piece, or from beside it, across its direction."""
        start, end = self.ends
        length = float(lengths(end - start))
        along = (end - start) / max(length, TINY)
        aside = np.eye(context.box.d)[np.abs(along).argmin()]
        aside = aside - (aside @ along) * along
        aside /= max(float(lengths(aside)), TINY)
        point = clip(context.box, 0.5 * (start + end) + _BESIDE[self.side] * length * aside)
        radius, ceiling = 0.5 * min(_short(context), length), self._heights(context)[1]
        if ceiling >= context.archive.best:  # what rises above all known modes leads to a better one
            ceiling = np.inf
        return Continue(origin, point, radius, self.is_kinked, along=along, ceiling=ceiling, between=self.ends)

    def ended(self, context: Context, event: SearchEvent) -> Step:
        if isinstance(event, Stuck) and not self.is_kinked:
            return replace(self, is_kinked=True)
        node = self._node(context, event)
        if node is None:
            if self.side + 1 < len(_BESIDE):
                return replace(self, side=self.side + 1)
            return Different(self.optimum, self.mode)
        line, moved = self.ends[1] - self.ends[0], node - self.ends.mean(axis=0)
        length = lengths(line)
        bow = lengths(moved - (moved @ line) / max(line @ line, TINY) * line)
        is_straight = length <= _short(context) * np.sqrt(context.box.d) and bow <= TUNING.path_straight * length
        halves = (is_straight | (lengths(self.ends - node) < context.tolerances.same)).tolist()
        at = self.piece
        path = replace(
            self, nodes=np.insert(self.nodes, at + 1, node, axis=0), searches=self.searches + 1, side=0,
            proven=(*self.proven[:at], *halves, *self.proven[at + 1 :]),
        )  # fmt: skip
        if all(path.proven) or path.searches == TUNING.path_pieces:
            return Same(self.optimum, self.mode, path.nodes[1:-1])
        return path

    def _heights(self, context: Context) -> tuple[float, float]:
        """Between which values ground is level."""
        heights = (self.optimum.candidate.value, float(context.archive.values[self.mode]))
        return min(heights) - context.tolerances.tie, max(heights) + context.tolerances.tie

    def _node(self, context: Context, event: SearchEvent) -> Array | None:
        """Where a search ended, if that is level ground between the ends of its piece."""
        if not isinstance(event, Arrived):
            return None
        lowest, highest = self._heights(context)
        middle = self.ends.mean(axis=0)
        node = middle + context.box.difference(event.candidate.point, middle)
        is_level = lowest <= event.candidate.value <= highest
        length = float(lengths(self.ends[1] - self.ends[0]))
        is_between = lengths(self.ends - node).max() <= TUNING.path_shrink * length
        return node if is_level and is_between else None


def _short(context: Context) -> float:
    """Pieces of a path that are longer are halved again, as a share of the box in each coordinate."""
    return 10.0 * context.tolerances.close
