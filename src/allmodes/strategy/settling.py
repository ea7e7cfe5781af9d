"""What a launch has arrived at: a new mode, a known one, level ground, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.ascents import LAST_STEP
from allmodes.strategy.batch import Phase
from allmodes.strategy.bridges import Bridges
from allmodes.strategy.ends import KINDS, LOST, End
from allmodes.strategy.geometry import closest, is_held, room

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Curvature so small that values must tell whether it is one, as a share of the largest: what differences of values,
# differences of gradients and Hessians can be trusted to say; and as a share of the function's scale over the box.
_LEVEL = (1e-2, 1e-2, 1e-5)
_GENTLE = 0.1
_SHARP = 1e-6  # the same where Newton's method has converged
_QUADRATIC = 0.1  # shrinkage of the last Newton step that says so
# A slope at a bound, as a share of the curvature upward, that may be an error: the rise would begin that close to it.
_RIM = (1e-3, 1e-6, 1e-6)
_NO_SLOPE = 1e-8  # as a share of the curvature
_ROUNDING = 1e-8  # rounding of a value over the square of a step of 1e-3, with room
_PROBES = {  # of the box: how far directions that look level are probed, on both sides
    Phase.FLAT: np.array([0.003, -0.003, 0.03, -0.03]),
    Phase.FAR: np.array([0.03, -0.03, 0.1, -0.1, 0.3, -0.3, 1.0, -1.0]),
}
_CHECKED = 1e-6  # fall along the direction that is curved least, as a share of the function's scale, to be seen
_CHECK_STEPS = (1e-5, 1e-2)  # of the box
_CURVED = 3e-3  # a fall at the first probe, as a share of that at the second: 1e-2 for a parabola, 1e-4 for a quartic
_BETWEEN = np.arange(1, 6) / 6.0  # where the way to another mode is probed
_CLOSE = 0.01  # modes closer than this are told apart by values between them


@stored
@dataclass
class Settling(Bridges):
    """Decides what launches have arrived at."""

    def arrive(self, k: int, top: Array, far: float) -> None:
        """A launch at the top of its model: measure it, take the last step, or settle what it is."""
        batch = self.batch
        if not batch.is_measured[k]:
            batch.phase[k] = Phase.CURVE
        elif self.search.order and self._is_released(k, top):
            batch.trial[k], batch.phase[k] = top, Phase.STEP
        elif self.search.order == 0 and 1e-3 * self.search.xtol < far <= LAST_STEP:
            batch.trial[k], batch.phase[k] = top, Phase.FINAL
        else:
            self._settle(k)

    def _is_released(self, k: int, top: Array) -> bool:
        """Whether a bound that holds a launch where it is does not at the top of its model: in a steep valley."""
        batch, box = self.batch, self.search.box
        slope = batch.gradient[k] + batch.hessian[k] @ (top - batch.point[k])
        return bool((is_held(box, batch.point[k], batch.gradient[k]) & ~is_held(box, top, slope)).any())

    # ---- questions

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where launches in this phase want to be evaluated, (n, points each, d)."""
        batch, box = self.batch, self.search.box
        point = batch.point[rows]
        if phase == Phase.VALLEY:
            way = box.difference(self.search.archive.means[batch.rival[rows]], point)
            return point[:, None] + _BETWEEN[:, None] * way[:, None]
        if phase == Phase.CHECK:
            return np.stack([self._check_points(int(k)) for k in rows])
        (k,) = rows  # probes differ in number: one launch at a time
        axes = self._level_axes(int(k))
        steps = np.broadcast_to(_PROBES[phase][:, None], (len(_PROBES[phase]), len(axes)))
        steps = np.sign(steps) * np.minimum(np.abs(steps), room(box, point[0], np.sign(steps)[..., None] * axes))
        probes = point[0] + steps[..., None] * axes
        return np.minimum(np.maximum(probes, box.lower_unit), box.upper_unit).reshape(1, -1, box.d)

    def _check_points(self, k: int) -> Array:
        """Two points (2, d) along the direction that falls least, where the model falls by a little."""
        search, point = self.search, self.batch.point[k]
        free, H = self._free(k)
        eigenvalues, vectors = np.linalg.eigh(H)
        axis = np.zeros(search.box.d)
        axis[free] = vectors[:, -1]
        length = np.clip(np.sqrt(2.0 * _CHECKED * search.scale / max(-eigenvalues[-1], 1e-300)), *_CHECK_STEPS)
        return np.clip(point + np.outer([length, -length], axis), search.box.lower_unit, search.box.upper_unit)

    def _level_axes(self, k: int) -> Array:
        """Directions (n, d) in which the curvature looks like none."""
        free, H = self._free(k)
        eigenvalues, vectors = np.linalg.eigh(H)
        axes = np.zeros((len(free), self.search.box.d))
        axes[:, free] = vectors.T
        return axes[eigenvalues >= -self._gentle(k, eigenvalues)]

    def _held(self, k: int) -> NDArray[np.bool_]:
        """Coordinates at a bound, but for those with a slope that may be an error where the function rises inward."""
        batch, search = self.batch, self.search
        H = batch.hessian[k]
        rim = _RIM[search.order] * np.maximum(np.diagonal(H), 0.0)
        least = np.maximum(rim, _NO_SLOPE * np.abs(H).max(initial=0.0))
        return is_held(search.box, batch.point[k], batch.gradient[k]) & (np.abs(batch.gradient[k]) > least)

    def _free(self, k: int) -> tuple[Rows, Array]:
        """The coordinates that are not held at a bound, and the Hessian in them."""
        free, H = (~self._held(k)).nonzero()[0], self.batch.hessian[k]
        return free, H if len(free) == len(H) else H[free][:, free]

    def _slack(self, k: int) -> float:
        """Differences of values near a launch that mean nothing."""
        return self.search.rounding_at(float(np.abs(self.batch.hessian[k]).max(initial=0.0)))

    def _level(self, k: int, eigenvalues: Array) -> float:
        """Curvature that cannot be told from none."""
        search = self.search
        level = float(_LEVEL[search.order] * np.abs(eigenvalues).max())
        return max(level, _ROUNDING * abs(self.batch.value[k])) if search.order == 0 else level

    def _gentle(self, k: int, eigenvalues: Array) -> float:
        """Curvature so small that values must tell whether it is one."""
        if not len(self.search.levels):  # a start that was given, before anything is known of the function
            return np.inf
        share = _SHARP if self.search.order and self._is_sharp(k) else _GENTLE
        return max(self._level(k, eigenvalues), share * self.search.scale)

    def _is_sharp(self, k: int) -> bool:
        """Whether Newton's method has converged quadratically: where the curvature vanishes it halves steps at best."""
        batch = self.batch
        return bool(batch.distance[k] <= 0.1 * self.search.xtol and batch.shrinkage[k] < _QUADRATIC)

    # ---- answers

    def told(self, phase: Phase, rows: Rows, points: Array, values: Array) -> None:
        tell = getattr(self, f"_told_{phase.name.lower()}")  # final, flat, far, valley or check
        for k, where, found in zip(rows, points, values, strict=True):
            tell(int(k), where, found)

    def _told_final(self, k: int, where: Array, values: Array) -> None:
        batch = self.batch
        if not values[0] >= batch.value[k] - self._slack(k):  # the model is wrong: a kink
            self._end(k, LOST)
            return
        if values[0] >= batch.value[k]:
            held = is_held(self.search.box, batch.point[k], batch.gradient[k])
            batch.gradient[k] = np.where(held, batch.gradient[k], 0.0)
            batch.point[k], batch.value[k] = where[0], values[0]
        self._settle(k)

    def _told_check(self, k: int, where: Array, values: Array) -> None:
        """Differences along the axes may take a crease for a top; along the crease the function goes on rising."""
        if not self._climbs(k, where, values):
            self._compare(k)

    def _told_flat(self, k: int, where: Array, values: Array) -> None:
        """Higher ground is where the launch goes on; otherwise the ground is level, or curved after all."""
        batch, slack = self.batch, self._slack(k)
        rises = (values - batch.value[k]).reshape(2, 2, -1)  # (distance, side, axis)
        if self._climbs(k, where, values):
            return
        if not (np.abs(rises) > slack).any(axis=0).all():
            batch.phase[k] = Phase.FAR  # exactly level as far as was seen: look farther
            return
        near, far = -rises.max(axis=1)  # on the side that falls less
        if (near > np.maximum(10.0 * slack, _CURVED * far)).all():
            batch.kind[k] = KINDS.index("boundary" if self._held(k).any() else "optimum")
        self._compare(k)

    def _told_far(self, k: int, where: Array, values: Array) -> None:
        """The first probe that differs counts on each side; beyond it another hill may begin."""
        batch, slack = self.batch, self._slack(k)
        rises = (values - batch.value[k]).reshape(4, 2, -1)  # (distance, side, axis)
        differs = np.abs(rises) > slack
        first = differs & (np.cumsum(differs, axis=0) == 1)
        if self._climbs(k, where, np.where(first.reshape(-1), values, -np.inf)):
            return
        if batch.value[k] < self.search.best_value - slack and np.abs(batch.hessian[k]).max() <= slack:
            self._end(k, LOST)  # a plateau below the best value: nothing says that it is a top
            return
        self._compare(k)

    def _climbs(self, k: int, where: Array, values: Array) -> bool:
        """Go on from the best of these points if it is higher."""
        batch, best = self.batch, int(np.argmax(values))
        if not values[best] > batch.value[k] + self._slack(k):
            return False
        batch.point[k], batch.phase[k], batch.is_measured[k] = where[best], Phase.START, False
        return True

    def _told_valley(self, k: int, where: Array, values: Array) -> None:
        batch, archive = self.batch, self.search.archive
        j = int(batch.rival[k])
        height = archive.values[j]
        if (values >= min(batch.value[k], height) - self._slack(k)).all():
            self._improve(k, j)
            self._end(k, j)
        elif KINDS[batch.kind[k]] == "flat" and len(others := self._level_modes(batch.value[k])):
            distance = np.abs(self.search.box.difference(archive.means[others], batch.point[k])).max(axis=1)
            self._park(k, j if j in others else int(others[distance.argmin()]))
        else:
            self._freeze(k)

    # ---- verdicts

    def _settle(self, k: int) -> None:
        """A launch has arrived: nowhere, on ground that looks level, or at a top."""
        batch = self.batch
        kind = self._kind(k)
        if batch.is_bridge[k]:
            self.build(k)
        elif not kind:
            self._end(k, LOST)
        else:
            batch.kind[k] = KINDS.index(kind)
            if len(self.search.archive):
                j, apart = closest(self.search, batch.point[k])
                if apart < 10.0 * self.search.xtol:
                    self._improve(k, j)
                    self._end(k, j)
                    return
            if kind == "flat":
                batch.phase[k] = Phase.FLAT
            elif self.search.order == 0 and not self._held(k).all():
                batch.phase[k] = Phase.CHECK
            else:
                self._compare(k)

    def _kind(self, k: int) -> str:
        """By the measured curvature; empty for a saddle."""
        search, batch = self.search, self.batch
        held = is_held(search.box, batch.point[k], batch.gradient[k])
        free, H = self._free(k)
        if not len(free):
            return "boundary"
        eigenvalues = np.asarray(np.linalg.eigvalsh(H), dtype=np.float64)
        if eigenvalues[-1] > self._level(k, eigenvalues):
            return "flat" if held[free].any() else ""  # at a bound values tell whether it rises inward
        if eigenvalues[-1] >= -self._gentle(k, eigenvalues):
            return "flat"
        return "boundary" if len(free) < len(held) else "optimum"

    def _compare(self, k: int) -> None:
        """A top: look at what lies between it and the closest mode, or the closest level one, before it counts."""
        search, batch = self.search, self.batch
        archive = search.archive
        batch.seen[k] = len(archive)
        if len(archive):
            j, apart = closest(search, batch.point[k])
            others = self._level_modes(batch.value[k])
            if apart >= _CLOSE and KINDS[batch.kind[k]] == "flat" and len(others):
                distance = np.abs(search.box.difference(archive.means[others], batch.point[k])).max(axis=1)
                j, apart = int(others[distance.argmin()]), 0.0
            if apart < _CLOSE:
                batch.rival[k], batch.phase[k] = j, Phase.VALLEY
                return
        self._freeze(k)

    def _freeze(self, k: int) -> None:
        """A new mode, unless another launch was first."""
        batch = self.batch
        if batch.seen[k] < len(self.search.archive):
            self._compare(k)
            return
        mode = self._add(batch.point[k], batch.value[k], batch.gradient[k], batch.hessian[k], KINDS[batch.kind[k]])
        self._end(k, mode, is_new=True)

    def _improve(self, k: int, j: int) -> None:
        """A launch that ends in a mode that a population found knows more about it."""
        search, batch = self.search, self.batch
        found = search.archive.found[j]
        if found.source != "component" or batch.value[k] < search.archive.values[j] - search.rounding:
            return
        point = search.box.project(batch.point[k])
        better = replace(
            found, gradient=batch.gradient[k].copy(), hessian=batch.hessian[k].copy(), kind=KINDS[batch.kind[k]],
            active=is_held(search.box, point, batch.gradient[k]),
            source="derivatives" if search.order == 2 else "differences",
        )  # fmt: skip
        search.archive.change(j, point, float(batch.value[k]), better)

    def _end(self, k: int, mode: int, is_new: bool = False) -> None:
        batch = self.batch
        if batch.is_bridge[k]:
            self.build(k)
        else:
            self.ends.append(End(k, int(batch.arm[k]), int(batch.cost[k]), mode, is_new))
