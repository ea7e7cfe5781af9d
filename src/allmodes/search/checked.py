"""Are local searches recognised by the right modes? A few of those recognised run on to show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from allmodes.storage import stored

SHADOW = 0.02  # of recognised searches run on by default: costs 4 % of the evaluations and shows rates of some percent
_TOLERATED = 0.005  # share of wrong checks: recognition is stricter where more are wrong
_PRIOR = 50  # checks that this share is worth before any are made: a single wrong one says little


@stored
@dataclass
class Checks:
    """What came of recognised searches that were not stopped.

    Attributes:
        share: of the recognised searches that run on.
        right: how many ended in the mode that they were recognised by; `wrong`, how many in another or in none.
    """

    share: float = 0.0
    right: int = 0
    wrong: int = 0

    def is_due(self, number: int) -> bool:
        """Whether the search of this number runs on: they are spread evenly, and the same for any workers."""
        return math.floor((number + 1) * self.share) > math.floor(number * self.share)

    @property
    def strictness(self) -> float:
        """How many times closer a model must agree with a mode than it would if hardly any check were wrong."""
        return max(1.0, (self.wrong / _TOLERATED + _PRIOR) / (self.right + self.wrong + _PRIOR))

    def add(self, is_right: bool) -> None:
        """Such a search has ended."""
        self.right += is_right
        self.wrong += not is_right
