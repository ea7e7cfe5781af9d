"""How close to each mode components are captured by it, learnt from those that run to their end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import stored

CHECKED = 4  # one of so many components runs on, to learn from
_FEWEST = 3  # components that must have ended in a mode before it has a distance
_WRONG = 9  # right ones for each wrong one that is tolerated

Array = NDArray[np.float64]


@stored
@dataclass
class Captures:
    """A distance for each mode, such that nine of ten components that came closer ended there.

    It grows while components end in the mode, and shrinks when one passes it by.

    Attributes:
        radii: these distances (J,), 0 where little is known.
        right: how many components ended in each mode, (J,).
        modes, passed: modes that other components passed by, and how closely, (n,) each.
    """

    radii: Array = field(default_factory=lambda: np.zeros(0))
    right: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    modes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    passed: Array = field(default_factory=lambda: np.zeros(0))

    def of(self, modes: NDArray[np.intp]) -> Array:
        """The distances of these modes (n,)."""
        self._widen(int(modes.max(initial=-1)))
        return self.radii[modes]

    def end(self, mode: int, nearest: int, distance: float) -> None:
        """A component ended in a mode, or in none known (-1), after coming this close to the nearest known one."""
        self._widen(max(mode, nearest))
        if mode >= 0:
            self.right[mode] += 1
            self._measure(mode)
        if nearest >= 0 and nearest != mode:
            self.modes, self.passed = np.append(self.modes, nearest), np.append(self.passed, distance)
            self._measure(nearest)

    def _widen(self, mode: int) -> None:
        missing = max(0, mode + 1 - len(self.radii))
        self.radii, self.right = np.append(self.radii, np.zeros(missing)), np.append(self.right, [0] * missing)

    def _measure(self, mode: int) -> None:
        wrong = np.sort(self.passed[self.modes == mode])
        allowed = int(self.right[mode]) // _WRONG
        widest = TUNING.first_radius if allowed >= len(wrong) else min(TUNING.first_radius, float(wrong[allowed]))
        self.radii[mode] = (1.0 - TUNING.apart) * widest if self.right[mode] >= _FEWEST else 0.0
