"""Which places of a noisy function are on one hill: values halfway between them are compared, with their errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.context import Context
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.tolerances import NOISE
from allmodes.search.verify.parabola import deviation
from allmodes.search.verify.same_mode import SHARES, points_between
from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@stored
@dataclass
class Sorting:
    """Evaluates modes and the points halfway to the nearest better one, again and again.

    Two are one unless the value falls between them; of two that are one the better is kept.

    Args:
        context: its archive has the modes.
        is_final: whether they are evaluated until it is certain; otherwise once, and a fall that may be chance counts.

    Attributes:
        rivals: (J,), the nearest better mode of each; for the best, itself.
        points: (2 J, d), the modes, and then the points halfway to their rivals.
        counts, means, squares: of the values at each point, (2 J,): how many, their mean, their squared deviations.
        is_two, is_open: (J,), whether a mode and its rival are on two hills, and whether that is not decided yet.
        asked: numbers of the points last asked for.
    """

    context: Context
    is_final: bool
    rivals: Indices = field(init=False)
    points: Array = field(init=False)
    counts: Array = field(init=False)
    means: Array = field(init=False)
    squares: Array = field(init=False)
    is_two: NDArray[np.bool_] = field(init=False)
    is_open: NDArray[np.bool_] = field(init=False)
    asked: Indices = field(default_factory=lambda: np.zeros(0, np.intp))

    def __post_init__(self) -> None:
        box, archive = self.context.box, self.context.archive
        J, places = len(archive), archive.means
        self.rivals = nearest_better(box, places, archive.values)
        self.points = np.concatenate([places, points_between(box, places, places[self.rivals])[:, len(SHARES) // 2]])
        self.counts, self.means, self.squares = np.zeros((3, 2 * J))
        self.is_two = self.rivals == np.arange(J)
        self.is_open = ~self.is_two

    def ask(self) -> Array:
        """Points of pairs that are not told apart yet, each a few times."""
        J, context = len(self.rivals), self.context
        pairs = np.flatnonzero(self.is_open)
        self.asked = np.unique(np.concatenate([pairs, self.rivals[pairs], J + pairs]))
        times = min(TUNING.repeats, (context.left - TUNING.confirmations * J) // max(1, len(self.asked)))
        if times > 1 and len(self.asked):
            return np.repeat(self.points[self.asked], times, axis=0)
        if self.counts.any():
            self._finish()
        return np.zeros((0, context.box.d))

    def tell(self, values: Array) -> None:
        """Values at the points last asked for; failures are left out."""
        for row, told in zip(self.asked, values.reshape(len(self.asked), -1), strict=True):
            fine = told[np.isfinite(told)]
            if len(fine):
                n, m, mean = self.counts[row], len(fine), float(fine.mean())
                apart = mean - self.means[row]
                self.squares[row] += float(((fine - mean) ** 2).sum()) + apart**2 * n * m / (n + m)
                self.means[row] += apart * m / (n + m)
                self.counts[row] += m
        for j in np.flatnonzero(self.is_open).tolist():
            self._compare(j)

    def _compare(self, j: int) -> None:
        """Decide whether a mode and its rival are on two hills, if that is possible by now."""
        ends, halfway = np.array([j, self.rivals[j]]), len(self.rivals) + j
        rows = np.append(ends, halfway)
        self.is_open[j] = False
        if (self.counts[ends] == 0).any():  # a place that cannot be evaluated
            return
        if self.counts[halfway] == 0:  # nor can the one between them
            self.is_two[j] = True
            return
        pooled = float(np.sqrt(self.squares[rows].sum() / max(1.0, self.counts[rows].sum() - len(rows))))
        sigma = deviation(pooled, self.context.noise)
        lower = ends[self.means[ends].argmin()]
        counts = self.counts if sigma == pooled else np.ones(len(self.counts))  # the same value again adds nothing
        error = sigma * np.sqrt(1.0 / counts[halfway] + 1.0 / counts[lower])
        fall = self.means[lower] - self.means[halfway]
        self.is_two[j] = fall > (NOISE if self.is_final else 1.0) * error
        self.is_open[j] = self.is_final and not self.is_two[j] and self.counts[rows].min() < TUNING.confirmations

    @property
    def groups(self) -> Indices:
        """For every mode the number of its hill, (J,). Modes that were not told apart are on one."""
        group = np.arange(len(self.rivals))
        for j in np.flatnonzero(~self.is_two):
            group[group == group[j]] = group[self.rivals[j]]
        return group

    def _finish(self) -> None:
        """On every hill the best mode is kept, or one that is verified and not surely worse."""
        archive, n = self.context.archive, len(self.rivals)
        groups, is_seen = self.groups, self.counts[:n] > 0
        values = np.where(is_seen, self.means[:n], -np.inf)  # failed
        errors = self.context.noise / np.sqrt(np.maximum(self.counts[:n], 1.0))
        is_verified = np.array([record.kind != "unverified" for record in archive.records], bool)
        kept = np.zeros(n, bool)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            best = members[values[members].argmax()]
            slack = TUNING.sure * np.hypot(errors[members], errors[best])
            equal = members[is_verified[members] & (values[members] >= values[best] - slack)]
            kept[equal[values[equal].argmax()] if len(equal) else best] = True
        for j in np.flatnonzero(is_seen).tolist():
            archive.revalue(j, float(values[j]))
        archive.keep(kept)


def nearest_better(box: Box, places: Array, values: Array) -> Indices:
    """For every place the number of the nearest better one, (J,); for the best, itself."""
    order = np.argsort(-values, kind="stable")
    rivals = np.arange(len(places))
    for rank, j in enumerate(order[1:], 1):
        rivals[j] = order[(box.difference(places[order[:rank]], places[j]) ** 2).sum(axis=1).argmin()]
    return rivals
