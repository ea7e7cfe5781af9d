"""Which of several places of a noisy function are on one hill: values between them are compared, with their errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.verify.parabola import deviation
from allmodes.search.verify.same_mode import Relation, compare_noisy, points_between
from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_MIDDLE = slice(1, 4)  # of the points between: the ones nearest to the ends hardly fall
_BETWEEN = 3


@stored
@dataclass
class Pairs:
    """Places, each paired with the better ones nearest to it, and what is known of the ways between.

    Attributes:
        points: (R, d), the places and then three points between those of each pair.
        pairs: (P, 2), numbers of the places.
        counts, means, squares: of the values at each point, (R,): how many, their mean, their squared deviations.
        relations: (P,), what is known of each pair.
    """

    points: Array
    pairs: Indices
    counts: Array = field(init=False)
    means: Array = field(init=False)
    squares: Array = field(init=False)
    relations: Indices = field(init=False)

    def __post_init__(self) -> None:
        self.counts, self.means, self.squares = (np.zeros(len(self.points)) for _ in range(3))
        self.relations = np.full(len(self.pairs), int(Relation.UNDECIDED))

    @staticmethod
    def of(box: Box, places: Array, values: Array) -> Pairs:
        """Places (J, d) and what their values (J,) seem to be."""
        pairs = nearest_better(box, places, values, TUNING.rivals)
        worse, better = places[pairs.T]
        between = points_between(box, worse, better)[:, _MIDDLE].reshape(-1, box.d)
        return Pairs(np.concatenate([places, between]), pairs)

    @property
    def num_places(self) -> int:
        return len(self.points) - _BETWEEN * len(self.pairs)

    def _between(self, pair: int) -> Indices:
        return self.num_places + _BETWEEN * pair + np.arange(_BETWEEN)

    @property
    def undecided(self) -> list[int]:
        """Numbers of the pairs that more values are wanted for."""
        return np.flatnonzero(self.relations == Relation.UNDECIDED).tolist()

    @property
    def rows(self) -> Indices:
        """Numbers of the points at which more values are wanted."""
        is_wanted = np.zeros(len(self.points), bool)
        for pair in self.undecided:
            is_wanted[self.pairs[pair]] = is_wanted[self._between(pair)] = True
        return np.flatnonzero(is_wanted)

    def tell(self, rows: Indices, values: Array, noise: float) -> None:
        """More values (n, repeats) at some points; failures are left out."""
        for row, told in zip(rows, values, strict=True):
            fine = told[np.isfinite(told)]
            if len(fine):
                n, m, mean = self.counts[row], len(fine), float(fine.mean())
                apart = mean - self.means[row]
                self.squares[row] += float(((fine - mean) ** 2).sum()) + apart**2 * n * m / (n + m)
                self.means[row] += apart * m / (n + m)
                self.counts[row] += m
        for pair in self.undecided:
            self.relations[pair] = self._compare(pair, noise)

    def _compare(self, pair: int, noise: float) -> Relation:
        ends, between = self.pairs[pair], self._between(pair)
        rows = np.append(ends, between)
        if (self.counts[ends] == 0).any():
            return Relation.ONE  # a place that cannot be evaluated
        if (self.counts[between] == 0).any():
            return Relation.TWO  # there is no way through
        pooled = float(np.sqrt(self.squares[rows].sum() / max(1.0, self.counts[rows].sum() - len(rows))))
        sigma = deviation(pooled, noise)
        counts = self.counts if sigma == pooled else np.ones(len(self.counts))  # the same value again says nothing new
        lower = ends[self.means[ends].argmin()]
        errors = sigma * np.sqrt(1.0 / counts[between] + 1.0 / counts[lower])
        seen, is_rising = self.counts[rows].min(), bool((self.means[between] > self.means[lower]).all())
        is_enough = seen >= TUNING.confirmations or (seen >= 2 * TUNING.repeats and is_rising)
        return compare_noisy(float(self.means[lower]), self.means[between], errors, is_enough)

    def groups(self) -> Indices:
        """For every place the number of its hill, (J,). Undecided pairs are on one, if they were evaluated at all."""
        group = np.arange(self.num_places)
        for (a, b), relation in zip(self.pairs, self.relations, strict=True):
            if relation == Relation.ONE or (relation == Relation.UNDECIDED and self.counts[a] > 0):
                group[group == group[a]] = group[b]
        return group


def nearest_better(box: Box, places: Array, values: Array, most: int) -> Indices:
    """Pairs (P, 2) of every place and the nearest ones, this many at most, that are better; the best places first."""
    order, pairs = np.argsort(-values, kind="stable"), []
    for rank, j in enumerate(order[1:], 1):
        squared = (box.difference(places[order[:rank]], places[j]) ** 2).sum(axis=1)
        pairs += [(j, order[i]) for i in np.argsort(squared, kind="stable")[:most]]
    return np.array(pairs, np.intp).reshape(-1, 2)
