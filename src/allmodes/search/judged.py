"""A search that begins at given points only, and says where each of them leads: to which mode, or why to none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import VALUE, Evaluation
from allmodes.search.candidate import GIVEN, LOCAL, Start
from allmodes.search.context import Context
from allmodes.search.events import (
    Arrived,
    Continue,
    Event,
    Failed,
    KnownMode,
    NewMode,
    RanAway,
    Recognised,
    Rejected,
    SearchEvent,
    Stuck,
)
from allmodes.search.geometry import clip
from allmodes.search.mending import Mending
from allmodes.search.searcher import Block, Request, Strategy
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.local.table import Phase
from allmodes.search.starts.space_filling import SpaceFilling
from allmodes.search.starts.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.search.verify.verifier import MACHINE as VERIFIER
from allmodes.search.verify.verifier import Verifier
from allmodes.storage import stored

Array = NDArray[np.float64]

_Ended: TypeAlias = Recognised | Stuck | RanAway | Failed | NewMode | KnownMode | Rejected
_SCALE = "scale"
_FIRST = 0.1  # sqrt(xtol): first steps; hardly more evaluations than with longer ones, which may leave a small basin
_BESIDE = (0.3, 3.0)  # sqrt(xtol): how far beside a place another search begins where one got stuck
_SAMPLED = 32  # space-filling points whose values tell the scale of the function, and at most
_FOR_SCALE = 10  # one for each so many of the evaluations allowed


@stored
class Verdict(NamedTuple):
    """Where a point leads: to a mode of the archive, or to none (-1) and why; `point` (d,) is where it arrived."""

    mode: int
    point: Array
    reason: str = ""


@stored
@dataclass
class Judged(Strategy):
    """Local searches from given points; the verifier judges where they arrive.

    Attributes:
        context: what is shared.
        starts: (n, d), in the order in which they are judged.
        local: runs the searches; `verifier` judges, and `mending` asks again for points that failed.
        begun: how many have begun.
        places: of each local search its place in `starts`, by its number; `tries`, how often each place was tried.
        verdicts: of those that have ended, by their places in `starts`.
        arrived: where those arrived that are being judged.
        values: at the places that are being judged, to be maximised.
        blocks: what is in flight.
        is_scaled: whether the scale of the function was looked at.
    """

    context: Context
    starts: Array
    local: LocalSearch = field(init=False)
    verifier: Verifier = field(init=False)
    mending: Mending = field(init=False)
    begun: int = 0
    places: dict[str, int] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    arrived: dict[str, Array] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    is_scaled: bool = False

    def __post_init__(self) -> None:
        self.local, self.verifier = LocalSearch(self.context), Verifier(self.context)
        self.mending = Mending(self.context.box)

    @property
    def _wanted(self) -> int:
        """How many searches should be in flight: each learns from those that ended before it began."""
        return min(TUNING.widest, max(TUNING.narrowest, len(self.verdicts) // TUNING.searches_per_width))

    def ask(self) -> Request:
        d = self.context.box.d
        if not self.is_scaled:
            self.is_scaled = True
            points = SpaceFilling(d, int(self.context.rng.integers(2**31))).draw(
                min(_SAMPLED, 1 + self.context.maxfev // _FOR_SCALE)
            )
            self.blocks = [Block(_SCALE, "", np.zeros(1, np.intp), points[None])]
            return Request(points, VALUE)
        n = max(0, self._wanted - len(self.local) - self.verifier.asking)
        last = min(self.begun + n, len(self.starts))
        self._open(range(self.begun, last), self.starts[self.begun : last])
        self.begun = last
        self.blocks = self.local.ask() + self.verifier.ask() + self.mending.ask()
        asked = [block.points.reshape(-1, d) for block in self.blocks]
        return Request(np.concatenate([np.zeros((0, d)), *asked]), self.context.needs)

    def _open(self, places: Iterable[int], points: Array) -> None:
        """Begin at points (n, d), which stand for these places."""
        radius = _FIRST * self.context.tolerances.near  # most of them are at an optimum
        origins = self.local.open([Start(point, GIVEN, radius) for point in points])
        self.places |= {str(origin.number): place for origin, place in zip(origins, places, strict=True)}

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        first, blocks, told = 0, [], []
        events: list[Event] = []
        for asked in self.blocks:
            n, each, _ = asked.points.shape
            part = slice(first, first + n * each)
            first += n * each
            known = [None if a is None else a[part].reshape(n, each, *a.shape[1:]) for a in evaluation]
            if asked.machine == _SCALE:
                self.context.observe_level(evaluation.value)
                return
            for block, values in self.mending.told(asked, Evaluation(*known)):
                if block.machine == VERIFIER:
                    events += self.verifier.tell(block, values.value)
                    continue
                if block.kind == Phase.START.name:
                    numbers = self.local.trust_region.table.path[block.rows].tolist()
                    for number, value in zip(map(str, numbers), values.value[:, 0].tolist(), strict=True):
                        self.values.setdefault(str(self.places[number]), value)
                blocks.append(block)
                told.append(values)
        self._pass_on((self.local.tell(blocks, told) if blocks else []) + events)

    def _pass_on(self, events: list[Event]) -> None:
        """Pass events on to whom they concern, and then what those have to say about them."""
        for event in events:
            if isinstance(event, Arrived) and event.candidate.origin.question < 0:
                self.arrived[str(event.candidate.origin.number)] = event.candidate.point
            said: list[Event] = self.verifier.judge(event) if isinstance(event, SearchEvent) else [event]
            if not said or said[0] is not event:
                self._pass_on(said)
            elif isinstance(event, Continue):
                self.local.resume(event)
            elif not isinstance(event, Arrived) and event.origin.member == LOCAL:
                self._close(event)

    def _close(self, event: _Ended) -> None:
        """A search is over."""
        number = event.origin.number
        place = self.places[str(number)]
        if isinstance(event, Stuck) and self._tries_beside(place):
            return
        is_in_mode = isinstance(event, NewMode | KnownMode | Recognised)
        mode = event.mode if isinstance(event, NewMode | KnownMode | Recognised) else -1
        if event.origin.recognised >= 0:
            self.context.observe_check(mode == event.origin.recognised)
        point, value = self.arrived.pop(str(number), None), self.values.pop(str(place), -np.inf)
        if isinstance(event, Recognised) or point is None:
            is_far = is_in_mode and not self._is_level(mode, value)
            point = self.context.archive.means[mode].copy() if is_far else self.starts[place]
        self.verdicts[str(place)] = Verdict(mode, point, "" if is_in_mode else _reason(event))

    def _tries_beside(self, place: int) -> bool:
        """Begin again beside a place where a search saw only rounding, or a kink at its very start."""
        tries = self.tries.get(str(place), 0)
        if tries == len(_BESIDE):
            return False
        self.tries[str(place)] = tries + 1
        step = self.context.rng.standard_normal(self.context.box.d)
        step *= _BESIDE[tries] * self.context.tolerances.near / max(float(np.abs(step).max()), TINY)
        self._open([place], clip(self.context.box, self.starts[place] + step)[None])
        return True

    def _is_level(self, mode: int, value: float) -> bool:
        """Whether a start with this value that leads to a flat mode is on it already."""
        archive = self.context.archive
        is_tie = abs(float(archive.values[mode]) - value) <= self.context.tolerances.tie
        return archive.records[mode].kind == "flat" and is_tie

    # ---- the rest of the protocol

    @property
    def account(self) -> str:
        return f"{counted(len(self.verdicts), 'place')} checked"

    @property
    def ending(self) -> str:
        return "every place is checked" if len(self.verdicts) == len(self.starts) else ""


def _reason(event: Event) -> str:
    """Why a point leads to no mode."""
    if isinstance(event, Failed):
        return "the function failed there"
    if isinstance(event, RanAway):
        return "the function gets better without end from there"
    if isinstance(event, Stuck):
        return "a local search from there ends at no optimum" + (": its patience ran out" if event.is_tired else "")
    return str(getattr(event, "reason", "no optimum"))
