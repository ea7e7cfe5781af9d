"""What a search keeps to be looked at afterwards, thinned so that it stays small. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Family
from allmodes.nva.mixture.mixture import log_weights
from allmodes.storage import stored

_MOST_SEARCHES = 200  # as many lines as a picture can hold
_MOST_POINTS = 4000
_MOST_FRAMES = 200  # of annealing: a film of twenty seconds
_MOST_NUMBERS = 200_000  # in all paths, and in all frames: 2 MB each, whatever the dimension
_FEWEST_FRAMES = 16  # that should fit; where covariances are too large for that, variances are kept
_WIDE = 16  # searches in a round from which on dropping most of them at once pays
_PENDING = 256  # rounds that wait to be thinned: once in a while is cheaper than every time

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


@stored
@dataclass(eq=False)
class PathRecord:
    """Points that local searches move through, in unit coordinates: all of those whose number `stride` divides.

    The stride doubles when there are too many of them, so that those that stay are spread evenly over the search.
    """

    begun: int = 0
    stride: int = 1
    numbers: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    points: Array | None = None
    values: Array = field(default_factory=lambda: np.zeros(0))
    pending: list[tuple[Numbers, Array, Array]] = field(default_factory=list)
    waiting: int = 0

    def begin(self, n: int) -> Numbers:
        """Numbers for n new local searches."""
        self.begun += n
        return np.arange(self.begun - n, self.begun)

    def add(self, numbers: Numbers, points: Array, values: Array) -> None:
        """Local searches are now at points (n, d)."""
        if self.stride > 1 and len(numbers) >= _WIDE:
            rows = np.flatnonzero(numbers % self.stride == 0)
            if not len(rows):
                return
            numbers, points, values = numbers[rows], points[rows], values[rows]
        self.pending.append((numbers.copy(), points.copy(), values.copy()))  # not a view of something larger
        self.waiting += points.size
        if self.waiting > _MOST_NUMBERS or len(self.pending) >= _PENDING:
            self._settle()

    def _settle(self) -> None:
        """Thin what there is."""
        if not self.pending:
            return
        old = [] if self.points is None else [(self.numbers, self.points, self.values)]
        numbers, points, values = (np.concatenate(parts) for parts in zip(*old, *self.pending, strict=True))
        most = min(_MOST_POINTS, _MOST_NUMBERS // points.shape[1])
        rows = np.flatnonzero(numbers % self.stride == 0)
        while self.stride < self.begun and (len(rows) > most or self.begun > self.stride * _MOST_SEARCHES):
            self.stride *= 2
            rows = rows[numbers[rows] % self.stride == 0]
        while len(rows) > max(most, 1):  # a single local search that is very long
            rows = rows[::2]
        self.numbers, self.points, self.values = numbers[rows], points[rows], values[rows]
        self.pending, self.waiting = [], 0

    def sorted(self) -> tuple[Numbers, Array, Array]:
        """Numbers, points and values, one local search after the other, without steps that led nowhere."""
        settled = replace(self)  # what is looked at does not change
        settled._settle()
        if settled.points is None:
            return settled.numbers, np.zeros((0, 0)), settled.values
        order = np.argsort(settled.numbers, kind="stable")
        numbers, points, values = settled.numbers[order], settled.points[order], settled.values[order]
        is_new = np.ones(len(numbers), bool)
        is_new[1:] = (numbers[1:] != numbers[:-1]) | (points[1:] != points[:-1]).any(axis=1)
        return numbers[is_new], points[is_new], values[is_new]


@stored
class AnnealedFrame(NamedTuple):
    """A mixture on its way, in unit coordinates; covariances (K, d, d), or variances (K, d) where those are large."""

    run: int
    step: int
    nfev: int
    temperature: float
    weights: Array
    means: Array
    covariances: Array

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.weights.size + self.means.size + self.covariances.size


@stored
@dataclass(eq=False)
class FrameRecord:
    """Mixtures that annealing goes through: all steps of every run whose number `run_stride` divides.

    When there are too many frames that stride doubles; when one run alone has too many, every other step is dropped.
    """

    run_stride: int = 1
    step_stride: int = 1
    frames: list[AnnealedFrame] = field(default_factory=list)
    size: int = 0

    def see(self, run: int, step: int, nfev: int, temperature: float, family: Family, mixture: Mixture) -> None:
        """A mixture after so many steps of a run."""
        if run % self.run_stride or step % self.step_stride:
            return
        components: Any = mixture.components
        means, covariances = np.array(family.means(components)), np.array(family.covariances(components))
        if covariances.size * _FEWEST_FRAMES > _MOST_NUMBERS:
            covariances = np.einsum("kdd->kd", covariances).copy()
        weights = np.exp(np.asarray(log_weights(mixture.log_ratios)))
        self.frames.append(AnnealedFrame(run, step, nfev, temperature, weights, means, covariances))
        self.size += self.frames[-1].size
        while self._is_full:
            self._thin()

    @property
    def _is_full(self) -> bool:
        return len(self.frames) > 1 and (len(self.frames) > _MOST_FRAMES or self.size > _MOST_NUMBERS)

    def _thin(self) -> None:
        if self.frames[-1].run >= self.run_stride:
            self.run_stride *= 2
        else:
            self.step_stride *= 2
        self.frames = [
            frame for frame in self.frames if not (frame.run % self.run_stride or frame.step % self.step_stride)
        ]
        self.size = sum(frame.size for frame in self.frames)
