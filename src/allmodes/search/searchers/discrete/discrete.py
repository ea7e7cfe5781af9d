"""The search of a box with whole numbers or choices: walks from many places, and all points where they are few."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.archive import Frozen
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searcher import Request, Strategy
from allmodes.search.searchers.discrete.inner import Inner
from allmodes.search.searchers.discrete.mixed import MixedWalk
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.search.searchers.discrete.walk import Walk
from allmodes.search.searchers.multistart import Counts
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]

_IDLE = 1000  # walks in a row that ask for nothing: every random point leads to where walks have been


@stored
@dataclass(eq=False)
class Discrete(Strategy):
    """Walks from random points and from beside known modes; then, where they are few, all points that are left.

    Attributes:
        stage: "walk", "rest" (evaluate what is left), "look" (walks from points without better neighbours), "done".
        given: points (n, d) to begin at.
        stopping, counts: when it is enough.
        is_exhaustive: whether a budget was given, to be used up.
        sizes: how many points each walk has asked for.
        asked: levels (n, m) in flight, where there are no real coordinates.
        reached: of the rest, points by number up to here are evaluated.
    """

    context: Context
    given: Array
    stopping: Stopping
    is_exhaustive: bool = False
    swaps: bool = False
    width: int = TUNING.width
    space: Space = field(init=False)
    nodes: Nodes = field(init=False)
    counts: Counts = field(default_factory=Counts)
    walks: list[Walk | MixedWalk] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    asked: Levels = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    stage: str = "walk"
    reached: int = 0
    since_better: int = 0
    best: float = -np.inf
    why: str = ""

    def __post_init__(self) -> None:
        self.space = Space.of(self.context.box, self.swaps)
        self.nodes = Nodes(len(self.space.places), len(self.space.reals))

    def take_budget(self, other: Strategy) -> None:
        if isinstance(other, Discrete):
            self.stopping.persistence, self.stopping.effort = other.stopping.persistence, other.stopping.effort
            self.is_exhaustive = other.is_exhaustive

    # ---- rounds

    def ask(self) -> Request:
        if self.stage == "rest":
            levels = self._rest()
            if len(levels):
                self.asked = levels
                return Request(self.space.units(levels, np.zeros((len(levels), 0))))
            self._look_at_all()
        return Request(self._mixed_points() if self.space.is_mixed else self._points())

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value, dtype=np.float64)
        if not self.space.is_mixed:
            for levels, value in zip(self.asked, values.tolist(), strict=True):
                self.nodes.add(levels, np.zeros(0), value)
            return
        begun = 0
        for walk, size in zip(self.walks, self.sizes, strict=True):
            assert isinstance(walk, MixedWalk)
            walk.tell(values[begun : begun + size], self.context, self.space, self.nodes)
            begun += size
        for walk in [walk for walk in self.walks if walk.is_over]:
            self.walks.remove(walk)
            self._end(walk)

    def _mixed_points(self) -> Array:
        while len(self.walks) < self.width and not self._is_enough():
            self._begin()
        if not self.walks:
            self.stage = "done"
            return np.zeros((0, self.context.box.d))
        parts = [walk.ask(self.context, self.space) for walk in self.walks if isinstance(walk, MixedWalk)]
        self.sizes = [len(levels) for levels, _ in parts]
        return self.space.units(
            np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        )

    def _points(self) -> Array:
        """What walks want to know, each point once. Walks that need nothing new end at once."""
        wanted: dict[bytes, Levels] = {}
        waiting: list[Walk | MixedWalk] = []
        idle = 0
        while True:
            if not self.walks and (
                len(waiting) >= self.width or idle > _IDLE or self._is_enough() or not self._begin()
            ):
                break
            walk = self.walks.pop(0)
            assert isinstance(walk, Walk)
            levels = walk.ask(self.context, self.space, self.nodes)
            if walk.is_over:
                self._end(walk)
                idle += 1
                continue
            wanted.update((each.tobytes(), each) for each in levels)
            waiting.append(walk)
        self.walks = waiting
        if not wanted:
            self._go_on("walks from random points lead to known ones" if idle > _IDLE else self.why)
            return self.ask().points if self.stage != "done" else np.zeros((0, self.context.box.d))
        self.asked = np.stack(list(wanted.values()))
        return self.space.units(self.asked, np.zeros((len(self.asked), 0)))

    # ---- walks

    def _begin(self) -> bool:
        """Another walk; False where no more are wanted."""
        if self.stage not in ("walk", "look"):
            return False
        rng, archive, space = self.context.rng, self.context.archive, self.space
        is_fresh = False
        if len(self.given):
            levels, reals = (part[0] for part in space.split(self.given[:1]))
            self.given = self.given[1:]
        elif self.stage == "look":
            return False
        elif len(archive) and rng.random() < (TUNING.kicked if self.context.is_global else TUNING.kicked_all):
            levels, reals = (part[0] for part in space.split(archive.means[self._chosen()][None]))
            levels = space.kicked(rng, levels)
        else:
            levels, reals, is_fresh = space.random(rng, 1)[0], rng.random(len(space.reals)), True
        if space.is_mixed:
            box = self.context.box
            inner = Inner(reals, box.lower_unit[space.reals], box.upper_unit[space.reals], self.context.xtol)
            self.walks.append(MixedWalk(levels, inner, is_fresh))
        else:
            self.walks.append(Walk(levels, is_fresh))
        return True

    def _chosen(self) -> int:
        """A mode to leave: any, or one of the best where only those count."""
        archive, rng = self.context.archive, self.context.rng
        if not self.context.is_global:
            return int(rng.integers(len(archive)))
        order = np.argsort(-archive.values, kind="stable")
        return int(order[min(int(rng.geometric(0.5)) - 1, len(order) - 1)])

    def _end(self, walk: Walk | MixedWalk) -> None:
        """Note where a walk has ended; a new optimum is a mode."""
        context, counts, mode, is_new = self.context, self.counts, walk.mode, False
        if walk.is_optimum:
            mode, is_new = self._add(walk)
        if mode >= 0:
            context.archive.hit(mode)
            self.nodes.lead(walk.path + (walk.level if isinstance(walk, Walk) else []), mode)
        if walk.is_fresh:
            if isinstance(walk, Walk):
                context.observe_level(self.nodes.values[walk.path[:1]])
            counts.fresh.end(mode, context.nfev)
        counts.searches += 1
        counts.since_new = 0 if is_new else counts.since_new + 1
        counts.last_new = context.nfev if is_new else counts.last_new
        self.since_better += 1
        if context.archive.best > self.best + float(context.tolerances.error_of(context.archive.best)):
            self.best, self.since_better = context.archive.best, 0

    def _add(self, walk: Walk | MixedWalk) -> tuple[int, bool]:
        """The mode of an optimum, and whether it is new."""
        context, space, row = self.context, self.space, walk.row
        known = int(self.nodes.modes[row])  # another walk may have been here in the meantime
        if known >= 0:
            return known, False
        d = context.box.d
        gradient, active = np.zeros(d), np.zeros(d, np.bool_)
        hessian = -max(context.scale, 1e-300) * np.eye(d)
        kind = "optimum"
        if isinstance(walk, MixedWalk):
            held = walk.inner.held
            gradient[space.reals], active[space.reals] = walk.inner.gradient, held
            hessian[np.ix_(space.reals, space.reals)] = walk.hessian
            kind = "boundary" if held.any() else "optimum"
        elif walk.is_cut:
            kind = "unverified"
        record = Frozen(gradient, hessian, active, kind, "differences", context.nfev)
        point = space.units(self.nodes.levels[row][None], self.nodes.reals[row][None])[0]
        return context.archive.add(point, float(self.nodes.values[row]), record), True

    # ---- the end

    @property
    def _is_small(self) -> bool:
        """Whether all points are to be evaluated."""
        most = self.context.maxfev if self.is_exhaustive else min(TUNING.small, self.context.maxfev)
        return not self.space.is_mixed and self.space.size <= min(most, TUNING.largest)

    def _is_enough(self) -> bool:
        if self.stage != "walk":
            return True
        if self._is_small:
            return self.counts.searches >= TUNING.least_walks
        self.why = self.why or self._verdict()
        return bool(self.why)

    def _verdict(self) -> str:
        """Why further walks are not worth it, in words; empty while they are."""
        if not self.context.is_global:
            return self.stopping.ending(self.context, self.counts, [])
        spent = self.context.nfev - (self.context.best_at if np.isfinite(self.best) else 0)
        if self.since_better < TUNING.barren or spent < self.stopping.persistence:
            return ""
        return f"the last {self.since_better} walks found nothing better"

    def _go_on(self, why: str) -> None:
        """From walks to the points that are left, if they are few; then to the end."""
        if self.stage == "walk" and self._is_small:
            self.stage = "rest"
        else:
            self.stage, self.why = "done", self.why or why

    def _rest(self) -> Levels:
        """Points not evaluated, (n, m); none if there are no more."""
        while self.reached < self.space.size:
            numbers = np.arange(self.reached, min(self.reached + TUNING.together, self.space.size))
            self.reached = int(numbers[-1]) + 1
            levels = self.space.numbered(numbers)
            levels = levels[[row < 0 for row in self.nodes.find_all(levels)]]
            if len(levels):
                return levels
        return np.zeros((0, len(self.space.counts)), np.int64)

    def _look_at_all(self) -> None:
        """All is known: walks begin where no neighbour is better, and end at once."""
        space, counts = self.space, tuple(self.space.counts.tolist())
        values = np.full(counts, -np.inf)
        values[tuple(self.nodes.levels[: len(self.nodes)].T)] = self.nodes.values[: len(self.nodes)]
        top = np.isfinite(values)
        for i, is_ordered in enumerate(space.is_ordered.tolist()):
            along, peaks = np.moveaxis(values, i, 0), np.moveaxis(top, i, 0)
            if is_ordered:
                error = self.context.tolerances.error_of(along)
                peaks[1:] &= along[1:] + error[1:] >= along[:-1]
                peaks[:-1] &= along[:-1] + error[:-1] >= along[1:]
            else:
                peaks &= along + self.context.tolerances.error_of(along) >= along.max(axis=0)
        self.given = space.units(np.argwhere(top), np.zeros((int(top.sum()), 0)))
        self.counts.fresh.whole = space.size
        self.stage, self.why = "look", f"all {space.size:,} points were evaluated"
        while self._begin():
            walk = self.walks.pop()
            assert isinstance(walk, Walk)
            walk.ask(self.context, space, self.nodes)
            self._end(walk)
        self.stage = "done"

    # ---- what is said

    def add_points(self, points: Array, values: Array) -> None:
        """Points told by the user; without real coordinates their values are known from now on."""
        for point, value in zip(points, values.tolist(), strict=True):
            levels, reals = (part[0] for part in self.space.split(point[None]))
            if not self.space.is_mixed and self.nodes.find(levels) < 0:
                self.nodes.add(levels, reals, value)
        order = np.argsort(-values, kind="stable")[: self.width]
        self.given = np.concatenate([self.given, points[order]])

    @property
    def fresh(self) -> Fresh:
        return self.counts.fresh

    @property
    def ending(self) -> str:
        return self.why or "nothing is left to try" if self.stage == "done" else ""

    @property
    def account(self) -> str:
        beside = "; real coordinates were made good for every choice that was looked at" if self.space.is_mixed else ""
        swapped = " and no exchange of two" if self.swaps else ""
        return f"no change of one whole number by one, or of one choice,{swapped} betters a mode{beside}"
