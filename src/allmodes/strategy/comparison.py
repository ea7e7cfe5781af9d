"""Which of several places of a noisy function are on one hill: values between them are compared, with their errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.looks import scatter

Array = NDArray[np.float64]

_RIVALS = 2  # better places, the nearest, that every place is compared with
_BETWEEN = np.array([0.25, 0.5, 0.75])  # where the way is looked at
_FALLS = 3.0  # standard errors by which the function falls between two hills: three points, looked at a few times
_MOST = 30  # evaluations at a point before a fall that may be luck counts as none
_ENOUGH = 12  # the same where the function seems to rise
_OPEN, _ONE, _TWO = 0, 1, 2


@stored
@dataclass
class Comparison:
    """Places, each with those better ones that are nearest to it, and what is known of the ways between.

    Attributes:
        points: (R, d), the places and then a few points between those of each pair.
        pairs: (P, 2), numbers of the places.
        counts, means, squares: of the values at each point, (R,): how many, their mean, their squared deviations.
        verdicts: (P,), whether a pair is on one hill.
    """

    box: Box
    points: Array
    pairs: NDArray[np.intp]
    counts: Array = field(init=False)
    means: Array = field(init=False)
    squares: Array = field(init=False)
    verdicts: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        self.counts, self.means, self.squares = (np.zeros(len(self.points)) for _ in range(3))
        self.verdicts = np.full(len(self.pairs), _OPEN)

    @staticmethod
    def of(box: Box, places: Array, values: Array) -> Comparison:
        """Places (J, d) and what their values (J,) seem to be."""
        order = np.argsort(-values, kind="stable")
        pairs, points = [], [places]
        for rank, j in enumerate(order[1:], 1):
            better = order[:rank]
            ways = box.difference(places[better], places[j])
            for i in np.argsort((ways**2).sum(axis=1), kind="stable")[:_RIVALS]:
                pairs.append((j, better[i]))
                points.append(box.project(places[j] + _BETWEEN[:, None] * ways[i]))
        return Comparison(box, np.concatenate(points), np.array(pairs, np.intp).reshape(-1, 2))

    @property
    def num_places(self) -> int:
        return len(self.points) - len(_BETWEEN) * len(self.pairs)

    def _between(self, pair: int) -> NDArray[np.intp]:
        first = self.num_places + len(_BETWEEN) * pair
        return np.arange(first, first + len(_BETWEEN))

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the points that open questions are about."""
        wanted = np.zeros(len(self.points), bool)
        for pair in np.flatnonzero(self.verdicts == _OPEN).tolist():
            wanted[self.pairs[pair]] = wanted[self._between(pair)] = True
        return np.flatnonzero(wanted)

    def tell(self, rows: NDArray[np.intp], values: Array, noise: float) -> None:
        """More values (n, repeats) at some points; failed ones are left out."""
        for row, told in zip(rows, values, strict=True):
            fine = told[np.isfinite(told)]
            if len(fine):
                n, m, mean = self.counts[row], len(fine), float(fine.mean())
                apart = mean - self.means[row]
                self.squares[row] += float(((fine - mean) ** 2).sum()) + apart**2 * n * m / (n + m)
                self.means[row] += apart * m / (n + m)
                self.counts[row] += m
        for pair in np.flatnonzero(self.verdicts == _OPEN).tolist():
            self.verdicts[pair] = self._judge(pair, noise)

    def _judge(self, pair: int, noise: float) -> int:
        """Two hills if the value falls between by more than luck; one when that was looked for long enough."""
        ends, between = self.pairs[pair], self._between(pair)
        rows = np.append(ends, between)
        if (self.counts[ends] == 0).any():
            return _ONE  # a place that cannot be evaluated
        if (self.counts[between] == 0).any():
            return _TWO  # none can pass
        freedom = max(1.0, self.counts[rows].sum() - len(rows))
        pooled = float(np.sqrt(self.squares[rows].sum() / freedom))
        sigma = scatter(pooled, noise)
        counts = self.counts if sigma == pooled else np.ones(len(self.counts))  # the same again says nothing new
        lower = ends[self.means[ends].argmin()]
        falls = self.means[lower] - self.means[between]
        errors = sigma * np.sqrt(1.0 / counts[between] + 1.0 / counts[lower])
        if (falls > _FALLS * errors).any():
            return _TWO
        seen = self.counts[rows].min()
        return _ONE if seen >= _MOST or (seen >= _ENOUGH and (falls < 0.0).all()) else _OPEN

    def groups(self) -> NDArray[np.intp]:
        """For every place the number of its hill, (J,). What is still open counts as one hill if it was looked at."""
        group = np.arange(self.num_places)
        for (a, b), verdict in zip(self.pairs, self.verdicts, strict=True):
            if verdict == _ONE or (verdict == _OPEN and self.counts[a] > 0):
                group[group == group[a]] = group[b]
        return group
