"""How much may have been missed: how many modes, how often they would be hit, how many more evaluations would find."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv

from allmodes.checks import number, warn_renamed, whole_number
from allmodes.modes.missing import MOST, Missing
from allmodes.storage import stored

_CONFIDENCE = 0.975  # of the bound on the share: read at a moment when counts look complete, it holds in 95 %
_FEWEST = 3  # modes that were hit: fewer do not show how unequal basins are
_ENDLESS = 100  # times the modes found: when that many more are possible, their number is not known
_ASSUMES = (
    "Local searches from new places (space-filling starts and bounds) are "
    "independent, and how often they end in a mode is spread log-normally over the modes. Modes that they hardly ever "
    "end in are invisible, most of all where all that were found are hit about equally often."
)
_ASSUMES_OF_RUNS = (
    "Runs are independent, begin where further ones would, and how often they end in a mode is spread log-normally "
    "over the modes. Modes that runs from there hardly ever end in are invisible."
)
_ASSUMES_DRAWS = (
    "Local searches from new places begin at draws of `starts`, which stand for a prior: shares are of its mass, and "
    "what it rules out is not looked at. They are independent as long as there are more draws ({draws} were given) "
    "than such searches, and how often they end in a mode is spread log-normally over the modes. Modes whose basins "
    "have hardly any prior mass are invisible."
)


@stored
@dataclass(frozen=True)
class Coverage:
    """An estimate of what is missing, from local searches that began in new places.

    Attributes:
        counts: how many of them ended in each mode of the result, in its order; 0 if it was found in another way.
        searches: how many of them ended in a mode.
        lost: how many ended in no mode; the bound assumes that they would have led to new ones.
        nfev: evaluations so far.
        cost: evaluations for each of these searches of late, everything included.
        level: probability of the ranges.
        checked: recognised local searches that ran on to the end (option "shadow"); `misjudged`, those of them that did
            not end in the mode that they were recognised by.
        whole: points of a discrete space, if all of them were evaluated: then nothing is missing. 0 otherwise.
        of_runs: whether the searches are somebody's runs (`allmodes.audit`), from where these begin. Then `nfev` counts
            runs, and so do `expected` and `expected_range`.
        draws: how many draws of `starts` the searches began at: shares are then of the prior mass that these stand for.
            0 where starts fill the box.
    """

    counts: tuple[int, ...] = ()
    searches: int = 0
    lost: int = 0
    nfev: int = 0
    cost: float = math.inf
    level: float = 0.9
    checked: int = 0
    misjudged: int = 0
    whole: int = 0
    of_runs: bool = False
    draws: int = 0

    @property
    def is_judged(self) -> bool:
        """Whether enough modes were hit to say how many are missing."""
        return sum(count > 0 for count in self.counts) >= _FEWEST

    @property
    def singletons(self) -> int:
        """Modes that exactly one of the searches ended in."""
        return self.counts.count(1)

    # ---- how many

    @cached_property
    def _missing(self) -> Missing | None:
        return Missing(self.counts) if any(self.counts) else None

    @property
    def missing_modes(self) -> float:
        """The estimated number of modes that were not found; NaN when too few were to judge by."""
        if self.whole:
            return 0.0
        return self._missing.number if self._missing is not None and self.is_judged else math.nan

    @cached_property
    def missing_range(self) -> tuple[float, float]:
        """Between which numbers that of the missing modes lies, with probability `level`."""
        if self.whole:
            return 0, 0
        return self._missing.range(self.level) if self._missing is not None and self.is_judged else (0, math.inf)

    def expected(self, nfev: float) -> float:
        """The number of new modes that so many evaluations (of an audit, runs) more would find.

        NaN when too few were found to judge by.
        """
        times = self._times(nfev)
        if self.whole:
            return 0.0
        return self._missing.expected(times) if self._missing is not None and self.is_judged else math.nan

    def expected_range(self, nfev: float) -> tuple[float, float]:
        """Between which numbers that lies, with probability `level`."""
        times = self._times(nfev)
        if self.whole:
            return 0, 0
        if self._missing is None or not self.is_judged:
            return 0, math.inf
        return self._missing.expected_range(times, self.level)

    def _times(self, nfev: float) -> float:
        """As multiples of the searches so far."""
        more = number("nfev", nfev, at_least=0.0)
        return more / (self.cost * (self.searches + self.lost)) if math.isfinite(self.cost) and self.cost else 0.0

    # ---- how often

    @property
    def share(self) -> float:
        """The estimated share of local searches from new places that would end in a missing mode."""
        if self.whole:
            return 0.0
        if self._missing is None:
            return 1.0
        return min(1.0, self._missing.hits / (self.searches + self.lost))

    @cached_property
    def share_upper(self) -> float:
        """A bound on that share that holds in about 95 of 100 searches.

        It is the larger of what the spread of the counts says and the Clopper-Pearson bound for f_1 successes in n
        trials, where f_1 modes were hit once: about 3.7 / n without any. Searches that ended in no mode may all have
        been heading for a new one: the bound assumes that they were.
        """
        if self.whole:
            return 0.0
        n, once = self.searches, self.singletons
        if self._missing is None or once >= n:
            return 1.0
        exact = float(betaincinv(once + 1, n - once, _CONFIDENCE))
        bound = min(1.0, max(exact, self._missing.hits_below(_CONFIDENCE) / n))
        return (n * bound + self.lost) / (n + self.lost)

    # ---- in words

    @property
    def assumes(self) -> str:
        """What must hold for the estimate to be valid."""
        if self.of_runs:
            return _ASSUMES_OF_RUNS
        return _ASSUMES_DRAWS.format(draws=self.draws) if self.draws else _ASSUMES

    def __str__(self) -> str:
        if self.whole:
            return f"{counted(len(self.counts), 'mode')}, and no more: all {self.whole:,} points were evaluated"
        if not self.searches:
            one = "run" if self.of_runs else "local search"
            why = f"{counted(self.lost, one)} {'' if self.of_runs else 'from new places '}ended in no mode"
            why = why if self.lost else "no local search began in a new place"
            return f"nothing is known about modes not found: {why}"
        found = f"{counted(len(self.counts), 'mode')} found"
        if not self.is_judged:
            return f"{found}; too few modes to judge by how many are missing; {self.rarely}"
        low, high = self.missing_range
        if high == 0:
            return (
                f"{found}; probably all that {'such runs' if self.of_runs else 'local searches'} end in; {self.rarely}"
            )
        if high > _ENDLESS * len(self.counts) or high >= MOST:  # as far as is counted
            more = f"{low:,} or many more are missing"
        else:
            more = f"probably {low:,} to {high:,} more" if low < high else f"probably {low:,} more"
        where = f"where about {percent(self.share)} of {self._what} would {'lead' if self.draws else 'end'}"
        return f"{found}; {more} ({percent(self.level)}), {where}{self._outlook}"

    @property
    def rarely(self) -> str:
        """In words, `share_upper`."""
        return f"at most {percent(self.share_upper)} of {self._what} would {self._goes} another"

    @property
    def _what(self) -> str:
        """What shares are of."""
        lost = f"{self.lost} of {self.searches + self.lost} {'local searches ' if self.draws else ''}ended in no mode"
        what = "the prior mass" if self.draws else "local searches from new places"
        what = "further runs like these" if self.of_runs else what
        return f"{what} ({lost})" if self.lost else what

    @property
    def _goes(self) -> str:
        return "lead to" if self.draws else "end in"

    @property
    def _outlook(self) -> str:
        """What as many evaluations again would find, roughly."""
        further = int(float(f"{self.nfev:.1g}"))
        if not further or not math.isfinite(self.cost):
            return ""
        new, (low, high) = self.expected(further), self.expected_range(further)
        about = f"{new:.0f}" if new >= 1.0 else f"{new:.1g}"
        what = "runs" if self.of_runs else "evaluations"
        return f"; a further {further:,} {what} would find about {about} ({low:,} to {high:,})"

    # ---- old names

    @property
    def launches(self) -> int:
        """The old name of `searches`."""
        warn_renamed("Coverage.launches", "Coverage.searches")
        return self.searches

    @property
    def missing(self) -> float:
        """The old name of `share`."""
        warn_renamed("Coverage.missing", "Coverage.share")
        return self.share

    @property
    def upper(self) -> float:
        """The old name of `share_upper`."""
        warn_renamed("Coverage.upper", "Coverage.share_upper")
        return self.share_upper


def estimate(
    hits: Any, searches: int | None = None, *, lost: int = 0, nfev: int = 0, cost: float = math.inf
) -> Coverage:
    """What is missing beside modes that local searches from new places ended in so often.

    Args:
        hits: for every mode the number of local searches from new places that ended in it, (J,). Zero is allowed, for
            modes found in other ways.
        searches: how many of them ended in any mode, if that is more than the sum of hits.
        lost: how many ended in no mode.
        nfev: evaluations so far.
        cost: evaluations for each of these searches of late.

    >>> str(estimate(np.array([30, 12, 4, 2, 1]), nfev=1000, cost=20.0)).partition(", where")[0]
    '5 modes found; probably 0 to 62 more (90 %)'
    """
    hits = np.asarray(hits)
    if hits.ndim != 1 or (hits.size and hits.dtype.kind not in "iu") or (hits < 0).any():
        raise ValueError(f"hits is {hits.tolist()}; wanted (J,) counts of local searches, one per mode.")
    n = int(hits.sum())
    n = n if searches is None else whole_number("searches", searches, n)
    return Coverage(tuple(hits.tolist()), n, whole_number("lost", lost, 0), nfev, float(cost))


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: `1 mode`, `2 modes`, `3 local searches`."""
    plural = f"{one}es" if one.endswith("ch") else f"{one}s"
    return f"{number} {one if number == 1 else many or plural}"


def percent(share: float) -> str:
    """A share in percent, to two digits."""
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 10.0 else f"{percent:.2g} %"
