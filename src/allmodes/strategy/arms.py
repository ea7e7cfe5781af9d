"""Which kind of start pays: discounted successes per evaluation of each arm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

POOL, BUD, DIFF, HOT, HOP, STRAND = range(6)
NAMES = ("pool", "bud", "diff", "reheat", "hop", "strand")
_PRIOR_SUCCESSES = np.array([1.0, 0.3, 0.3, 0.5, 1.0, 1.0])  # the pool is trusted most before anything is known
_PRIOR_EVALUATIONS = 1500.0
_EXPLORED = 0.1  # share of choices made at random
_JITTER = 0.01  # breaks ties
_FORGIVEN = 0.7  # what is left of the evaluations of all arms but the pool when a mode is found: hope returns


@stored
@dataclass
class Arms:
    """A bandit over kinds of starts.

    Attributes:
        horizon: evaluations over which the past is forgotten.
        successes, evaluations: discounted, per arm (6,).
        total_successes: per arm, not discounted.
    """

    horizon: float
    successes: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(NAMES)))
    evaluations: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(NAMES)))
    total_successes: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(NAMES)))

    @property
    def rates(self) -> NDArray[np.float64]:
        """Successes per evaluation of each arm."""
        return (self.successes + _PRIOR_SUCCESSES) / (self.evaluations + _PRIOR_EVALUATIONS)

    def choose(self, rng: np.random.Generator, among: list[int]) -> int:
        """The arm that pays best, now and then another."""
        if len(among) == 1:
            return among[0]
        if rng.random() < _EXPLORED:
            return among[rng.integers(len(among))]
        return among[int(np.argmax(self.rates[among] * (1 + _JITTER * rng.random(len(among)))))]

    def charge(self, arm: int, evaluations: float) -> None:
        """An arm has used evaluations."""
        kept = np.exp(-evaluations / self.horizon)
        self.successes[arm] *= kept
        self.evaluations[arm] = self.evaluations[arm] * kept + evaluations

    def succeed(self, arm: int) -> None:
        """An arm has found a mode."""
        self.successes[arm] += 1
        self.total_successes[arm] += 1
        self.evaluations[np.arange(len(NAMES)) != POOL] *= _FORGIVEN
