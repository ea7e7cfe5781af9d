"""Numbers that a user's function may be called with in place of floats: an enclosure of the value and of the slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.intervals import Interval, UndefinedError

_ONE, _HALF = Interval.of(1.0), Interval.of(0.5)
_EXACT = 2**53  # whole numbers up to this are floats


@dataclass(frozen=True, eq=False)
class Dual:
    """All values that an expression takes on a box, and all its slopes there, by forward differentiation.

    NumPy's functions act on arrays of these, entry by entry, by calling the methods below. What would need a single
    number (float(), int(), a branch that parts of the box take differently) raises an error.

    Args:
        value: an interval of shape ().
        slope: intervals (d,).
    """

    value: Interval
    slope: Interval

    @staticmethod
    def variables(lower: NDArray[np.float64], upper: NDArray[np.float64], free: NDArray[np.bool_]) -> Any:
        """Coordinates (D,) of a box, as an array of objects; slopes are by the d free ones, the others are numbers."""
        found = np.empty(len(lower), dtype=object)
        units = iter(np.eye(int(free.sum())))
        none = np.zeros(int(free.sum()))
        for i in range(len(lower)):
            found[i] = Dual(Interval.of(lower[i], upper[i]), Interval.of(next(units) if free[i] else none))
        return found

    def _mapped(self, value: Interval, derivative: Interval) -> Dual:
        """A function of this, by the chain rule."""
        return Dual(value, self.slope * derivative)

    # ---- arithmetic

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> Dual:
        return self

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slope + other.slope)
        number = _number(other)
        return NotImplemented if number is None else Dual(self.value + number, self.slope)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value - other.value, self.slope - other.slope)
        number = _number(other)
        return NotImplemented if number is None else Dual(self.value - number, self.slope)

    def __rsub__(self, other: Any) -> Dual:
        number = _number(other)
        return NotImplemented if number is None else Dual(number - self.value, -self.slope)

    def __mul__(self, other: Any) -> Dual:
        if other is self:
            return self._whole_power(2)
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.slope * other.value + other.slope * self.value)
        number = _number(other)
        return NotImplemented if number is None else Dual(self.value * number, self.slope * number)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return self * other._inverse()
        number = _number(other)
        return NotImplemented if number is None else self._mapped(self.value * number.inverse(), number.inverse())

    def __rtruediv__(self, other: Any) -> Dual:
        return self._inverse() * other

    def _inverse(self) -> Dual:
        inverse = self.value.inverse()
        return self._mapped(inverse, -inverse.power(2))

    def __pow__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return (self.log() * other).exp()
        number = _number(other)
        if number is None:
            return NotImplemented
        exponent = float(number.lower)
        if exponent.is_integer() and abs(exponent) < _EXACT:
            return self._whole_power(int(exponent))
        return self.sqrt() if exponent == 0.5 else (self.log() * exponent).exp()

    def __rpow__(self, other: Any) -> Dual:
        number = _number(other)
        if number is None:
            return NotImplemented
        log = number.rising(np.log, 0.0)
        return Dual(self.value * log, self.slope * log).exp()

    def _whole_power(self, n: int) -> Dual:
        if n == 0:
            return self._mapped(_ONE, Interval.of(0.0))
        return self._mapped(self.value.power(n), Interval.of(float(n)) * self.value.power(n - 1))

    def __abs__(self) -> Dual:
        return self._mapped(self.value.absolute(), self.value.sign())

    # ---- functions, by the names under which NumPy looks for them

    def sin(self) -> Dual:
        return self._mapped(self.value.sin(), self.value.cos())

    def cos(self) -> Dual:
        return self._mapped(self.value.cos(), -self.value.sin())

    def tan(self) -> Dual:
        return self.sin() / self.cos()

    def exp(self) -> Dual:
        value = self.value.rising(np.exp)
        return self._mapped(value, value)

    def log(self) -> Dual:
        return self._mapped(self.value.rising(np.log, 0.0), self.value.inverse())

    def sqrt(self) -> Dual:
        value = self.value.rising(np.sqrt, 0.0)
        return self._mapped(value, _HALF * value.inverse())

    def arctan(self) -> Dual:
        return self._mapped(self.value.rising(np.arctan), (_ONE + self.value.power(2)).inverse())

    def arcsin(self) -> Dual:
        root = (_ONE - self.value.power(2)).rising(np.sqrt, 0.0)
        return self._mapped(self.value.rising(np.arcsin, -1.0), root.inverse())

    def arccos(self) -> Dual:
        root = (_ONE - self.value.power(2)).rising(np.sqrt, 0.0)
        return self._mapped((-self.value).rising(_arccos_of_minus, -1.0), -root.inverse())

    def sinh(self) -> Dual:
        return self._mapped(self.value.rising(np.sinh), self._cosh())

    def cosh(self) -> Dual:
        return self._mapped(self._cosh(), self.value.rising(np.sinh))

    def _cosh(self) -> Interval:
        return _HALF * (self.value.rising(np.exp) + (-self.value).rising(np.exp))

    def expm1(self) -> Dual:
        return self._mapped(self.value.rising(np.expm1), self.value.rising(np.exp))

    def log1p(self) -> Dual:
        return self._mapped(self.value.rising(np.log1p, -1.0), (_ONE + self.value).inverse())

    def log2(self) -> Dual:
        return self.log() / _LOG_2

    def log10(self) -> Dual:
        return self.log() / _LOG_10

    def hypot(self, other: Any) -> Dual:
        return (self.square() + other * other).sqrt()

    def arctan2(self, x: Any) -> Dual:
        """The angle of (x, self), where the box is in one half of the plane."""
        if x > 0.0:
            return (self / x).arctan()
        if self > 0.0:
            return _QUARTER - (x / self).arctan()
        return -_QUARTER - (x / self).arctan()

    def tanh(self) -> Dual:
        value = self.value.rising(np.tanh)
        return self._mapped(value, _ONE - value.power(2))

    def square(self) -> Dual:
        return self._whole_power(2)

    def conjugate(self) -> Dual:
        return self

    # ---- branches: decided if all of the box goes one way

    def _decided(self, other: Any, is_true: Callable[[Any, Any], Any], is_false: Callable[[Any, Any], Any]) -> Any:
        number = other.value if isinstance(other, Dual) else _number(other)
        if number is None:
            return NotImplemented
        if is_true(self.value, number):
            return True
        if is_false(self.value, number):
            return False
        raise UndefinedError("a branch that parts of the box take differently")

    def __lt__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: a.upper < b.lower, lambda a, b: a.lower >= b.upper)

    def __le__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: a.upper <= b.lower, lambda a, b: a.lower > b.upper)

    def __gt__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: a.lower > b.upper, lambda a, b: a.upper <= b.lower)

    def __ge__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: a.lower >= b.upper, lambda a, b: a.upper < b.lower)

    def __eq__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: False, lambda a, b: a.upper < b.lower or a.lower > b.upper)

    def __ne__(self, other: Any) -> Any:
        return self._decided(other, lambda a, b: a.upper < b.lower or a.lower > b.upper, lambda a, b: False)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    __hash__ = None  # type: ignore[assignment]


def _arccos_of_minus(x: Any) -> Any:
    """arccos(-x), which rises."""
    return np.arccos(-x)


def _number(other: Any) -> Interval | None:
    """A real number that an expression has, as it is; None for what is not one."""
    if isinstance(other, np.ndarray) or not isinstance(other, int | float | np.integer | np.floating | np.bool_):
        return None
    if isinstance(other, int | np.integer) and abs(int(other)) > _EXACT:
        near = float(other)
        return Interval.of(np.nextafter(near, -np.inf), np.nextafter(near, np.inf))
    if isinstance(other, np.longdouble):
        near = float(other)
        return Interval.of(np.nextafter(near, -np.inf), np.nextafter(near, np.inf))
    return Interval.of(float(other))


def _around(number: float) -> Dual:
    """A constant that is no float, between the floats beside it."""
    return Dual(Interval.of(np.nextafter(number, -np.inf), np.nextafter(number, np.inf)), Interval.of(0.0))


_LOG_2, _LOG_10, _QUARTER = _around(np.log(2.0)), _around(np.log(10.0)), _around(0.5 * np.pi)
