"""The search of a box with whole numbers or choices: walks from many places, and all points if there are few."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searcher import Request, Strategy
from allmodes.search.searchers.discrete.annealed import Annealings
from allmodes.search.searchers.discrete.enumeration import Enumeration, only, record_of
from allmodes.search.searchers.discrete.mixed import MixedWalk
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space, no_change_in_words
from allmodes.search.searchers.discrete.starts import start
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.search.searchers.discrete.walk import Walk
from allmodes.search.searchers.multistart import Counts
from allmodes.search.starts.told import Told
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]

_IDLE = 1000  # walks in a row that ask for nothing: all random points lead to where walks have been


@stored
@dataclass(eq=False)
class Discrete(Strategy):
    """Walks from random points and from beside known modes.

    If few points are left, all of them follow. In large spaces of bits annealing says where to begin, too.

    Attributes:
        stage: "walk", "rest" (all points that are left) or "done".
        given: points (n, d) to begin at; `told`, points that others evaluated, some of which become starts.
        stopping, counts: when it is enough.
        is_exhaustive: whether a budget was given, to be used up.
        sizes: how many points each walk has asked for.
        asked: levels (n, m) in flight, where there are no real coordinates.
        enumeration: of all points, in the stage "rest".
        annealings: of large spaces of bits.
    """

    context: Context
    given: Array
    stopping: Stopping
    is_exhaustive: bool = False
    swaps: bool = False
    width: int = TUNING.width
    space: Space = field(init=False)
    told: Told = field(init=False)
    nodes: Nodes = field(init=False)
    counts: Counts = field(default_factory=Counts)
    walks: list[Walk | MixedWalk] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    asked: Levels = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    enumeration: Enumeration | None = None
    annealings: Annealings = field(default_factory=Annealings)
    stage: str = "walk"
    since_better: int = 0
    best: float = -np.inf
    why: str = ""

    def __post_init__(self) -> None:
        self.told = Told(self.context.box.d)
        self.space = Space.of(self.context.box, self.swaps)
        self.nodes = Nodes(len(self.space.places), len(self.space.reals))

    def take_budget(self, other: Strategy) -> None:
        if isinstance(other, Discrete):
            self.stopping.persistence, self.stopping.effort = other.stopping.persistence, other.stopping.effort
            self.is_exhaustive = other.is_exhaustive

    # ---- rounds

    def ask(self) -> Request:
        if self.space.is_mixed:
            return Request(self._mixed_points())
        if self.stage == "walk":
            self.asked = self._annealed_points()
            self.asked = self.asked if len(self.asked) else self._points()
        if self.enumeration is not None and self.stage == "rest":
            self.asked = self.enumeration.ask()
        return Request(self.space.units(self.asked, np.zeros((len(self.asked), 0))))

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value, dtype=np.float64)
        if self.stage == "rest":
            assert self.enumeration is not None
            self.enumeration.tell(values)
            self._look_at_all()
        elif self.space.is_mixed:
            self._tell_walks(values)
        else:
            self.nodes.add_all(self.asked, np.zeros((len(self.asked), 0)), values)

    def _tell_walks(self, values: Array) -> None:
        asking = self.walks[: len(self.sizes)]
        for walk, part in zip(asking, np.split(values, np.cumsum(self.sizes)[:-1]), strict=True):
            assert isinstance(walk, MixedWalk)
            walk.tell(part, self.context, self.space, self.nodes)
        self.walks = [walk for walk in self.walks if not walk.is_over]
        for walk in (walk for walk in asking if walk.is_over):
            self._end(walk)

    def _mixed_points(self) -> Array:
        room = self._room
        while len(self.walks) < room and not self._is_enough():
            self._begin()
        if not self.walks:
            self.stage = "done"
            return np.zeros((0, self.context.box.d))
        self.walks.sort(key=lambda walk: walk.height(self.nodes), reverse=True)
        walks = [walk for walk in self.walks[:room] if isinstance(walk, MixedWalk)]
        parts = [walk.ask(self.context, self.space, self.nodes) for walk in walks]
        self.sizes = [len(levels) for levels, _ in parts]
        return self.space.units(*map(np.concatenate, zip(*parts, strict=True)))

    def _points(self) -> Levels:
        """Points whose values walks want, each once. Walks that need nothing new end at once."""
        wanted: dict[bytes, Levels] = {}
        waiting: list[Walk | MixedWalk] = []
        idle, room = 0, self._room
        self.walks.sort(key=lambda walk: walk.height(self.nodes), reverse=True)
        while len(waiting) < room:
            if not self.walks and (idle > _IDLE or self._is_enough()):
                break
            if not self.walks:
                self._begin()
            walk = self.walks.pop(0)
            assert isinstance(walk, Walk)
            levels = walk.ask(self.context, self.space, self.nodes)
            if walk.is_over:
                self._end(walk)
                idle += 1
                continue
            wanted.update((each.tobytes(), each) for each in levels)
            waiting.append(walk)
        self.walks = waiting + self.walks
        if not wanted:
            self._go_on("walks from random points lead to known ones" if idle > _IDLE else self.why)
        return np.stack(list(wanted.values())) if wanted else self.asked[:0]

    @property
    def _room(self) -> int:
        """How many walks may be under way: no more than the budget allows to end."""
        each = self.context.nfev / max(1, self.counts.searches)
        return max(1, min(self.width, int(self.context.left / max(1.0, each))))

    def _annealed_points(self) -> Levels:
        """Points whose values annealing wants, while it is its turn; it says where walks begin."""
        context, bits = self.context, len(self.space.counts)
        if (self.space.counts != 2).any() or self._is_small or self.why:
            return np.zeros((0, bits), np.int64)
        budget = context.maxfev if self.is_exhaustive else None
        levels, starts = self.annealings.ask(context, self.nodes, budget)
        if len(starts):
            self.given = np.concatenate([self.space.units(starts, np.zeros((len(starts), 0))), self.given])
        return levels

    # ---- walks

    def _begin(self) -> None:
        """Another walk."""
        context, space = self.context, self.space
        given = self.given[:1] if len(self.given) else self.told.take(1)
        levels, reals, is_fresh = start(context, space, given)
        self.given = self.given[1:]
        if space.is_mixed:
            self.walks.append(MixedWalk.begun_at(levels, reals, context, space, is_fresh))
        else:
            self.walks.append(Walk(levels, is_fresh))

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
        counts.since_new += 1
        if is_new:
            counts.found(context.nfev)
        self.since_better += 1
        if context.archive.best > self.best + float(context.tolerances.error_of(context.archive.best)):
            self.best, self.since_better = context.archive.best, 0

    def _add(self, walk: Walk | MixedWalk) -> tuple[int, bool]:
        """The mode of an optimum, and whether it is new."""
        context, space, row = self.context, self.space, walk.row
        known = int(self.nodes.modes[row])  # another walk may have been here in the meantime
        if isinstance(walk, MixedWalk):
            other, apart = self.nodes.nearest(walk.levels, walk.inner.x)
            known = int(self.nodes.modes[other]) if apart < context.tolerances.same else -1
        if known >= 0:
            return known, False
        record = record_of(context, "unverified" if isinstance(walk, Walk) and walk.is_cut else "optimum")
        if isinstance(walk, MixedWalk):
            record = walk.recorded(record, space)
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
        context, counts = self.context, self.counts
        if not context.is_global:
            return self.stopping.ending(context, counts, [])
        spent = context.nfev - (context.best_at if np.isfinite(self.best) else 0)
        least: float = TUNING.barren
        hits, values = counts.fresh.of(len(context.archive)), context.archive.values
        if len(values) and hits[values.argmax()] < TUNING.often:
            least = max(least, TUNING.longer * (counts.searches - self.since_better))
        if self.since_better < least or spent < self.stopping.persistence:
            return ""
        return f"the last {self.since_better} walks found nothing better"

    def _go_on(self, why: str) -> None:
        """From walks to the points that are left, if they are few; then to the end."""
        self.why = self.why or why
        if not self._is_small:
            self.stage = "done"
            return
        self.stage, self.walks, self.enumeration = "rest", [], Enumeration(self.space)
        self.enumeration.know(*self.nodes.known)
        self._look_at_all()

    def _look_at_all(self) -> None:
        """Once all is known: the optima are those of the enumeration, and no others."""
        assert self.enumeration is not None
        if not self.enumeration.is_whole:
            return
        context, space, values = self.context, self.space, self.enumeration.values
        error = context.tolerances.error_of(values) + context.tolerances.misread(0.0)
        is_kept = only(self.enumeration.optima(error), values, space, context.archive, record_of(context, "optimum"))
        self.counts.fresh.enumerate(np.flatnonzero(is_kept), space.size)
        self.stage, self.why = "done", f"all {space.size:,} points were evaluated"

    # ---- what is said

    def add_points(self, points: Array, values: Array) -> None:
        """Points told by the user; without real coordinates their values are known from now on."""
        if not self.space.is_mixed:
            levels = self.space.split(points)[0]
            for each, value in zip(levels, values.tolist(), strict=True):
                if self.nodes.find(each) < 0:
                    self.nodes.add(each, np.zeros(0), value)
            if self.enumeration is not None and self.stage == "rest":
                self.enumeration.know(levels, values)
        self.told.add(points, values)

    @property
    def fresh(self) -> Fresh:
        return self.counts.fresh

    @property
    def ending(self) -> str:
        return self.why or "nothing is left to try" if self.stage == "done" else ""

    @property
    def searched(self) -> tuple[int, int]:
        return self.counts.searches, 0 if self._is_small else self.stopping.least

    @property
    def account(self) -> str:
        beside = "; real coordinates were optimised for every choice that was tried" if self.space.is_mixed else ""
        annealed = f"; {counted(self.annealings.runs, 'annealing')} said where to begin" if self.annealings.runs else ""
        return f"{no_change_in_words(self.context.box, self.space)} betters a mode{beside}{annealed}"
