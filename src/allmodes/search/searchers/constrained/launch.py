"""One local search under constraints: steps to the best feasible point of a quadratic model of the objective.

Constraints cost nothing beside the objective, so that a step obeys the true ones and every point asked for is feasible:
no penalty, no merit function, and the model is one of the objective alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import FRESH
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.subproblem import best_of_model, restored
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.searchers.local.tuning import TUNING as LOCAL
from allmodes.storage import stored

Array = NDArray[np.float64]

LOOK, TRIAL, SLOPE, ARRIVED, LOST = "look", "trial", "slope", "arrived", "lost"
_TINY_CHANGE = 1e-8  # of the product of two lengths: with less the Hessian is not updated


@stored
@dataclass
class Launch:
    """A local search; everything is minimised here.

    Attributes:
        number: in the order of beginning.
        point: where it is, (d,), feasible; value, gradient (d,) and the model's hessian (d, d) there.
        kind: of its start; `cost`, evaluations so far.
        stage: what is asked next.
        asked: points (n, d) in flight.
        radius: of the next step, in every coordinate; `promised` by the model for the trial.
        steps: made so far; `restarts`, how often it was sent on.
        has_curvature: whether the hessian was learnt.
        step: the last one, (d,).
    """

    number: int
    point: Array
    kind: str
    stage: str = LOOK
    value: float = np.inf
    gradient: Array = field(default_factory=lambda: np.zeros(0))
    hessian: Array = field(default_factory=lambda: np.zeros((0, 0)))
    asked: Array = field(default_factory=lambda: np.zeros((0, 0)))
    radius: float = TUNING.first_radius
    promised: float = 0.0
    steps: int = 0
    restarts: int = 0
    has_curvature: bool = False
    step: Array = field(default_factory=lambda: np.zeros(0))
    cost: int = 0

    @property
    def is_fresh(self) -> bool:
        """Whether it began in a new place."""
        return self.kind in FRESH

    @property
    def is_moving(self) -> bool:
        return self.stage in (LOOK, TRIAL, SLOPE)

    def ask(self, context: Context) -> Array:
        """The points of this step."""
        if self.stage == LOOK:
            self.asked = np.concatenate([self.point[None], self._beside(context)])
        elif self.stage == SLOPE:
            self.asked = self._beside(context)
        return self.asked

    def tell(self, context: Context, values: Array, gradients: Array | None, hessians: Array | None) -> None:
        """What came of the points: values (n,), infinite where the objective failed."""
        self.cost += len(values)
        if self.stage == TRIAL:
            self._judge(context, values, gradients, hessians)
        elif self.stage == SLOPE:
            self._settle(self._slopes(self.asked, values), None)
        else:
            if not np.isfinite(values[0]):
                self.stage = LOST
                return
            self.value = float(values[0])
            slopes = self._slopes(self.asked[1:], values[1:]) if gradients is None else gradients[0]
            self.gradient = np.nan_to_num(slopes)
            if not len(self.hessian):
                self.hessian = np.zeros((len(self.point), len(self.point)))
            if hessians is not None:
                self.hessian, self.has_curvature = np.nan_to_num(hessians[0]), True
            self.stage = TRIAL
        if self.stage == TRIAL:
            self.plan(context)

    # ---- steps

    def plan(self, context: Context) -> None:
        """The next trial point; or the search has arrived."""
        constraints = context.constraints
        assert constraints is not None
        least = context.tolerances.rounding()
        while self.steps < TUNING.longest:
            found = best_of_model(constraints, self.point, self.gradient, self.hessian, self.radius)
            if found is not None:
                trial, change = found
                if np.abs(trial - self.point).max() <= context.xtol or -change <= least:
                    self.stage = ARRIVED
                    return
                if constraints.is_allowed(trial[None])[0]:
                    self.stage, self.asked, self.promised = TRIAL, trial[None], -change
                    self.steps += 1
                    return
            self.radius *= 0.25
            if self.radius <= 0.1 * context.xtol:
                self.stage = ARRIVED
                return
        self.stage = LOST

    def _judge(self, context: Context, values: Array, gradients: Array | None, hessians: Array | None) -> None:
        trial, value = self.asked[0], float(values[0])
        length = float(np.abs(trial - self.point).max())
        share = (self.value - value) / self.promised if np.isfinite(value) else -np.inf
        gradient = None if gradients is None or not np.isfinite(gradients[0]).all() else gradients[0]
        if share <= 0.0:
            if gradient is not None and hessians is None:
                self.learn(trial - self.point, gradient - self.gradient)
            self.radius = 0.25 * length
            return
        if share < TUNING.poor:
            self.radius = 0.5 * length
        elif share > TUNING.good and length > 0.8 * self.radius:
            self.radius = min(2.0 * self.radius, TUNING.widest)
        self.step, self.point, self.value = trial - self.point, trial, value
        if gradient is None:
            self.stage = SLOPE
        else:
            self._settle(gradient, None if hessians is None else hessians[0])

    def _settle(self, gradient: Array, hessian: Array | None) -> None:
        """The gradient after a step is known: the model learns from it."""
        if hessian is not None and np.isfinite(hessian).all():
            self.hessian = hessian
        else:
            self.learn(self.step, gradient - self.gradient)
        self.gradient, self.stage = gradient, TRIAL

    def learn(self, step: Array, change: Array) -> None:
        """The symmetric update of rank one: it finds negative curvature too, which constraints may hold.

        In directions that are not known yet the first model is flat: what is too steep has to be unlearnt in each.
        """
        if not self.has_curvature:
            size = LOCAL.flatter * abs(float(change @ step)) / max(float(step @ step), 1e-300)
            self.hessian, self.has_curvature = size * np.eye(len(step)), True
        off = change - self.hessian @ step
        along = float(off @ step)
        if abs(along) > _TINY_CHANGE * float(np.linalg.norm(off) * np.linalg.norm(step)):
            self.hessian = self.hessian + np.outer(off, off) / along

    def send_on(self, point: Array) -> None:
        """Go on from another place."""
        self.point, self.stage, self.radius = point, LOOK, TUNING.aside
        self.restarts += 1

    # ---- slopes by values

    def _beside(self, context: Context) -> Array:
        """Points beside this one, one for each coordinate, on the feasible side where there is one; none with jac."""
        if context.order > 0:
            return np.zeros((0, len(self.point)))
        box, constraints = context.box, context.constraints
        assert constraints is not None
        h = TUNING.difference * float(np.sqrt(context.tolerances.coarseness(self.value)))
        eye = h * np.eye(len(self.point))
        ahead, behind = self.point + eye, self.point - eye
        is_in = [box.inside(side) & constraints.is_within(side) for side in (ahead, behind)]
        chosen = np.where((~is_in[0] & is_in[1])[:, None], behind, ahead)
        is_out = ~box.inside(chosen)
        chosen[is_out] = behind[is_out]
        for row in np.flatnonzero(~constraints.is_allowed(chosen)):
            found = restored(constraints, np.clip(chosen[row], box.lower_unit, box.upper_unit))
            is_good = found is not None and constraints.is_allowed(found[None])[0]
            chosen[row] = found if is_good and found is not None else self.point
        return chosen

    def _slopes(self, beside: Array, values: Array) -> Array:
        """The gradient (d,) by values beside the point; that of least length where some is unknown."""
        ways, rises = beside - self.point, values - self.value
        is_known = np.isfinite(rises) & (np.abs(ways).max(axis=1, initial=0.0) > 0.0)
        if not is_known.any():
            return np.zeros(len(self.point))
        return np.asarray(np.linalg.lstsq(ways[is_known], rises[is_known], rcond=1e-6)[0])
