"""The curvature where a launch has arrived: which coordinates are held, which directions look level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.strategy.ascents import slope_length
from allmodes.strategy.batch import Batch
from allmodes.strategy.ends import KINDS
from allmodes.strategy.geometry import is_held
from allmodes.strategy.search import Search

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
_CURVED = 0.3  # a fall at the nearer probe, as a share of what a parabola's would be given that at the farther one
_APART = 0.5  # nearer probe to farther one, at most, for the two to tell a parabola from a quartic
_WEAK = 1e-3  # least curvature over the largest that may be none where no Hessian is given
_FAINT = 1e-6  # least curvature over the largest that values close by can show
_NARROW = 0.1  # least curvature, over the largest or the scale of the function, that is checked by values


@dataclass
class Tops:
    """What values, gradients and Hessians say of launches, by their rows k.

    Attributes:
        search: what is shared.
        batch: the launches under way.
    """

    search: Search
    batch: Batch

    def _least(self, k: int) -> tuple[float, Array]:
        """The least curvature, ascending eigenvalues' last, and the direction (d,) of it."""
        free, H = self._free(k)
        eigenvalues, vectors = np.linalg.eigh(H)
        axis = np.zeros(self.search.box.d)
        axis[free] = vectors[:, -1]
        return float(eigenvalues[-1]), axis

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
        none = _NO_SLOPE if search.order else 2.0 * slope_length(search)  # differences are off by half their step
        least = np.maximum(rim, none * np.abs(H).max(initial=0.0))
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

    def _wants_check(self, k: int) -> bool:
        """Whether the least curvature is to be compared with values close by.

        It is where no Hessian was given for the top, and where it is small and may still be one.
        """
        search, (free, H) = self.search, self._free(k)
        if not len(free):
            return False
        eigenvalues = np.asarray(np.linalg.eigvalsh(H), dtype=np.float64)
        if KINDS[self.batch.kind[k]] == "flat":
            return bool(eigenvalues[-1] < -_FAINT * np.abs(eigenvalues).max()) and len(search.levels) > 0
        least, largest = (float(pick(np.abs(eigenvalues))) for pick in (np.min, np.max))
        return search.order == 0 or (search.order == 1 and least < _NARROW * max(largest, search.scale))

    def _is_level(self, k: int) -> bool:
        """Whether a top is flat, or may be: where it is curved so little that differences hardly tell."""
        if KINDS[self.batch.kind[k]] == "flat":
            return True
        if not self.batch.is_doubtful[k]:
            return False
        curvatures = np.abs(np.linalg.eigvalsh(self._free(k)[1]))
        return bool(curvatures.min(initial=np.inf) < _WEAK * curvatures.max(initial=0.0))

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


def is_curved(length: Array, falls: Array, slack: float) -> NDArray[np.bool_]:
    """Along which axes values fall like those of a parabola: lengths and falls (nearer and farther, sides, axes).

    By the side that falls less; one that a bound cuts short tells little.
    """
    share = length[0] / np.maximum(length[1], 1e-300)
    counts = share <= _APART
    near, far = np.where(counts, falls, np.inf)
    side, axes = far.argmin(axis=0), np.arange(far.shape[1])
    parabola = share[side, axes] ** 2 * far[side, axes]
    return counts.any(axis=0) & (near.min(axis=0) > np.maximum(10.0 * slack, _CURVED * parabola))
