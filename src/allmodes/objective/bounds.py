"""The box a search lives in: the user's coordinates x, and the solver's unit coordinates z of the free ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import real_array
from allmodes.objective.bounds_given import check_order, inside, periodic_coordinates, sides, spreads, start_region
from allmodes.objective.bounds_scipy import as_pairs
from allmodes.objective.draws_given import Draws, region_of
from allmodes.objective.grids import Grid, Steps, check_levels, grids_of, without_choices
from allmodes.objective.scales import bends, from_log, log_coordinates, slopes, to_log
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
        start_lower, start_upper: the region where starts are drawn (D,), finite; the bounds where those are finite. Of
            coordinates on a logarithmic scale they are the logarithms.
        periodic: (D,), coordinates whose ends are the same place.
        free: (D,), coordinates with lower < upper; the others are fixed and leave the problem.
        grids: (D,), the levels of coordinates that take only some values, None for real ones; () if all are real.
        is_log: (D,), coordinates on a logarithmic scale; None if there are none.

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
    grids: tuple[Grid | None, ...] = ()
    is_log: NDArray[np.bool_] | None = None

    @staticmethod
    def make(
        bounds: Any, x0: Any = None, periodic: Any = None, integrality: Any = None,
        scale: Any = None, names: Any = None, spread: Any = None, draws: Draws | None = None,
    ) -> Box:  # fmt: skip
        """The box of what the user passed.

        Args:
            bounds: a sequence of (lower, upper) pairs, None or inf for an open side, or lists of choices; a
                scipy.optimize.Bounds; or None.
            x0: a point (D,) or several (n, D) inside the bounds; needed where a coordinate is open on both sides.
            periodic: True for all coordinates, D booleans, or a list of coordinate numbers.
            integrality: True, or D booleans: which coordinates are whole numbers.
            scale: "log", D words, or a dict from coordinates (numbers or names) to "log".
            names: of the coordinates.
            spread: how far around x0 to look, one number or (D,), where sides are open.
            draws: they say where to look where sides are open, in the place of x0.
        """
        points = None if x0 is None else np.atleast_1d(real_array("x0", x0, "a point (D,) or points (n, D)"))
        known = points if draws is None else draws.points
        pairs, choices = without_choices(as_pairs(bounds, None if known is None else known.shape[-1]))
        lower, upper = sides(pairs, known)
        check_order(lower, upper)
        free = lower < upper
        wrapped = periodic_coordinates(periodic, lower, upper) & free
        grids = grids_of(integrality, choices, lower, upper, wrapped)
        if points is not None:
            points = inside("x0", points, lower, upper)
            check_levels("x0", points, grids)
        is_log = log_coordinates(scale, lower, upper, wrapped, names)
        if is_log is not None and any(grid is not None and log for grid, log in zip(grids, is_log, strict=False)):
            raise ValueError("scale is logarithmic for a coordinate of whole numbers or choices; wanted a real one.")
        if draws is None:
            reach = spreads(spread, lower, upper, points, is_log)
            around = None if points is None else to_log(points, is_log)
        else:
            around, reach = region_of(draws, free, is_log, any(grids), spread)
        start_lower, start_upper = start_region(to_log(lower, is_log), to_log(upper, is_log), around, is_log, reach)
        fields = (lower, upper, start_lower, start_upper, wrapped, free)
        for array in fields:
            array.setflags(write=False)
        return Box(*fields, grids, is_log)

    def checked(self, name: str, points: Any) -> Floats:
        """Points of the user as (n, D), refused unless real, finite and inside the bounds."""
        array = np.atleast_1d(real_array(name, points, f"a point ({self.D},) or points (n, {self.D})"))
        array = inside(name, array, self.lower, self.upper)
        check_levels(name, array, self.grids)
        return array

    @property
    def D(self) -> int:
        """How many coordinates the user's function has."""
        return len(self.lower)

    @cached_property
    def d(self) -> int:
        """How many coordinates are free."""
        return int(self.free.sum())

    @cached_property
    def levels(self) -> list[tuple[int, Grid]]:
        """The grids of free coordinates, each with its place in z."""
        places = np.flatnonzero(self.free).tolist()
        found = ((place, self.grids[i]) for place, i in enumerate(places)) if self.grids else ()
        return [(place, grid) for place, grid in found if grid is not None]

    @cached_property
    def is_real(self) -> NDArray[np.bool_]:
        """Which coordinates of z are real numbers, (d,)."""
        real = np.ones(self.d, np.bool_)
        real[[place for place, _ in self.levels]] = False
        return real

    @cached_property
    def scale(self) -> Floats:
        """Widths (d,) of the start region: how much x, or its logarithm, moves when z moves by one."""
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
        end = self.start_upper[self.free]
        if self._logs is not None:  # a bound to the last bit
            end = np.where(np.isfinite(self.upper[self.free]), upper, from_log(end, self._logs))
        return end, lower, upper

    @cached_property
    def _logs(self) -> NDArray[np.bool_] | None:
        """Which free coordinates are logarithms (d,); None if none is."""
        if self.is_log is None or not self.is_log[self.free].any():
            return None
        return self.is_log[self.free]

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
        z = self._wrap((to_log(x[..., self._places], self._logs) - self._origin) / self.scale)
        for place, grid in self.levels:
            z[..., place] = grid.units(x[..., self._places][..., place])
        return z

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
        if self._logs is not None:
            x = from_log(x, self._logs)
            np.copyto(x, lower, where=(z == 0.0) & self._logs)
        np.copyto(x, end, where=z == 1.0)
        np.maximum(x, lower, out=x)
        np.minimum(x, upper, out=x)
        if self.periodic_unit.size:  # a point that rounds to the upper end is the lower end
            places = self.periodic_unit
            x[..., places] = np.where(x[..., places] == upper[places], lower[places], x[..., places])
        if self.levels:
            Steps.of(self.levels).put(z, x)
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

    def slopes(self, x: Floats | None = None) -> Floats:
        """dx / dz (..., d) of the free coordinates at points (..., D), which only logarithms need."""
        if self._logs is None:
            return self.scale
        if x is None:
            raise ValueError("derivatives on a logarithmic scale need the points where they are taken.")
        return slopes(x[..., self._places], self.scale, self._logs)

    def gradient_to_unit(self, gradient: Floats, x: Floats | None = None) -> Floats:
        """Gradients by x (..., D), at points x (..., D) -> gradients by z (..., d)."""
        return gradient[..., self._places] * self.slopes(x)

    def gradient_to_user(self, gradient: Floats, x: Floats | None = None) -> Floats:
        """Gradients by z (..., d) -> gradients by x (..., D), 0 for fixed coordinates."""
        return self._spread(gradient / self.slopes(x), 0.0)

    def _squared(self, x: Floats | None) -> Floats:
        each = self.slopes(x)
        return each[..., :, None] * each[..., None, :]

    def _bend(self, gradient: Floats | None) -> Floats | float:
        """What a gradient by z (..., d) adds to Hessians by z on a logarithmic scale, (..., d, d)."""
        if self._logs is None or gradient is None:
            return 0.0
        return np.nan_to_num(gradient * bends(self.scale, self._logs))[..., None] * np.eye(self.d)

    def hessian_to_unit(self, hessian: Floats, x: Floats | None = None, gradient: Floats | None = None) -> Floats:
        """Hessians by x (..., D, D) -> Hessians by z (..., d, d); gradients by z (..., d) belong to them."""
        return hessian[..., self._places, :][..., self._places] * self._squared(x) + self._bend(gradient)

    def hessian_to_user(self, hessian: Floats, x: Floats | None = None, gradient: Floats | None = None) -> Floats:
        """Hessians by z (..., d, d), with gradients by z -> Hessians by x (..., D, D), 0 for fixed coordinates."""
        part = (hessian - self._bend(gradient)) / self._squared(x)
        if isinstance(self._places, slice):
            return part
        whole = np.zeros((*part.shape[:-2], self.D, self.D))
        whole[..., self._places[:, None], self._places] = part
        return whole
