"""Tables of running searches: one row for each, and an array for everything that is to be known of them."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import LEAPING, Origin
from allmodes.search.events import SearchEvent
from allmodes.storage import stored

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

# Rows of searches that are over, with what there is to say; None where the other machine goes on with the search.
Ends: TypeAlias = dict[int, SearchEvent | None]


class Phase(Enum):
    """What a search waits for."""

    START = 0  # value and gradient where it begins
    STEP = 1  # the value at its trial point, with derivatives if there are any
    SLOPE = 2  # difference points for the gradient at the point it has moved to
    CURVE = 3  # difference points for the curvature where it has arrived
    FINAL = 4  # the value at the last Newton step
    LEAP = 5  # the value far away where its slopes point to, with derivatives if there are any


def column(power: int = 0, dtype: type = np.float64, times: int = 0) -> Any:
    """A field of a table: an array with d^power entries in each row, or with `times` such arrays."""
    return field(init=False, metadata={"power": power, "dtype": dtype, "shape": (times,) if times else ()})


@dataclass(eq=False)
class Table:
    """State of running searches. A search keeps its row until it is over; then another may get it.

    Concrete tables have further columns.

    Attributes:
        d: dimensions.
        rows: those in use, in the order of `path`; `unused`, the others.
        origins: of each row, as they were when the search was put here.
        point, value, gradient: where each search is, and what is known there.
        trial: where it wants to be evaluated.
        came_from, old_gradient: the point before.
        path: its number among all searches, the order in which they move.
        cost: evaluations so far.
        phase: what it waits for, as the value of a `Phase`.
        is_asked: whether it is in flight.
        is_awaited: whether it may not be stopped early: the verifier waits for its end, or it runs on to check.
    """

    d: int
    origins: list[Origin | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    unused: list[int] = field(default_factory=list)
    point: Array = column(1)
    value: Array = column()
    gradient: Array = column(1)
    trial: Array = column(1)
    came_from: Array = column(1)
    old_gradient: Array = column(1)
    path: Counts = column(dtype=np.int64)
    cost: Counts = column(dtype=np.int64)
    phase: Counts = column(dtype=np.int64)
    is_asked: Mask = column(dtype=np.bool_)
    is_awaited: Mask = column(dtype=np.bool_)

    def __post_init__(self) -> None:
        for each in self.columns():
            shape = (0, *each.metadata["shape"]) + (self.d,) * each.metadata["power"]
            setattr(self, each.name, np.zeros(shape, each.metadata["dtype"]))

    def columns(self) -> list[Field[Any]]:
        """The fields that have a row for each search."""
        return [each for each in fields(self) if each.metadata]

    def __len__(self) -> int:
        return len(self.rows)

    def open(self, points: Array, origins: list[Origin], paths: list[int]) -> Rows:
        """Rows for searches that go on at points (n, d); everything else about them is 0, and their value unknown."""
        n, size = len(points), len(self.path)
        more = max(n - len(self.unused), size) if n > len(self.unused) else 0
        self.unused += range(size, size + more)
        self.origins += [None] * more
        chosen, self.unused = self.unused[:n], self.unused[n:]
        rows = np.array(chosen, dtype=np.intp)
        for each in self.columns():
            array = getattr(self, each.name)
            if more:
                array = np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
                setattr(self, each.name, array)
            array[rows] = 0
        self.value[rows] = -np.inf
        self.point[rows] = self.trial[rows] = self.came_from[rows] = points
        self.path[rows], self.cost[rows] = paths, [origin.cost for origin in origins]
        self.is_awaited[rows] = [origin.question >= 0 or origin.recognised >= 0 for origin in origins]
        for k, origin in zip(chosen, origins, strict=True):
            self.origins[k] = origin
        self.rows = self.in_order(np.array(self.rows + chosen, dtype=np.intp)).tolist()
        return rows

    def run_on(self, k: int, mode: int) -> None:
        """The search in a row is recognised by a mode, and runs on to check."""
        self.origins[k], self.is_awaited[k] = self.begun(k)._replace(recognised=mode), True

    def close(self, gone: Ends) -> None:
        """These searches are over here."""
        self.rows = [k for k in self.rows if k not in gone]
        self.unused = sorted(gone) + self.unused
        for k in gone:
            self.origins[k] = None

    def idle(self) -> Rows:
        """Rows that are not in flight, in order."""
        rows = np.array(self.rows, dtype=np.intp)
        return rows[~self.is_asked[rows]]

    def in_order(self, rows: Rows) -> Rows:
        """Rows in the order of their paths."""
        return rows[self.path[rows].argsort(kind="stable")]

    def begun(self, k: int) -> Origin:
        """Where the search in a row comes from, as it was when it was put here."""
        origin = self.origins[k]
        assert origin is not None
        return origin

    def origin(self, k: int) -> Origin:
        """Where the search in a row comes from, with what it has cost so far."""
        return self.begun(k)._replace(cost=int(self.cost[k]))


@stored
@dataclass(eq=False)
class TrustRegionTable(Table):
    """Searches by trust-region steps.

    Attributes:
        hessian: of the model at the point; a guess unless `is_measured` nearby.
        gauss_newton, second: for residuals, the two parts of a Hessian: the Gauss-Newton matrix at the
            point, and what is known of the rest, which the model may leave out.
        radius: of the trust region.
        distance: to the maximum of the last model; `shrinkage`, by how much it had shrunk then.
        missed: the share of the last change of gradient that a residual model missed; infinite if the step was refused.
        last_step: length of the step that led here; `promised`, what the last model has to gain.
        slope_steps: of the forward differences that made the gradient; `bias`, what was subtracted for the curvature.
        along: a direction in which it does not move; 0 if it moves freely.
        ceiling: the value above which it is of no use; `middle`, of two points that it is to stay between, and `apart`,
            how far they are from it in the direction `along`; infinite where it may go anywhere.
        iterations: trial points so far, `refusals` of which were no better.
        measurements: how often the curvature was measured.
        was_measured: for residuals, whether the curvature was measured rather than learnt from steps.
        is_leaping: whether it looks far away before it begins.
        has_met_kink: whether it was handed over at a kink before, and is not to be again.
    """

    hessian: Array = column(2)
    gauss_newton: Array = column(2)
    second: Array = column(2)
    radius: Array = column()
    distance: Array = column()
    shrinkage: Array = column()
    last_step: Array = column()
    promised: Array = column()
    missed: Array = column()
    slope_steps: Array = column(1)
    bias: Array = column(1)
    along: Array = column(1)
    ceiling: Array = column()
    middle: Array = column(1)
    apart: Array = column()
    iterations: Counts = column(dtype=np.int64)
    refusals: Counts = column(dtype=np.int64)
    measurements: Counts = column(dtype=np.int64)
    is_measured: Mask = column(dtype=np.bool_)
    was_measured: Mask = column(dtype=np.bool_)
    is_leaping: Mask = column(dtype=np.bool_)
    has_met_kink: Mask = column(dtype=np.bool_)

    def open(self, points: Array, origins: list[Origin], paths: list[int]) -> Rows:
        rows = super().open(points, origins, paths)
        self.ceiling[rows] = self.apart[rows] = np.inf
        return rows

    def leap(self, k: int, point: Array) -> None:
        """A search begins at another point than it was put at."""
        self.point[k] = self.came_from[k] = point
        self.phase[k] = Phase.START.value
        self.origins[k] = self.begun(k)._replace(start=LEAPING)
