"""Where local searches begin, and how many are in flight: their starts compete by what they bring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import AT_BOUNDS, BETWEEN_MODES, GIVEN, LOCAL, NEAR_BEST, SCREENED, SPACE_FILLING, Start
from allmodes.search.context import Context
from allmodes.search.events import Event, Failed, KnownMode, NewMode, RanAway, Recognised, Rejected, Stuck
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.bandit import Bandit
from allmodes.search.scheduling.tuning import TUNING as SCHEDULING
from allmodes.search.starts import at_bounds, between_modes, near_best
from allmodes.search.starts.drawn import Drawn
from allmodes.search.starts.queue import Queue
from allmodes.search.starts.screened import Screened
from allmodes.search.starts.space_filling import SpaceFilling, places
from allmodes.search.starts.told import Told
from allmodes.search.starts.tuning import TUNING
from allmodes.search.verify.question import PLATEAU
from allmodes.search.wanted import is_wanted
from allmodes.storage import stored

Array = NDArray[np.float64]
End: TypeAlias = NewMode | KnownMode | Rejected | Recognised | Stuck | RanAway | Failed

_VERDICTS = (NewMode, KnownMode, Rejected)
_ENDS = (Recognised, *_VERDICTS, Stuck, RanAway, Failed)
_IN_MODES = (Recognised, NewMode, KnownMode)
_NOWHERE = (Rejected, Stuck, RanAway)
_FRESH = (SPACE_FILLING, SCREENED, AT_BOUNDS)  # starts in new places; those between modes are not
_DRAW = {BETWEEN_MODES: between_modes.draw, NEAR_BEST: near_best.draw, AT_BOUNDS: at_bounds.draw}


@stored
@dataclass
class Counts:
    """What came of the local searches that have ended.

    Attributes:
        searches: all of them; `since_new`, those since the last new mode.
        nowhere: those that ended in no mode; `runaways`, those of them that left for infinity, `tired`, those whose
            patience ran out, and `level`, those that ended on a plateau.
        fresh: those from new places.
        barren: screenings since a mode was found that counts.
        last_new: evaluations made when the last new mode was found.
        awaited: number of the youngest search that was in flight then: the search does not end before it and all older
            ones have.
    """

    searches: int = 0
    since_new: int = 0
    nowhere: int = 0
    runaways: int = 0
    tired: int = 0
    level: int = 0
    fresh: Fresh = field(default_factory=Fresh)
    barren: int = 0
    last_new: int = 0
    awaited: int = -1


@stored
@dataclass
class Multistart:
    """Chooses where local searches begin; it neither runs nor judges them.

    Starts are space-filling (screened where only the best modes count) or draws of the user, between known modes, or at
    the bounds. Each kind is used as often as it may be the one that brings most new modes per evaluation.

    Attributes:
        context: what is shared.
        given: starts to be used first.
        told: points that others evaluated, some of which become starts.
        is_plain: random starts only.
        is_passive: given starts only.
        width: how many searches are in flight, at first and at most.
        bandit: what each kind of start has brought.
        counts: what came of the searches.
        needs_screening: whether no search begins before more points are screened.
    """

    context: Context
    given: list[Start] = field(default_factory=list)
    is_plain: bool = False
    is_passive: bool = False
    width: tuple[int, int] = field(default_factory=lambda: (TUNING.narrowest, TUNING.widest))
    bandit: Bandit = field(init=False)
    counts: Counts = field(default_factory=Counts)
    space_filling: SpaceFilling | Drawn = field(init=False)
    screened: Screened = field(init=False)
    told: Told = field(init=False)
    needs_screening: bool = False

    def __post_init__(self) -> None:
        self.bandit = Bandit(TUNING.first_cost)
        self.space_filling = places(self.context)
        self.told = Told(self.context.box.d)
        self.screened = Screened(Queue(self.context.box))

    @property
    def unseen(self) -> float:
        """How likely a search from a new place finds another mode: the share that ended where no other of them did."""
        fresh = self.counts.fresh
        return float((fresh.hits == 1).sum() / max(1, fresh.ended))

    @property
    def is_endless(self) -> bool:
        """Whether there are more modes than can be found: the budget is half used, and searches find others still."""
        return self.context.is_late and self.unseen > SCHEDULING.endless

    # ---- how many

    @property
    def waiting(self) -> int:
        """How many starts wait that go before all others."""
        return len(self.given) + (len(self.told) if self.told.is_first else 0)

    @property
    def wanted(self) -> int:
        """How many searches should be in flight."""
        low, high = self.width
        return min(high, max(low, self.counts.searches // TUNING.searches_per_width))

    def lanes(self, overlap: str, in_flight: int) -> int:
        """In how many rounds searches are asked about in turns.

        Overlap is "none", "lanes", or "each" search in a round of its own. A point that takes long holds up its own
        round and those after it, but not the other one in flight. What one round finds the other does not know yet:
        that costs 1 to 3 % more evaluations, and rounds of half the size cost more of the solver's own time.
        """
        wanted = min(self.wanted, in_flight + self.waiting) if self.is_passive else self.wanted
        width = max(wanted, in_flight)
        return {"none": 1, "lanes": 2 if width >= SCHEDULING.few else 1, "each": max(1, width)}[overlap]

    # ---- where

    def add_points(self, points: Array, values: Array) -> None:
        """Good ones among points (n, d) that others evaluated become starts."""
        is_good = values > self.context.level if self.context.is_sampled else np.isfinite(values)
        self.told.add(points[is_good], values[is_good])

    def choose(self, in_flight: int) -> list[Start]:
        """Starts of new searches when so many are in flight: given ones, then those of kinds that promise most.

        Fewer than wanted when points must be screened first, or when only given starts are used.
        """
        return self.begin(max(0, self.wanted - in_flight))

    def begin(self, n: int) -> list[Start]:
        """Starts of n new searches, likewise."""
        starts, self.given = self.given[:n], self.given[n:]
        starts += [Start(point, GIVEN) for point in self.told.take(n - len(starts), not self.is_passive)]
        n -= len(starts)
        if not n or self.is_passive or self.needs_screening:
            return starts
        if self.is_plain:
            return starts + [Start(point, SPACE_FILLING) for point in self.context.scatter(n)]
        kinds = self._kinds()
        drawn = self.bandit.draw(self.context.rng, kinds, n)
        made = [start for kind in kinds[1:] for start in _DRAW[kind](self.context, drawn.count(kind))]
        return starts + made + self._usual(n - len(made))

    def _kinds(self) -> list[str]:
        """Kinds of starts to choose from; the first makes as many as are wanted."""
        archive, usual = self.context.archive, SCREENED if self.context.is_global else SPACE_FILLING
        if not len(archive) or self.counts.searches < SCHEDULING.few:
            return [usual]
        is_possible = {
            BETWEEN_MODES: len(self.context.counted) >= between_modes.FEWEST,
            NEAR_BEST: self.context.is_global,
            AT_BOUNDS: archive.has_boundary and self.context.drawn is None,  # bounds have no share of what is drawn
        }
        return [usual, *(kind for kind, possible in is_possible.items() if possible)]

    def _usual(self, n: int) -> list[Start]:
        """n space-filling starts; of screened ones fewer, when there are no more: others should be screened."""
        if not self.context.is_global:
            return [Start(point, SPACE_FILLING) for point in self.space_filling.draw(n)]
        starts = self.screened.take(n)
        if len(starts) < n:
            self.needs_screening = True
            self.counts.barren += len(self.screened.queue) > 0  # what was screened last has brought nothing
        return starts

    # ---- screening

    def screening(self) -> Array:
        """Points (n, d) whose values are wanted, to be told."""
        return self.space_filling.draw(self.screened.wanted)

    def tell_screening(self, points: Array, values: Array, is_due: bool = True) -> None:
        """What the function is at screened points: those that were due, or others beside them."""
        self.needs_screening &= not is_due
        self.context.observe_level(values)
        self.screened.add(points, values)
        self.bandit.charge(SCREENED, len(values))

    # ---- what came of it

    def ended(self, event: Event, running: list[int]) -> None:
        """A local search has ended, while these others (by their numbers) are in flight.

        Only searches that began here count, not those of other members, nor those that a verification waits for.
        """
        if not isinstance(event, _ENDS) or event.origin.member != LOCAL:
            return
        if event.origin.question >= 0 and not isinstance(event, _VERDICTS):
            return
        self._count(event, running)
        kind, is_success = event.origin.start, self._is_success(event)
        self.bandit.charge(kind, event.origin.cost)
        if is_success:
            self.bandit.succeed(kind)
            self.counts.barren = 0
        if kind == SCREENED:
            self.screened.report(is_success)

    def _count(self, event: End, running: list[int]) -> None:
        counts = self.counts
        counts.searches += 1
        counts.since_new += 1
        if isinstance(event, NewMode) and is_wanted(self.context)[event.mode]:
            counts.since_new, counts.last_new = 0, self.context.nfev
            counts.awaited = max(running, default=-1)
        mode = event.mode if isinstance(event, _IN_MODES) else -1
        if event.origin.start in _FRESH:
            counts.fresh.end(mode if mode < 0 else int(self.context.archive.primary[mode]), self.context.nfev)
        if event.origin.recognised >= 0:
            self.context.observe_check(mode == event.origin.recognised)
        counts.nowhere += isinstance(event, _NOWHERE)
        counts.tired += isinstance(event, Stuck) and event.is_tired
        counts.level += isinstance(event, Rejected) and event.reason == PLATEAU
        counts.runaways += isinstance(event, RanAway)

    def _is_success(self, event: End) -> bool:
        """Whether it found a new mode that counts."""
        if not isinstance(event, NewMode) or (self.context.is_global and event.mode not in self.context.counted):
            return False
        return bool(is_wanted(self.context)[event.mode])
