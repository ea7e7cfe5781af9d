"""A proof that a box has exactly one root in it.

Krawczyk's operator of a box X with middle m and a matrix Y near the inverse of the Jacobian,

    K(X) = m - Y F(m) + (I - Y F'(X)) (X - m),

holds every root that X has. If it lies strictly inside X, then X has exactly one, and it is nonsingular. Everything is
computed with intervals, so that rounding cannot fake a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.dual import Dual
from allmodes.modes.intervals import Interval, UndefinedError

_RADII = 1e-6, 1e-4, 1e-3, 1e-2, 0.1  # of the bounds, one after the other as long as the proof succeeds
_SMALLER = 1e-8, 1e-10, 1e-12  # where the first is too large
_LEAST = 1e-12  # of the bounds: a root closer to one has no room for a box
NO_INTERVALS = "F does not take interval arguments"
FEW_CALLS = len(_RADII) + 1  # of F for each proof, at most

Floats = NDArray[np.float64]


class NoCallsLeft(Exception):  # noqa: N818  (not an error of F)
    """F may not be called any more."""


class Proof(NamedTuple):
    """What became of a proof.

    Args:
        box: (D, 2) in which there is exactly one root; None if that is not proved.
        enclosure: (D, 2), a part of it that has the root.
        reason: why it is not proved.
        calls: of F.
    """

    box: Floats | None
    enclosure: Floats | None
    reason: str
    calls: int


class Room(NamedTuple):
    """Where boxes may lie: bounds (D,), widths (D,) in which radii are measured, and the coordinates that are free."""

    lower: Floats
    upper: Floats
    width: Floats
    free: NDArray[np.bool_]

    def at(self, x: Floats) -> Floats:
        """The largest radius (d,), in widths, of a box around a point that lies inside the bounds."""
        room = np.minimum(x - self.lower, self.upper - x)[self.free] / self.width[self.free]
        return np.asarray(room)


def prove(function: Callable[[Any], Any], x: Floats, room: Room) -> Proof:
    """Look for the largest box around x (D,) that surely has exactly one root of d equations in d unknowns.

    Args:
        function: F as the user gave it, of one point (D,) -> (d,); called with objects in place of floats.
        x: a root, to rounding.
        room: where F may be evaluated.
    """
    calls, found, most = 0, None, room.at(x)
    if most.min(initial=np.inf) < _LEAST:
        return Proof(None, None, "the root sits at a bound, and a box around it would reach beyond", 0)
    try:
        calls += 1
        here = _enclosed(function, x, x, room.free).value
        for radius in _RADII:
            calls += 1
            proved = _krawczyk(function, x, here, np.minimum(radius, 0.999 * most), room)
            if proved is None:
                break
            found = proved
        for radius in _SMALLER if found is None else ():
            calls += 1
            found = _krawczyk(function, x, here, np.minimum(radius, 0.999 * most), room)
            if found is not None:
                break
    except UndefinedError as error:
        if found is None:
            return Proof(None, None, f"on a box around the root there is {error}", calls)
    except Exception as error:  # whatever a function does that was not written for such arguments
        if found is None:
            reason = str(error) if isinstance(error, NoCallsLeft) else f"{NO_INTERVALS} ({type(error).__name__})"
            return Proof(None, None, reason, calls)
    if found is None:
        return Proof(None, None, "Krawczyk's test did not succeed on any box: the root may be singular", calls)
    return Proof(*found, "", calls)


class Enclosed(NamedTuple):
    """Values (m,) and slopes (m, d)."""

    value: Interval
    slope: Interval


def _enclosed(function: Callable[[Any], Any], lower: Floats, upper: Floats, free: NDArray[np.bool_]) -> Enclosed:
    """F and its Jacobian on a box."""
    entries = np.atleast_1d(np.asarray(function(Dual.variables(lower, upper, free)), dtype=object)).ravel()
    none = np.zeros(int(free.sum()))
    rows = [
        each if isinstance(each, Dual) else Dual(Interval.of(float(each)), Interval.of(none)) for each in entries
    ]  # an equation without unknowns is a number
    values = Interval.of(*(np.array([getattr(row.value, end) for row in rows]) for end in ("lower", "upper")))
    slopes = Interval.of(*(np.stack([getattr(row.slope, end) for row in rows]) for end in ("lower", "upper")))
    return Enclosed(values, slopes)


def _krawczyk(
    function: Callable[[Any], Any], x: Floats, here: Interval, radius: Floats, room: Room
) -> tuple[Floats, Floats] | None:
    """The box (D, 2) of a radius and the part of it that has its only root; None if that is not proved."""
    free = room.free
    lower, upper = x.copy(), x.copy()
    lower[free] -= radius * room.width[free]
    upper[free] += radius * room.width[free]
    try:
        J = _enclosed(function, lower, upper, free).slope
        Y = np.linalg.inv(J.middle)
    except (UndefinedError, np.linalg.LinAlgError):
        return None
    if not np.isfinite(Y).all():
        return None
    middle, d = Interval.of(x[free]), len(Y)
    around = Interval.of(lower[free], upper[free]) - middle
    try:
        left = Interval.of(np.eye(d)) - _product(Interval.of(Y), J)
        K = middle - _applied(Interval.of(Y), here) + _applied(left, around)
    except UndefinedError:
        return None
    if not ((K.lower > lower[free]) & (K.upper < upper[free])).all():
        return None
    box, enclosure = np.stack([lower, upper], axis=-1), np.stack([lower, upper], axis=-1)
    enclosure[free] = np.stack([K.lower, K.upper], axis=-1)
    return box, enclosure


def _product(A: Interval, B: Interval) -> Interval:
    """The product of matrices (d, d)."""
    return (A[:, None, :] * Interval.of(B.lower.T, B.upper.T)[None, :, :]).sum()


def _applied(A: Interval, b: Interval) -> Interval:
    """A matrix (d, d) times a vector (d,)."""
    return (A * b[None, :]).sum()
