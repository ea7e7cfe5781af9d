"""How many modes are missing, judged by how often local searches ended in those that are known.

Mode j is expected to be hit exp(x_j) times by the searches made so far, with x_j ~ N(mu, s^2) over modes, and is hit
that often up to chance (Poisson). A mode has no hit with the chance P0 = E exp(-exp(x)). With the prior 1 / K for the
number of modes K, those without a hit are negative binomial NB(w, 1 - P0) where w modes have hits; z of them are known
in other ways, so that there are at least z. Median and spread (mu, s) are integrated out over a grid.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaincc, gammaln

Array = NDArray[np.float64]

_STEP = 0.1
_LOGS = np.arange(-16.0, 14.0, _STEP)  # x on a grid: from modes that are never hit to those that always are
_MEDIANS = np.arange(-9.0, 9.01, 0.25)  # mu
_SPREADS = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0])  # s: finer where it is likely
_EXACT = 40  # hits; more are taken for a log-normal number of them, with the relative error 1 / sqrt(hits)
_NEGLIGIBLE = 3e-4  # of the posterior: points of the grid below that are left out
_NEVER = 1e-300
MOST = 10**6  # modes, or hits: as good as endless
_HALVINGS = 20  # of an interval: to a millionth


class _Tables(NamedTuple):
    """What does not depend on data: a row for each (mu, s).

    Args:
        mu, s: (G,).
        weights: of the values of x, (G, X).
        below: mass below the grid of x, where nothing is ever hit, (G,).
        log_chances: of 0 to 40 hits, (G, 41).
    """

    mu: Array
    s: Array
    weights: Array
    below: Array
    log_chances: Array


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    mu, s = (side.ravel() for side in np.meshgrid(_MEDIANS, _SPREADS, indexing="ij"))
    weights = np.exp(_log_normal(_LOGS, mu[:, None], s[:, None])) * _STEP
    below = np.where(mu < 0.0, np.maximum(1.0 - weights.sum(axis=1), 0.0), 0.0)
    k = np.arange(_EXACT + 1.0)[:, None]
    chances = weights @ np.exp(k * _LOGS - np.exp(_LOGS) - gammaln(k + 1.0)).T
    chances[:, 0] += below
    return _Tables(mu, s, weights, below, np.log(np.maximum(chances, _NEVER)))


class Missing:
    """What is known of the modes that were not found.

    Args:
        hits: for every known mode the local searches from new places that ended in it, (J,), at least one of them above
            zero. Zero stands for a mode that was found in another way.

    >>> even, uneven = Missing([25, 30, 20, 27]), Missing([60, 12, 9, 5, 3, 1, 1, 2])
    >>> even.range(), uneven.range()
    ((0, 0), (0, 93))
    >>> round(uneven.expected(1.0), 1)
    1.6
    """

    def __init__(self, hits: ArrayLike) -> None:
        counts = np.asarray(hits)
        seen = counts[counts > 0]
        if not len(seen):
            raise ValueError("no mode was hit; wanted at least one, for without any nothing can be said.")
        self._w, self._z = len(seen), len(counts) - len(seen)
        mu, s, weights, below, log_chances = _tables()
        unhit = np.minimum(np.exp(log_chances[:, 0]), 1.0 - 1e-9)
        score = log_chances @ np.bincount(seen[seen <= _EXACT], minlength=_EXACT + 1) - self._w * np.log1p(-unhit)
        many, times = np.unique(seen[seen > _EXACT], return_counts=True)
        if len(many):
            score += _log_normal(np.log(many), mu[:, None], np.sqrt(s[:, None] ** 2 + 1.0 / many)) @ times
        at_least = self._more_than(self._z - 1, unhit)
        posterior = np.exp(score - score.max()) * at_least
        kept = posterior > _NEGLIGIBLE * posterior.sum()
        self._posterior = posterior[kept] / posterior[kept].sum()
        self._unhit, self._weights, self._below = unhit[kept], weights[kept], below[kept]
        self._at_least = np.maximum(at_least[kept], _NEVER)

    def _more_than(self, k: int, unhit: Array, more: int = 0) -> Array:
        """The chance that more than k modes have no hit, for each (mu, s): NB(w + more, 1 - P0)."""
        return np.ones_like(unhit) if k < 0 else np.asarray(betainc(k + 1.0, self._w + more, unhit))

    @cached_property
    def _each(self) -> Array:
        """The expected number of missing modes for each (mu, s), E[f - z | f >= z] for f modes without a hit."""
        mean = self._w * self._unhit / (1.0 - self._unhit)
        beyond = mean * self._more_than(self._z - 2, self._unhit, 1) - self._z * self._more_than(
            self._z - 1, self._unhit
        )
        return np.maximum(beyond / self._at_least, 0.0)

    # ---- how many there are

    @property
    def number(self) -> float:
        """Of missing modes: the median over (mu, s), since the mean follows the longest tail."""
        order = np.argsort(self._each)
        place = np.searchsorted(np.cumsum(self._posterior[order]), 0.5)
        return float(self._each[order][min(int(place), len(order) - 1)])

    def range(self, level: float = 0.9) -> tuple[int, int]:
        """Between which numbers that of the missing modes lies with this probability."""
        return self._between(lambda k: 1.0 - self._more_than(k + self._z, self._unhit) / self._at_least, level)

    # ---- how many would be found

    def expected(self, times: float) -> float:
        """New modes that this many times as many searches again would find."""
        return float(self._posterior @ self._found(times))

    def expected_range(self, times: float, level: float = 0.9) -> tuple[int, int]:
        """Between which numbers they lie with this probability."""
        mean, shape = self._found(times), float(self._w + self._z)
        share = mean / (mean + shape)  # of failures, in a negative binomial with that mean
        return self._between(lambda k: 1.0 - np.asarray(betainc(k + 1.0, shape, share)), level)

    def _found(self, times: float) -> Array:
        """The same for each (mu, s): a mode stays unhit in 1 + t times the searches with P0(1 + t)."""
        later = self._weights @ np.exp(-np.exp(_LOGS) * (1.0 + times)) + self._below
        return self._each * np.maximum(1.0 - later / self._unhit, 0.0)

    # ---- how often they would be hit

    @property
    def hits(self) -> float:
        """Of all missing modes together that are expected of as many searches again."""
        return float(self._posterior @ (self._each * self._moment(1)))

    def hits_below(self, level: float) -> float:
        """What these stay below with this probability; a gamma distribution where any mode is missing."""
        is_any = self._more_than(self._z, self._unhit) / self._at_least
        first, second, mean = self._moment(1), self._moment(2), self._each
        variance = mean * (second - first**2) + mean * (1.0 + mean / (self._w + self._z)) * first**2
        total = np.maximum(mean * first, _NEVER)
        some = np.maximum(is_any, _NEVER)
        spread = np.maximum((variance + total**2) / some - (total / some) ** 2, _NEVER)  # of the hits, if there are any
        shape, scale = (total / some) ** 2 / spread, spread / (total / some)
        low, high = 0.0, 1.0
        while self._posterior @ (is_any * gammaincc(shape, high / scale)) > 1.0 - level and high < MOST:
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            is_above = self._posterior @ (is_any * gammaincc(shape, middle / scale)) > 1.0 - level
            low, high = (middle, high) if is_above else (low, middle)
        return high

    def _moment(self, power: int) -> Array:
        """Of the expected hits of one missing mode, for each (mu, s): E[exp(power x) exp(-exp(x))] / P0."""
        return self._weights @ np.exp(power * _LOGS - np.exp(_LOGS)) / self._unhit

    # ---- quantiles over (mu, s)

    def _between(self, at_most: Callable[[int], Array], level: float) -> tuple[int, int]:
        """Quantiles of a number that is at most k with these chances (G,)."""
        low = self._quantile(at_most, 0.5 - 0.5 * level)
        return low, self._quantile(at_most, 0.5 + 0.5 * level, low - 1)

    def _quantile(self, at_most: Callable[[int], Array], level: float, low: int = -1) -> int:
        """The smallest number above `low` that is not exceeded with this chance."""
        high = low + 1
        while self._posterior @ at_most(high) < level and high < MOST:
            low, high = high, 2 * high + 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._posterior @ at_most(middle) >= level else (middle, high)
        return high


def _log_normal(x: Array, mean: Array, deviation: Array) -> Array:
    """The logarithm of a normal density, without the constant's share that is the same for all (mu, s)."""
    return -0.5 * ((x - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
