"""Launches where the function is not smooth: they climb on, and a top counts when they come back to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy import differences
from allmodes.strategy.ascents import REFUSED
from allmodes.strategy.batch import Phase
from allmodes.strategy.ends import KINDS, LOST
from allmodes.strategy.geometry import closest
from allmodes.strategy.lines import LATER_STEP, Lines, length
from allmodes.strategy.relief import AROUND, points_around, relief
from allmodes.strategy.settling import Settling

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_FIRST_STEP = 0.02  # of the box
_MATTERS = 10.0  # differences of values, over those that mean nothing
_SMOOTH = 1e-3  # of the slope at first: less is left at a smooth top
_ASIDE = 0.01  # of the box: how far away a launch is put to see whether it comes back
_LESS = 0.1  # of that, when it has ended elsewhere at the same height
_RETURNS = 3  # how often it must come back, from sides at right angles
_BACK = 0.1  # of the way aside: how near it must come
_LEVEL = 0.5  # the same where it is as high as before: farther away the ground is level
_REGAINED = 0.01  # of the fall aside: what may be missing then, and what its last step may have brought
_GAINED = 0.01  # of what counts as a tie: it was not at the top before
_LOOKS = 5  # at tops that turn out to be none
_WITHIN = 1e-3  # of the box: closer modes are looked at while a launch is still under way
_SAME = 1e-5  # and those are the same
_CLOSE = 0.01  # modes that are told apart by values between them
_VALLEY = 0.05  # of what the slope promises on the way: a valley that is none
_BETWEEN = np.arange(1, 6) / 6.0
_TINY = 1e-300
CLIMBING, ARRIVED, RETURNING = range(3)  # stages


@stored
@dataclass
class Kinks(Lines):
    """Launches that have met something that is not smooth. Every method works on rows of the batch."""

    settling: Settling

    def can_begin(self, k: int) -> bool:
        """Whether a launch that got lost has something to go on with: a slope, where models do not hold."""
        batch = self.batch
        if batch.is_bridge[k] or batch.is_kinked[k] or not batch.iterations[k] or not np.isfinite(batch.value[k]):
            return False
        is_rough = batch.refusals[k] >= REFUSED * batch.iterations[k] or not np.isfinite(batch.hessian[k]).all()
        return bool(is_rough) and self._slope(k) > self._level

    def _slope(self, k: int) -> float:
        """The size of the slope in the coordinates that are free; NaN where it is unknown."""
        rows = np.array([k])
        return float(length(np.where(self._held(rows), 0.0, self.batch.gradient[rows]))[0])

    @property
    def _level(self) -> float:
        """A slope that makes no difference over the accuracy of positions."""
        return _MATTERS * self.search.rounding / self.search.xtol

    def begin(self, rows: Rows) -> None:
        """Launches go on from where they are."""
        batch = self.batch
        batch.is_kinked[rows], batch.stage[rows], batch.rival[rows] = True, CLIMBING, -1
        batch.steep[rows] = [self._slope(k) for k in rows.tolist()]
        self._forget(rows, _FIRST_STEP)
        self._line(rows)

    # ---- questions

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where launches in this phase want to be evaluated, (n, points each, d)."""
        batch, box = self.batch, self.search.box
        point, trial = batch.point[rows], batch.trial[rows]
        if phase in (Phase.LINE, Phase.NUDGE) or (phase == Phase.MOVE and self.search.order):
            return trial[:, None]
        if phase == Phase.MOVE:
            return np.concatenate([trial[:, None], self._moved(trial)], axis=1)
        if phase == Phase.TILT:
            return self._moved(point)
        if phase == Phase.WAY:
            way = box.difference(self.search.archive.means[batch.rival[rows]], point)
            return point[:, None] + _BETWEEN[:, None] * way[:, None]
        return np.stack([points_around(box, batch.point[k], self._axes(k)) for k in rows.tolist()])

    def _axes(self, k: int) -> Array:
        """Directions (d, d), from those across a crease to those in which a launch can move freely."""
        return np.asarray(np.linalg.eigh(self.batch.hessian[k])[1].T)

    # ---- answers

    def told(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> None:
        """Answers to `points`."""
        getattr(self, f"_told_{phase.name.lower()}")(rows, points, told)

    def _told_move(self, rows: Rows, points: Array, told: Evaluation) -> None:
        batch, value = self.batch, told.value[:, 0]
        batch.point[rows], batch.value[rows] = points[:, 0], value
        if self.search.order:
            batch.gradient[rows] = told.gradient[:, 0]
        else:
            batch.gradient[rows] = differences.gradient(points[:, 0], value, points[:, 1:], told.value[:, 1:])
        is_fine = np.isfinite(value) & np.isfinite(batch.gradient[rows]).all(axis=1)
        batch.drop[rows] = batch.home_value[rows] - value
        batch.tries[rows] = np.where(batch.stage[rows] == RETURNING, 0, batch.tries[rows])
        self._lose(rows[~is_fine])
        self._forget(rows[is_fine], LATER_STEP)
        self._line(rows[is_fine])

    def _told_way(self, rows: Rows, points: Array, told: Evaluation) -> None:
        """Without a valley in between it is the same mode; where a crease bends a straight way has a small one."""
        batch, archive = self.batch, self.search.archive
        for k, values in zip(rows.tolist(), told.value, strict=True):
            j = int(batch.rival[k])
            apart = self.search.box.difference(archive.means[j], batch.point[k])
            small = _VALLEY * float(length(batch.gradient[[k]])[0] * np.sqrt(apart @ apart))
            if (values >= min(batch.value[k], archive.values[j]) - small - self.search.rounding).all():
                self._is_known(k, j)
            elif batch.stage[k] == CLIMBING:
                self._line(np.array([k]))
            else:
                self._go_aside(k)

    def _told_probe(self, rows: Rows, points: Array, told: Evaluation) -> None:
        """Higher ground is where a launch goes on; otherwise it is put aside, to see whether it comes back."""
        batch, search = self.batch, self.search
        for k, where, values in zip(rows.tolist(), points, told.value, strict=True):
            best = int(values.argmax())
            if values[best] > batch.value[k] + search.rounding:
                self._restart(k, where[best])
                continue
            height = max(batch.value[k] - search.level, 1e-3 * search.scale, _TINY)
            seen = relief(batch.point[k], float(batch.value[k]), self._axes(k), where, values, height, search.rounding)
            if seen.is_cusp:
                self.settling.ends_at(k, LOST)
            elif seen.is_smooth:
                self._leave(k)
            elif seen.rise is not None:  # a saddle along the crease
                self._restart(k, batch.point[k] + _ASIDE * seen.rise)
            else:
                batch.curve[k], batch.phase[k] = seen.curve, Phase.NUDGE
                batch.trial[k] = np.clip(batch.point[k] + seen.top, search.box.lower_unit, search.box.upper_unit)

    def _told_nudge(self, rows: Rows, points: Array, told: Evaluation) -> None:
        """The top of the parabola along a crease is a little higher."""
        batch = self.batch
        for k, where, value in zip(rows.tolist(), points[:, 0], told.value[:, 0], strict=True):
            gain = value - batch.value[k]
            if gain > 0.0:
                batch.point[k], batch.value[k] = where, value
            if gain > _GAINED * self.search.tie and batch.looks[k] < _LOOKS:
                batch.phase[k] = Phase.PROBE
                batch.looks[k] += 1
                continue
            batch.home[k], batch.home_value[k] = batch.point[k], batch.value[k]
            self._go_aside(k)

    def _restart(self, k: int, point: Array) -> None:
        """Go on from another point."""
        batch, box = self.batch, self.search.box
        batch.trial[k] = np.clip(point, box.lower_unit, box.upper_unit)
        batch.phase[k], batch.stage[k] = Phase.MOVE, CLIMBING
        self._count_look(k)

    # ---- on the way

    def _pauses(self, k: int, rise: float) -> bool:
        """Whether a launch has come back, or comes close to a mode that it has not been compared with."""
        batch = self.batch
        if batch.stage[k] == RETURNING:
            apart = np.abs(self.search.box.difference(batch.point[k], batch.home[k])).max()
            left = max(batch.home_value[k] - batch.value[k], rise)
            if apart > _BACK * batch.aside[k] or left > _REGAINED * batch.drop[k]:
                return False
            self._arrive(k)
            return True
        if not len(self.search.archive):
            return False
        j, apart = closest(self.search, batch.point[k])
        if apart > _WITHIN or batch.rival[k] == j:
            return False
        batch.rival[k], batch.phase[k] = j, Phase.WAY
        return True

    # ---- verdicts

    def _arrive(self, k: int) -> None:
        """A launch can get no higher: at a smooth top, at a known mode, or perhaps at a new one."""
        batch = self.batch
        if batch.stage[k] == RETURNING:
            self._returned(k)
            return
        if self._slope(k) <= max(_SMOOTH * batch.steep[k], self._level):
            self._leave(k)
            return
        if not batch.is_measured[k]:  # not a step was made: differences reach across the crease that it is on
            aside = self.search.rng.standard_normal(self.search.box.d)
            self._restart(k, batch.point[k] + AROUND * aside)
            return
        batch.stage[k], batch.curve[k] = ARRIVED, 0.0  # what is known of another top does not count here
        if not self._compares(k):
            batch.phase[k] = Phase.PROBE

    def _leave(self, k: int) -> None:
        """Go on as on smooth ground."""
        batch = self.batch
        batch.phase[k], batch.radius[k], batch.refusals[k] = Phase.START, LATER_STEP, 0
        batch.is_measured[k], batch.rival[k] = False, -1

    def _compares(self, k: int) -> bool:
        """Whether a launch is at a known mode, or is compared with one."""
        batch = self.batch
        if len(self.search.archive):
            j, apart = closest(self.search, batch.point[k])
            if apart < _SAME:
                self._is_known(k, j)
                return True
            if apart < _CLOSE and batch.rival[k] != j:
                batch.rival[k], batch.phase[k] = j, Phase.WAY
                return True
        return False

    def _go_aside(self, k: int) -> None:
        """Put a launch a little aside."""
        batch, search = self.batch, self.search
        if batch.stage[k] == RETURNING:  # it had come back and was compared with a mode that is new
            self._freeze(k)
            return
        if not batch.curve[k].any():
            batch.phase[k] = Phase.PROBE
            return
        if not batch.returns[k]:
            batch.sides[k] = np.linalg.qr(search.rng.standard_normal((search.box.d, search.box.d)))[0]
        batch.aside[k] = batch.aside[k] or _ASIDE
        home, aside = batch.home[k], batch.aside[k] * batch.sides[k][batch.returns[k]]
        lower, upper = search.box.lower_unit, search.box.upper_unit
        is_outside = (home + aside < lower) | (home + aside > upper)
        batch.trial[k] = np.clip(home + np.where(is_outside, -aside, aside), lower, upper)
        batch.stage[k], batch.phase[k] = RETURNING, Phase.MOVE

    def _returned(self, k: int) -> None:
        """A top is where launches come back to; one that ends higher goes on from there."""
        batch, search = self.batch, self.search
        apart = float(np.abs(search.box.difference(batch.point[k], batch.home[k])).max())
        gain = batch.value[k] - batch.home_value[k]
        is_level = abs(gain) <= search.tie
        is_back = apart <= (_LEVEL if is_level else _BACK) * batch.aside[k]
        if not is_back and gain > search.tie:
            batch.stage[k] = CLIMBING
            if self._count_look(k):
                self._arrive(k)
            return
        if not is_back and (not is_level or batch.aside[k] == _ASIDE):  # stuck, or perhaps at another top of its height
            batch.stage[k] = ARRIVED
            batch.aside[k] *= _LESS if is_level else 1.0
            if self._count_look(k):
                self._go_aside(k)
            return
        if gain > _GAINED * search.tie and batch.looks[k] < _LOOKS:  # it was not quite there
            batch.stage[k], batch.phase[k], batch.returns[k] = ARRIVED, Phase.PROBE, 0
            batch.looks[k] += 1
            return
        if gain < 0.0:
            batch.point[k], batch.value[k] = batch.home[k], batch.home_value[k]
        batch.returns[k] += 1
        if is_back and batch.returns[k] < min(_RETURNS, search.box.d):
            batch.stage[k] = ARRIVED
            batch.home[k], batch.home_value[k] = batch.point[k], batch.value[k]
            self._go_aside(k)
            return
        level = "flat" if not is_back else "boundary" if self._held(np.array([k])).any() else "optimum"
        batch.kind[k] = KINDS.index(level)
        if not self._compares(k):
            self._freeze(k)

    def _count_look(self, k: int) -> bool:
        """Whether a launch may look further; otherwise it is lost."""
        batch = self.batch
        batch.looks[k], batch.returns[k] = batch.looks[k] + 1, 0
        if batch.looks[k] > _LOOKS:
            self.settling.ends_at(k, LOST)
            return False
        return True

    def _freeze(self, k: int) -> None:
        """A new mode; level ground at the same height is one mode."""
        batch, archive = self.batch, self.search.archive
        kind = KINDS[batch.kind[k]]
        for j, found in enumerate(archive.found if kind == "flat" else []):
            if found.kind == "flat" and abs(archive.values[j] - batch.value[k]) <= self.search.tie:
                self._is_known(k, j)
                return
        mode = self.settling.add(
            batch.point[k], batch.value[k], batch.gradient[k], batch.curve[k], kind, source="component"
        )
        self.settling.ends_at(k, mode, is_new=True)

    def _is_known(self, k: int, j: int) -> None:
        """A launch has come to a known mode; it may know better where that is."""
        batch, archive = self.batch, self.search.archive
        if archive.found[j].source == "component" and batch.value[k] > archive.values[j]:
            point = self.search.box.project(batch.point[k])
            archive.change(
                j, point, float(batch.value[k]), replace(archive.found[j], gradient=batch.gradient[k].copy())
            )
        self.settling.ends_at(k, j)

    def _lose(self, rows: Rows) -> None:
        for k in rows.tolist():
            self.settling.ends_at(k, LOST)
