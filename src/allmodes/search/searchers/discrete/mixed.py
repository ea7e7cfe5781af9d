"""Whole numbers and choices beside real coordinates: a change of level is judged with real coordinates optimised."""

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
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


@stored
@dataclass(eq=False)
class MixedWalk:
    """A walk uphill by changes of one level, between which a local search optimises the real coordinates.

    "land": the reals are optimised for the levels, roughly on the way and well before a verdict. "compare": is a place
    close by, known from another walk, on the same hill? "look": the neighbours' values with the same reals; it goes on
    to the best that is better. "try": from there, the reals are optimised for each neighbour, the best first, until one
    is better. If none is, this is an optimum, and "bend" measures its curvature.

    Args:
        levels, inner: where it begins.
        is_fresh: whether that was drawn at random.

    Attributes:
        path: places that it passed, as rows of the nodes.
        around: neighbours, after `leaps` points farther on in the direction that was good last, from `before`.
        trial, begun: the local search for the first of them, and their values where that begins.
        other: a place close to where it has landed, of a walk that has ended.
        is_tried: whether no neighbour is better, and `is_confirmed`, whether another local search found nothing better.
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
    before: Levels | None = None
    leaps: int = 0
    other: int = -1
    is_tried: bool = False
    is_confirmed: bool = False
    mode: int = -1
    is_over: bool = False
    is_optimum: bool = False

    @classmethod
    def begun_at(cls, levels: Levels, reals: Array, context: Context, space: Space, is_fresh: bool) -> MixedWalk:
        """A walk from levels (m,) and real coordinates (r,)."""
        lower, upper = context.box.lower_unit[space.reals], context.box.upper_unit[space.reals]
        return cls(levels, Inner(reals, lower, upper, max(context.xtol, TUNING.rough)), is_fresh)

    @property
    def row(self) -> int:
        """The row of the nodes where it stands."""
        return self.path[-1]

    def height(self, nodes: Nodes) -> float:
        """The value where it stands."""
        return float(np.nan_to_num(self.inner.value, nan=-np.inf))

    def recorded(self, record: Frozen, space: Space) -> Frozen:
        """What is known of the mode that it ended in."""
        gradient, active, hessian = record.gradient.copy(), record.active.copy(), np.array(record.hessian)
        gradient[space.reals], active[space.reals] = self.inner.gradient, self.inner.held
        hessian[np.ix_(space.reals, space.reals)] = self.hessian
        kind = "boundary" if active.any() else record.kind
        return replace(record, gradient=gradient, active=active, hessian=hessian, kind=kind)

    def ask(self, context: Context, space: Space, nodes: Nodes) -> tuple[Levels, Array]:
        """Levels (n, m) and reals (n, r) of the points whose values it wants to know."""
        if self.stage == "look":
            return self.around, np.repeat(self.inner.x[None], len(self.around), axis=0)
        if self.stage == "compare":
            ends = space.units(np.stack([self.levels] * 2), np.stack([self.inner.x, nodes.reals[self.other]]))
            points = points_between(context.box, ends[0], ends[1])[:, space.reals]
        elif self.stage == "bend":
            points = _stencil(self.inner)
        else:
            points = (self.inner if self.trial is None else self.trial).ask(context.rng)
        levels = self.levels if self.trial is None else self.around[0]
        return np.repeat(levels[None], len(points), axis=0), points

    def tell(self, values: Array, context: Context, space: Space, nodes: Nodes) -> None:
        """What came of them."""
        error = float(context.tolerances.error_of(self.inner.value))
        if self.stage == "look":
            self._looked(values, error, context.xtol)
        elif self.stage == "compare":
            self._compared(values, error, space, nodes)
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
        if self.stage == "conclude":
            self._conclude(context, nodes)

    def _land(self, context: Context, space: Space, nodes: Nodes) -> None:
        """Is this where others have been? If not, neighbours are looked at."""
        if not np.isfinite(self.inner.value):
            self.is_over = True
            return
        place = space.units(self.levels[None], self.inner.x[None])
        self.inner.stand(context.box.project(place)[0, space.reals])
        self.other, apart = nodes.nearest(self.levels, self.inner.x)
        if apart < context.tolerances.same:
            self._end_in(nodes)
        elif apart < context.tolerances.close:
            self.stage = "compare"
        else:
            self._look(space, nodes)

    def _compared(self, values: Array, error: float, space: Space, nodes: Nodes) -> None:
        """Values on the way to a place from which a walk has led to a mode."""
        lower = min(self.inner.value, float(nodes.values[self.other]))
        if is_one_hill(np.float64(lower), values, np.float64(error)):
            self._end_in(nodes)
        elif self.is_tried:
            self.stage = "bend"
        else:
            self._look(space, nodes)

    def _conclude(self, context: Context, nodes: Nodes) -> None:
        """No neighbour is better: this is an optimum, unless another walk has ended here in the meantime."""
        inner, r = self.inner, len(self.inner.x)
        if inner.is_kinked and not self.is_confirmed:  # searches over kinks may end early: one more, from beside it
            beside = np.clip(inner.x + TUNING.first_step * context.rng.uniform(-1.0, 1.0, r), inner.lower, inner.upper)
            error = float(context.tolerances.error_of(inner.value))
            self.trial = replace(_from(inner, np.nan, inner.value + error), x=beside)
            self.around, self.begun, self.stage, self.is_confirmed = self.levels[None], np.zeros(1), "try", True
            return
        self.other, apart = nodes.nearest(self.levels, self.inner.x)
        self.trial, self.is_tried, self.is_optimum = None, True, True
        self.stage = "compare" if apart < context.tolerances.close else "bend"

    def _end_in(self, nodes: Nodes) -> None:
        self.mode, self.is_over, self.is_optimum = int(nodes.modes[self.other]), True, False
        self.path.append(self.other)

    def _look(self, space: Space, nodes: Nodes) -> None:
        self.path.append(nodes.add(self.levels, self.inner.x, self.inner.value))
        self.stage, self.around = "look", space.neighbours(self.levels)
        leap = None if self.before is None else space.leap(self.levels, self.before)
        self.leaps = int(leap is not None)
        if leap is not None:
            self.around = np.concatenate([leap[None], self.around])

    def _looked(self, values: Array, error: float, xtol: float) -> None:
        best = int(np.where(np.isfinite(values), values, -np.inf).argmax())
        if values[best] > self.inner.value + error:
            self.inner.rise(float(values[best]))
            self._move(self.around[best], self.inner)
        elif self.inner.xtol > xtol:  # good enough to go on, but not for a verdict
            self.inner, self.stage, self.before = _from(self.inner, self.inner.value, xtol=xtol), "land", None
        else:
            values, around = values[self.leaps :], self.around[self.leaps :]
            order = np.argsort(-values, kind="stable")
            order = order[np.isfinite(values[order])]
            self.around, self.begun = around[order], values[order]
            self._try_next(error)

    def _move(self, levels: Levels, inner: Inner) -> None:
        rough = max(inner.xtol, TUNING.rough)
        self.before, self.levels, self.inner = self.levels, levels, _from(inner, inner.value, xtol=rough)
        self.trial, self.stage, self.is_confirmed = None, "land", False

    def _try_next(self, error: float) -> None:
        """A local search for the next neighbour; without any this is an optimum."""
        self.trial = None
        if not len(self.around):
            self.stage = "conclude"
            return
        self.stage = "try"
        self.trial = _from(self.inner, float(self.begun[0]), self.inner.value + error)

    def _tried(self, trial: Inner, values: Array, error: float) -> None:
        trial.tell(values, error)
        if not trial.is_over:
            return
        if trial.value > trial.goal:
            self._move(self.around[0], trial)
        else:
            self.around, self.begun = self.around[1:], self.begun[1:]
            self._try_next(error)


def _from(inner: Inner, value: float, goal: float = np.inf, xtol: float = 0.0) -> Inner:
    """A local search from where another is, with this value there."""
    return Inner(inner.x.copy(), inner.lower, inner.upper, xtol or inner.xtol, value, goal)


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
