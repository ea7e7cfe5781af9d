"""Local searches from new places, counted: what is known of modes that were not found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Counts = NDArray[np.int64]

_GROWTH = 1.05  # ratio of the number of searches at two marks: a few hundred marks for any search


@stored
@dataclass
class Fresh:
    """Local searches that began at a space-filling start or at a bound.

    Those that began between known modes say nothing about modes that nobody has seen.

    Attributes:
        hits: how many ended in each mode, (J,).
        lost: how many ended in no mode, or could not begin.
        marks: now and then how many had ended, and the evaluations made by then.
        whole: points of a discrete space, if all of them were evaluated; 0 otherwise.
    """

    hits: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    lost: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    whole: int = 0

    @property
    def searches(self) -> int:
        """How many ended in a mode."""
        return int(self.hits.sum())

    @property
    def ended(self) -> int:
        """How many ended."""
        return self.searches + self.lost

    def end(self, mode: int, nfev: int) -> None:
        """One has ended in this mode, or in none (-1), after so many evaluations in all."""
        if mode < 0:
            self.lost += 1
        else:
            self.hits = self.of(max(mode + 1, len(self.hits)))
            self.hits[mode] += 1
        ended = self.ended
        if not self.marks or ended >= _GROWTH * self.marks[-1][0]:
            self.marks.append((ended, nfev))

    def enumerate(self, kept: Counts, points: int) -> None:
        """All so many points of a discrete space were evaluated; these are the numbers of the modes that stay."""
        self.hits, self.whole = self.of(int(kept.max(initial=-1)) + 1)[kept], points

    def of(self, modes: int) -> Counts:
        """The hits of so many modes, (modes,), zero for those that were found in other ways."""
        return np.append(self.hits[:modes], np.zeros(max(0, modes - len(self.hits)), np.int64))

    def cost(self, nfev: int) -> float:
        """Evaluations for each of the last half of them, everything included; infinite without any."""
        ended = self.ended
        marks = np.array([(0, 0), *self.marks])
        before, spent = marks[marks[:, 0] <= ended // 2][-1]
        return float((nfev - spent) / (ended - before)) if ended else np.inf
