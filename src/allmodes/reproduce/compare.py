"""Published numbers beside ours: confidence intervals and verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, t

AGREE, BETTER, DIFFERS, NONE = "agree", "better", "differs", ""
_LEVEL = 0.95
_WIDEST = 0.2  # half of an interval for a share; wider ones decide nothing
VERDICTS = (AGREE, BETTER, DIFFERS, NONE)


@dataclass(frozen=True)
class Number:
    """One published number or claim, and its counterpart here.

    Attributes:
        what: says which, in words.
        published: as printed, "0.92" or "almost always"; empty where the paper has a curve without numbers.
        here: our value.
        low, high: 95 % confidence interval of it.
        runs: replicates.
        verdict: agree, better, differs, or nothing where nothing was published.
        reason: why it differs, or what was done differently.
        digits: after the point, in tables.
    """

    what: str
    published: str
    here: float
    low: float
    high: float
    runs: int
    verdict: str = NONE
    reason: str = ""
    digits: int = 3

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict is {self.verdict!r}; wanted one of {VERDICTS}.")
        if self.verdict == DIFFERS and not self.reason:
            raise ValueError(f"{self.what}: a number that differs needs a reason.")


def mean_interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean of replicates of a share between 0 and 1, with its 95 % interval.

    Student's interval; where all replicates are equal it would be empty, and the exact one for a share that was seen
    in all runs or in none takes its place.
    """
    values = np.asarray(values, dtype=np.float64)
    n, mean = len(values), float(values.mean())
    tail = 0.5 * (1.0 - _LEVEL)
    if n > 1 and values.std() > 0.0:
        half = float(t.ppf(1.0 - tail, n - 1) * values.std(ddof=1) / np.sqrt(n))
        return mean, max(0.0, mean - half) if values.min() >= 0.0 else mean - half, mean + half
    reach = 1.0 - float(beta.ppf(tail, n, 1))  # what n equal outcomes leave open
    return mean, max(0.0, mean - reach), mean + reach


def compare_share(
    what: str, values: NDArray[np.float64], published: float | None, *, reason: str = "", claim: str = "",
    higher_is_better: bool = True, digits: int = 3,
) -> Number:  # fmt: skip
    """A mean over runs beside a printed one.

    They agree when they are closer than the errors of both allow, the printed one having an error like ours; a claim
    in words ("almost always") stands for at least the number `published`, less its rounding.
    """
    mean, low, high = mean_interval(values)
    high = min(high, 1.0) if np.max(values) <= 1.0 else high
    if published is None:
        return Number(what, claim, mean, low, high, len(values), NONE, reason, digits)
    if 0.5 * (high - low) > _WIDEST:
        shown = claim or f"{published:.{digits}f}"
        return Number(what, shown, mean, low, high, len(values), NONE, "too few runs to say", digits)
    gap = mean - published if higher_is_better else published - mean
    rounding = 0.5 * 10.0**-digits
    allowed = np.sqrt(2.0) * 0.5 * (high - low) + rounding
    verdict = AGREE if abs(gap) <= allowed or (claim and gap > 0.0) else BETTER if gap > 0.0 else DIFFERS
    shown = claim or f"{published:.{digits}f}"
    why = (reason or "the cause is not known") if verdict == DIFFERS else ""
    return Number(what, shown, mean, low, high, len(values), verdict, why, digits)
