"""The default: launches, and populations or annealing where launches do not pay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.launches import Launches
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Request, Strategy

_HORIZON = 0.05  # share of the budget over which a member's record is forgotten
_PRIOR = (1.0, 0.5)  # new modes that launches and populations are credited with in advance
_PRIOR_EVALUATIONS = 500.0  # and what these are taken to have cost, for each coordinate and one more
_LOST = 0.5  # share of launches that end in no mode, above which the function counts as rough


@stored
@dataclass
class Auto(Strategy):
    """Each round goes to the member that has lately found most new modes per evaluation.

    With derivatives that is always the launches. Without, populations stand by: they are slower on smooth functions
    and go on where differences of values say nothing.
    """

    search: Search
    launches: Launches
    population: Population | None = None
    successes: list[float] = field(default_factory=lambda: [0.0, 0.0])
    evaluations: list[float] = field(default_factory=lambda: [0.0, 0.0])
    turn: int = 0
    asked: int = 0
    spent: list[int] = field(default_factory=lambda: [0, 0])

    def __post_init__(self) -> None:
        if self.search.order == 0:
            self.population = Population(self.search)

    @property
    def is_rough(self) -> bool:
        """Whether most launches end nowhere."""
        launches = self.launches
        return launches.launches >= 8 and launches.nowhere > _LOST * launches.launches

    def ask(self) -> Request:
        self.turn = 0
        if self.population is not None and self.launches.launches >= 8:
            rates = [
                (success + prior) / (cost + _PRIOR_EVALUATIONS * (self.search.box.d + 1))
                for success, prior, cost in zip(self.successes, _PRIOR, self.evaluations, strict=True)
            ]
            if self.launches.ending:
                rates[0] = 0.0
            self.turn = int(rates[1] > rates[0])
        member = self.members[self.turn]
        request = member.ask()
        self.asked = len(request.points)
        return request

    @property
    def members(self) -> tuple[Strategy, ...]:
        return (self.launches,) if self.population is None else (self.launches, self.population)

    def tell(self, evaluation: Evaluation) -> None:
        archive, search = self.search.archive, self.search
        known = len(archive)
        self.members[self.turn].tell(evaluation)
        new = archive.values[known:]
        count = int((new >= archive.best - search.tie).sum()) if search.is_global else len(new)
        fade = math.exp(-self.asked / (_HORIZON * search.maxfev))
        self.successes[self.turn] = self.successes[self.turn] * fade + count
        self.evaluations[self.turn] = self.evaluations[self.turn] * fade + self.asked
        self.spent[self.turn] += self.asked

    def add_points(self, points: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        for member in self.members:
            member.add_points(points, values)

    @property
    def lost_launches(self) -> int:
        return self.launches.lost_launches

    @property
    def account(self) -> str:
        if self.population is None:
            return self.launches.account
        if not self.spent[1]:
            return f"{self.launches.account} with derivatives from differences"
        return f"{self.launches.account} ({self.spent[0]} evaluations) and populations ({self.spent[1]})"

    @property
    def ending(self) -> str:
        if self.population is None or not self.is_rough or self.launches.runaways:
            return self.launches.ending
        return self.population.ending
