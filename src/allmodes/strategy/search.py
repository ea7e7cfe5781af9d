"""What all ways of searching share: the domain, the archive, random numbers, what is known of the function."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.records import FrameRecord, PathRecord

_FEW_LEVELS = 8
_EQUAL = 3.0  # standard errors of a difference of values that may be luck, also where the best of many is compared
_FEW_XTOL = 10.0  # accuracy of positions at kinks
_MOST_LEVELS = 4096  # values of even starts kept for the level and the scale of the function


@stored
@dataclass
class Search:
    """Shared state of a search.

    Attributes:
        box: the domain.
        archive: modes found.
        rng: all randomness.
        order: 0 values, 1 gradients too, 2 Hessians too.
        is_global: whether only the best modes count.
        xtol: wanted accuracy of positions, as a share of the box.
        noise: standard deviation of a value; 0 for exact functions.
        nfev: evaluations made, kept by the finder; up to date in `tell`.
        maxfev: the budget.
        level, scale: median and interquartile range of the function over evenly spread points.
        best_point, best_value, best_at: the best point evaluated, and after how many evaluations.
        paths, frames: where launches and annealed mixtures went, to be looked at afterwards.
    """

    box: Box
    archive: Archive
    rng: np.random.Generator
    order: int = 0
    is_global: bool = False
    xtol: float = 1e-6
    noise: float = 0.0
    nfev: int = 0
    maxfev: int = 10_000
    levels: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    level: float = 0.0
    scale: float = 0.0
    best_point: NDArray[np.float64] | None = None
    best_value: float = -np.inf
    best_at: int = 0
    paths: PathRecord = field(default_factory=PathRecord)
    frames: FrameRecord = field(default_factory=FrameRecord)

    def add_levels(self, values: NDArray[np.float64]) -> None:
        """Values at evenly spread points."""
        finite = values[np.isfinite(values)]
        if len(finite) == 0 or len(self.levels) >= _MOST_LEVELS:
            return
        self.levels = np.append(self.levels, finite)
        # of a few values the range, of many the interquartile range
        shares = np.array([0, 2, 4]) if len(self.levels) < _FEW_LEVELS else np.array([1, 2, 3])
        quarters = (len(self.levels) - 1) * shares // 4
        low, middle, high = np.partition(self.levels, quarters)[quarters]
        self.level, self.scale = float(middle), float(high - low)

    @property
    def tie(self) -> float:
        """Values closer than this are equally good."""
        if not len(self.archive):
            return 1e-7 * self.scale + 3.0 * self.noise
        best = int(np.argmax(self.archive.values))
        # a function that spans many orders of magnitude is judged by how curved it is at the best mode
        curvature = float(np.abs(self.archive.found[best].hessian).max(initial=0.0))
        scale = min(self.scale, curvature) if curvature > 0.0 else self.scale
        return 1e-7 * scale + 1e-12 * abs(self.archive.best) + 3.0 * self.noise

    @property
    def equal(self) -> float:
        """Values of polished modes closer than this are equal: in a wide box far less than `tie`.

        Judged by what the function falls between the best mode and the others, as the model at the best has it, and by
        the error of a value that comes from the error of its position.
        """
        if not len(self.archive) or self.noise:
            return self.tie
        best = int(np.argmax(self.archive.values))
        H = self.archive.found[best].hessian
        apart = np.delete(self.box.difference(self.archive.means, self.archive.means[best]), best, axis=0)
        falls = np.abs(np.einsum("jd,de,je->j", apart, H, apart))
        relief = float(falls.min(initial=np.inf))
        error = 0.5 * self.xtol**2 * float(np.abs(H).max(initial=0.0))
        return float(np.fmin(self.tie, 1e-7 * relief + error + 1e-12 * abs(self.archive.best)))

    @property
    def is_best(self) -> NDArray[np.bool_]:
        """Which modes are as good as the best, (J,). Those that are level or not polished are known less well.

        None is when a point is known that beats them all, where they are polished: the best mode is not among them.
        Of a noisy function those that are not surely worse, by the standard errors of both values.
        """
        archive = self.archive
        if not len(archive):
            return np.zeros(0, bool)
        best = int(np.argmax(archive.values))
        if self.noise:
            errors = np.array([mode.standard_error for mode in archive.found])
            return archive.values >= archive.best - _EQUAL * np.hypot(errors, errors[best])
        tie, equal = self.tie, self.equal
        if self.is_beaten and archive.found[best].kind != "unverified":
            return np.zeros(len(archive), bool)
        level = min(tie, equal + 1e-10 * self.scale)
        known = {"optimum": equal, "boundary": equal, "flat": level, "unverified": tie}
        errors = np.array(
            [self._error(mode) if mode.source == "component" else known[mode.kind] for mode in archive.found]
        )
        return archive.values >= archive.best - np.maximum(errors, errors[best])

    def _error(self, mode: Found) -> float:
        """Of the value of a mode that is known to a few `xtol`: at a kink the slope counts."""
        return max(self.tie, _FEW_XTOL * self.xtol * float(np.abs(np.where(mode.active, 0.0, mode.gradient)).sum()))

    @property
    def is_beaten(self) -> bool:
        """Whether a point was evaluated that is better than every mode, where values can be compared."""
        if self.noise or not len(self.archive):
            return self.noise == 0.0 and self.best_value > self.archive.best + self.tie
        best = self.archive.found[int(np.argmax(self.archive.values))]
        return self.best_value > self.archive.best + self._error(best)

    @property
    def rounding(self) -> float:
        """Differences of values that mean nothing."""
        return self.rounding_at(np.inf)

    def rounding_at(self, curvature: float) -> float:
        """The same where the function is curved like this: less than its scale over a wide box says."""
        size = abs(self.best_value if np.isfinite(self.best_value) else 0.0)
        return 1e-11 * min(self.scale, curvature) + 1e-15 * self.scale + 1e-14 * size
