"""Points that were told without being asked for: good ones begin local searches, but never all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.starts.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Told:
    """The best of the points told that wait to be starts.

    The first of them go before all other starts: they say where the user expects something. Of later searches every
    other one begins in a place that the search chooses itself; otherwise nothing would be known of what is
    missing, and a search would never end while points are told.

    Attributes:
        points, values: that wait, (n, d) and (n,), best first; as many as are worth a search.
        begun: searches that began there; `others`, those that began elsewhere since the first were used.
    """

    d: int
    points: Array = field(init=False)
    values: Array = field(default_factory=lambda: np.zeros(0))
    begun: int = 0
    others: int = 0

    def __post_init__(self) -> None:
        self.points = np.zeros((0, self.d))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_first(self) -> bool:
        """Whether points wait that go before all other starts."""
        return len(self) > 0 and self.begun < TUNING.most_given

    def add(self, points: Array, values: Array) -> None:
        """Points (n, d) of others; those at which the function failed are left out."""
        is_fine = np.isfinite(values)
        points, values = np.concatenate([self.points, points[is_fine]]), np.append(self.values, values[is_fine])
        best = np.argsort(-values, kind="stable")[: TUNING.most_given]
        self.points, self.values = points[best], values[best]

    def take(self, n: int, are_others: bool = True) -> Array:
        """Where to begin some of n searches, (m, d); the rest begin elsewhere, if there are such searches."""
        taken = 0
        for _ in range(n):
            later = self.begun + taken - TUNING.most_given
            if taken < len(self) and (later < 0 or (are_others and later <= self.others)):
                taken += 1
            elif later >= 0:
                self.others += 1
        points, self.points, self.values = self.points[:taken], self.points[taken:], self.values[taken:]
        self.begun += taken
        return points
