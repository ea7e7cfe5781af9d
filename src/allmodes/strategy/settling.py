"""What a launch has arrived at: a new mode, a known one, level ground, or nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.ascents import LAST_STEP, PATIENCE
from allmodes.strategy.batch import Phase
from allmodes.strategy.bridges import Bridges
from allmodes.strategy.ends import KINDS, LOST, End
from allmodes.strategy.geometry import closest, is_held, room
from allmodes.strategy.tops import is_curved

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_PROBES = {  # of the box: how far directions that look level are probed, on both sides
    Phase.FLAT: np.array([0.003, -0.003, 0.03, -0.03]),
    Phase.FAR: np.array([0.03, -0.03, 0.1, -0.1, 0.3, -0.3, 1.0, -1.0]),
}
_CHECKED = 1e-6  # fall along the direction that is curved least, as a share of the function's scale, to be seen
_CLEAR = 1e3  # and over what means nothing: farther away the function may be another
_CLOSER = 0.25  # length of the closer check over that of the other
_CHECK_STEPS = (1e-5, 1e-2)  # of the box
_SEEN = 0.5  # of the fall that the model predicts along this direction: where less is seen the model is out of date
_TIED = 0.03  # of a tie: what the last step may leave to be gained
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
            self._measure(k)
        elif self.search.order and self._is_released(k, top):
            batch.trial[k], batch.phase[k] = top, Phase.STEP
        elif self.search.order == 0 and 1e-3 * self.search.xtol < far <= LAST_STEP:
            batch.trial[k], batch.phase[k] = top, Phase.FINAL
        else:
            self._settle(k)

    def _measure(self, k: int) -> None:
        """Ask for the curvature, unless a launch is in a corner that is known."""
        batch, search = self.batch, self.search
        if len(search.archive) and not batch.is_bridge[k] and self._held(k).all():
            j, apart = closest(search, batch.point[k])
            if apart < 10.0 * search.xtol:
                self.ends_at(k, j)
                return
        batch.phase[k] = Phase.CURVE

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
            ends = [self._end_of(int(batch.rival[k]), batch.point[k], batch.hessian[k])[0] for k in rows]
            way = box.difference(np.array(ends), point)
            return point[:, None] + _BETWEEN[:, None] * way[:, None]
        (k,) = rows  # probes differ in number: one launch at a time
        if phase == Phase.CHECK:
            return self._check_points(int(k))[None]
        axes = self._level_axes(int(k))
        steps = np.broadcast_to(_PROBES[phase][:, None], (len(_PROBES[phase]), len(axes)))
        steps = np.sign(steps) * np.minimum(np.abs(steps), room(box, point[0], np.sign(steps)[..., None] * axes))
        probes = point[0] + steps[..., None] * axes
        return np.minimum(np.maximum(probes, box.lower_unit), box.upper_unit).reshape(1, -1, box.d)

    def _check_points(self, k: int) -> Array:
        """Points (n, d) along the direction that falls least, where the model falls by a little.

        Two, and for ground that looks level two that are closer: one length may show the same fall by chance.
        """
        search, point = self.search, self.batch.point[k]
        curvature, axis = self._least(k)
        fall = min(_CHECKED * search.scale, _CLEAR * self._slack(k))
        length = np.clip(np.sqrt(2.0 * fall / max(-curvature, 1e-300)), *_CHECK_STEPS)
        lengths = np.array([1.0, -1.0, _CLOSER, -_CLOSER] if KINDS[self.batch.kind[k]] == "flat" else [1.0, -1.0])
        return np.clip(point + length * np.outer(lengths, axis), search.box.lower_unit, search.box.upper_unit)

    # ---- answers

    def told(self, phase: Phase, rows: Rows, points: Array, values: Array) -> None:
        tell = getattr(self, f"_told_{phase.name.lower()}")  # final, flat, far, valley or check
        for k, where, found in zip(rows, points, values, strict=True):
            tell(int(k), where, found)

    def _told_final(self, k: int, where: Array, values: Array) -> None:
        batch = self.batch
        if not values[0] >= batch.value[k] - self._slack(k):  # the model is wrong: a kink
            self.ends_at(k, LOST)
            return
        if self._is_short(k, where[0], float(values[0])):
            batch.came_from[k], batch.old_gradient[k] = batch.point[k], batch.gradient[k]
            batch.point[k], batch.value[k], batch.phase[k] = where[0], values[0], Phase.SLOPE
            batch.iterations[k] += 1
            return
        if values[0] >= batch.value[k]:
            slope = batch.gradient[k] + batch.hessian[k] @ (where[0] - batch.point[k])
            batch.gradient[k] = np.where(is_held(self.search.box, where[0], slope), slope, 0.0)
            batch.point[k], batch.value[k] = where[0], values[0]
        self._settle(k)

    def _is_short(self, k: int, where: Array, value: float) -> bool:
        """Whether the last step has ended so far below the top that the mode would not tie with its equals.

        A model that is wrong by a share q misses the rise by q of it, and leaves q^2 of it to be gained.
        """
        batch = self.batch
        rise, predicted = value - batch.value[k], self._predicted(k, where)
        miss = abs(rise - predicted)
        if not (rise > 0.0 and self.search.scale > 0.0 and batch.iterations[k] <= PATIENCE + 10 * self.search.box.d):
            return False
        return bool(miss**2 > max(_TIED * self.search.tie, self._slack(k)) * max(miss, predicted))

    def _predicted(self, k: int, where: Array) -> float:
        """How much higher the model is at a point."""
        s = where - self.batch.point[k]
        return float(self.batch.gradient[k] @ s + 0.5 * s @ self.batch.hessian[k] @ s)

    def _told_check(self, k: int, where: Array, values: Array) -> None:
        """Differences along the axes may take a crease for a top; along the crease the function goes on rising.

        And a model from close by may call the floor of a bent valley curved.
        """
        if self._climbs(k, where, values):
            return
        batch, slack = self.batch, self._slack(k)
        curvature, axis = self._least(k)
        ahead, behind = np.abs((where[:2] - batch.point[k]) @ axis)
        predicted, seen = -0.5 * curvature * ahead * behind, batch.value[k] - float(values[:2].mean())
        is_clear = math.isclose(ahead, behind, rel_tol=1e-3) and abs(predicted - seen) > 10.0 * slack
        if is_clear and seen < _SEEN * predicted:
            batch.hessian[k] -= (curvature + 2.0 * seen / ahead**2) * np.outer(axis, axis)
            if self._kind(k) in ("flat", ""):
                batch.kind[k] = KINDS.index("flat")
        elif len(values) > 2:
            falls = np.array([seen, (batch.value[k] - float(values[2:].mean())) / _CLOSER**2])
            if ((falls > _SEEN * predicted) & (falls < predicted / _SEEN)).all():  # curved as little as it seems
                batch.kind[k] = KINDS.index("boundary" if self._held(k).any() else "optimum")
        if KINDS[batch.kind[k]] == "flat":
            batch.phase[k] = Phase.FLAT
        else:
            self._compare(k)

    def _told_flat(self, k: int, where: Array, values: Array) -> None:
        """Higher ground is where the launch goes on; otherwise the ground is level, or curved after all."""
        batch, slack = self.batch, self._slack(k)
        falls = (batch.value[k] - values).reshape(2, 2, -1)  # (distance, side, axis)
        if self._climbs(k, where, values):
            return
        if not (np.abs(falls) > slack).any(axis=0).all():
            batch.phase[k] = Phase.FAR  # exactly level as far as was seen: look farther
            return
        length = np.sqrt(((where - batch.point[k]) ** 2).sum(axis=1)).reshape(falls.shape)
        if is_curved(length, falls, slack).all():
            batch.kind[k] = KINDS.index("boundary" if self._held(k).any() else "optimum")
            batch.is_doubtful[k] = self.search.order < 2
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
            self.ends_at(k, LOST)  # a plateau below the best value: nothing says that it is a top
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
            if self._is_level(k):
                self._own(batch.point[[k]], j)
            self._improve(k, j)
            self.ends_at(k, j)
        elif self._is_level(k) and len(others := self._level_modes(batch.value[k])):
            self._park(k, j if j in others else self._closest_level(batch.value[k], batch.point[k], batch.hessian[k]))
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
            self.ends_at(k, LOST)
        else:
            batch.kind[k] = KINDS.index(kind)
            if len(self.search.archive):
                j, apart = closest(self.search, batch.point[k])
                if apart < 10.0 * self.search.xtol:
                    self._improve(k, j)
                    self.ends_at(k, j)
                    return
            if self._wants_check(k):
                batch.phase[k] = Phase.CHECK
            elif kind == "flat":
                batch.phase[k] = Phase.FLAT
            else:
                self._compare(k)

    def _compare(self, k: int) -> None:
        """A top: look at what lies between it and the closest mode, or the closest level one, before it counts."""
        search, batch = self.search, self.batch
        archive = search.archive
        batch.seen[k] = len(archive)
        if len(archive):
            j, apart = closest(search, batch.point[k])
            if apart >= _CLOSE and self._is_level(k):
                level = self._closest_level(batch.value[k], batch.point[k], batch.hessian[k])
                j, apart = (level, 0.0) if level >= 0 else (j, apart)
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
        mode = self.add(
            batch.point[k], batch.value[k], batch.gradient[k], batch.hessian[k], KINDS[batch.kind[k]], self._is_level(k)
        )
        self.ends_at(k, mode, is_new=True)

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

    def ends_at(self, k: int, mode: int, is_new: bool = False) -> None:
        """A launch is over, or the bridge that it is."""
        batch = self.batch
        if batch.is_bridge[k]:
            self.build(k)
        else:
            self.ends.append(End(k, int(batch.arm[k]), int(batch.cost[k]), mode, is_new))
