"""The box a search lives in: the user's coordinates x, and the solver's unit coordinates z of the free ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import real_array
from allmodes.objective.bounds_given import check_order, inside, periodic_coordinates, sides, start_region
from allmodes.storage import stored

_LARGEST = float(np.finfo(np.float64).max)
_EDGE = 1e-12  # of the box: closer to a bound than this is on it

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, eq=False)
class Box:
    """Bounds of the D coordinates x of the user, and the map to the d unit coordinates z of the solver.

    z = 0 and z = 1 are the ends of the region where starts are drawn, in each coordinate that is not fixed.

    Args:
        lower, upper: the user's bounds (D,), infinite where open.
        start_lower, start_upper: the region where starts are drawn (D,), finite; the bounds where those are finite.
        periodic: (D,), coordinates whose ends are the same place.
        free: (D,), coordinates with lower < upper; the others are fixed and leave the problem.

    >>> box = Box.make([(0, 10), (3, 3), (-1, 1)])
    >>> box.to_user(np.array([[0.25, 1.0]]))
    array([[2.5, 3. , 1. ]])
    """

    lower: Floats
    upper: Floats
    start_lower: Floats
    start_upper: Floats
    periodic: NDArray[np.bool_]
    free: NDArray[np.bool_]

    @staticmethod
    def make(bounds: Any, x0: Any = None, periodic: Any = None) -> Box:
        """The box of what the user passed.

        Args:
            bounds: a sequence of (lower, upper) pairs, None or inf for an open side; a scipy.optimize.Bounds; or None.
            x0: a point (D,) or several (n, D) inside the bounds; needed where a coordinate is open on both sides.
            periodic: True for all coordinates, D booleans, or a list of coordinate numbers.
        """
        points = None if x0 is None else np.atleast_1d(real_array("x0", x0, "a point (D,) or points (n, D)"))
        lower, upper = sides(bounds, points)
        check_order(lower, upper)
        free = lower < upper
        wrapped = periodic_coordinates(periodic, lower, upper) & free
        if points is not None:
            points = inside("x0", points, lower, upper)
        start_lower, start_upper = start_region(lower, upper, points)
        fields = (lower, upper, start_lower, start_upper, wrapped, free)
        for array in fields:
            array.setflags(write=False)
        return Box(*fields)

    def checked(self, name: str, points: Any) -> Floats:
        """Points of the user as (n, D), refused unless real, finite and inside the bounds."""
        array = np.atleast_1d(real_array(name, points, f"a point ({self.D},) or points (n, {self.D})"))
        return inside(name, array, self.lower, self.upper)

    @property
    def D(self) -> int:
        """How many coordinates the user's function has."""
        return len(self.lower)

    @cached_property
    def d(self) -> int:
        """How many coordinates are free."""
        return int(self.free.sum())

    @cached_property
    def scale(self) -> Floats:
        """Widths (d,) of the start region: how much x moves when z moves by one."""
        return (self.start_upper - self.start_lower)[self.free]

    @cached_property
    def lower_unit(self) -> Floats:
        """The lower bound of z (d,): 0, or -inf where the coordinate is open below or periodic."""
        return np.where(np.isfinite(self.lower) & ~self.periodic, 0.0, -np.inf)[self.free]

    @cached_property
    def upper_unit(self) -> Floats:
        """The upper bound of z (d,): 1, or inf where the coordinate is open above or periodic."""
        return np.where(np.isfinite(self.upper) & ~self.periodic, 1.0, np.inf)[self.free]

    @cached_property
    def edges(self) -> tuple[Floats, Floats]:
        """Bounds of z strictly between which a point is inside; one that only rounding keeps off a bound is on it."""
        return self.lower_unit + _EDGE, self.upper_unit - _EDGE

    @cached_property
    def is_bounded(self) -> bool:
        """Whether every free coordinate has two bounds that stop a local search."""
        return bool(np.isfinite(self.upper_unit - self.lower_unit).all())

    @cached_property
    def periodic_unit(self) -> NDArray[np.intp]:
        """The numbers of the periodic coordinates among the free ones."""
        return np.flatnonzero(self.periodic[self.free])

    @cached_property
    def _places(self) -> Any:
        """The free coordinates as an index; a slice where all are free, which costs no copy."""
        return slice(None) if self.free.all() else np.flatnonzero(self.free)

    @cached_property
    def _origin(self) -> Floats:
        return self.start_lower[self.free]

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats]:
        """x at z = 1, and the smallest and largest x allowed: finite, so that the function is never called at inf."""
        lower, upper = (np.clip(side[self.free], -_LARGEST, _LARGEST) for side in (self.lower, self.upper))
        return self.start_upper[self.free], lower, upper

    @cached_property
    def _is_open(self) -> bool:
        return bool(np.isinf(self.lower).any() or np.isinf(self.upper).any())

    @cached_property
    def _sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_] | None]:
        """Which coordinates of z are bounded below, above, and on both sides (None: all of them)."""
        below, above = np.isfinite(self.lower_unit), np.isfinite(self.upper_unit)
        return below, above, None if (below & above).all() else below & above

    def to_unit(self, x: Floats) -> Floats:
        """User points (N, D) -> unit points (N, d); the start region's ends become 0 and 1 exactly."""
        return self._wrap((x[..., self._places] - self._origin) / self.scale)

    def to_user(self, z: Floats) -> Floats:
        """Unit points (N, d) -> user points (N, D), never outside the bounds; z = 0 and z = 1 give them exactly."""
        if self._is_open:
            with np.errstate(over="ignore"):  # cut to the largest number below
                return self._to_user(z)
        return self._to_user(z)

    def _to_user(self, z: Floats) -> Floats:
        z = self._wrap(z)
        end, lower, upper = self._ends
        x = z * self.scale
        x += self._origin
        np.copyto(x, end, where=z == 1.0)
        np.maximum(x, lower, out=x)
        np.minimum(x, upper, out=x)
        if self.periodic_unit.size:  # a point that rounds to the upper end is the lower end
            places = self.periodic_unit
            x[..., places] = np.where(x[..., places] == upper[places], lower[places], x[..., places])
        return self._spread(x, self.lower)

    def _spread(self, part: Floats, rest: Any) -> Floats:
        """The free coordinates (..., d) among the fixed ones (..., D), which are taken from `rest`."""
        if isinstance(self._places, slice):
            return part
        whole = np.empty((*part.shape[:-1], self.D))
        whole[...] = rest
        whole[..., self._places] = part
        return whole

    def _wrap(self, z: Floats) -> Floats:
        """Periodic coordinates wrapped into [0, 1)."""
        places = self.periodic_unit
        if not places.size:
            return z
        z = z.copy()
        turned = z[..., places]
        turned -= np.floor(turned)
        turned[turned == 1.0] = 0.0  # a tiny negative number rounds up to 1
        z[..., places] = turned
        return z

    def difference(self, a: Floats, b: Floats) -> Floats:
        """a - b in unit coordinates (..., d), the shortest way round in periodic ones."""
        delta = a - b
        places = self.periodic_unit
        if places.size:
            delta[..., places] -= np.rint(delta[..., places])
        return delta

    def project(self, z: Floats) -> Floats:
        """The nearest points inside the bounds; periodic coordinates are wrapped."""
        return self._wrap(np.minimum(np.maximum(z, self.lower_unit), self.upper_unit))

    def reflect(self, z: Floats) -> Floats:
        """Points mirrored at the bounds, again and again where there are two; periodic coordinates are wrapped."""
        below, above, both = self._sides
        size = np.abs(z)
        folded = np.remainder(size, 2.0)
        np.copyto(folded, 2.0 - folded, where=folded > 1.0)
        if both is None:
            return folded
        single = np.where(below, size, np.where(above, np.minimum(z, 2.0 - z), z))
        return self._wrap(np.where(both, folded, single))

    def inside(self, z: Floats) -> NDArray[np.bool_]:
        """Which points (N, d) are within the bounds: (N,)."""
        return np.asarray(((z >= self.lower_unit) & (z <= self.upper_unit)).all(axis=-1))

    def gradient_to_unit(self, gradient: Floats) -> Floats:
        """Gradients by x (..., D) -> gradients by z (..., d)."""
        return gradient[..., self._places] * self.scale

    def gradient_to_user(self, gradient: Floats) -> Floats:
        """Gradients by z (..., d) -> gradients by x (..., D), 0 for fixed coordinates."""
        return self._spread(gradient / self.scale, 0.0)

    @cached_property
    def _scale_squared(self) -> Floats:
        return self.scale[:, None] * self.scale

    def hessian_to_unit(self, hessian: Floats) -> Floats:
        """Hessians by x (..., D, D) -> Hessians by z (..., d, d)."""
        return hessian[..., self._places, :][..., self._places] * self._scale_squared

    def hessian_to_user(self, hessian: Floats) -> Floats:
        """Hessians by z (..., d, d) -> Hessians by x (..., D, D), 0 for fixed coordinates."""
        part = hessian / self._scale_squared
        if isinstance(self._places, slice):
            return part
        whole = np.zeros((*part.shape[:-2], self.D, self.D))
        whole[..., self._places[:, None], self._places] = part
        return whole
