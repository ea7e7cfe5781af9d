"""Every threshold on places and values, derived from xtol, the scale of the function, rounding and noise.

Places are in units of the box. `xtol` is the accuracy that the user wants of positions. Near an optimum the function
changes with the square of the distance, so that sqrt(xtol) is the distance over which it changes by about xtol of its
scale: what lies closer together than that cannot be told apart by a glance at the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from allmodes.search.context import Context

Array = NDArray[np.float64]

EPSILON = 2.2e-16  # relative rounding of a float64
TINY = 1e-300  # added to what is divided by
_SAME = 10.0  # xtol: the errors of two positions, with a margin
_CLOSE = 10.0  # sqrt(xtol): modes farther apart than this are never compared point by point
_TIE = 1e-7  # of the scale: values that users call equal; xtol^2 of curvature is far less
_RELATIVE_TIE = 1e-12  # of the value: what a sum of a few thousand rounded terms loses
_ROUNDING = (1e-11, 1e-15, 1e-14)  # of the local relief, of the scale, of the value: differences that mean nothing
_ERROR = 4.0  # roundings of the last digit in a value: a few terms of its size are added up
_NOISE = 3.0  # standard deviations of a difference that may be luck, also where the best of many is compared


class Tolerances(NamedTuple):
    """Thresholds of a search as it stands."""

    context: Context

    # ---- places, as shares of the box, in the largest coordinate of a difference

    @property
    def same(self) -> float:
        """Closer than this two points are one place."""
        return _SAME * self.context.xtol

    @property
    def near(self) -> float:
        """Closer than this the function has hardly changed."""
        return float(np.sqrt(self.context.xtol))

    @property
    def close(self) -> float:
        """Closer than this two optima are told apart by values between them."""
        return _CLOSE * self.near

    # ---- values

    @property
    def tie(self) -> float:
        """Values closer than this are equally good.

        A function that spans many orders of magnitude is judged by how curved it is at the best mode, unless that is
        level in all directions: what curvature is left there says how well it was located, and nothing of the function.
        """
        context, archive = self.context, self.context.archive
        scale, size = context.scale, 0.0
        if len(archive):
            best = int(np.argmax(archive.values))
            size = abs(archive.best)
            if not self.is_plateau(best):
                curvature = float(np.abs(archive.records[best].hessian).max(initial=0.0))
                scale = min(scale, curvature) if curvature > 0.0 else scale
        return _TIE * scale + self._relative_tie * size + _NOISE * context.noise

    @property
    def _relative_tie(self) -> float:
        return max(_RELATIVE_TIE, _NOISE * self.context.rounding)

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
        H = archive.records[best].hessian
        apart = np.delete(context.box.difference(archive.means, archive.means[best]), best, axis=0)
        fall = float(np.abs(np.einsum("jd,de,je->j", apart, H, apart)).min(initial=np.inf))
        error = 0.5 * context.xtol**2 * float(np.abs(H).max(initial=0.0))
        return float(np.fmin(self.tie, _TIE * fall + error + self._relative_tie * abs(archive.best)))

    def error_of(self, value: Array | float) -> Array:
        """How far values (...) that are this large may be off by rounding; 0 where the function failed."""
        return self.rounded * np.where(np.isfinite(value), np.abs(value), 0.0)

    @property
    def rounded(self) -> float:
        """How far a value may be off by rounding, as a share of it."""
        return max(_ERROR * EPSILON, self.context.rounding)

    @property
    def coarseness(self) -> float:
        """How much larger rounding is than that of float64: 1 for most functions."""
        return self.rounded / (_ERROR * EPSILON)

    def rounding(self, curvature: float = np.inf) -> float:
        """Differences of values that mean nothing, where the function is curved like this."""
        relief, wide, relative = _ROUNDING
        context = self.context
        size = abs(context.best_value if np.isfinite(context.best_value) else 0.0)
        coarse = context.rounding
        relief, wide, relative = max(relief, coarse), max(wide, coarse**2), max(relative, coarse)
        return relief * min(context.scale, curvature) + wide * context.scale + relative * size

    def is_plateau(self, j: int) -> bool:
        """Whether a mode is level in all directions, as far as its curvature can tell."""
        record = self.context.archive.records[j]
        return record.kind == "flat" and bool(np.abs(record.hessian).max(initial=0.0) <= self.rounding())

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
            return _NOISE * np.hypot(errors, errors[best])
        tie, equal = self.tie, self.equal
        level = min(tie, equal + 1e-10 * self.context.scale)
        known = {"optimum": equal, "boundary": equal, "flat": level, "unverified": tie}
        errors = np.array([known[record.kind] for record in archive.records])
        for j in (j for j, record in enumerate(archive.records) if record.source == "component"):
            errors[j] = self.value_error(j)
        return np.maximum(errors, errors[best])
