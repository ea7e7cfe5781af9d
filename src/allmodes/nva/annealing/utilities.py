"""Utilities: how much the b-th best of B samples counts, u_1 >= ... >= u_B, for fitness shaping.

Any function B -> (B,) serves; these are the ones of the paper's appendix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from allmodes.checks import instance, number


class Utility(ABC):
    """Utilities for any number of samples."""

    @abstractmethod
    def __call__(self, B: int) -> NDArray[np.float64]:
        """u_1 >= ... >= u_B."""


def _selected(fraction: float, B: int) -> int:
    """B_0 = floor(B eta + 1/2)."""
    count = int(np.floor(B * fraction + 0.5))
    if count < 1:
        raise ValueError(
            f"fraction {fraction:g} of {B} samples selects none; raise the fraction to {0.5 / B:g} or num_samples to "
            f"{int(np.ceil(0.5 / fraction))}."
        )
    return count


def _check_fraction(fraction: float) -> None:
    if number("fraction", fraction, above=0.0) > 1:
        raise ValueError(f"fraction is {fraction:g}; it must be at most 1.")


@dataclass(frozen=True)
class CMAES(Utility):
    """The recombination weights of CMA-ES, scaled to sum to B.

    Paper: eq:cma_es_utility

    >>> [round(float(u), 3) for u in cma_es(0.5)(4)]
    [2.922, 1.078, 0.0, 0.0]
    """

    fraction: float = 0.25

    def __post_init__(self) -> None:
        _check_fraction(self.fraction)

    def __call__(self, B: int) -> NDArray[np.float64]:
        B_0 = _selected(self.fraction, B)
        u = np.maximum(np.log(B_0 + 1.0) - np.log(np.arange(1.0, B + 1.0)), 0.0)
        return B * u / u.sum()


@dataclass(frozen=True)
class Truncation(Utility):
    """The best fraction counts equally, the rest nothing.

    Paper: sub:utility_values
    """

    fraction: float = 0.25

    def __post_init__(self) -> None:
        _check_fraction(self.fraction)

    def __call__(self, B: int) -> NDArray[np.float64]:
        B_0 = _selected(self.fraction, B)
        return np.where(np.arange(B) < B_0, B / B_0, 0.0)


@lru_cache(maxsize=64)
def _normal_order_statistics(B: int) -> tuple[float, ...]:
    # Trapezoidal sums of a smooth, fast-decaying integrand converge faster than any power of the step.
    x = np.linspace(-12.0, 12.0, 4001)
    rank = np.arange(1, B + 1)[:, None]
    log_choose = gammaln(B + 1) - gammaln(rank) - gammaln(B - rank + 1)
    log_density = (
        log_choose + (rank - 1) * log_ndtr(-x) + (B - rank) * log_ndtr(x) - 0.5 * x**2 - 0.5 * np.log(2 * np.pi)
    )
    return tuple((np.exp(log_density) @ x * (x[1] - x[0])).tolist())


@dataclass(frozen=True)
class NormalOrderStatistics(Utility):
    """Expected order statistics of B standard normals: the best choice on a sphere; half of them are negative.

    Paper: sub:utility_values
    """

    def __call__(self, B: int) -> NDArray[np.float64]:
        return np.array(_normal_order_statistics(B))


@dataclass(frozen=True)
class Shifted(Utility):
    """Another utility plus a constant: the same gradient on average, another variance.

    Paper: sub:utility_values

    >>> [float(u) for u in shifted(truncation(0.5), -1.0)(4)]
    [1.0, 1.0, -1.0, -1.0]
    """

    utility: Utility = CMAES()
    shift: float = -1.0

    def __post_init__(self) -> None:
        instance("utility", self.utility, Utility, "Write shifted(cma_es(), -1.0).")
        number("shift", self.shift)

    def __call__(self, B: int) -> NDArray[np.float64]:
        return self.utility(B) + self.shift


cma_es = CMAES
truncation = Truncation
normal_order_statistics = NormalOrderStatistics
shifted = Shifted
