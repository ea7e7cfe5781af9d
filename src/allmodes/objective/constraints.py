"""Constraints of a problem: their values, derivatives and violation at points of the unit box.

They are part of the problem, like bounds: the search evaluates them itself, in its own process, as often as it likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.constraints_given import Part, parts_of

Floats = NDArray[np.float64]

FEASIBILITY = 1e-8  # of a constraint's scale: a point that violates it by less is feasible
_SAMPLED = 64  # points of the box whose values tell the scale of a constraint
_STEP = 6e-6  # of the box: two-sided differences of values, the cube root of rounding
_BEND = 1e-4  # of the box: two-sided differences of Jacobians
_MARGIN = 4e-6  # of the feasibility wanted: points aim that far inside, for the objective may be undefined outside
_KEPT_OFF = 0.1  # likewise, for constraints that are never to be violated, whatever their rounding
_FAILED = -10.0  # scales: by how much a constraint counts as violated where its function fails


class Constraints:
    """All constraints of a problem in rows that are to be at least 0, or equal to 0, in units of their scales.

    The scale of a constraint is the median distance of its values from its bounds, over the box.

    Args:
        parts: of the user.
        box: the coordinates.
        feasibility: what a feasible point may violate a constraint by, as a share of its scale.

    Attributes:
        index, sign, bound: (r,), row k is sign (c_index - bound) / scale.
        is_equality: (r,), which rows are to be 0.
        keeps: (r,), which are never to be violated where the objective is evaluated.
        margin: (r,), what rows that are no equalities are aimed at in place of 0.
        scale: (m,), of each constraint.
        calls: points at which they were evaluated since `taken` was called.
    """

    def __init__(self, parts: list[Part], box: Box, feasibility: float = FEASIBILITY) -> None:
        self.parts, self.box, self.feasibility = parts, box, feasibility
        self.calls, self._last = 0, {}  # type: ignore[var-annotated]
        self.sizes = [0] * len(parts)
        points = _spread(_SAMPLED, box.d)
        values = [self._first(i, box.to_user(points)) for i in range(len(parts))]
        lower, upper, keep = (np.concatenate(sides) for sides in zip(*map(self._sides, range(len(parts))), strict=True))
        self.m = len(lower)
        self.scale = _scales(np.concatenate(values, axis=1), lower, upper)
        is_equal, low, high = lower == upper, np.isfinite(lower), np.isfinite(upper)
        rows = [(i, 1.0, lower[i]) for i in np.flatnonzero(low)]
        rows += [(i, -1.0, upper[i]) for i in np.flatnonzero(high & ~is_equal)]
        rows.sort(key=lambda row: row[0])
        self.index = np.array([row[0] for row in rows], dtype=np.intp)
        self.sign = np.array([row[1] for row in rows])
        self.bound = np.array([row[2] for row in rows])
        self.is_equality = is_equal[self.index]
        self.keeps = keep[self.index] & ~self.is_equality
        self.margin = np.where(self.is_equality, 0.0, np.where(self.keeps, _KEPT_OFF, _MARGIN) * feasibility)

    @staticmethod
    def make(
        constraints: Any, box: Box, vectorized: bool = False, feasibility: float = FEASIBILITY
    ) -> Constraints | None:
        """What the user gave; None if that is no constraint at all."""
        if constraints is None or (isinstance(constraints, list | tuple) and not constraints):
            return None
        return Constraints(parts_of(constraints, vectorized, box.D), box, feasibility)

    # ---- evaluating

    def taken(self) -> int:
        """Evaluations since this was asked last."""
        calls, self.calls = self.calls, 0
        return calls

    def forget(self) -> None:
        """What was evaluated last."""
        self._last = {}

    def values(self, z: Floats) -> Floats:
        """At unit points (N, d): (N, m), NaN where a function failed."""
        x = self.box.to_user(z)
        self.calls += len(x)
        return np.concatenate([self._values(i, x) for i in range(len(self.parts))], axis=1)

    def rows(self, z: Floats) -> Floats:
        """What is to be at least 0, or 0, at one unit point (d,): (r,); far below 0 where a function failed."""
        known = self._recall(z)
        if "rows" not in known:
            known["rows"] = self.sign * (self.values(z[None])[0][self.index] - self.bound) / self.scale[self.index]
        found: Floats = known["rows"]
        return np.where(np.isfinite(found), found, _FAILED)

    def jacobian(self, z: Floats) -> Floats:
        """Of the rows by unit coordinates at one point (d,): (r, d); 0 where it is not known."""
        known = self._recall(z)
        if "jacobian" not in known:
            known["jacobian"] = self._unit_jacobian(z)[self.index] * (self.sign / self.scale[self.index])[:, None]
        found: Floats = known["jacobian"]
        return found

    def curvature(self, z: Floats, weights: Floats) -> Floats:
        """The Hessian (d, d) of the sum of rows with weights (r,) at one point (d,)."""
        d, total = self.box.d, np.zeros((self.box.d, self.box.d))
        of_constraints = np.zeros(self.m)
        np.add.at(of_constraints, self.index, weights * self.sign / self.scale[self.index])
        if all(part.hess is not None for part in self.parts):
            begin, x = 0, self.box.to_user(z[None])[0]
            for part, size in zip(self.parts, self.sizes, strict=True):
                given = part.hess(x, of_constraints[begin : begin + size])  # type: ignore[misc]
                total += self.box.hessian_to_unit(np.asarray(_dense(given), dtype=np.float64))
                begin += size
            return total
        for i in range(d):
            ahead, behind = self._sided(z, i, _BEND)
            change = (self._unit_jacobian(ahead) - self._unit_jacobian(behind)) / (ahead[i] - behind[i])
            total[i] = of_constraints @ change
        return 0.5 * (total + total.T)

    def violation(self, z: Floats) -> Floats:
        """The largest violation at unit points (N, d), in units of scales: (N,), infinite where a function failed."""
        rows = self.sign * (self.values(z)[:, self.index] - self.bound) / self.scale[self.index]
        sizes = np.where(self.is_equality, np.abs(rows), np.maximum(-rows, 0.0))
        return np.asarray(np.where(np.isnan(sizes), np.inf, sizes).max(axis=1, initial=0.0))

    def is_feasible(self, z: Floats) -> NDArray[np.bool_]:
        """Which unit points (N, d) are feasible; constraints that are kept hold without any tolerance."""
        rows = self.sign * (self.values(z)[:, self.index] - self.bound) / self.scale[self.index]
        sizes = np.where(self.is_equality, np.abs(rows), -rows)
        return np.asarray((sizes <= np.where(self.keeps, 0.0, self.feasibility)).all(axis=1))

    def is_within(self, z: Floats) -> NDArray[np.bool_]:
        """Which unit points (N, d) violate no inequality at all."""
        rows = self.sign * (self.values(z)[:, self.index] - self.bound)
        return np.asarray((rows[:, ~self.is_equality] >= 0.0).all(axis=1))

    def is_allowed(self, z: Floats) -> NDArray[np.bool_]:
        """At which unit points (N, d) the objective may be evaluated: where no constraint is violated that is kept."""
        if not self.keeps.any():
            return np.ones(len(z), bool)
        rows = self.sign * (self.values(z)[:, self.index] - self.bound)
        return np.asarray((rows[:, self.keeps] >= 0.0).all(axis=1))

    # ---- one part

    def _recall(self, z: Floats) -> dict[str, Any]:
        """What is known at the point asked for last: solvers ask for values and Jacobian one after the other."""
        key = z.tobytes()
        if self._last.get("key") != key:
            self._last = {"key": key}
        return self._last

    def _first(self, i: int, x: Floats) -> Floats:
        """Values of a part at points (N, D): they tell how many rows it has."""
        part = self.parts[i]
        self.calls += len(x)
        if part.is_vectorized:
            found = np.asarray(part.fun(x), dtype=np.float64)
            if found.shape[:1] != (len(x),) or found.ndim > 2:
                raise ValueError(
                    f"{part.name} returned shape {found.shape} for points {x.shape}; wanted (N, m), for it is "
                    "vectorised with the objective."
                )
            self.sizes[i] = found.reshape(len(x), -1).shape[1]
            return self._values(i, x)
        error: Exception | None = None
        for point in x:
            try:
                found = np.asarray(part.fun(point.copy()), dtype=np.float64)
            except Exception as raised:  # it may be undefined there
                error = error or raised
                continue
            if found.ndim > 1:
                raise ValueError(f"{part.name} returned shape {found.shape}; wanted a number or (m,).")
            self.sizes[i] = found.size
            return self._values(i, x)
        raise ValueError(f"{part.name} failed at all of {len(x)} points of the box, first with: {error!r}.") from error

    def _sides(self, i: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        part, m = self.parts[i], self.sizes[i]
        for side, array in (("lb", part.lower), ("ub", part.upper), ("keep_feasible", part.keep)):
            if array.size not in (1, m):
                raise ValueError(f"the {side} of {part.name} has {array.size} entries and its fun {m}; wanted as many.")
        lower, upper = np.broadcast_to(part.lower, m), np.broadcast_to(part.upper, m)
        if (lower > upper).any():
            k = int(np.flatnonzero(lower > upper)[0])
            raise ValueError(f"{part.name} has lb {lower[k]:g} above ub {upper[k]:g} in row {k}.")
        return lower, upper, np.broadcast_to(part.keep, m)

    def _values(self, i: int, x: Floats) -> Floats:
        part, m = self.parts[i], self.sizes[i]
        if part.is_vectorized:
            try:
                found = np.asarray(part.fun(x), dtype=np.float64)
            except (ArithmeticError, ValueError):
                return np.full((len(x), m), np.nan)
            return _shaped(part, found, (len(x), m))
        values = np.full((len(x), m), np.nan)
        for row, point in enumerate(x):
            try:
                found = np.asarray(part.fun(point.copy()), dtype=np.float64)
            except Exception:  # a failure is a violation
                continue
            values[row] = _shaped(part, found, (m,))
        return values

    def _unit_jacobian(self, z: Floats) -> Floats:
        """Of the constraints (m, d) at one unit point."""
        x, whole = self.box.to_user(z[None])[0], []
        missing = [i for i, part in enumerate(self.parts) if part.jac is None]
        steps = [self._sided(z, i, _STEP) for i in range(self.box.d)] if missing else []
        around = self.box.to_user(np.array(steps).reshape(-1, self.box.d)) if missing else np.zeros((0, len(x)))
        self.calls += len(around)
        widths = np.array([ahead[i] - behind[i] for i, (ahead, behind) in enumerate(steps)])
        for i in range(len(self.parts)):
            if i in missing:
                values = self._values(i, around).reshape(self.box.d, 2, -1)
                whole.append(((values[:, 0] - values[:, 1]) / widths[:, None]).T)
            else:
                whole.append(self.box.gradient_to_unit(self._jac(i, x)))
        return np.nan_to_num(np.concatenate(whole), nan=0.0, posinf=0.0, neginf=0.0)

    def _jac(self, i: int, x: Floats) -> Floats:
        part, shape = self.parts[i], (self.sizes[i], len(x))
        assert part.jac is not None
        try:
            found = np.asarray(_dense(part.jac(x[None] if part.is_vectorized else x.copy())), dtype=np.float64)
        except ArithmeticError:
            return np.full(shape, np.nan)
        if found.size != shape[0] * shape[1]:
            raise ValueError(f"the jac of {part.name} has shape {found.shape}; wanted {shape}.")
        return found.reshape(shape)

    def _sided(self, z: Floats, i: int, step: float) -> tuple[Floats, Floats]:
        """Points ahead and behind along a coordinate, inside the bounds."""
        ahead, behind = z.copy(), z.copy()
        ahead[i] = min(z[i] + step, self.box.upper_unit[i])
        behind[i] = max(z[i] - step, self.box.lower_unit[i])
        return ahead, behind


def _shaped(part: Part, found: Floats, shape: tuple[int, ...]) -> Floats:
    if found.size != np.prod(shape):
        raise ValueError(f"{part.name} returned shape {found.shape} and before {shape}; wanted always the same.")
    return found.reshape(shape)


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _spread(n: int, d: int) -> Floats:
    """The same points (n, d) of the unit box in every search."""
    from scipy.stats import qmc  # late: importing it takes a while

    return np.asarray(qmc.Sobol(d, seed=np.random.default_rng(0)).random(n)) if d else np.zeros((1, 0))


def _scales(values: Floats, lower: Floats, upper: Floats) -> Floats:
    """The median distance of values (N, m) from the closer bound, or 1 where nothing is known."""
    values = np.where(np.isfinite(values), values, np.nan)
    apart = np.minimum(np.abs(values - lower), np.abs(values - upper))
    scales = np.ones(len(lower))
    for i, column in enumerate(apart.T):
        known = column[np.isfinite(column) & (column > 0.0)]
        scales[i] = np.median(known) if len(known) else 1.0
    return scales
