"""How much may have been missed: the chance that another launch finds a new mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from allmodes.checks import whole_number
from allmodes.storage import stored

_CONFIDENCE = 0.95
_STANDARD_ERRORS = 1.96  # of a normal distribution hold that confidence between them
_ASSUMES = (
    "Starts are spread evenly over the bounds and launches are independent. The chance is a share of the volume of the "
    "bounds, the part that belongs to basins not seen yet: a mode with a basin too small to be hit is invisible."
)


@stored
@dataclass(frozen=True)
class Coverage:
    """An estimate of what is missing, from launches that began at evenly spread starts.

    Attributes:
        launches: how many ended in a mode; `lost`, how many did not: wherever they would have led counts in the bound.
        singletons: modes that exactly one of them ended in.
        missing: the estimated chance that another launch finds a new mode.
        upper: a bound on that chance that holds in about 95 of 100 searches.
    """

    launches: int
    singletons: int
    missing: float
    upper: float
    lost: int = 0

    @property
    def assumes(self) -> str:
        """What must hold for the estimate to mean something."""
        return _ASSUMES

    def __str__(self) -> str:
        if not self.launches:
            why = f"{counted(self.lost, 'launch', 'launches')} from evenly spread starts ended nowhere"
            why = why if self.lost else "no launch began at an evenly spread start"
            return f"nothing is known about modes not found: {why}"
        launches = f"{counted(self.launches, 'launch', 'launches')} from evenly spread starts"
        launches += f" and {self.lost} that ended nowhere" if self.lost else ""
        return (
            f"another launch finds a new mode with a chance of about {percent(self.missing)}, at most "
            f"{percent(self.upper)} ({launches}, {counted(self.singletons, 'mode')} found once)"
        )


def estimate(hits: NDArray[np.int64], lost: int = 0) -> Coverage:
    """Good-Turing estimate f_1 / n of the share of basins not seen yet, where f_r modes were hit r times in n launches.

    The bound is the larger one of f_1 / n + 1.96 sqrt(f_1 (1 - f_1 / n) + 2 f_2) / n and Clopper and Pearson's for f_1
    successes in n trials, which says about 3 / n when nothing was found once. For basins of equal, harmonic and
    geometric sizes, and for one tiny basin among equal ones, it holds in 92 % of searches at least, 98 % on average.
    Launches that ended nowhere may all have been on their way to a new mode: the bound takes them for that.

    Args:
        hits: for every mode the number of launches from evenly spread starts that ended in it, (J,). Zero is allowed,
            for modes found in other ways.
        lost: launches from evenly spread starts that ended in no mode.

    >>> print(str(estimate(np.array([4, 1, 3]))).partition(" (")[0])
    another launch finds a new mode with a chance of about 12 %, at most 47 %
    """
    hits = np.asarray(hits)
    if hits.ndim != 1 or (hits.size and hits.dtype.kind not in "iu") or (hits < 0).any():
        raise ValueError(f"hits is {hits.tolist()}; wanted (J,) counts of launches, one per mode.")
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
    """The number with its noun: `1 mode`, `2 modes`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """Two digits."""
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 10.0 else f"{percent:.2g} %"
