"""Baselines subtracted from the fitness in black-box estimates: the same average, less variance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from allmodes.arrays import Array, namespace
from allmodes.checks import number


class ControlVariate(ABC):
    """A baseline for every sample that does not depend on that sample, so that the estimate stays unbiased."""

    @abstractmethod
    def __call__(self, weights: Array, f: Array) -> Array:
        """Baselines that broadcast against (K, n), from sample weights (K, n) and fitness values (K or 1, n)."""

    def check_samples(self, B: int) -> None:  # noqa: B027
        """Raise ValueError when B samples are too few. By default one is enough."""


@dataclass(frozen=True)
class Constant(ControlVariate):
    """One number for all samples; 0 is no baseline."""

    value: float = 0.0

    def __post_init__(self) -> None:
        number("value", self.value)

    def __call__(self, weights: Array, f: Array) -> Array:
        return self.value


@dataclass(frozen=True)
class LeaveOneOut(ControlVariate):
    """The mean fitness of the component's other samples. Needs at least two samples."""

    def check_samples(self, B: int) -> None:
        if B < 2:
            raise ValueError(f"num_samples is {B}; LeaveOneOut() needs at least 2 samples.")

    def __call__(self, weights: Array, f: Array) -> Array:
        xp = namespace(f)
        self.check_samples(weights.shape[-1])
        rest = xp.sum(weights, axis=-1, keepdims=True) - weights
        others = xp.sum(weights * f, axis=-1, keepdims=True) - weights * f
        # A sample that carries all the importance weight has no others to learn from.
        return xp.where(rest > 0, others / xp.where(rest > 0, rest, 1.0), 0.0)
