"""Whole numbers and choices beside real coordinates: every change of a level is judged with the reals made good."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.search.archive import Frozen
from allmodes.search.context import Context
from allmodes.search.searchers.discrete.inner import Inner
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


@stored
@dataclass(eq=False)
class MixedWalk:
    """A walk uphill by changes of one level, between which a local search makes the real coordinates good.

    "land": the reals are made good for the levels. "look": the neighbours' values with the same reals; it goes on to
    the best that is better. "try": from there, the reals are made good for each neighbour, the best first, until one is
    better. If none is, this is an optimum, and "bend" measures its curvature.

    Args:
        levels, inner: where it begins.
        is_fresh: whether that was drawn at random.
    """

    levels: Levels
    inner: Inner
    is_fresh: bool
    path: list[int] = field(default_factory=list)
    stage: str = "land"
    around: Levels = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    trial: Inner | None = None
    begun: Array = field(default_factory=lambda: np.zeros(0))
    hessian: Array = field(default_factory=lambda: np.zeros((0, 0)))
    mode: int = -1
    is_over: bool = False
    is_optimum: bool = False

    @property
    def row(self) -> int:
        """Where it stands, of the nodes."""
        return self.path[-1]

    def recorded(self, record: Frozen, space: Space) -> Frozen:
        """What is known of the mode that it ended in."""
        gradient, active, hessian = record.gradient.copy(), record.active.copy(), record.hessian.copy()
        gradient[space.reals], active[space.reals] = self.inner.gradient, self.inner.held
        hessian[np.ix_(space.reals, space.reals)] = self.hessian
        kind = "boundary" if active.any() else record.kind
        return replace(record, gradient=gradient, active=active, hessian=hessian, kind=kind)

    def ask(self, context: Context, space: Space) -> tuple[Levels, Array]:
        """Levels (n, m) and reals (n, r) of the points whose values it wants to know."""
        if self.stage == "look":
            return self.around, np.repeat(self.inner.x[None], len(self.around), axis=0)
        if self.stage == "bend":
            points = _stencil(self.inner)
        else:
            points = (self.inner if self.trial is None else self.trial).ask(context.rng)
        levels = self.levels if self.trial is None else self.around[0]
        return np.repeat(levels[None], len(points), axis=0), points

    def tell(self, values: Array, context: Context, space: Space, nodes: Nodes) -> None:
        """What came of them."""
        error = float(context.tolerances.error_of(self.inner.value))
        if self.stage == "look":
            self._looked(values, error)
        elif self.stage == "bend":
            self.hessian, self.is_over = _bends(values, len(self.inner.x)), True
        elif self.trial is not None:
            self._tried(self.trial, values, error)
        else:
            is_first = not np.isfinite(self.inner.value)
            self.inner.tell(values, error)
            if is_first and self.is_fresh:
                context.observe_level(values[:1])
        if self.stage == "land" and self.inner.is_over:
            self._land(context, space, nodes)

    def _land(self, context: Context, space: Space, nodes: Nodes) -> None:
        value = self.inner.value
        if not np.isfinite(value):
            self.is_over = True
            return
        row = nodes.near(self.levels, self.inner.x, context.tolerances.same)
        if row >= 0 and nodes.modes[row] >= 0:
            self.mode, self.is_over = int(nodes.modes[row]), True
            self.path.append(row)
            return
        self.path.append(nodes.add(self.levels, self.inner.x, value) if row < 0 else row)
        self.stage, self.around = "look", space.neighbours(self.levels)

    def _looked(self, values: Array, error: float) -> None:
        order = np.argsort(-values, kind="stable")
        order = order[np.isfinite(values[order])]
        self.around, self.begun = self.around[order], values[order]
        if len(order) and self.begun[0] > self.inner.value + error:
            self._move(self.around[0], _from(self.inner, float(self.begun[0])))
        else:
            self._try_next(error)

    def _move(self, levels: Levels, inner: Inner) -> None:
        self.levels, self.inner, self.trial, self.stage = levels, inner, None, "land"

    def _try_next(self, error: float) -> None:
        """A local search for the next neighbour; without any this is an optimum."""
        self.trial = None
        if not len(self.around):
            self.stage, self.is_optimum = "bend", True
            return
        self.stage = "try"
        self.trial = _from(self.inner, float(self.begun[0]), self.inner.value + error)

    def _tried(self, trial: Inner, values: Array, error: float) -> None:
        trial.tell(values, error)
        if not trial.is_over:
            return
        if trial.value > trial.goal:
            self._move(self.around[0], _from(trial, trial.value))
        else:
            self.around, self.begun = self.around[1:], self.begun[1:]
            self._try_next(error)


def _from(inner: Inner, value: float, goal: float = np.inf) -> Inner:
    """A local search from where another is, with this value."""
    return Inner(inner.x.copy(), inner.lower, inner.upper, inner.xtol, value, goal)


def _stencil(inner: Inner) -> Array:
    """Points (1 + 2 r + r (r - 1), r) around where a search is, or beside that at bounds."""
    h, r = TUNING.bend, len(inner.x)
    centre = np.clip(inner.x, np.minimum(inner.lower + h, 0.5), np.maximum(inner.upper - h, 0.5))
    steps = h * np.eye(r)
    first, second = np.triu_indices(r, 1)
    pairs = steps[first] + steps[second]
    return centre + np.concatenate([np.zeros((1, r)), steps, -steps, pairs, -pairs])


def _bends(values: Array, r: int) -> Array:
    """The Hessian (r, r) of values at a stencil; zero where one of them failed."""
    centre, up, down = values[0], values[1 : r + 1], values[r + 1 : 2 * r + 1]
    first, second = np.triu_indices(r, 1)
    both = values[2 * r + 1 :].reshape(2, -1).sum(axis=0)
    single = up + down - 2.0 * centre
    hessian = np.diag(single)
    hessian[first, second] = hessian[second, first] = 0.5 * (both - 2.0 * centre - single[first] - single[second])
    return np.where(np.isfinite(hessian), hessian, 0.0) / TUNING.bend**2
