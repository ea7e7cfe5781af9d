"""Which of several arms pays best: the one bandit of the search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.storage import stored


@stored
@dataclass
class Bandit:
    """Arms that cost evaluations and bring new modes; each is tried as often as it is likely to be the best (Thompson
    sampling).

    The rate of an arm is taken to be Gamma distributed: one success in `first_cost` evaluations is credited in advance.

    Attributes:
        found, spent: successes and evaluations, by arm.
        found_at: what an arm had spent by each of its successes.
    """

    first_cost: float
    found: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)
    found_at: dict[str, list[int]] = field(default_factory=dict)

    def charge(self, arm: str, cost: int) -> None:
        """An arm has used evaluations."""
        self.spent[arm] = self.spent.get(arm, 0) + cost

    def succeed(self, arm: str) -> None:
        """An arm has found a new mode."""
        self.found[arm] = self.found.get(arm, 0) + 1
        self.found_at.setdefault(arm, []).append(self.spent.get(arm, 0))

    def rate(self, arm: str) -> float:
        """Successes per evaluation."""
        successes, cost = self._record(arm)
        return successes / cost

    def recent_rate(self, arm: str, credit: float = 1.0) -> float:
        """Successes per evaluation in the later half of what it spent: one that found all it can was better once."""
        half = self.spent.get(arm, 0) / 2.0
        recent = sum(at > half for at in self.found_at.get(arm, []))
        return (credit + recent) / (self.first_cost + half)

    def choose(self, rng: np.random.Generator, arms: list[str]) -> str:
        """One arm, each with the probability that it is the best."""
        return self.draw(rng, arms, 1)[0]

    def draw(self, rng: np.random.Generator, arms: list[str], n: int) -> list[str]:
        """n arms, each time the one whose sampled rate is best."""
        if len(arms) == 1:
            return arms * n
        successes, costs = np.array([self._record(arm) for arm in arms]).T
        best = (rng.standard_gamma(successes, (n, len(arms))) / costs).argmax(axis=1)
        return [arms[i] for i in best.tolist()]

    def _record(self, arm: str) -> tuple[int, float]:
        """Successes and cost of an arm, with what is credited."""
        return 1 + self.found.get(arm, 0), self.first_cost + self.spent.get(arm, 0)
