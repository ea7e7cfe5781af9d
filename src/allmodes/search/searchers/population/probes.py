"""Starts made from known modes: a ray that leaves one until values rise again, and mixes of several.

A start is tested before a component begins there: if no point between it and the nearest mode is lower than both, it
lies on that mode's hill. Probes ask for one point at a time, so that most cost one or two evaluations: if there is a
valley the first point between usually shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.searchers.population.components import RAY, ComponentStart, nearest
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.search.starts import between_modes
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

_ORDER = (1, 3, 2)  # in which points between a start and a mode are evaluated, the likeliest to be low first

Array = NDArray[np.float64]


@stored
class Probe(NamedTuple):
    """A start in the making: first the ray or mix itself, then, once there is a start, the test of what is between."""

    arm: str  # what kind of start it will be
    path: Array  # points (n, d) to be evaluated, the next one first
    value: float  # at the last point of a ray; of a start the lower value of start and nearest mode
    start: ComponentStart | None = None  # a component begins there if one of the points between is lower


@stored
@dataclass
class Probes:
    """Starts in the making; each of those pending wants the value at one point."""

    context: Context
    pending: list[Probe] = field(default_factory=list)

    def begin(self, arm: str, modes: Array) -> bool:
        """Another ray from one of the modes (k, d), or a mix of them; False if no mix was found."""
        path = self._ray(modes) if arm == RAY else between_modes.mix(self.context, modes, 1)
        if len(path):
            # The first point of a ray is never a start, however good it is; a mix is one at once.
            self.pending.append(Probe(arm, path, np.inf if arm == RAY else -np.inf))
        return len(path) > 0

    def _ray(self, modes: Array) -> Array:
        """Points (n, d) in a random direction, turned back where it would leave the bounds at once."""
        rng, box = self.context.rng, self.context.box
        origin, direction = modes[rng.integers(len(modes))], rng.standard_normal(box.d)
        direction /= np.linalg.norm(direction)
        first = origin + TUNING.first_step * direction
        direction[(first < box.lower_unit) | (first > box.upper_unit)] *= -1.0
        points = origin + np.geomspace(TUNING.first_step, 1.0, TUNING.ray_points)[:, None] * direction
        return box.project(points[box.inside(points)])

    def ask(self) -> Array:
        """The points wanted, (n, d)."""
        return np.array([probe.path[0] for probe in self.pending]).reshape(-1, self.context.box.d)

    def tell(self, points: Array, values: Array) -> list[ComponentStart]:
        """Values (n,) at these; starts that have proved to be apart from known hills."""
        told = zip(self.pending, points, values.tolist(), strict=True)
        after = [self._next(probe, point, value) for probe, point, value in told]
        self.pending = [each for each in after if isinstance(each, Probe) and len(each.path)]
        return [each for each in after if isinstance(each, ComponentStart)]

    def _next(self, probe: Probe, point: Array, value: float) -> Probe | ComponentStart:
        """What becomes of a probe, by the value at its point; one whose path has ended is dropped."""
        if probe.start is not None:
            is_one = is_one_hill(probe.value, np.array([value]), self.context.tolerances.rounding())
            return probe._replace(path=probe.path[1:]) if is_one else probe.start
        if value <= probe.value:
            return probe._replace(path=probe.path[1:], value=value)
        context, archive = self.context, self.context.archive
        (mode, *_), (distance, *_) = nearest(context, point[None])
        start = ComponentStart(point, min(TUNING.widest, TUNING.apart * float(distance)), probe.arm)
        if context.noise > 0:  # single values in between say nothing
            return start
        between = points_between(context.box, point, archive.means[mode])[list(_ORDER)]
        return Probe(probe.arm, between, min(value, float(archive.values[mode])), start)
