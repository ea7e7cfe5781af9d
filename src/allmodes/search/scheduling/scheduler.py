"""Whose turn it is: members propose, the verifier judges, events are passed on, the bandit learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import VALUE, Evaluation, Needs
from allmodes.search.candidate import ANNEALING, EDGES, LOCAL, POLISH, POPULATION, REFINEMENT, SYMMETRY, Origin, Start
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, NewMode, Rejected, SearchEvent, Stuck
from allmodes.search.fresh import Fresh
from allmodes.search.mending import Mending
from allmodes.search.scheduling.account import account_of
from allmodes.search.scheduling.flight import Flight, part_of
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searcher import Block, Request, Searcher, Strategy
from allmodes.search.searchers.annealing.annealing import Annealing
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.searchers.population.edges import Edges
from allmodes.search.searchers.population.overview import Overview
from allmodes.search.searchers.population.population import Population
from allmodes.search.searchers.symmetry.symmetry import Symmetry
from allmodes.search.verify.verifier import MACHINE as VERIFIER
from allmodes.search.verify.verifier import Verifier
from allmodes.search.wanted import is_wanted
from allmodes.storage import stored

Array = NDArray[np.float64]

_SCREENING, _BESIDE = "screening", "beside"
_JOINING: dict[str, Callable[[Context], Searcher]] = {
    each.name: each for each in (Population, Annealing, Overview, Edges)
}


@stored
@dataclass
class Scheduler(Strategy):
    """A search made of members that take turns.

    Local searches and the verifier are at everybody's service: what they want to know goes into every round. Whose turn
    it is decides who begins something new. With derivatives, service goes first, for populations want values alone.

    Attributes:
        context: what is shared.
        multistart: where local searches begin; `local` runs them, and `verifier` judges where they arrive.
        turns: who gets the next turn.
        stopping: when local searches are enough.
        members: other ways of searching, by name: those that take part from the beginning, and those that joined.
        is_exhaustive: whether a search for the best modes ends only when no member has anything left to try, since the
            user wants the budget used.
        overlap: how rounds may overlap: "none", "lanes", or "each" local search in a round of its own.
        mending: asks again for points that failed.
        flights: rounds that are not told, by ticket; `asked`, how many there were.
        turn: whose it is next; empty until that is decided.
    """

    context: Context
    multistart: Multistart
    local: LocalSearch
    verifier: Verifier
    turns: Turns
    stopping: Stopping = field(default_factory=Stopping)
    members: dict[str, Searcher] = field(default_factory=dict)
    is_exhaustive: bool = False
    overlap: str = "none"
    mending: Mending = field(init=False)
    flights: dict[str, Flight] = field(default_factory=dict)
    asked: int = 0
    turn: str = ""

    def __post_init__(self) -> None:
        self.mending = Mending(self.context.box)

    def _next_turn(self) -> str:
        """Whose turn it is; decided once, until that member is asked."""
        if not self.turn:
            for name in self.turns.recruits(self.members):
                self.members[name] = _JOINING[name](self.context)
            idle = {name: member for name, member in self.members.items() if name not in self._flying}
            self.turn = self.turns.choose(idle, bool(idle) and bool(self._enough))
        return self.turn

    @property
    def _flying(self) -> set[str]:
        """Members with points in flight; an empty name where there are none."""
        return {flight.member for flight in self.flights.values()}

    # ---- asking

    @property
    def _lanes(self) -> int:
        return self.multistart.lanes(self.overlap, self._in_flight)

    @property
    def _in_flight(self) -> int:
        """Local searches that are running or have arrived and are being verified."""
        return len(self.local) + self.verifier.asking

    @property
    def _is_screening(self) -> bool:
        blocks = (block for flight in self.flights.values() for block in flight.blocks)
        return any(block.machine == _SCREENING and block.kind != _BESIDE for block in blocks)

    @property
    def is_ready(self) -> bool:
        if not self.flights:
            return True
        is_alone = self._flying <= {"", SYMMETRY}
        return is_alone and len(self.flights) < self._lanes and self._next_turn() in (LOCAL, SYMMETRY)

    def ask(self) -> Request:
        turn = self._next_turn()
        if turn == LOCAL or self.multistart.is_passive:
            self.local.open([] if self.stopping.waits else self.multistart.choose(self._in_flight), LOCAL)
            if self.multistart.needs_screening and not self._is_screening and not self._enough:
                self.turn, block = "", Block(_SCREENING, "", np.zeros(1, np.intp), self.multistart.screening()[None])
                return self._take_off(Flight([block]), VALUE)
        if (questions := self.verifier.ask()) and self.context.has_model:  # a Jacobian is dear, and values answer them
            return self._take_off(Flight(questions), VALUE)
        blocks = self.local.ask(-(-len(self.local) // self._lanes)) + questions + self.mending.ask()
        if turn == LOCAL or (blocks and self.context.order and not self.members[turn].wants_derivatives):
            self.turn = "" if turn == LOCAL else turn
            if not blocks and not self.flights and self._enough and self._next_turn() != LOCAL:
                return self.ask()  # local searches are enough: it is the others' turn
            return self._take_off(Flight(blocks), self.context.needs)
        self.turn = ""
        request = self.members[turn].ask(is_settled=not blocks and not len(self.local) and not len(self.verifier))
        if not blocks and not len(request.points) and self.members[turn].ending and not self.ending:
            return self.ask()  # it has just run out of things to try, and the others have not
        needs = self.context.needs if self.members[turn].wants_derivatives else VALUE if blocks else request.needs
        return self._take_off(Flight(blocks, turn if len(request.points) else ""), needs, request.points)

    @property
    def in_turn(self) -> str:
        if self.multistart.is_passive and POPULATION not in self.members:
            return "annealing has to know all points of a step before it takes the next"
        return ""

    def more(self, n: int) -> Request:
        request = self.ask()
        if len(request.points):
            return request
        if self.multistart.is_passive or self.context.is_global:  # more points to choose starts from
            block = Block(_SCREENING, _BESIDE, np.zeros(1, np.intp), self.context.scatter(n)[None])
            return self._take_off(Flight([block]), VALUE)
        self.local.open(self.multistart.begin(n), LOCAL)
        return self._take_off(Flight(self.local.ask()), self.context.needs)

    def _take_off(self, flight: Flight, needs: Needs, others: Array | None = None) -> Request:
        """Another round is in flight."""
        d = self.context.box.d
        points = [block.points.reshape(-1, d) for block in flight.blocks] + ([] if others is None else [others])
        whole = np.concatenate([np.zeros((0, d)), *points])
        if not len(whole):
            return Request(whole, needs, -1)
        self.asked += 1
        self.flights[str(self.asked)] = flight
        return Request(whole, needs, self.asked)

    # ---- telling

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        flight = self.flights.pop(str(ticket))
        first, local_blocks, local_told = 0, [], []
        events: list[Event] = []
        ready: list[tuple[Block, Evaluation]] = []
        for block in flight.blocks:
            n, each, _ = block.points.shape
            ready += self.mending.told(block, part_of(evaluation, first, n, each))
            first += n * each
        for block, told in ready:
            if block.machine == _SCREENING:
                self._tell_screening(block.points[0], told.value[0], block.kind != _BESIDE)
            elif block.machine == VERIFIER:
                events += self.verifier.tell(block, told.value)
            else:
                local_blocks.append(block)
                local_told.append(told)
        if local_blocks:
            events = self.local.tell(local_blocks, local_told) + events
        if flight.member:
            rest = Evaluation(*[None if part is None else part[first:] for part in evaluation])
            self.turns.bandit.charge(flight.member, len(rest.value))
            events += self.members[flight.member].tell(rest)
        self._pass_on(events)

    def _tell_screening(self, points: Array, values: Array, is_due: bool) -> None:
        self.multistart.tell_screening(points, values, is_due)
        self.turns.bandit.charge(LOCAL, len(values))
        if POPULATION in self.members:
            self.members[POPULATION].add_points(points, values)

    def _pass_on(self, events: list[Event]) -> None:
        """Pass events on to whom they concern, and then what those have to say about them."""
        for event in events:
            said: list[Event] = self.verifier.judge(event) if isinstance(event, SearchEvent) else [event]
            if not said or said[0] is not event:
                self._pass_on(said)
            elif isinstance(event, Continue):
                self._continue(event)
            elif not isinstance(event, Arrived):
                self._close(event.origin, event)

    def _continue(self, event: Continue) -> None:
        if event.origin.number < 0:
            self.local.open([Start(event.point, POLISH, event.radius)], event.origin.member)
        else:
            self.local.resume(event)

    def _close(self, origin: Origin, event: Event) -> None:
        """A search is over, or a verdict is passed."""
        self.turns.bandit.charge(origin.member, origin.cost)
        if isinstance(event, NewMode) and self._counts(event.mode):
            self.turns.bandit.succeed(origin.member)
        if origin.member == LOCAL:
            self.multistart.ended(event, self.local.numbers if isinstance(event, NewMode) else [])
            if isinstance(event, Stuck | Rejected):
                for member in self.members.values():
                    member.add_stuck(event.point, event.value)
        elif origin.start != POLISH:
            self.members[origin.member].judged(event)

    def _counts(self, mode: int) -> bool:
        context, archive = self.context, self.context.archive
        if context.is_global and archive.values[mode] < archive.best - context.tolerances.tie:
            return False
        return bool(is_wanted(context)[mode])

    # ---- the rest of the protocol

    def take_budget(self, other: Strategy) -> None:
        if isinstance(other, Scheduler):
            self.stopping.persistence, self.is_exhaustive = other.stopping.persistence, other.is_exhaustive

    def add_points(self, points: Array, values: Array) -> None:
        self.multistart.add_points(points, values)
        for member in self.members.values():
            member.add_points(points, values)

    @property
    def fresh(self) -> Fresh:
        return self.multistart.counts.fresh

    @property
    def searched(self) -> tuple[int, int]:
        return self.multistart.counts.searches, 0 if self.multistart.is_passive else self.stopping.least

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.members)

    @property
    def symmetries(self) -> list[Array]:
        member = self.members.get(SYMMETRY)
        return member.maps if isinstance(member, Symmetry) else []

    @property
    def temperature(self) -> float | None:
        member = self.members.get(ANNEALING)
        return member.temperature if isinstance(member, Annealing) else None

    @property
    def account(self) -> str:
        return account_of(self.context, self.multistart, self.turns, self.members)

    @property
    def _enough(self) -> str:
        """Why local searches are enough; empty while they are not, or while others go on to use the budget."""
        is_used = self.context.is_global and self.is_exhaustive
        if is_used and not all(member.ending for member in self.members.values()):
            return ""
        running = self.local.numbers + self.verifier.numbers
        return self.stopping.ending(self.context, self.multistart.counts, running)

    @property
    def ending(self) -> str:
        endings = {name: member.ending for name, member in self.members.items()}
        if endings.pop(SYMMETRY, "nothing") == "" or SYMMETRY in self._flying:
            return ""
        if self.multistart.is_passive:
            is_busy = len(self.local) or len(self.verifier) or self.multistart.waiting
            return "" if is_busy else next(iter(endings.values()), "")
        enough = self._enough
        if self.context.is_global and self.is_exhaustive and endings:
            return "; ".join([enough, *endings.values()]) if enough else ""
        if self.local.count(POLISH) or not endings.get(REFINEMENT, "none") or not endings.pop(EDGES, "none"):
            return ""
        if ANNEALING in endings:
            return endings[ANNEALING]
        return endings[POPULATION] if self.turns.is_rough and POPULATION in endings else enough
