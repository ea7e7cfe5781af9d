"""Steps where the function is not smooth: quasi-Newton directions that learn how steep it is across its creases.

The update of Broyden, Fletcher, Goldfarb and Shanno, with a line search that wants a rise and a change of slope and no
more, reaches the tops of creases and cones as well as smooth ones: at every kink the slopes of both sides are seen, and
the steps turn along it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.strategy import differences
from allmodes.strategy.ascents import slope_length
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.geometry import is_held
from allmodes.strategy.search import Search

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

LATER_STEP = 1e-3  # of the box: the first step where nothing, or only directions, are known
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
_TINY = 1e-300


@dataclass
class Lines(ABC):
    """Lines that launches search one after the other. Every method works on rows of the batch.

    Their `hessian` is the inverse of what it is elsewhere, with its sign turned: steps are its product with the slope.
    """

    search: Search
    batch: Batch

    @abstractmethod
    def _arrive(self, k: int) -> None:
        """A launch gets no higher."""

    @abstractmethod
    def _lose(self, rows: Rows) -> None:
        """Launches that cannot go on."""

    @abstractmethod
    def _pauses(self, k: int, rise: float) -> bool:
        """Whether a launch that made a step is looked at before it goes on; what comes next is decided then."""

    def _moved(self, point: Array) -> Array:
        box = self.search.box
        steps = differences.inward(point, _SHORTER * slope_length(self.search), box.lower_unit, box.upper_unit)
        return differences.gradient_points(point, steps)

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

    def _held(self, rows: Rows) -> NDArray[np.bool_]:
        return is_held(self.search.box, self.batch.point[rows], self.batch.gradient[rows])

    def _forget(self, rows: Rows, step: float) -> None:
        """Nothing is known but the slope: the next step is that long."""
        batch = self.batch
        size = step / np.maximum(length(batch.gradient[rows]), _TINY)
        batch.hessian[rows] = size[:, None, None] * differences.basis(self.search.box.d)
        batch.is_measured[rows], batch.small[rows] = False, 0

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
            p[is_bad] = g[is_bad] * LATER_STEP / np.maximum(length(g[is_bad]), _TINY)[:, None]
            slope[is_bad] = np.einsum("nd,nd->n", g[is_bad], p[is_bad])
        share = np.minimum(1.0, _LONGEST_STEP / np.maximum(length(p), _TINY))
        batch.way[rows], batch.slope[rows] = share[:, None] * p, share * slope
        batch.came_from[rows], batch.old_gradient[rows] = batch.point[rows], batch.gradient[rows]
        batch.base[rows], batch.low[rows], batch.high[rows] = batch.value[rows], 0.0, np.inf
        batch.length[rows], batch.is_steepest[rows] = 1.0, is_bad
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
        batch.length[rows] = np.where(
            low == 0.0, _NEXT * high, np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * low)
        )
        is_fine = (high - low) * np.abs(batch.way[rows]).max(axis=1) < _FINEST
        limit, each = _TRIES
        is_late = batch.tries[rows] > limit + each * self.search.box.d
        self._lose(rows[is_late])
        self._accept(rows[is_fine & ~is_late & (low > 0.0)])
        self._aim(rows[~is_fine & ~is_late])
        for k in rows[is_fine & ~is_late & (low <= 0.0)].tolist():
            if batch.is_steepest[k] or batch.small[k]:  # nor does another way lead up
                self._arrive(k)
            else:
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
        batch.small[rows] = np.where(is_small, batch.small[rows] + 1, 0)
        is_there = batch.small[rows] >= _MOST_SMALL
        for k in rows[is_there].tolist():
            self._arrive(k)
        going = zip(rows[~is_there].tolist(), rise[~is_there].tolist(), strict=True)
        self._line(np.array([k for k, gained in going if not self._pauses(k, gained)], dtype=np.intp))


def length(vectors: Array) -> Array:
    return np.sqrt(np.einsum("nd,nd->n", vectors, vectors))


def _updated(B: Array, s: Array, y: Array, is_learnt: NDArray[np.bool_]) -> Array:
    """Inverse Hessians (n, d, d) after steps s that changed slopes by -y; the first step also sets their scale."""
    sy = np.einsum("nd,nd->n", s, y)
    is_fine = sy > 1e-12 * length(s) * length(y)
    rho = 1.0 / np.where(is_fine, sy, 1.0)
    scale = sy / np.maximum(np.einsum("nd,nd->n", y, y), _TINY)
    eye = differences.basis(s.shape[1])
    old = np.where(is_learnt[:, None, None], B, scale[:, None, None] * eye)
    V = eye - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = V @ old @ V.mT + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.where((is_fine & np.isfinite(new).all(axis=(1, 2)))[:, None, None], new, B)
