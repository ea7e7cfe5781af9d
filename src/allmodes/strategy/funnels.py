"""Local optima that are the best of their surroundings, and hops from one to a better one next to it.

Where a function has ripples inside a funnel, components end in a ripple. Hopping searches among those ends: launch a
small component a step away, keep where it ends if that is better, and adapt the step to how often it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored

APART = 0.05  # root mean square distance within which only the best local optimum is kept
_MOST = 100  # funnels kept
_FIRST_STEP, _LARGEST_STEP = 0.02, 0.1  # of a hop, per coordinate, as a share of the box
_GROW = 1.5  # of the step when a hop came back to where it began
_SHRINK = 0.9  # when it ended elsewhere, and lower
_RETURNED = 0.03  # a hop that ends within this share of its step came back
_WORTHWHILE = 0.01  # of the gap to the best: a gain that makes a funnel promising again
_SPREAD = 0.3  # of a hopping component, in steps
_KNOWN = 4  # failures that a hop into a known mode counts for, beside itself
_HINTED_SPREAD = 0.1  # the same, in lengths of the hop, where there is a reason to go there
_IMPATIENCE = 1.1  # a failure makes the gap to the best count for this much more

Floats = NDArray[np.float64]


@stored
@dataclass
class Funnels:
    """The best known local optimum of each funnel.

    Attributes:
        points, values: (n, d) and (n,).
        steps: of the next hop from each.
        failures: hops since the last success, those under way included.
        hints: where the next hop goes, relative to the point; 0 for anywhere, (n, d).
        names: a number for each that never changes.
        named: numbers given so far.
    """

    box: Box
    points: Floats = field(init=False)
    hints: Floats = field(init=False)
    values: Floats = field(default_factory=lambda: np.zeros(0))
    steps: Floats = field(default_factory=lambda: np.zeros(0))
    failures: Floats = field(default_factory=lambda: np.zeros(0))
    names: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    named: int = 0

    def __post_init__(self) -> None:
        self.points, self.hints = np.zeros((0, self.box.d)), np.zeros((0, self.box.d))

    def __len__(self) -> int:
        return len(self.values)

    def hop(self, rng: np.random.Generator, best: float) -> tuple[Floats, float, float, int]:
        """Start (d,), standard deviation, value to beat and ticket of the hop that promises most."""
        gap = np.maximum(best - self.values, np.finfo(np.float64).tiny)
        which = int(np.argmin(np.log(gap) + np.log(_IMPATIENCE) * self.failures))  # logs: failures may be thousands
        self.failures[which] += 1
        ticket = 2 * int(self.names[which])
        moved = self.hints[which].copy()
        spread = _HINTED_SPREAD * float(np.sqrt((moved**2).mean()))
        if spread > 0:
            self.hints[which] = 0.0
            ticket += 1
        else:
            moved = self.steps[which] * rng.standard_normal(self.box.d)
            spread = _SPREAD * float(self.steps[which])
        return self.box.reflect(self.points[which] + moved), spread, float(self.values[which]), ticket

    def land(self, ticket: int, point: Floats, value: float, best: float) -> None:
        """A hop has ended at a local optimum; `best` is the best value of all."""
        places = np.flatnonzero(self.names == ticket // 2)
        if not len(places):
            return
        which, was_hinted = int(places[0]), ticket % 2 == 1
        gain = value - self.values[which]
        moved = self.box.difference(point, self.points[which])
        if np.sqrt((moved**2).mean()) < _RETURNED * self.steps[which]:  # the step was too short to get away
            self.failures[which] += _KNOWN * (self.steps[which] == _LARGEST_STEP)  # nowhere else to go
            self.steps[which] = min(_LARGEST_STEP, _GROW * self.steps[which])
        elif gain > 0:
            self.hints[which] = moved  # the same way once more
        elif not was_hinted:
            self.hints[which] = -moved  # where one side is worse, the other is often better
            self.steps[which] *= _SHRINK
        if gain > _WORTHWHILE * (best - self.values[which]):
            self.failures[which] = 0
        if gain > 0:
            self.points[which], self.values[which] = point, value

    def doubt(self, ticket: int) -> None:
        """A hop from a funnel has ended in a known mode: perhaps the funnel is that mode's."""
        self.failures[self.names == ticket // 2] += _KNOWN

    def add(self, point: Floats, value: float) -> None:
        """A component has ended at a local optimum: a new funnel, or a better end of a known one."""
        if len(self):
            which = int(self._distances(point).argmin())
            if self._distances(point)[which] < APART:
                if value > self.values[which]:
                    self.points[which], self.values[which], self.failures[which] = point, value, 0
                return
        self.points = np.concatenate([self.points, point[None]])
        self.hints = np.concatenate([self.hints, np.zeros((1, self.box.d))])
        self.values = np.append(self.values, value)
        self.steps, self.failures = np.append(self.steps, _FIRST_STEP), np.append(self.failures, 0)
        self.names = np.append(self.names, self.named)
        self.named += 1
        if len(self) > _MOST:
            self._keep(np.arange(len(self)) != self.values.argmin())

    def exclude(self, mode: Floats) -> None:
        """Forget the funnels around a mode."""
        if len(self):
            self._keep(self._distances(mode) >= APART)

    def _distances(self, point: Floats) -> Floats:
        apart = self.box.difference(self.points, point)
        return np.sqrt(np.einsum("nd,nd->n", apart, apart) / self.box.d)

    def _keep(self, chosen: NDArray[np.bool_]) -> None:
        self.points, self.values, self.steps = self.points[chosen], self.values[chosen], self.steps[chosen]
        self.hints, self.failures, self.names = self.hints[chosen], self.failures[chosen], self.names[chosen]
