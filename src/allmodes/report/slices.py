"""Values of a function on a line or a plane through a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Objective
from allmodes.objective.grids import with_choices
from allmodes.result import Result

_LEVELS = 15
_CROWDED = 1.5  # power of shares: how much closer contours are where values are good
_FEWEST_POINTS = 40  # evaluated ones, to draw a function that was not passed

Floats = NDArray[np.float64]


class Slice(NamedTuple):
    """Places along each coordinate, and the values there; NaN where the function failed."""

    sides: tuple[Floats, ...]
    values: Floats


def through(result: Result, at: Any) -> Floats:
    """The point (D,) that a slice goes through: given, that of the mode of this rank, or the best one."""
    D = len(result.x)
    if at is None:
        return np.where(np.isfinite(result.x), result.x, 0.0)
    if isinstance(at, (int, np.integer)) and not isinstance(at, bool):
        if not 1 <= at <= len(result.modes):
            raise ValueError(f"at is {at}; wanted a point ({D},) or the rank of a mode, 1 to {len(result.modes)}.")
        return result.modes[int(at) - 1].x
    point = np.asarray(at, dtype=np.float64)
    if point.shape != (D,) or not np.isfinite(point).all():
        raise ValueError(f"at is {at!r}; wanted a point of {D} finite numbers, or the rank of a mode.")
    return point


def cut(
    result: Result,
    fun: Callable[..., Any] | Objective,
    coordinates: Sequence[int],
    point: Floats,
    sides: Sequence[Floats],
) -> Slice:
    """The function on a grid of the chosen coordinates, the others as in the point."""
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    shape = grid.shape[:-1]
    points = np.tile(point, (grid[..., 0].size, 1))
    points[:, list(coordinates)] = grid.reshape(-1, len(coordinates))
    points = _allowed(result, points)
    call, is_batched = fun, result.settings.get("vectorized")
    if isinstance(fun, Objective):
        call, is_batched = fun.fun, fun.vectorized
    assert callable(call)
    if result.is_fit or result.is_roots:
        call = Cost(call, bool(is_batched), result.problem)
    values = _batch(call, points) if is_batched else _single(call, points)
    return Slice(tuple(sides), np.where(np.isfinite(values), values, np.nan).reshape(shape))


def _allowed(result: Result, points: Floats) -> Any:
    """Points with whole numbers rounded, and choices in place of their numbers: no function is called elsewhere."""
    whole, choices = result.settings.get("integrality") or [], result.settings.get("choices") or {}
    points[:, whole] = np.rint(points[:, whole])
    labels: dict[int, tuple[Any, ...]] = {}
    for i, entry in choices.items():
        if all(isinstance(each, float) for each in entry):
            sizes = np.array(entry)
            points[:, int(i)] = sizes[np.abs(points[:, int(i), None] - sizes).argmin(axis=1)]
        else:
            labels[int(i)] = tuple(entry)
            points[:, int(i)] = np.rint(points[:, int(i)])
    return with_choices(points, labels) if labels else points


def _batch(fun: Callable[..., Any], points: Floats) -> Floats:
    """One call, as the search called it."""
    found = fun(points)
    values = np.asarray(found[0] if isinstance(found, tuple) else found, dtype=np.float64)
    if values.shape != (len(points),):
        raise ValueError(f"fun returned the shape {values.shape} for {len(points)} points; wanted ({len(points)},).")
    return values


def _single(fun: Callable[..., Any], points: Floats) -> Floats:
    """One call for every point. What raises is left blank, unless everything does."""
    values = np.full(len(points), np.nan)
    failure: Exception | None = None
    for row, point in enumerate(points):
        try:
            found = fun(point.copy())
            values[row] = float(np.asarray(found[0] if isinstance(found, tuple) else found).reshape(()))
        except Exception as error:  # the user's function: whatever it raises
            failure = failure or error
    if failure is not None and np.isnan(values).all():
        raise ValueError(f"fun failed at all of {len(points)} points; at the first: {failure!r}.") from failure
    return values


def levels(values: Floats, maximise: bool) -> Floats:
    """Values between which to draw contours, closer where values are good, (n,); nothing where they are all equal."""
    finite = values[np.isfinite(values)]
    if not len(finite) or np.ptp(finite) == 0.0:
        return np.zeros(0)
    shares = np.linspace(0.0, 1.0, _LEVELS) ** _CROWDED
    return np.unique(np.quantile(finite, np.sort(1.0 - shares) if maximise else shares))


def seen(result: Result) -> tuple[Floats, Floats]:
    """Points that local searches went through and their values, if there are enough for a plot; otherwise none."""
    is_finite = np.isfinite(result.paths.values)
    points, values = result.paths.points[is_finite], result.paths.values[is_finite]
    if len(points):
        points, rows = np.unique(points, axis=0, return_index=True)
        values = values[rows]
    return (points, values) if len(points) >= _FEWEST_POINTS else (points[:0], values[:0])


class Cost:
    """What a fit was searched by, where a function returns residuals; the values of any other as they are.

    Args:
        fun: of a point, or of points if it is batched.
        problem: the residuals as they were searched, with errors and a loss; None after loading.
    """

    def __init__(self, fun: Callable[..., Any], is_batched: bool, problem: Any) -> None:
        self.fun, self.single, self.problem = fun, 1 if is_batched else 0, problem

    def __call__(self, x: Floats) -> Any:
        found = self.fun(x)
        values = np.asarray(found[0] if isinstance(found, tuple) else found, dtype=np.float64)
        if values.ndim <= self.single:
            return values
        if self.problem is None:
            return 0.5 * (values**2).sum(axis=-1)
        cost = self.problem.loss.cost(self.problem.residuals(np.atleast_2d(x)))
        return cost if self.single else cost[0]
