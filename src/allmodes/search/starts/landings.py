"""Places far away to which slopes point at the starts of local searches; some searches begin at the best of them.

On a wide slope with hollows, a search that climbs step by step ends in the nearest hollow. An optimum at the end of the
slope then has a small basin, however wide the slope is; but few places far away are as high.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

_EACH = 8  # places looked at for each search that begins at one: most are useless
_MOST = 256  # places that are remembered: a bound on memory


@stored
@dataclass
class Landings:
    """Places (d,) and values there, to be maximised; at most one search begins at each.

    Attributes:
        seen: how many were evaluated.
    """

    points: list[Array] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    seen: int = 0

    def begin(self, point: Array) -> bool:
        """Remember a place to be evaluated; False if it was looked at before, or no more can be remembered."""
        if len(self.points) == _MOST or any((point == each).all() for each in self.points):
            return False
        self.points.append(point.copy())
        self.values.append(-np.inf)
        return True

    def tell(self, point: Array, value: float) -> None:
        """Store the value at a place."""
        self.seen += 1
        if np.isfinite(value):
            self.values[next(i for i, each in enumerate(self.points) if (point == each).all())] = value

    def take(self, value: float) -> Array | None:
        """The best place left, now and then, if it beats the value at a search's own start; otherwise None."""
        if self.seen % _EACH or not self.values:
            return None
        best = int(np.argmax(self.values))
        if not self.values[best] > value:
            return None
        self.values[best] = -np.inf
        return self.points[best]
