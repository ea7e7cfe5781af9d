"""Intervals that surely hold what is computed with them: lower and upper ends, rounded outwards.

Sums and products of floats are off by half a unit in the last place at most, so that the next float is beyond the exact
value. Exponentials and the like are taken to be right to a few units in the last place, as those of NumPy and the usual
libraries of C are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNITS = 8  # in the last place, by which functions of the library may be off; NumPy promises 4
_LARGEST = 1e8  # arguments of sines beyond which their period is not reduced
_MARGIN = 1e-14  # of an argument in periods, and of one: an extreme this close to the interval counts as inside
_TINY = 5e-324  # the smallest number: what underflows is wider by that

Floats = NDArray[np.float64]


class UndefinedError(ArithmeticError):
    """A function is not defined, or not decided, on all of an interval."""


@dataclass(frozen=True, eq=False)
class Interval:
    """All numbers from `lower` to `upper`, arrays of one shape; operations act on each entry.

    >>> x = Interval.of(np.array([-1.0, 2.0]), np.array([1.0, 3.0]))
    >>> square = x.power(2)
    >>> bool((square.lower <= [0.0, 4.0]).all() and (square.upper >= [1.0, 9.0]).all())
    True
    """

    lower: Floats
    upper: Floats

    @staticmethod
    def of(lower: Any, upper: Any = None) -> Interval:
        """From ends as they are; one number is both of them."""
        a = np.asarray(lower, dtype=np.float64)
        return Interval(a, a if upper is None else np.asarray(upper, dtype=np.float64))

    @property
    def middle(self) -> Floats:
        return np.asarray(0.5 * self.lower + 0.5 * self.upper)

    @property
    def magnitude(self) -> Floats:
        """The largest absolute value in it."""
        return np.asarray(np.maximum(np.abs(self.lower), np.abs(self.upper)))

    def __getitem__(self, key: Any) -> Interval:
        return Interval(np.asarray(self.lower[key]), np.asarray(self.upper[key]))

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __add__(self, other: Interval) -> Interval:
        return _outward(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: Interval) -> Interval:
        return _outward(self.lower - other.upper, self.upper - other.lower)

    def __mul__(self, other: Interval) -> Interval:
        ends = [_times(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return _outward(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def inverse(self) -> Interval:
        """1 / x."""
        if ((self.lower <= 0.0) & (self.upper >= 0.0)).any():
            raise UndefinedError("a division by an interval that has 0 in it")
        return _outward(1.0 / self.upper, 1.0 / self.lower)

    def power(self, n: int) -> Interval:
        """x^n for a whole number n."""
        if n < 0:
            return self.power(-n).inverse()
        with np.errstate(over="ignore"):
            ends = self.lower**n, self.upper**n
        low, high = _widened(np.minimum(*ends), np.maximum(*ends))
        if n % 2 == 0:
            low = np.where((self.lower <= 0.0) & (self.upper >= 0.0), 0.0, np.maximum(low, 0.0))
        return _checked(low, high)

    def rising(self, function: Callable[[Floats], Floats], domain: float = -np.inf) -> Interval:
        """A function that rises, and is defined from `domain` on."""
        if (self.lower < domain).any():
            raise UndefinedError(f"{getattr(function, '__name__', 'a function')} of an interval below {domain:g}")
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return _checked(*_widened(function(self.lower), function(self.upper)))

    def sin(self) -> Interval:
        return self._wave(np.sin, 0.25, 0.75)

    def cos(self) -> Interval:
        return self._wave(np.cos, 0.0, 0.5)

    def _wave(self, function: Callable[[Floats], Floats], top: float, bottom: float) -> Interval:
        """A sine with its extremes at these shares of the period."""
        a, b = function(self.lower), function(self.upper)
        low, high = _widened(np.minimum(a, b), np.maximum(a, b))
        is_wild = self.magnitude > _LARGEST
        high = np.where(self._holds(top) | is_wild, 1.0, np.minimum(high, 1.0))
        low = np.where(self._holds(bottom) | is_wild, -1.0, np.maximum(low, -1.0))
        return _checked(low, high)

    def _holds(self, phase: float) -> NDArray[np.bool_]:
        """Whether 2 pi (phase + k) may be inside for a whole number k."""
        first, last = self.lower / (2.0 * np.pi) - phase, self.upper / (2.0 * np.pi) - phase
        margin = _MARGIN * (1.0 + np.maximum(np.abs(first), np.abs(last)))
        return np.asarray(np.floor(last + margin) >= np.ceil(first - margin))

    def absolute(self) -> Interval:
        """|x|."""
        has_zero = (self.lower <= 0.0) & (self.upper >= 0.0)
        least = np.minimum(np.abs(self.lower), np.abs(self.upper))
        return Interval(np.where(has_zero, 0.0, least), self.magnitude)

    def sign(self) -> Interval:
        """The slope of |x|: all from -1 to 1 where 0 is inside."""
        return Interval(np.where(self.lower > 0.0, 1.0, -1.0), np.where(self.upper < 0.0, -1.0, 1.0))

    def hull(self, other: Interval) -> Interval:
        """The least interval with both in it."""
        return Interval(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def sum(self) -> Interval:
        """Of all entries along the last axis."""
        total = self[..., 0]
        for k in range(1, self.lower.shape[-1]):
            total = total + self[..., k]
        return total


def _times(a: Floats, b: Floats) -> Floats:
    """Products in which 0 times anything is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where((a == 0.0) | (b == 0.0), 0.0, a * b))


def _outward(lower: Any, upper: Any) -> Interval:
    """The next floats beyond ends that are rounded to nearest."""
    return _checked(np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf))


def _widened(lower: Any, upper: Any) -> tuple[Floats, Floats]:
    """Ends beyond those that a function of the library computed."""
    with np.errstate(invalid="ignore"):
        low = np.asarray(lower - _UNITS * (np.spacing(np.abs(lower)) + _TINY))
        high = np.asarray(upper + _UNITS * (np.spacing(np.abs(upper)) + _TINY))
    return low, high


def _checked(lower: Any, upper: Any) -> Interval:
    """An interval that is bounded."""
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise UndefinedError("a value that is not finite")
    return Interval(np.asarray(lower), np.asarray(upper))
