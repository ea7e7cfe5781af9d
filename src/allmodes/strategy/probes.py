"""Starts made from known modes: a ray that leaves one and finds the value rising again, sums and mixes of several.

A start is tested before it is launched: if no point between it and the nearest mode is lower than both, it lies on that
mode's hill. A probe is one point at a time, so that most are given up after one or two evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.arms import BUD, DIFF

RAY, VALUE, VALLEY, READY, FAILED = "ray", "value", "valley", "ready", "failed"
_STRETCH = 1.35  # of a ray per step
_MOST_STEPS = 14  # of a ray: 1.35^13 = 49 times its first step
_BUD_SPREAD = 0.25  # of the ray's length, per root of d
_DIFF_SPREAD = 0.15  # of the distance to the nearest mode, per root of d
_WIDEST_START = 0.1
_NEAREST_MIX = 1e-3  # mixes closer than this to a known mode are not new
_VALLEY_SHARES = (0.25, 0.75, 0.5)  # of the way from the start to the mode, the likeliest to be low first

Floats = NDArray[np.float64]


@stored
@dataclass
class Probe:
    """A start in the making.

    Attributes:
        arm: BUD or DIFF.
        stage: RAY, VALUE or VALLEY while it wants points evaluated, then READY or FAILED.
        point, value: where it stands, and the value there.
        spread: the standard deviation of the component to be launched.
        mode, mode_point, mode_value: what a ray leaves, or what a start is tested against.
        direction, length: of a ray.
        steps: taken in this stage.
    """

    arm: int
    stage: str
    point: Floats
    value: float
    spread: float
    mode: int
    mode_point: Floats
    mode_value: float
    direction: Floats
    length: float = 0.0
    steps: int = 0

    def wanted(self, box: Box) -> Floats:
        """The point (d,) to evaluate next."""
        if self.stage != VALLEY:
            return box.reflect(self.point)
        share = _VALLEY_SHARES[self.steps]
        return box.reflect(self.point + share * box.difference(self.mode_point, self.point))

    def go_on(self, value: float, box: Box, modes: Floats, values: Floats) -> None:
        """Take the value at the wanted point; modes (J, d) and values (J,) are those known now."""
        if self.stage == RAY:
            if self.steps > 0 and value > self.value:
                self.spread = _BUD_SPREAD * self.length / np.sqrt(box.d)
                self._test(box.reflect(self.point), value, box, modes, values)
                return
            self.value = value
            self._step(box)
        elif self.stage == VALUE:
            self._test(box.reflect(self.point), value, box, modes, values)
        elif value < min(self.value, self.mode_value):
            self.stage = READY
        else:
            self.steps += 1
            self.stage = FAILED if self.steps == len(_VALLEY_SHARES) else VALLEY

    def _step(self, box: Box) -> None:
        self.steps += 1
        self.length *= _STRETCH
        self.point = self.mode_point + self.length * self.direction
        if self.steps == _MOST_STEPS or not box.inside(self.point):
            self.stage = FAILED

    def _test(self, point: Floats, value: float, box: Box, modes: Floats, values: Floats) -> None:
        self.point, self.value, self.steps = point, value, 0
        self.stage = VALLEY if value > -np.inf else FAILED
        nearest = int(_squared_distances(box, point, modes).argmin())
        self.mode_point, self.mode_value = modes[nearest], float(values[nearest])


def ray(rng: np.random.Generator, box: Box, mode: int, point: Floats, value: float, length: float) -> Probe | None:
    """A ray from a mode in a random direction; None if it leaves the bounds at once."""
    direction = rng.standard_normal(box.d)
    direction /= np.linalg.norm(direction)
    first = point + length * direction
    if not box.inside(first):
        return None
    return Probe(BUD, RAY, first, value, 0.0, mode, point, value, direction, length)


def mix(rng: np.random.Generator, box: Box, modes: Floats) -> Probe | None:
    """a + b - c of three known modes, or the coordinates of two mixed; None if that is outside or known."""
    a, b, c = modes[rng.choice(len(modes), 3, replace=False)]
    point = a + box.difference(b, c) if rng.random() < 0.5 else np.where(rng.random(box.d) < 0.5, a, b)
    if not box.inside(point):
        return None
    distance = np.sqrt(_squared_distances(box, point, modes).min())
    if distance < _NEAREST_MIX:
        return None
    spread = min(_WIDEST_START, _DIFF_SPREAD * float(distance) / np.sqrt(box.d))
    return Probe(DIFF, VALUE, point, -np.inf, spread, -1, point, -np.inf, np.zeros(0))


def _squared_distances(box: Box, point: Floats, modes: Floats) -> Floats:
    apart = box.difference(modes, point)
    return np.einsum("jd,jd->j", apart, apart)
