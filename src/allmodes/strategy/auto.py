"""The default: launches, and populations or annealing where launches do not pay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.launches import Launches
from allmodes.strategy.polished import Polished
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.starts import GIVEN, Start
from allmodes.strategy.strategy import Request, Strategy

_HORIZON = 0.05  # share of the budget over which a member's record is forgotten
_TRIAL = 1.0  # evaluations, as a share of those of launches, that annealing gets on a rugged function with derivatives
_POLISH = 0.01  # first radius of launches that polish
_PRIOR_EVALUATIONS = 500.0  # what a first success is taken to have cost, for each coordinate and one more
_PRIOR = 0.5  # new modes that every member is credited with in advance
_FIRST_LAUNCHES = 8  # before others get a turn
_LOST = 0.5  # share of launches that end in no mode, above which the function counts as rough
_RUGGED = 0.9  # share of launches that found a mode nobody else found, above which the function counts as rugged
_RUGGED_AFTER = (1000, 15)  # evaluations and launches before that is judged


@stored
@dataclass
class Member:
    """A way of searching that takes part, what it is credited with in advance, and what it has brought lately."""

    strategy: Strategy
    prior: float
    successes: float = 0.0
    evaluations: float = 0.0
    found: int = 0
    spent: int = 0

    def rate(self, d: int) -> float:
        """New modes per evaluation, lately and in all: who has brought nothing for long is judged by the whole."""
        first = _PRIOR_EVALUATIONS * (d + 1)
        lately = (self.successes + self.prior) / (self.evaluations + first)
        return lately + (self.found + self.prior) / (self.spent + first)


@stored
@dataclass
class Auto(Strategy):
    """Each round goes to the member that has lately found most new modes per evaluation.

    Launches begin. Without derivatives populations stand by: they are slower on smooth functions, and go on where
    differences of values say nothing. With derivatives they join when most launches end nowhere. Either way they are
    given the points where launches got stuck, and where most do turns are even. When only the best modes count and
    every launch finds another mode, annealing joins: it sees the funnels that many small traps lie on. Modes that
    populations find are polished by launches; in a black-box search that is all that launches do. An exhaustive search
    for the best modes ends only when all members have nothing left to try.

    Attributes:
        populations, annealing: their places among the members, or -1.
        flights: for every round under way, by its ticket, whose it is and how many points it has. Only rounds of
            launches overlap.
    """

    search: Search
    launches: Launches
    is_exhaustive: bool = False
    is_black_box: bool = False
    members: list[Member] = field(default_factory=list)
    flights: dict[str, tuple[int, int]] = field(default_factory=dict)
    populations: int = -1
    annealing: int = -1

    def __post_init__(self) -> None:
        self.members = [Member(self.launches, _PRIOR)]
        if self.search.order == 0 or self.is_black_box:
            self.populations = self._add(Population(self.search))

    def _add(self, strategy: Strategy) -> int:
        """Another member; its place."""
        self.members.append(Member(strategy, _PRIOR))
        return len(self.members) - 1

    @property
    def is_rugged(self) -> bool:
        """Whether nearly every launch found another mode."""
        return self.annealing > 0

    @property
    def is_rough(self) -> bool:
        """Whether most launches end nowhere."""
        launches = self.launches
        return launches.launches >= _FIRST_LAUNCHES and launches.nowhere > _LOST * launches.launches

    def _judge(self) -> None:
        """Let annealing join when the function proves rugged, populations when it proves rough."""
        search, launches = self.search, self.launches
        if self.is_rough and not launches.runaways and self.populations < 0:
            self.populations = self._add(Population(search))
        if self.is_rugged or self.is_black_box or not search.is_global or search.nfev < _RUGGED_AFTER[0]:
            return
        singles = int((search.archive.hits == 1).sum())
        if launches.launches >= _RUGGED_AFTER[1] and singles > _RUGGED * launches.launches:
            self.annealing = self._add(Polished.make(search, None, np.zeros((0, search.box.d)), True))

    @property
    def is_ready(self) -> bool:
        if any(turn for turn, _ in self.flights.values()):
            return False
        return self.launches.is_ready and self._next()[0] == 0

    def ask(self) -> Request:
        if not self.flights:
            self._judge()
        turn, self.launches.is_passive = self._next()
        request = self.members[turn].strategy.ask()
        self.launches.is_passive = self.is_black_box
        if len(request.points):
            self.flights[str(request.ticket)] = turn, len(request.points)
        return request

    def _next(self) -> tuple[int, bool]:
        """Whose turn it is, and whether launches only polish: what was found goes first."""
        turn = self._choose()
        return (0, True) if turn and self._polishes else (turn, self.launches.is_passive)

    @property
    def _polishes(self) -> bool:
        """Whether launches from given starts wait or are under way."""
        return bool(self.launches.given) or bool((self.launches.batch.arm == GIVEN).any())

    def _choose(self) -> int:
        """Whose turn it is."""
        if self.is_black_box:
            return 1
        if self.launches.launches < _FIRST_LAUNCHES:
            return 0
        d, turn = self.search.box.d, self.annealing
        is_owed = turn > 0 < self.search.order and self.members[turn].spent < _TRIAL * self.members[0].spent
        if is_owed and not self.members[turn].strategy.ending:
            return turn
        # where most launches end nowhere what they found says little about what is left: turns are even
        is_even = self.is_rough and not self.launches.runaways
        going = [(place, member) for place, member in enumerate(self.members) if not member.strategy.ending]
        rates = {place: 1.0 / (1.0 + member.spent) if is_even else member.rate(d) for place, member in going}
        return max(rates, key=lambda place: rates[place], default=0)

    def withdraw(self, ticket: int) -> None:
        turn, _ = self.flights.pop(str(ticket), (0, 0))
        self.members[turn].strategy.withdraw(ticket)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        turn, asked = self.flights.pop(str(ticket))
        archive, search, member = self.search.archive, self.search, self.members[turn]
        known = len(archive)
        screened = self.launches.screened(ticket) if turn == 0 else None
        member.strategy.tell(evaluation, ticket)
        if turn == 0:
            self._hand_over(screened, np.asarray(evaluation.value))
        if isinstance(member.strategy, Population):
            self.launches.given += [Start(point, _POLISH, GIVEN) for point in archive.means[known:]]
        new = archive.values[known:]
        count = int((new >= archive.best - search.tie).sum()) if search.is_global else len(new)
        fade = math.exp(-asked / (_HORIZON * search.maxfev))
        member.successes = member.successes * fade + count
        member.evaluations = member.evaluations * fade + asked
        member.found += count
        member.spent += asked

    def _hand_over(self, screened: NDArray[np.float64] | None, values: NDArray[np.float64]) -> None:
        """Even points serve populations, too, and so do the points where launches got stuck."""
        rows, batch = self.launches.stranded, self.launches.batch
        for member in self.members[1:]:
            if isinstance(member.strategy, Population) and screened is not None:
                member.strategy.add_points(screened, values)
            elif isinstance(member.strategy, Population) and rows:
                member.strategy.strands.add(batch.point[rows], batch.value[rows])

    def add_points(self, points: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        for member in self.members:
            member.strategy.add_points(points, values)

    @property
    def lost_launches(self) -> int:
        return self.launches.lost_launches

    @property
    def account(self) -> str:
        names = {Launches: "launches", Population: "populations", Polished: "annealing"}
        used = [member for member in self.members if member.spent]
        if self.is_black_box:
            return f"populations; {self.launches.launches} launches polished what they found"
        text = self.launches.account + (" with derivatives from differences" if self.search.order == 0 else "")
        if len(used) > 1:
            shares = ", ".join(f"{names[type(member.strategy)]} {member.spent}" for member in used)
            text += f"; evaluations: {shares}"
        if self.is_rough:
            text += "; most launches ended nowhere: the function is rough"
        if self.is_rugged:
            text += "; nearly every launch found another local mode: the function is rugged"
        return text

    @property
    def ending(self) -> str:
        if not self.is_black_box and self.search.is_global and self.is_exhaustive and len(self.members) > 1:
            endings = [member.strategy.ending for member in self.members]
            return "; ".join(endings) if all(endings) else ""  # the user's budget is there to be used
        if self._polishes:
            return ""
        if self.is_black_box:
            return self.members[1].strategy.ending
        if self.is_rugged:
            return self.members[self.annealing].strategy.ending
        if self.is_rough and not self.launches.runaways and self.populations > 0:
            return self.members[self.populations].strategy.ending
        return self.launches.ending
