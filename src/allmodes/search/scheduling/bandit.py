"""Which of several arms pays best: the only bandit there is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from allmodes.storage import stored


@stored
@dataclass
class Bandit:
    """Arms that cost evaluations and bring new modes; each is tried as often as it may be the best (Thompson sampling).

    The rate of an arm is taken to be Gamma distributed: one success in `first_cost` evaluations is credited in advance,
    or the share of one that `credits` says. What was seen fades over `memory` evaluations of that arm, for what pays
    early in a search may not pay later.

    Attributes:
        first_cost: evaluations that the first success of an arm is taken to cost.
        credits: what is credited to arms that promise less than others before anything is known.
        memory: evaluations of an arm after which a third of what was seen is left.
        successes, costs: faded, by arm; `spent`, evaluations that never fade, and `found`, successes.
    """

    first_cost: float
    memory: float
    credits: dict[str, float] = field(default_factory=dict)
    successes: dict[str, float] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)

    def charge(self, arm: str, cost: float) -> None:
        """An arm has used evaluations."""
        kept = math.exp(-cost / self.memory)
        if arm in self.successes:
            self.successes[arm] *= kept
        self.costs[arm] = self.costs.get(arm, 0.0) * kept + cost
        self.spent[arm] = self.spent.get(arm, 0) + int(cost)

    def succeed(self, arm: str) -> None:
        """An arm has found a new mode."""
        self.successes[arm] = self.successes.get(arm, 0.0) + 1.0
        self.found[arm] = self.found.get(arm, 0) + 1

    def rate(self, arm: str) -> float:
        """Successes per evaluation, lately and in all: an arm that has brought nothing for long is judged by both."""
        credit = self.credits.get(arm, 1.0)
        lately = (credit + self.successes.get(arm, 0.0)) / (self.first_cost + self.costs.get(arm, 0.0))
        in_all = (credit + self.found.get(arm, 0)) / (self.first_cost + self.spent.get(arm, 0))
        return 0.5 * (lately + in_all)

    def best(self, arms: list[str]) -> str:
        """The arm with the best rate, the first of several: for few, large turns, where trying costs much."""
        return max(arms, key=self.rate)

    def choose(self, rng: np.random.Generator, arms: list[str]) -> str:
        """One arm, as often as it may be the best."""
        return self.draw(rng, arms, 1)[0]

    def draw(self, rng: np.random.Generator, arms: list[str], n: int) -> list[str]:
        """n arms, each time that with the best plausible rate."""
        if len(arms) == 1:
            return arms * n
        shapes = np.array([self.credits.get(arm, 1.0) + self.successes.get(arm, 0.0) for arm in arms])
        costs = np.array([self.first_cost + self.costs.get(arm, 0.0) for arm in arms])
        best = (rng.standard_gamma(shapes, (n, len(arms))) / costs).argmax(axis=1)
        return [arms[i] for i in best.tolist()]
