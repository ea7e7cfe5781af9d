"""What local searches in many dimensions keep: their last steps, and a few directions measured at the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.geometry import is_held
from allmodes.search.searchers.local.subspace import Subspace, learnt
from allmodes.search.searchers.local.table import Array, Counts, Mask, Rows, Table, column
from allmodes.storage import stored

_REMEMBERED = 8
KEPT = 8  # axes of the measured curvature that a search keeps
MOST_DIRECTIONS = 24  # the most gradients that a verification takes


@stored
@dataclass(eq=False)
class LimitedTable(Table):
    """Searches whose models are built from their last steps.

    Attributes:
        steps, changes: the last steps and the changes of slope over them, divided by the length of the step, oldest
            first.
        base: downward curvature along directions in which no step was taken.
        radius: of the trust region.
        predicted, bent: the rise and the slope that the model predicts for the trial point.
        tried, bends: directions along which the curvature was measured, and the change of slope along each divided by
            its length; `directions`, how many; `aim`, the next one, with its length.
        axes, curves: after the measurement, the most informative combinations of `tried` and `bends`; `level`, the
            downward curvature along all other directions; `is_measured`, whether it was measured near the point.
        last_step: length of the step that led here; `promised`, the gain that the last model predicts.
        along: a direction along which it does not move; 0 where it moves freely.
        iterations: trial points so far; `refusals`, how many of them were no better.
        measurements: how often the curvature was measured.
        has_met_kink: whether it was handed over at a kink before, which happens only once.
    """

    steps: Array = column(1, times=_REMEMBERED)
    changes: Array = column(1, times=_REMEMBERED)
    base: Array = column()
    radius: Array = column()
    predicted: Array = column()
    bent: Array = column(1)
    tried: Array = column(1, times=MOST_DIRECTIONS)
    bends: Array = column(1, times=MOST_DIRECTIONS)
    directions: Counts = column(dtype=np.int64)
    aim: Array = column(1)
    axes: Array = column(1, times=KEPT)
    curves: Array = column(1, times=KEPT)
    level: Array = column()
    is_measured: Mask = column(dtype=np.bool_)
    last_step: Array = column()
    promised: Array = column()
    along: Array = column(1)
    iterations: Counts = column(dtype=np.int64)
    refusals: Counts = column(dtype=np.int64)
    measurements: Counts = column(dtype=np.int64)
    has_met_kink: Mask = column(dtype=np.bool_)

    def learn(self, rows: Rows, steps: Array, changes: Array) -> None:
        """Unit steps (n, d) and the changes of slope along them replace the oldest."""
        for columns, new in ((self.steps, steps), (self.changes, changes)):
            columns[rows] = np.concatenate([columns[rows, 1:], new[:, None]], axis=1)
        bend, size = -np.einsum("nd,nd->n", steps, changes), np.einsum("nd,nd->n", changes, changes)
        is_concave = bend > 1e-8 * np.sqrt(size)
        self.base[rows] = np.where(is_concave, size / np.where(is_concave, bend, 1.0), self.base[rows])

    def space(self, box: Box, rows: Rows, has_axes: bool = False) -> tuple[Subspace, Mask]:
        """Models of searches at their points, with or without measured axes, and the coordinates held by no bound."""
        point, g, along = self.point[rows], self.gradient[rows], self.along[rows]
        free = ~is_held(box, point, g)
        steps, changes = self.steps[rows], self.changes[rows]
        if has_axes:
            steps = np.concatenate([self.axes[rows], steps], axis=1)
            changes = np.concatenate([self.curves[rows], changes], axis=1)
        if along.any():
            g = g - np.einsum("nd,nd->n", g, along)[:, None] * along
            steps, changes = (part - (part @ along[..., None]) * along[:, None] for part in (steps, changes))
        return learnt(g, steps, changes, self.base[rows], free), free
