"""Annealing that proposes, launches that verify."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.annealed import Annealed
from allmodes.strategy.archive import Found
from allmodes.strategy.launches import Launches
from allmodes.strategy.search import Search
from allmodes.strategy.starts import GIVEN, Start
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_RADIUS = 0.03  # of the trust region of a launch from where a component ended
_RIVALS = 2  # better places, the nearest, that an unpolished candidate is compared with
_BETWEEN = np.arange(1, 6) / 6.0  # where the way to them is looked at


@stored
@dataclass
class Polished(Strategy):
    """Runs of annealing; where components end, launches polish, verify and archive.

    Attributes:
        annealed, launches: the two, in turns.
        is_polished: False to report where components end as it is, unverified. What is on the hill of something better
            is left out: points on the way there tell.
        heights: values at the candidates that are compared, and `pairs` (P, 2) of places, worse and better: modes are
            numbered first, then candidates.
    """

    search: Search
    annealed: Annealed
    launches: Launches
    is_polished: bool = True
    asked: Array = field(default_factory=lambda: np.zeros((0, 0)))
    turn: str = "anneal"
    heights: Array = field(default_factory=lambda: np.zeros(0))
    pairs: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 2), np.intp))

    @staticmethod
    def make(search: Search, algorithm: Algorithm | None, starts: Array, is_polished: bool) -> Polished:
        """With points (n, d) to launch from first."""
        given = [Start(point, 0.0, GIVEN) for point in starts]
        return Polished(search, Annealed(search, algorithm), Launches(search, given, is_passive=True), is_polished)

    def ask(self) -> Request:
        if self.turn == "look" and len(self.heights):
            self.turn = "compare"
            self._pair((self.search.maxfev - self.search.nfev) // len(_BETWEEN))
            if len(self.pairs):
                return Request(self._ways())
            self._archive(np.zeros((0, len(_BETWEEN))))
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
        values = np.asarray(evaluation.value)
        if self.turn == "look":
            is_fine = np.isfinite(values)
            self.asked, self.heights = self.asked[is_fine], values[is_fine]
        elif self.turn == "compare":
            self._archive(values.reshape(-1, len(_BETWEEN)))
        else:
            (self.launches if self.turn == "launch" else self.annealed).tell(evaluation, ticket)

    def withdraw(self, ticket: int) -> None:
        self.launches.withdraw(ticket)

    # ---- candidates as they are

    def _places(self) -> tuple[Array, Array]:
        """Modes and candidates, and their values."""
        archive = self.search.archive
        return np.concatenate([archive.means, self.asked]), np.append(archive.values, self.heights)

    def _pair(self, most: int) -> None:
        """Every candidate with the nearest better places, and modes for which that is a candidate, best first.

        Candidates for which the budget does not last are forgotten: they may be on any hill.
        """
        (places, values), known = self._places(), len(self.search.archive)
        order, is_seen = np.argsort(-values, kind="stable"), np.zeros(len(places), bool)
        pairs: list[tuple[int, int]] = []
        for rank, i in enumerate(order):
            apart = (self.search.box.difference(places[order[:rank]], places[i]) ** 2).sum(axis=1)
            nearest = order[np.argsort(apart, kind="stable")[:_RIVALS]]
            new = [(i, j) for j in nearest if i >= known or j >= known]
            if len(pairs) + len(new) > most:
                break
            pairs += new
            is_seen[i] = True
        numbers = known - 1 + np.cumsum(is_seen[known:])  # of those that are left
        self.pairs = np.array(pairs, np.intp).reshape(-1, 2)
        is_new = self.pairs >= known
        self.pairs[is_new] = numbers[self.pairs[is_new] - known]
        self.asked, self.heights = self.asked[is_seen[known:]], self.heights[is_seen[known:]]

    def _ways(self) -> Array:
        box, (places, _) = self.search.box, self._places()
        worse, better = places[self.pairs.T]
        ways = worse[:, None] + _BETWEEN[:, None] * box.difference(better, worse)[:, None]
        return box.project(ways.reshape(-1, box.d))

    def _archive(self, between: Array) -> None:
        """Keep what is on no better hill, by values (P, n) on the ways; nothing is known of its curvature."""
        search, d, known = self.search, self.search.box.d, len(self.search.archive)
        places, values = self._places()
        hill = np.arange(len(places))
        is_one = (between >= values[self.pairs[:, 0], None] - search.tie).all(axis=1)
        for worse, better in self.pairs[is_one]:  # the best first: where that belongs is known
            hill[worse] = hill[better]
        number = np.full(len(places), -1)
        number[:known] = np.arange(known)
        for i in range(known, len(places)):
            if hill[i] == i:
                found = Found(
                    np.full(d, np.nan), -max(search.scale, 1e-300) * np.eye(d), np.zeros(d, bool), "unverified",
                    "component", search.nfev,
                )  # fmt: skip
                number[i] = search.archive.add(places[i], float(values[i]), found)
        for i in range(len(places)):
            if i < known:
                search.archive.hits[number[hill[i]]] += search.archive.hits[i] if hill[i] != i else 0
            else:
                search.archive.hit(int(number[hill[i]]), False)
        is_kept = np.ones(len(search.archive), bool)
        is_kept[:known] = hill[:known] == np.arange(known)
        search.archive.keep(is_kept)
        self.heights = np.zeros(0)

    def add_points(self, points: Array, values: Array) -> None:
        self.annealed.add_points(points, values)

    @property
    def account(self) -> str:
        return f"{self.annealed.account}, {self.launches.launches} launches from where components ended"

    @property
    def ending(self) -> str:
        is_busy = len(self.launches.batch) or self.launches.given or len(self.heights)
        return "" if is_busy else self.annealed.ending
