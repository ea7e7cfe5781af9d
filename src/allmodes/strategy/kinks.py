"""Ascents where the function is not smooth: quasi-Newton steps that learn how steep it is across its creases.

The update of Broyden, Fletcher, Goldfarb and Shanno, with a line search that wants a rise and a change of slope and no
more, reaches the tops of creases and cones as well as smooth ones: at every kink the slopes of both sides are seen, and
the steps turn along it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy import differences
from allmodes.strategy.ascents import REFUSED, slope_length
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.ends import KINDS, LOST
from allmodes.strategy.geometry import closest, is_held
from allmodes.strategy.search import Search
from allmodes.strategy.settling import Settling

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_FIRST_STEP = 0.02  # of the box, and after a line search that failed ...
_LATER_STEP = 1e-3
_THIN = 1e-6  # of the distance of a probe: a bound has cut off more
_LONGEST_STEP = 0.3
_ENOUGH = 1e-4  # of the rise that the slope promises, at least
_TURNED = 0.9  # share of the slope that may be left
_SHORTER = 0.1  # differences, of those on smooth ground: they are not to reach across a crease that is close
_FINEST = 1e-9  # of the box: a line is not divided further
_NEXT = 0.3  # of a step that was too long: the next one, when none was short enough
_MOST_DOUBLINGS = 2.0**10
_SMALL = 1e-7  # step, and ...
_LITTLE = 1e-3  # ... rise, as a share of what counts as a tie, ...
_MOST_SMALL = 3  # ... so many of which in a row say that a launch has arrived
_TRIES = (150, 30)  # points on lines that a launch may take, and for each coordinate
_SMOOTH = 1e-3  # of the slope at first: less is left at a smooth top
_AROUND = 1e-3  # of the box: where falls around a top are measured, and ...
_NEARER = 0.25  # ... as a share of that, a second time
_ASIDE = 0.01  # of the box: how far away a launch is put to see whether it comes back
_CUSP = 3.0  # fall over the one measured nearer: 2 for a root
_LINEAR = 8.0  # fall over the one measured nearer: 4 on a cone, 16 on a parabola
_ACROSS = 1e-5  # of the largest eigenvalue: directions with less lead across a crease, ...
_LESS = 0.1  # ... and a launch is put aside less in these
_BACK = 0.1  # of the way aside: how near it must come
_REGAINED = 1e-3  # of the fall aside: what may be missing then, and what its last step may have brought
_LOOKS = 3  # launches aside that may end elsewhere
_WITHIN = 1e-3  # of the box: closer modes are looked at while a launch is still under way
_SAME = 1e-5  # and those are the same
_CLOSE = 0.01  # modes that are told apart by values between them
_BETWEEN = np.arange(1, 6) / 6.0
_TINY = 1e-300
CLIMBING, ARRIVED, RETURNING = range(3)  # stages


@stored
@dataclass
class Kinks:
    """Launches that have met something that is not smooth. Every method works on rows of the batch.

    Their `hessian` is the inverse of what it is elsewhere, with its sign turned: steps are its product with the slope.
    """

    search: Search
    batch: Batch
    settling: Settling

    def can_begin(self, k: int) -> bool:
        """Whether a launch that got lost has something to go on with."""
        batch = self.batch
        is_new = not (batch.is_bridge[k] or batch.is_kinked[k]) and batch.iterations[k] > 0
        is_rough = batch.refusals[k] >= REFUSED * batch.iterations[k] or not np.isfinite(batch.hessian[k]).all()
        slope = batch.gradient[k]
        return bool(is_new and is_rough and np.isfinite(batch.value[k]) and np.isfinite(slope).all() and slope.any())

    def begin(self, rows: Rows) -> None:
        """Launches go on from where they are."""
        batch = self.batch
        batch.is_kinked[rows], batch.stage[rows], batch.rival[rows] = True, CLIMBING, -1
        batch.steep[rows] = _length(np.where(self._held(rows), 0.0, batch.gradient[rows]))
        self._forget(rows, _FIRST_STEP)
        self._line(rows)

    # ---- what they want to know

    def points(self, phase: Phase, rows: Rows) -> Array:
        """Where launches in this phase want to be evaluated, (n, points each, d)."""
        batch, box = self.batch, self.search.box
        if phase == Phase.LINE:
            return batch.trial[rows][:, None]
        if phase == Phase.MOVE:
            start = batch.trial[rows]
            return start[:, None] if self.search.order else np.concatenate([start[:, None], self._moved(start)], axis=1)
        point = batch.point[rows]
        if phase == Phase.TILT:
            return self._moved(point)
        if phase == Phase.WAY:
            way = box.difference(self.search.archive.means[batch.rival[rows]], point)
            return point[:, None] + _BETWEEN[:, None] * way[:, None]
        if phase == Phase.NUDGE:
            return batch.trial[rows][:, None]
        return np.stack([self._around(k) for k in rows.tolist()])

    def _around(self, k: int) -> Array:
        """Points (n, d) around a top, along the axes on which steps are longest and shortest, and between these."""
        batch, box = self.batch, self.search.box
        axes = np.linalg.eigh(batch.hessian[k])[1].T
        return np.clip(batch.point[k] + _AROUND * _steps(axes), box.lower_unit, box.upper_unit)

    def _moved(self, point: Array) -> Array:
        box = self.search.box
        steps = differences.inward(point, _SHORTER * slope_length(self.search), box.lower_unit, box.upper_unit)
        return differences.gradient_points(point, steps)

    # ---- what they are told

    def told(self, phase: Phase, rows: Rows, points: Array, told: Evaluation) -> None:
        """Answers to `points`."""
        getattr(self, f"_told_{phase.name.lower()}")(rows, points, told)

    def _told_line(self, rows: Rows, points: Array, told: Evaluation) -> None:
        batch, value = self.batch, told.value[:, 0]
        batch.tries[rows] += 1
        rise = value - batch.base[rows]
        is_enough = (rise >= _ENOUGH * batch.length[rows] * batch.slope[rows]) & (rise > 0.0)
        short, taken = rows[~is_enough], rows[is_enough]
        batch.high[short] = batch.length[short]
        batch.point[taken], batch.value[taken] = batch.trial[taken], value[is_enough]
        if self.search.order:
            batch.gradient[taken] = told.gradient[is_enough, 0]
            self._judge(taken)
        else:
            batch.phase[taken] = Phase.TILT
        self._divide(short)

    def _told_tilt(self, rows: Rows, points: Array, told: Evaluation) -> None:
        batch = self.batch
        batch.gradient[rows] = differences.gradient(batch.point[rows], batch.value[rows], points, told.value)
        self._judge(rows)

    def _told_move(self, rows: Rows, points: Array, told: Evaluation) -> None:
        batch, value = self.batch, told.value[:, 0]
        batch.point[rows], batch.value[rows] = points[:, 0], value
        if self.search.order:
            batch.gradient[rows] = told.gradient[:, 0]
        else:
            batch.gradient[rows] = differences.gradient(points[:, 0], value, points[:, 1:], told.value[:, 1:])
        is_fine = np.isfinite(value) & np.isfinite(batch.gradient[rows]).all(axis=1)
        batch.drop[rows], batch.tries[rows] = batch.home_value[rows] - value, 0
        self._lose(rows[~is_fine])
        rows = rows[is_fine]
        self._forget(rows[batch.stage[rows] != RETURNING], _LATER_STEP)
        self._rescale(rows[batch.stage[rows] == RETURNING])
        self._line(rows)

    def _told_way(self, rows: Rows, points: Array, told: Evaluation) -> None:
        """Without a valley in between it is the same mode."""
        batch, archive = self.batch, self.search.archive
        for k, values in zip(rows.tolist(), told.value, strict=True):
            j = int(batch.rival[k])
            if (values >= min(batch.value[k], archive.values[j]) - self.search.rounding).all():
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
            relief = self._relief(k, where, values)
            if relief.is_cusp:  # steeper without end: nothing tells a top from a crease
                self.settling.ends_at(k, LOST)
                continue
            if relief.rise is not None:  # a saddle along the crease
                self._restart(k, batch.point[k] + _ASIDE * relief.rise)
                continue
            batch.curve[k] = relief.curve
            top = np.clip(batch.point[k] + relief.top, search.box.lower_unit, search.box.upper_unit)
            batch.trial[k], batch.phase[k] = top, Phase.NUDGE

    def _told_nudge(self, rows: Rows, points: Array, told: Evaluation) -> None:
        """The top of the parabola along a crease is a little higher."""
        batch = self.batch
        for k, where, value in zip(rows.tolist(), points[:, 0], told.value[:, 0], strict=True):
            if value > batch.value[k]:
                batch.point[k], batch.value[k] = where, value
            batch.home[k], batch.home_value[k] = batch.point[k], batch.value[k]
            self._go_aside(k)

    def _restart(self, k: int, point: Array) -> None:
        """Go on from another point."""
        batch, box = self.batch, self.search.box
        batch.trial[k] = np.clip(point, box.lower_unit, box.upper_unit)
        batch.phase[k], batch.stage[k] = Phase.MOVE, CLIMBING
        self._count_look(k)

    def _relief(self, k: int, where: Array, values: Array) -> _Relief:
        """What values at the points of `_around` say."""
        batch, search = self.batch, self.search
        d, value = search.box.d, float(batch.value[k])
        axes = np.linalg.eigh(batch.hessian[k])[1].T
        is_inside = np.abs(where - batch.point[k] - _AROUND * _steps(axes)).max(axis=1) < _THIN * _AROUND
        falls = np.where(is_inside, value - values, np.nan)[: 4 * d].reshape(2, 2, d)  # (distance, side, axis)
        most = np.nan_to_num(np.fmax(falls[:, 0], falls[:, 1]))
        is_smooth = (most[0] >= _LINEAR * most[1]) & np.isfinite(falls).all(axis=(0, 1))
        height = max(value - search.level, 1e-3 * search.scale, _TINY)
        curves = np.where(is_smooth, 2.0, 2.0 * most[0] / height) * most[0] / _AROUND**2
        curve = -(axes.T * np.maximum(curves, _TINY)) @ axes
        smooth = is_smooth.nonzero()[0]
        g = (falls[0, 1] - falls[0, 0])[smooth] / (2.0 * _AROUND)
        H = -np.diag((falls[0, 0] + falls[0, 1])[smooth] / _AROUND**2)
        pairs = np.full((d, d), np.nan)
        pairs[np.triu_indices(d, 1)] = np.where(is_inside, value - values, np.nan)[4 * d :]
        pairs = np.fmax(pairs, pairs.T)[smooth][:, smooth]
        sums = falls[0, 0][smooth][:, None] + falls[0, 0][smooth]
        H = np.where(np.eye(len(smooth), dtype=bool) | ~np.isfinite(pairs), H, (sums - pairs) / _AROUND**2)
        eigenvalues, vectors = np.linalg.eigh(H)
        is_rising = bool(len(smooth)) and 0.5 * eigenvalues[-1] * _AROUND**2 > 10.0 * search.rounding
        rotated = g @ vectors / np.maximum(np.abs(eigenvalues), _TINY)
        top = np.clip(vectors @ rotated, -_ASIDE, _ASIDE) @ axes[smooth]
        return _Relief(
            bool((most[0] < _CUSP * most[1]).any()), vectors[:, -1] @ axes[smooth] if is_rising else None, curve, top
        )

    # ---- lines

    def _held(self, rows: Rows) -> NDArray[np.bool_]:
        return is_held(self.search.box, self.batch.point[rows], self.batch.gradient[rows])

    def _forget(self, rows: Rows, step: float) -> None:
        """Nothing is known but the slope: the next step is that long."""
        batch = self.batch
        size = step / np.maximum(_length(batch.gradient[rows]), _TINY)
        batch.hessian[rows] = size[:, None, None] * differences.basis(self.search.box.d)
        batch.is_measured[rows], batch.small[rows] = False, 0

    def _rescale(self, rows: Rows) -> None:
        """What is known of directions is kept; steps begin anew."""
        batch = self.batch
        steps = _length((batch.hessian[rows] @ batch.gradient[rows][..., None])[..., 0])
        batch.hessian[rows] *= (_LATER_STEP / np.maximum(steps, _TINY))[:, None, None]
        batch.small[rows] = 0

    def _line(self, rows: Rows, is_steepest: bool = False) -> None:
        """Begin a line from where launches are, in the direction of a quasi-Newton step or the steepest one."""
        if not len(rows):
            return
        batch = self.batch
        g, held = batch.gradient[rows], self._held(rows)
        g = np.where(held, 0.0, g)
        p = np.where(held, 0.0, (batch.hessian[rows] @ g[..., None])[..., 0])
        slope = np.einsum("nd,nd->n", g, p)
        is_bad = ~((slope > 0.0) & np.isfinite(slope)) | is_steepest
        if is_bad.any():
            p[is_bad] = g[is_bad] * _LATER_STEP / np.maximum(_length(g[is_bad]), _TINY)[:, None]
            slope[is_bad] = np.einsum("nd,nd->n", g[is_bad], p[is_bad])
        share = np.minimum(1.0, _LONGEST_STEP / np.maximum(_length(p), _TINY))
        batch.way[rows], batch.slope[rows] = share[:, None] * p, share * slope
        batch.came_from[rows], batch.old_gradient[rows] = batch.point[rows], batch.gradient[rows]
        batch.base[rows], batch.low[rows], batch.high[rows] = batch.value[rows], 0.0, np.inf
        batch.length[rows] = 1.0
        self._aim(rows)
        is_stuck = (slope <= 0.0) | (batch.trial[rows] == batch.point[rows]).all(axis=1)
        for k in rows[is_stuck].tolist():
            self._arrive(k)

    def _aim(self, rows: Rows) -> None:
        batch, box = self.batch, self.search.box
        trial = batch.came_from[rows] + batch.length[rows][:, None] * batch.way[rows]
        batch.trial[rows] = np.minimum(np.maximum(trial, box.lower_unit), box.upper_unit)
        batch.phase[rows] = Phase.LINE

    def _judge(self, rows: Rows) -> None:
        """Launches that have risen: far enough, or is the slope still much the same?"""
        batch = self.batch
        is_fine = np.isfinite(batch.gradient[rows]).all(axis=1)
        self._lose(rows[~is_fine])
        rows = rows[is_fine]
        if not len(rows):
            return
        left = np.einsum("nd,nd->n", np.where(self._held(rows), 0.0, batch.gradient[rows]), batch.way[rows])
        goes_on = (left > _TURNED * batch.slope[rows]) & (batch.length[rows] < _MOST_DOUBLINGS)
        batch.low[rows[goes_on]] = batch.length[rows[goes_on]]
        self._accept(rows[~goes_on])
        self._divide(rows[goes_on])

    def _divide(self, rows: Rows) -> None:
        """The next point on a line: between those known to be too near and too far, or beyond."""
        batch = self.batch
        if not len(rows):
            return
        low, high = batch.low[rows], batch.high[rows]
        batch.length[rows] = np.where(low == 0.0, _NEXT * high, np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * low))
        is_fine = (high - low) * np.abs(batch.way[rows]).max(axis=1) < _FINEST
        limit, each = _TRIES
        is_late = batch.tries[rows] > limit + each * self.search.box.d
        self._lose(rows[is_late])
        self._accept(rows[is_fine & ~is_late & (low > 0.0)])
        self._aim(rows[~is_fine & ~is_late])
        for k in rows[is_fine & ~is_late & (low <= 0.0)].tolist():
            if batch.small[k] < 0:  # nor did the steepest way lead up
                self._arrive(k)
            else:
                batch.small[k] = -1
                self._line(np.array([k]), is_steepest=True)

    def _accept(self, rows: Rows) -> None:
        """Learn from a step that was made, and go on."""
        if not len(rows):
            return
        batch = self.batch
        s = batch.point[rows] - batch.came_from[rows]
        y = batch.old_gradient[rows] - batch.gradient[rows]
        batch.hessian[rows] = _updated(batch.hessian[rows], s, y, batch.is_measured[rows])
        batch.is_measured[rows] = True
        rise = batch.value[rows] - batch.base[rows]
        is_small = (np.abs(s).max(axis=1) < _SMALL) | (rise < _LITTLE * self.search.tie)
        batch.small[rows] = np.where(is_small, np.maximum(batch.small[rows], 0) + 1, 0)
        is_there = (batch.small[rows] >= _MOST_SMALL) | self._is_back(rows, rise)
        for k in rows[is_there].tolist():
            self._arrive(k)
        self._line(np.array([k for k in rows[~is_there].tolist() if not self._meets(k)], dtype=np.intp))

    def _is_back(self, rows: Rows, rise: Array) -> NDArray[np.bool_]:
        """Whether launches that were put aside are where they were, and do not rise any more."""
        batch = self.batch
        is_back = batch.stage[rows] == RETURNING
        if is_back.any():
            apart = np.abs(self.search.box.difference(batch.point[rows], batch.home[rows])).max(axis=1)
            left = np.maximum(batch.home_value[rows] - batch.value[rows], rise)
            is_back &= (apart <= _BACK * _ASIDE) & (left <= _REGAINED * batch.drop[rows])
        return is_back

    def _meets(self, k: int) -> bool:
        """Whether a launch comes close to a mode that it has not been compared with."""
        batch = self.batch
        if batch.stage[k] != CLIMBING or not len(self.search.archive):
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
        rows = np.array([k])
        if _length(np.where(self._held(rows), 0.0, batch.gradient[rows]))[0] <= _SMOOTH * batch.steep[k]:
            batch.phase[k], batch.radius[k], batch.refusals[k] = Phase.START, _LATER_STEP, 0
            batch.is_measured[k], batch.rival[k] = False, -1
            return
        if not batch.is_measured[k]:  # not a step was made: differences reach across the crease that it is on
            aside = self.search.rng.standard_normal(self.search.box.d)
            self._restart(k, batch.point[k] + _AROUND * aside)
            return
        batch.stage[k] = ARRIVED
        if not self._compares(k):
            batch.phase[k] = Phase.PROBE

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
        """Put a launch a little aside, most of all in directions in which it can move freely."""
        batch, search = self.batch, self.search
        if batch.stage[k] == RETURNING:  # it had come back and was compared with a mode that is new
            self._freeze(k)
            return
        if not batch.curve[k].any():
            batch.phase[k] = Phase.PROBE
            return
        eigenvalues, vectors = np.linalg.eigh(batch.hessian[k])
        sizes = np.where(eigenvalues > _ACROSS * eigenvalues[-1], 1.0, _LESS)
        aside = vectors @ (sizes * search.rng.choice([-1.0, 1.0], search.box.d))
        start = batch.home[k] + _ASIDE * aside / max(float(np.abs(aside).max()), _TINY)
        batch.trial[k] = np.clip(start, search.box.lower_unit, search.box.upper_unit)
        batch.stage[k], batch.phase[k] = RETURNING, Phase.MOVE

    def _returned(self, k: int) -> None:
        """A top is where launches come back to; one that ends higher goes on from there."""
        batch, search = self.batch, self.search
        apart = float(np.abs(search.box.difference(batch.point[k], batch.home[k])).max())
        gain = batch.value[k] - batch.home_value[k]
        is_back = apart <= _BACK * _ASIDE
        if not is_back and gain > search.tie:
            batch.stage[k] = CLIMBING
            if self._count_look(k):
                self._arrive(k)
            return
        if not is_back and gain < -search.tie:
            batch.stage[k] = ARRIVED
            if self._count_look(k):
                self._go_aside(k)
            return
        if gain < 0.0:
            batch.point[k], batch.value[k] = batch.home[k], batch.home_value[k]
        level = "flat" if not is_back else "boundary" if self._held(np.array([k])).any() else "optimum"
        batch.kind[k] = KINDS.index(level)
        if not self._compares(k):
            self._freeze(k)

    def _count_look(self, k: int) -> bool:
        """Whether a launch may look further; otherwise it is lost."""
        batch = self.batch
        batch.looks[k] += 1
        if batch.looks[k] > _LOOKS:
            self.settling.ends_at(k, LOST)
            return False
        return True

    def _freeze(self, k: int) -> None:
        """A new mode; level ground at the same height is one mode."""
        batch, archive = self.batch, self.search.archive
        kind = KINDS[batch.kind[k]]
        if kind == "flat":
            for j, found in enumerate(archive.found):
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
            archive.change(j, point, float(batch.value[k]), replace(archive.found[j], gradient=batch.gradient[k].copy()))
        self.settling.ends_at(k, j)

    def _lose(self, rows: Rows) -> None:
        for k in rows.tolist():
            self.settling.ends_at(k, LOST)


class _Relief(NamedTuple):
    """The surroundings of a top.

    Attributes:
        is_cusp: whether the function falls more and more steeply towards it.
        rise: a direction (d,) along a crease in which the function is curved upward, or None.
        curve: how curved the function is, seen from a distance (d, d).
        top: where the parabola along the crease has its top, from here (d,).
    """

    is_cusp: bool
    rise: Array | None
    curve: Array
    top: Array


def _steps(axes: Array) -> Array:
    """Steps (n, d) on both sides of d axes (d, d), shorter ones, and between every two."""
    i, j = np.triu_indices(len(axes), 1)
    near = np.array([1.0, -1.0, _NEARER, -_NEARER])[:, None, None] * axes
    return np.concatenate([near.reshape(-1, len(axes)), axes[i] + axes[j]])


def _length(vectors: Array) -> Array:
    return np.sqrt(np.einsum("nd,nd->n", vectors, vectors))


def _updated(B: Array, s: Array, y: Array, is_learnt: NDArray[np.bool_]) -> Array:
    """Inverse Hessians (n, d, d) after steps s that changed slopes by -y; the first step also sets their scale."""
    sy = np.einsum("nd,nd->n", s, y)
    is_fine = sy > 1e-12 * _length(s) * _length(y)
    rho = 1.0 / np.where(is_fine, sy, 1.0)
    scale = sy / np.maximum(np.einsum("nd,nd->n", y, y), _TINY)
    eye = differences.basis(s.shape[1])
    old = np.where(is_learnt[:, None, None], B, scale[:, None, None] * eye)
    V = eye - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = V @ old @ V.mT + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.where((is_fine & np.isfinite(new).all(axis=(1, 2)))[:, None, None], new, B)
