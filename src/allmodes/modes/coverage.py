"""How much may have been missed: the chance that another local search finds a new mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from allmodes.checks import warn_renamed, whole_number
from allmodes.storage import stored

_CONFIDENCE = 0.95
_STANDARD_ERRORS = 1.96  # of a normal distribution hold that confidence between them
_ASSUMES = (
    "Starts fill the bounds evenly and local searches are independent. The chance is the share of the volume of the "
    "bounds that belongs to basins not yet seen: a mode whose basin is too small to be hit is invisible."
)


@stored
@dataclass(frozen=True)
class Coverage:
    """An estimate of what is missing, from local searches that began at space-filling starts.

    Attributes:
        searches: how many ended in a mode.
        singletons: modes that exactly one of them ended in.
        missing: the estimated chance that another local search finds a new mode.
        upper: a bound on that chance that holds in about 95 of 100 searches.
        lost: how many ended in no mode; the bound assumes that they would have led to new ones.
    """

    searches: int
    singletons: int
    missing: float
    upper: float
    lost: int = 0

    @property
    def launches(self) -> int:
        """The old name of `searches`."""
        warn_renamed("Coverage.launches", "Coverage.searches")
        return self.searches

    @property
    def assumes(self) -> str:
        """What must hold for the estimate to be valid."""
        return _ASSUMES

    def __str__(self) -> str:
        if not self.searches:
            why = f"{counted(self.lost, 'local search')} from space-filling starts ended in no mode"
            why = why if self.lost else "no local search began at a space-filling start"
            return f"nothing is known about modes not found: {why}"
        searches = f"{counted(self.searches, 'local search')} from space-filling starts"
        searches += f" and {self.lost} that ended in no mode" if self.lost else ""
        return (
            f"another local search finds a new mode with a chance of about {percent(self.missing)}, at most "
            f"{percent(self.upper)} ({searches}, {counted(self.singletons, 'mode')} found once)"
        )


def estimate(hits: NDArray[np.int64], lost: int = 0) -> Coverage:
    """Good-Turing estimate f_1 / n of the share of basins not yet seen; f_r modes were hit r times in n local searches.

    The bound is the larger of f_1 / n + 1.96 sqrt(f_1 (1 - f_1 / n) + 2 f_2) / n and the Clopper-Pearson bound for f_1
    successes in n trials, which is about 3 / n when nothing was found once. For basins of equal, harmonic and geometric
    sizes, and for one tiny basin among equal ones, it holds in at least 92 % of searches, 98 % on average. Local
    searches that ended in no mode may all have been heading for a new one: the bound assumes that they were.

    Args:
        hits: for every mode the number of local searches from space-filling starts that ended in it, (J,). Zero is
            allowed, for modes found in other ways.
        lost: local searches from space-filling starts that ended in no mode.

    >>> print(str(estimate(np.array([4, 1, 3]))).partition(" (")[0])
    another local search finds a new mode with a chance of about 12 %, at most 47 %
    """
    hits = np.asarray(hits)
    if hits.ndim != 1 or (hits.size and hits.dtype.kind not in "iu") or (hits < 0).any():
        raise ValueError(f"hits is {hits.tolist()}; wanted (J,) counts of local searches, one per mode.")
    n, lost = int(hits.sum()), whole_number("lost", lost, 0)
    once, twice = int((hits == 1).sum()), int((hits == 2).sum())
    if n == 0:
        return Coverage(0, 0, 1.0, 1.0, lost)
    missing = once / n
    error = np.sqrt(once * (1.0 - missing) + 2.0 * twice) / n
    exact = 1.0 if once == n else float(betaincinv(once + 1, n - once, _CONFIDENCE))
    upper = min(1.0, max(exact, float(missing + _STANDARD_ERRORS * error)))
    return Coverage(n, once, missing, (n * upper + lost) / (n + lost), lost)


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: `1 mode`, `2 modes`, `3 local searches`."""
    plural = f"{one}es" if one.endswith("ch") else f"{one}s"
    return f"{number} {one if number == 1 else many or plural}"


def percent(share: float) -> str:
    """A share in percent, to two digits."""
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 10.0 else f"{percent:.2g} %"
