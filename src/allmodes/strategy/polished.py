"""Annealing that proposes, launches that verify."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.annealing.algorithm import Algorithm
from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.annealed import Annealed
from allmodes.strategy.archive import Found
from allmodes.strategy.geometry import closest
from allmodes.strategy.launches import Launches
from allmodes.strategy.search import Search
from allmodes.strategy.starts import GIVEN, Start
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_RADIUS = 0.03  # of the trust region of a launch from where a component ended
_SAME = 1e-2  # unpolished candidates closer than this count as one


@stored
@dataclass
class Polished(Strategy):
    """Runs of annealing; where components end, launches polish, verify and archive.

    Attributes:
        annealed, launches: the two, in turns.
        is_polished: False to report where components end as it is, unverified.
    """

    search: Search
    annealed: Annealed
    launches: Launches
    is_polished: bool = True
    asked: Array = field(default_factory=lambda: np.zeros((0, 0)))
    turn: str = "anneal"

    @staticmethod
    def make(search: Search, algorithm: Algorithm | None, starts: Array, is_polished: bool) -> Polished:
        """With points (n, d) to launch from first."""
        given = [Start(point, 0.0, GIVEN) for point in starts]
        return Polished(search, Annealed(search, algorithm), Launches(search, given, is_passive=True), is_polished)

    def ask(self) -> Request:
        candidates, self.annealed.candidates = self.annealed.candidates, []
        if candidates and not self.is_polished:
            self.turn, self.asked = "look", np.stack(candidates)
            return Request(self.asked)
        self.launches.given += [Start(self.search.box.project(point), _RADIUS, GIVEN) for point in candidates]
        request = self.launches.ask()
        if len(request.points):
            self.turn = "launch"
            return request
        self.turn = "anneal"
        return self.annealed.ask()

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        if self.turn == "look":
            self._archive(evaluation.value)
        else:
            (self.launches if self.turn == "launch" else self.annealed).tell(evaluation, ticket)

    def withdraw(self, ticket: int) -> None:
        self.launches.withdraw(ticket)

    def _archive(self, values: Array) -> None:
        """Candidates as they are: nothing is known of their curvature."""
        search, d = self.search, self.search.box.d
        for point, value in zip(self.asked, values, strict=True):
            if not np.isfinite(value):
                continue
            j, apart = closest(search, point) if len(search.archive) else (-1, np.inf)
            if apart > _SAME:
                found = Found(
                    np.full(d, np.nan), -max(search.scale, 1e-300) * np.eye(d), np.zeros(d, bool), "unverified",
                    "component", search.nfev,
                )  # fmt: skip
                j = search.archive.add(point, float(value), found)
            search.archive.hit(j, False)

    def add_points(self, points: Array, values: Array) -> None:
        self.annealed.add_points(points, values)

    @property
    def account(self) -> str:
        return f"{self.annealed.account}, {self.launches.launches} launches from where components ended"

    @property
    def ending(self) -> str:
        return "" if len(self.launches.batch) or self.launches.given else self.annealed.ending
