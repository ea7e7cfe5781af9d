"""Schedules: numbers that depend on the step t = 1, 2, ... for temperature, learning rate and mini-batch size.

A plain number or any function of t serves as well; these have checked arguments, a readable repr, and take arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number


class Schedule(ABC):
    """A function of the step. To add one, write a dataclass whose fields have defaults; the contract tests find it."""

    @abstractmethod
    def __call__(self, t: Any) -> Any:
        """Value at step t = 1, 2, ... (a number or an array of steps)."""

    def given(self, temperature: Schedule) -> Schedule:
        """This schedule, told of the temperature it runs beside."""
        return self


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value at every step."""

    value: float = 1.0

    def __post_init__(self) -> None:
        number("value", self.value, at_least=0.0)

    def __call__(self, t: Any) -> Any:
        return self.value + 0.0 * np.asarray(t)


@dataclass(frozen=True)
class Power(Schedule):
    """start t^-exponent: the paper's temperature omega_t = omega_1 t^-alpha.

    Paper: sub:hyper_annealing

    >>> float(power(40_000.0, 2.0)(200))
    1.0
    """

    start: float = 1.0
    exponent: float = 1.0

    def __post_init__(self) -> None:
        number("start", self.start, above=0.0)
        number("exponent", self.exponent)

    def __call__(self, t: Any) -> Any:
        return self.start * np.asarray(t, dtype=np.float64) ** -self.exponent


@dataclass(frozen=True)
class Geometric(Schedule):
    """start ratio^(t-1), not below minimum."""

    start: float = 1.0
    ratio: float = 0.99
    minimum: float = 0.0

    def __post_init__(self) -> None:
        number("start", self.start, above=0.0)
        number("ratio", self.ratio, above=0.0)
        number("minimum", self.minimum, at_least=0.0)

    def __call__(self, t: Any) -> Any:
        return np.maximum(self.start * self.ratio ** (np.asarray(t, dtype=np.float64) - 1.0), self.minimum)


@dataclass(frozen=True)
class PiecewiseConstant(Schedule):
    """values[0] up to and including step ends[0], then values[1] up to ends[1], ..., then the last value.

    Paper: sub:annealing_schedule_interpretation

    >>> [float(v) for v in piecewise_constant((4.0, 1.0), ends=(2,))(np.arange(1, 5))]
    [4.0, 4.0, 1.0, 1.0]
    """

    values: tuple[float, ...] = (1.0, 0.1)
    ends: tuple[int, ...] = (100,)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.ends) + 1:
            raise ValueError(
                f"values has {len(self.values)} entries and ends has {len(self.ends)}; wanted one value more than ends."
            )
        for value in self.values:
            number("values", value, at_least=0.0)
        for end in self.ends:
            number("ends", end)
        if any(b <= a for a, b in pairwise((0, *self.ends))):
            raise ValueError(f"ends is {self.ends}; wanted increasing steps, the first at least 1.")

    def __call__(self, t: Any) -> Any:
        return np.asarray(self.values, dtype=np.float64)[np.searchsorted(self.ends, t, side="left")]


@dataclass(frozen=True)
class Coupled(Schedule):
    """start (omega_1 / omega_t)^exponent, not above maximum: a learning rate that grows as the temperature falls.

    Near a mode the covariance shrinks like omega_t and slows the means down by as much; an exponent below 1 makes up
    for part of it. For fitness-shaped updates set a maximum near 0.05: they have no scale of their own.

    Paper: sub:learning_rate
    """

    start: float = 0.1
    exponent: float = 0.8
    maximum: float = np.inf
    temperature: Schedule = Power()

    def __post_init__(self) -> None:
        number("start", self.start, above=0.0)
        number("exponent", self.exponent, at_least=0.0)
        if self.maximum != np.inf:
            number("maximum", self.maximum, above=0.0)

    def given(self, temperature: Schedule) -> Schedule:
        return replace(self, temperature=temperature)

    def __call__(self, t: Any) -> Any:
        start = float(self.temperature(1))
        if start == 0:
            raise ValueError(
                "temperature is 0 at step 1; a coupled learning rate follows a positive temperature. Pass a number as "
                "learning_rate, or a positive temperature."
            )
        with np.errstate(divide="ignore"):  # a temperature that falls to 0 gives the maximum
            ratio = start / np.asarray(self.temperature(t))
        return np.minimum(self.start * ratio**self.exponent, self.maximum)


constant = Constant
power = Power
geometric = Geometric
piecewise_constant = PiecewiseConstant
coupled = Coupled


@dataclass(frozen=True)
class _Given(Schedule):
    """A user's own function of the step."""

    function: Callable[[int], float] = float

    name: str = "schedule"

    def __str__(self) -> str:
        return "a function of the step"

    def __call__(self, t: Any) -> Any:
        return np.vectorize(self._at, otypes=[np.float64])(t)

    def _at(self, step: Any) -> float:
        value = self.function(int(step))
        if not isinstance(value, (int, float, np.integer, np.floating, np.ndarray)) or np.ndim(value):
            raise TypeError(f"{self.name} is {value!r} at step {step}; the function must return a number.")
        return float(value)


def as_schedule(name: str, given: Any) -> Schedule:
    """A schedule, a number or a function of the step, as a schedule."""
    if isinstance(given, Schedule):
        return given
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        return Constant(number(name, given, at_least=0.0))
    if callable(given):
        return _Given(given, name)
    raise TypeError(
        f"{name} is {given!r} ({type(given).__name__}); wanted a number, a schedule such as schedules.power(1.0, 1.0), "
        "or a function of the step t = 1, 2, ..."
    )


def tabulate(name: str, schedule: Schedule, steps: int, first: int = 1) -> NDArray[np.float64]:
    """The values for t = first, first + 1, ...; ValueError when one is negative or not finite."""
    t = first + np.arange(steps)
    values = np.broadcast_to(np.asarray(schedule(t), dtype=np.float64), t.shape)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{name} is {values[i]:g} at step {t[i]}; wanted a finite number of at least 0 at every step ({schedule})."
        )
    return values
