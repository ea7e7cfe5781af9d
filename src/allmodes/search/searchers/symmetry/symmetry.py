"""Symmetries of the function: guessed from modes that are equally good, tested by values, used to find their images."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import Evaluation
from allmodes.search.candidate import IMAGE, SYMMETRY, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Event
from allmodes.search.geometry import lengths
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.symmetry.maps import symmetry
from allmodes.search.searchers.symmetry.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_TRIES = 32  # points drawn to find one whose image is inside the box, too
_ONCE = 64  # images evaluated in a round
_VACUOUS = 1e-3  # of the change of the value: with more rounding than that, equal values show nothing


@stored
@dataclass
class Symmetry(Searcher):
    """Looks for images of known modes; each costs one evaluation where a local search costs dozens.

    Two modes of equal value suggest a map that takes one into the other. It is a symmetry if values at two points
    around the first, and at one anywhere, are those at their images; and as long as images of modes are as good.

    Attributes:
        maps: the symmetries (d, d), in the user's coordinates; `refuted`, maps that proved to be none.
        seen: how many modes were looked at for new symmetries.
        mapped: how many modes each symmetry was applied to.
        guess: what is being tested, with its mode; None if nothing is.
        asked: the points in flight, and the modes (n,) that they are images of.
        images: how many were proposed.
    """

    name = SYMMETRY
    wants_derivatives = True

    context: Context
    maps: list[Array] = field(default_factory=list)
    refuted: list[Array] = field(default_factory=list)
    seen: int = 0
    mapped: list[int] = field(default_factory=list)
    guess: tuple[Array, int] | None = None
    asked: Array = field(init=False)
    sources: list[tuple[int, int]] = field(default_factory=list)
    images: int = 0

    def __post_init__(self) -> None:
        self.asked = np.zeros((0, self.context.box.d))

    @property
    def ending(self) -> str:
        modes = len(self.context.archive)
        is_over = self.guess is None and self.seen >= modes and all(n >= modes for n in self.mapped)
        return "no image of a known mode is left" if is_over else ""

    @property
    def account(self) -> str:
        if not self.maps:
            return "no symmetry"
        maps = counted(len(self.maps), "symmetry", "symmetries")
        return f"{maps}, {counted(self.images, 'image')} of modes"

    # ---- asking

    def ask(self, is_settled: bool) -> Request:
        """Points and their images, to test a guess; or images of modes."""
        self.sources, self.asked = [], np.zeros((0, self.context.box.d))
        while not len(self.asked) and not self.ending:
            if self._has_unmapped():
                self._map_modes()
            elif self.guess is None:
                self._guess()
            if self.guess is not None and not len(self.asked):
                self.asked = self._probes(*self.guess)
                if not len(self.asked):  # it cannot be tested
                    self.refuted.append(self.guess[0])
                    self.guess = None
        return Request(self.asked)

    def _has_unmapped(self) -> bool:
        return any(n < len(self.context.archive) for n in self.mapped)

    def _map_modes(self) -> None:
        """The next images that are inside the box and not known."""
        archive, box = self.context.archive, self.context.box
        for k, M in enumerate(self.maps):
            modes = np.arange(self.mapped[k], len(archive))[: _ONCE - len(self.asked)]
            self.mapped[k] += len(modes)
            modes = modes[[self._is_usable(j) for j in modes.tolist()]]
            images, is_inside = self._image(M, archive.means[modes])
            for j, image in zip(modes[is_inside].tolist(), images[is_inside], strict=True):
                others = np.concatenate([archive.means, self.asked])
                if np.abs(box.difference(others, image)).max(axis=1).min() > self.context.tolerances.same:
                    self.asked = np.concatenate([self.asked, image[None]])
                    self.sources.append((k, j))

    def _guess(self) -> None:
        """Compare the next mode with those of equal value."""
        archive, new = self.context.archive, self.seen
        self.seen += 1
        if not self._is_usable(new):
            return
        equal = np.abs(archive.values[:new] - archive.values[new]) <= self.context.tolerances.tie
        rivals = np.flatnonzero(equal)[-TUNING.rivals :]
        if len(self.maps) >= TUNING.most or not len(rivals):
            return
        for j in rivals[~self._is_explained(rivals, new)].tolist():
            if not self._is_usable(j):
                continue
            M = self._map_between(j, new)
            if M is not None and not any((known == M).all() for known in self.maps + self.refuted):
                self.guess = M, j
                self.seen = new  # others of its equals may show more, once this one is settled
                return

    def _map_between(self, a: int, b: int) -> Array | None:
        box, archive = self.context.box, self.context.archive
        scale, (here, there) = box.scale, self._natural(archive.means[[a, b]])
        H_a, H_b = (np.asarray(archive.records[j].hessian) / (scale[:, None] * scale) for j in (a, b))
        periods = np.full(box.d, np.inf)
        periods[box.periodic_unit] = scale[box.periodic_unit]
        return symmetry(here, there, H_a, H_b, periods, 3.0 * self.context.tolerances.same * scale)

    def _is_usable(self, j: int) -> bool:
        """Whether a mode counts, is strict, and its curvature was measured."""
        context, record = self.context, self.context.archive.records[j]
        is_counted = not context.is_global or context.archive.values[j] >= context.archive.best - context.tolerances.tie
        is_counted = is_counted and context.archive.primary[j] == j  # images by a symmetry that is known need no other
        return is_counted and record.kind in ("optimum", "boundary") and record.source != "component"

    def _is_explained(self, rivals: NDArray[np.intp], mode: int) -> NDArray[np.bool_]:
        """Which of these modes are images of a mode by a known symmetry, or it of them, (n,)."""
        means, box = self.context.archive.means, self.context.box
        is_known = np.zeros(len(rivals), np.bool_)
        for M in self.maps:
            image, images = self._image(M, means[[mode]])[0], self._image(M, means[rivals])[0]
            gaps = np.stack([box.difference(means[rivals], image), box.difference(images, means[mode])])
            is_known |= (np.abs(gaps).max(axis=2) < self.context.tolerances.close).any(axis=0)
        return is_known

    def _probes(self, M: Array, mode: int) -> Array:
        """Points around a mode and anywhere, each followed by its image; none if images are outside the box.

        Of several those that are farthest from their images: what holds in a part of the box alone is no symmetry.
        """
        context, points, d = self.context, [], self.context.box.d
        around = [
            context.archive.means[mode] + context.rng.uniform(-reach, reach, (_TRIES, d))
            for reach in (TUNING.probe_near, TUNING.probe_far)
        ]
        for places in (*around, context.rng.random((_TRIES, d))):
            tried = context.box.project(places)
            images, is_inside = self._image(M, tried)
            if not is_inside.any():
                return np.zeros((0, d))
            apart = lengths(context.box.difference(tried, images))
            farthest = int(np.where(is_inside, apart, -1.0).argmax())
            points += [tried[farthest], images[farthest]]
        return np.array(points)

    # ---- coordinates

    def _natural(self, points: Array) -> Array:
        """The user's coordinates (n, d), of those that are free."""
        box = self.context.box
        return box.start_lower[box.free] + box.scale * points

    def _image(self, M: Array, points: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Images (n, d) of points in unit coordinates, and whether they are inside the bounds."""
        box = self.context.box
        images = (self._natural(points) @ M.T - box.start_lower[box.free]) / box.scale
        projected = box.project(images)
        return projected, np.abs(box.difference(images, projected)).max(axis=1, initial=0.0) < self.context.xtol

    # ---- telling

    def tell(self, evaluation: Evaluation) -> list[Event]:
        if self.guess is not None and not self.sources:
            self._tell_probes(*self.guess, evaluation.value)
            return []
        events: list[Event] = []
        wrong = set()
        for i, (k, mode) in enumerate(self.sources):
            candidate = self._candidate(i, k, mode, evaluation)
            if candidate is not None:
                self.images += 1
                events.append(Arrived(candidate))
            elif np.isfinite(evaluation.value[i]):
                wrong.add(k)
        for k in sorted(wrong, reverse=True):  # an image that is worse: it is no symmetry of the whole function
            self.refuted.append(self.maps.pop(k))
            self.mapped.pop(k)
        return events

    def _tell_probes(self, M: Array, mode: int, values: Array) -> None:
        here, there = values[::2], values[1::2]
        change = np.abs(here - self.context.archive.values[mode])
        error = 20.0 * self.context.tolerances.error_of(np.maximum(np.abs(here), np.abs(there)))
        is_equal = np.abs(here - there) <= TUNING.digits * change + error
        is_telling = error < _VACUOUS * change
        self.guess = None
        if (is_equal & is_telling).all():
            self.maps.append(M)
            self.mapped.append(0)
        else:
            self.refuted.append(M)

    def _candidate(self, i: int, k: int, mode: int, told: Evaluation) -> Candidate | None:
        """The image of a mode, if it is as good; its derivatives, unless told, are those of the mode, turned."""
        context, archive = self.context, self.context.archive
        value, record, scale = float(told.value[i]), archive.records[mode], context.box.scale
        if not abs(value - archive.values[mode]) <= context.tolerances.tie:
            return None
        back = np.linalg.inv(self.maps[k] * (scale / scale[:, None]))  # of the map in unit coordinates
        gradient = back.T @ record.gradient if told.gradient is None else told.gradient[i]
        is_told = told.hessian is not None and context.order == 2  # else it is a model
        hessian = told.hessian[i] if is_told else back.T @ np.asarray(record.hessian) @ back
        origin = Origin(SYMMETRY, IMAGE, self.images)
        return Candidate(self.asked[i].copy(), value, gradient, hessian, record.source, origin, context.tolerances.near)
