"""Places far away, where the slopes of searches point to before they begin: from the best of them some searches begin.

Climbing step by step a search ends in the nearest hollow of a wide slope. What lies at the end of the slope has a small
basin then, however wide the slope is; but few places far away are as high.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]

_EACH = 8  # places, for each search that begins at one: most are of no use
_MOST = 256  # places that are remembered: a bound on memory


@stored
@dataclass
class Landings:
    """Places (d,) and values there, to be maximised; a search begins at each once at most.

    Attributes:
        seen: how many were evaluated.
    """

    points: list[Array] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    seen: int = 0

    def begin(self, point: Array) -> bool:
        """Whether a place is to be looked at: nobody looks at one twice, nor at more than can be remembered."""
        if len(self.points) == _MOST or any((point == each).all() for each in self.points):
            return False
        self.points.append(point.copy())
        self.values.append(-np.inf)
        return True

    def tell(self, point: Array, value: float) -> None:
        """What the value there is."""
        self.seen += 1
        if np.isfinite(value):
            self.values[next(i for i, each in enumerate(self.points) if (point == each).all())] = value

    def take(self, value: float) -> Array | None:
        """Where a search should begin that was put at a place of this value: now and then the best that is left."""
        if self.seen % _EACH or not self.values:
            return None
        best = int(np.argmax(self.values))
        if not self.values[best] > value:
            return None
        self.values[best] = -np.inf
        return self.points[best]
