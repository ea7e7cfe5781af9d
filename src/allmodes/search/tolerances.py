"""Every threshold on places and values, derived from xtol, the scale of the function, rounding and noise.

Places are in units of the box. `xtol` is the accuracy that the user wants of positions. Near an optimum the function
changes with the square of the distance, so that sqrt(xtol) is the distance over which it changes by about xtol of its
scale: points closer together than that cannot be told apart by their values at a glance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.curvature import Curvature, largest, weakest

if TYPE_CHECKING:
    from allmodes.search.context import Context

Array = NDArray[np.float64]

EPSILON = 2.2e-16  # relative rounding of a float64
TINY = 1e-300  # added to what is divided by
_SAME = 10.0  # xtol: the errors of two positions, with a margin
_CLOSE = 10.0  # sqrt(xtol): modes farther apart than this are never compared point by point
_LOCATED = 2.0  # times: two positions, each off by as much
_FARTHEST = 0.1  # of the box: modes farther apart are not compared where values are coarse
_TIE = 1e-7  # of the scale: values that users call equal; xtol^2 of curvature is far less
_RELATIVE_TIE = 1e-12  # of the value: what a sum of a few thousand rounded terms loses
_LARGEST_TIE = 1e-3  # of the scale
_ROUNDING = (1e-11, 1e-15, 1e-14)  # of the local relief, of the scale, of the value: smaller differences are rounding
_ERROR = 4.0  # roundings of the last digit in a value: a few terms of its size are added up
_UNLIKE = 1e-8  # of a value: sums taken in another order differ by less
NOISE = 3.0  # standard deviations of a difference that may be chance, even for the best of many


class Tolerances(NamedTuple):
    """Thresholds of a search as it stands."""

    context: Context

    # ---- places, as shares of the box, in the largest coordinate of a difference

    @property
    def same(self) -> float:
        """Points closer than this are one place."""
        return _SAME * self.context.xtol

    @property
    def near(self) -> float:
        """Within this distance the function hardly changes."""
        return float(np.sqrt(self.context.xtol))

    @property
    def close(self) -> float:
        """Optima closer than this are told apart by values between them."""
        return _CLOSE * self.near

    @property
    def located(self) -> float:
        """How well positions can be known despite rounding of values, where the curvature is that of the scale."""
        context = self.context
        error = float(self.error_of(context.best_value))
        return float(np.sqrt(error / context.scale)) if context.scale > 0.0 else 0.0

    def reach(self, hessian: Curvature) -> float:
        """An optimum with such a curvature is told apart from others closer than this by values between them.

        Where values are coarse it is located no better than where it falls by their rounding.
        """
        least = weakest(hessian)
        fall = self.rounding(least)
        return max(self.close, min(_LOCATED * float(np.sqrt(2.0 * fall / max(least, TINY))), _FARTHEST))

    # ---- values

    @property
    def tie(self) -> float:
        """Values closer than this are equally good.

        A function that spans many orders of magnitude is judged by how curved it is at the best mode, unless that is
        level in all directions: the curvature left there says how well it was located, and nothing about the function.
        Whole numbers and choices are exact: there values are equal if they differ by their rounding alone.
        """
        context, archive = self.context, self.context.archive
        scale, size = context.scale, 0.0
        if not context.box.is_real.any():
            return self.misread(archive.best)
        if len(archive):
            best = int(np.argmax(archive.values))
            size = abs(archive.best)
            if not self.is_plateau(best):
                curvature = largest(archive.records[best].hessian)
                scale = min(scale, curvature) if curvature > 0.0 else scale
        return _TIE * scale + self._relative_tie(size) + NOISE * context.noise

    def _relative_tie(self, size: float) -> float:
        """What values of this size may lose when many terms are added up; at most a share of the scale, if rounding is.

        A constant that is added to a function does not make its optima equally good.
        """
        context = self.context
        summed = min(_RELATIVE_TIE * size, _LARGEST_TIE * context.scale)
        return max(summed, NOISE * context.rounding * size, float(self.error_of(size)))

    @property
    def equal(self) -> float:
        """Values of polished modes closer than this are equal: in a wide box far less than `tie`.

        Judged by how much the function falls between the best mode and the others, by the model at the best, and by
        the error of a value that comes from the error of its position.
        """
        context, archive = self.context, self.context.archive
        if not len(archive) or context.noise:
            return self.tie
        best = int(np.argmax(archive.values))
        H = np.asarray(archive.records[best].hessian)
        apart = np.delete(context.box.difference(archive.means, archive.means[best]), best, axis=0)
        fall = float(np.abs(np.einsum("jd,de,je->j", apart, H, apart)).min(initial=np.inf))
        error = 0.5 * context.xtol**2 * largest(H)
        return float(np.fmin(self.tie, _TIE * fall + error + self._relative_tie(abs(archive.best))))

    @property
    def unlike(self) -> float:
        """Values at images under a symmetry that differ by more, as a share of them, are not the same value."""
        return max(_UNLIKE, 10.0 * self.context.rounding)

    def error_of(self, value: Array | float) -> Array:
        """How far values (...) that are this large may be off by rounding; 0 where the function failed."""
        return self.rounded * np.where(np.isfinite(value), np.abs(value), 0.0)

    def misread(self, value: float) -> float:
        """How far a value may be off by its own rounding and by that of larger values that it is the difference of."""
        return float(self.error_of(value)) + _ROUNDING[1] * self.context.scale

    @property
    def rounded(self) -> float:
        """How far a value may be off by rounding, as a share of it."""
        return max(_ERROR * EPSILON, self.context.rounding)

    def coarseness(self, value: Array | float = 0.0) -> Any:
        """How much larger the rounding of values (...) is, beside the scale, than that of float64; mostly 1.

        A constant that is added to a function makes it coarse.
        """
        size, scale = np.where(np.isfinite(value), np.abs(value), 0.0), self.context.scale
        return self.rounded / (_ERROR * EPSILON) * np.maximum(size / (scale or np.inf), 1.0)

    def rounding(self, curvature: float = np.inf) -> float:
        """Differences of values that may be rounding, where the function has such a curvature."""
        relief, wide, relative = _ROUNDING
        context = self.context
        size = abs(context.best_value if np.isfinite(context.best_value) else 0.0)
        coarse = context.rounding
        relief, wide, relative = max(relief, coarse), max(wide, coarse**2), max(relative, coarse)
        return relief * min(context.scale, curvature) + wide * context.scale + relative * size

    def is_plateau(self, j: int) -> bool:
        """Whether a mode is level in all directions, as far as its curvature can tell."""
        record = self.context.archive.records[j]
        return record.kind == "flat" and largest(record.hessian) <= self.rounding()

    def value_error(self, j: int) -> float:
        """Of a mode's value, where its place is known to `same`: at a kink the slope counts."""
        record = self.context.archive.records[j]
        slope = float(np.abs(np.where(record.active, 0.0, record.gradient)).sum())
        return max(self.tie, self.same * slope) if slope == slope else self.tie

    def shortfalls(self, best: int) -> Array:
        """By how much each mode may be worse than the best, (J,), and still be as good."""
        archive, noise = self.context.archive, self.context.noise
        if noise:
            errors = np.array([record.standard_error for record in archive.records])
            return NOISE * np.hypot(errors, errors[best])
        tie, equal = self.tie, self.equal
        level = min(tie, equal + 1e-10 * self.context.scale)
        known = {"optimum": equal, "boundary": equal, "constrained": equal, "flat": level, "unverified": tie}
        errors = np.array([known[record.kind] for record in archive.records])
        for j, record in enumerate(archive.records):
            if record.source == "component":
                errors[j] = self.value_error(j)
            elif record.source == "model":  # its value is that of a point close by
                errors[j] = max(tie, NOISE * record.standard_error)
        return np.maximum(errors, errors[best])
