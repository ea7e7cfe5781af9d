"""Starts made from known modes: a ray that leaves one and finds the value rising again, and mixes of several.

A start is tested before a component begins there: if no point between it and the nearest mode is lower than both, it
lies on that mode's hill. Probes ask for one point at a time, so that most cost one or two evaluations: where there is a
valley the first point between usually shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.population.arms import MIX, RAY, ComponentStart
from allmodes.search.searchers.population.components import nearest
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts import between_modes
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

FEWEST_MODES = 3  # of which a mix is made; before that rays and mixes have little to go by
_LOOKS = (1, 3, 2)  # which points between a start and a mode are looked at, the likeliest to be low first
_LONGEST_RAY = 1.0  # of the box

Array = NDArray[np.float64]


@stored
class Ray(NamedTuple):
    """A ray from a mode, whose last point had this value; the next is `length` away in a direction (d,)."""

    mode: int
    origin: Array
    direction: Array
    length: float
    value: float
    steps: int = 0
    arm: str = RAY

    @property
    def point(self) -> Array:
        return self.origin + self.length * self.direction


@stored
class Mix(NamedTuple):
    """A point (d,) made of modes, whose value is wanted."""

    point: Array
    arm: str = MIX


@stored
class Valley(NamedTuple):
    """A start, the lower value of it and of the mode nearest to it, and points between; `looks` were taken."""

    start: ComponentStart
    lower: float
    between: Array
    looks: int = 0

    @property
    def arm(self) -> str:
        return self.start.arm

    @property
    def point(self) -> Array:
        return np.asarray(self.between[_LOOKS[self.looks]])


Probe: TypeAlias = Ray | Mix | Valley


@stored
@dataclass
class Probes:
    """Starts in the making.

    Attributes:
        pending: each wants the value at one point.
        lengths: at which rays from each mode begin, and `rays`, how many there have been.
    """

    context: Context
    pending: list[Probe] = field(default_factory=list)
    lengths: Array = field(default_factory=lambda: np.zeros(0))
    rays: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.pending)

    def begin(self, arm: str, counted: NDArray[np.intp]) -> bool:
        """Another ray or mix of the modes that count; False if there is no room for it."""
        probe = self._ray(counted) if arm == RAY else self._mix(counted)
        if probe is not None:
            self.pending.append(probe)
        return probe is not None

    def _ray(self, counted: NDArray[np.intp]) -> Ray | None:
        """In a random direction from one of the modes least tried, turned back where it would leave the bounds."""
        context = self.context
        rng, box, archive = context.rng, context.box, context.archive
        new = max(0, len(archive) - len(self.rays))
        self.lengths = np.append(self.lengths, np.full(new, TUNING.first_step))
        self.rays = np.append(self.rays, np.zeros(new, np.int64))
        mode = int(counted[np.argmin(self.rays[counted] + rng.random(len(counted)))])
        self.rays[mode] += 1
        origin, length = archive.means[mode].copy(), float(self.lengths[mode])
        direction = rng.standard_normal(box.d)
        direction /= np.linalg.norm(direction)
        first = origin + length * direction
        direction[(first < box.lower_unit) | (first > box.upper_unit)] *= -1.0
        ray = Ray(mode, origin, direction, length, float(archive.values[mode]))
        return ray if box.inside(ray.point) else None

    def _mix(self, counted: NDArray[np.intp]) -> Mix | None:
        points = between_modes.mix(self.context, self.context.archive.means[counted], 1)
        return Mix(points[0]) if len(points) else None

    def ask(self) -> Array:
        """The points wanted, (n, d)."""
        points = np.array([probe.point for probe in self.pending]).reshape(-1, self.context.box.d)
        return self.context.box.project(points)

    def tell(self, points: Array, values: Array) -> list[ComponentStart]:
        """Values (n,) at these; starts that have proved to be apart from known hills."""
        starts, going = [], []
        for probe, point, value in zip(self.pending, points, values.tolist(), strict=True):
            after = self._next(probe, point, value)
            if isinstance(after, ComponentStart):
                starts.append(after)
            elif after is not None:
                going.append(after)
        self.pending = going
        return starts

    def _next(self, probe: Probe, point: Array, value: float) -> Probe | ComponentStart | None:
        """What a probe becomes by the value at its point; None if it comes to nothing."""
        if isinstance(probe, Valley):
            slack = self.context.tolerances.rounding()
            if not is_one_hill(probe.lower, np.array([value]), slack):
                return probe.start
            return probe._replace(looks=probe.looks + 1) if probe.looks + 1 < len(_LOOKS) else None
        if isinstance(probe, Mix):
            return self._test(MIX, point, value)
        if probe.steps > 0 and value > probe.value:
            learnt = TUNING.ray_learnt * probe.length
            self.lengths[probe.mode] = 0.5 * (self.lengths[probe.mode] + learnt)
            return self._test(RAY, point, value, probe.length)
        ray = probe._replace(length=TUNING.ray_stretch * probe.length, value=value, steps=probe.steps + 1)
        return ray if ray.length < _LONGEST_RAY and self.context.box.inside(ray.point) else None

    def _test(self, arm: str, point: Array, value: float, length: float = 0.0) -> Valley | ComponentStart | None:
        """A start is to be told from the nearest mode, unless single values between say nothing because of noise.

        A ray has gone this length, which says how wide its component may be; others go by the distance to the mode.
        """
        context, counted = self.context, self.context.counted
        if value == -np.inf or not len(counted):
            return None
        modes, distance = nearest(context, point[None], counted)
        room = length / math.sqrt(context.box.d) or float(distance[0])
        start = ComponentStart(point, min(TUNING.widest, TUNING.probe_spread * room), arm)
        if context.noise > 0:
            return start
        mode, height = context.archive.means[modes[0]], float(context.archive.values[modes[0]])
        return Valley(start, min(value, height), points_between(context.box, point, mode))
