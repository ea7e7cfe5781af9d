"""Is the place where a local search arrived an optimum on its active set, and is it a known one?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.constraints import Constraints
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.optimality import (
    Hold,
    bend_width,
    curvature_from_values,
    hold_of,
    pairs,
    steepest,
)
from allmodes.search.searchers.constrained.sides import beside, where_steep, where_weak
from allmodes.search.searchers.constrained.subproblem import nearest_feasible, reachable
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.verify.same_mode import is_one_hill, points_between
from allmodes.storage import stored

Array = NDArray[np.float64]

BEND, FINAL, PROBE, KINK, BETWEEN, DONE = "bend", "final", "probe", "kink", "between", "done"
NEW, KNOWN, NOWHERE, ON = "new", "known", "nowhere", "on"
_FAR = 100.0  # xtol: after a last step longer than this a search has not arrived
_PUSH = 1e-9  # of the spread of the function: a smaller slope counts as none
_LEVEL = 1e-6  # of the scale of the function: smaller curvatures, and smaller rises beside a level mode, count as none
_KINKED = 30.0  # times: what lies between


@stored
@dataclass
class Arrival:
    """A local search that has arrived, under verification; everything is minimised here.

    Attributes:
        launch: the local search.
        stage: what is asked next.
        verdict: once it is done: "new", "known", "nowhere", or "on" if the local search goes on.
        asked: points (n, d) in flight.
        reduced: (t, t), the Hessian of the Lagrangian along the active set.
        kind: of the mode, "optimum" until it is judged.
        rival: the known mode that it is compared with; `tried`, those that it was told apart from.
        width: between the points that tell the curvature.
        is_smooth: whether it was looked at once more from farther away; `is_confirmed`, whether values confirmed what
            little curvature there is.
        floor: smaller slopes count as none, as judged when it began.
    """

    launch: Launch
    stage: str = BEND
    verdict: str = ""
    asked: Array = field(default_factory=lambda: np.zeros((0, 0)))
    reduced: Array = field(default_factory=lambda: np.zeros((0, 0)))
    kind: str = "optimum"
    rival: int = -1
    tried: tuple[int, ...] = ()
    width: float = TUNING.bend
    is_smooth: bool = False
    is_confirmed: bool = False
    floor: float = 0.0

    def begin(self, context: Context) -> None:
        """Look at the first-order conditions; ask for curvature if they hold."""
        self.floor = self._floor(context)
        hold = self.hold(context)
        if not self._is_stationary(context, hold):
            self._end(NOWHERE)
            return
        if not hold.tangent.shape[1]:
            self._refine(context, np.zeros(context.box.d), hold)
        elif context.order == 2:
            self._judge(context, hold, hold.tangent.T @ self.launch.hessian @ hold.tangent, None)
        else:
            self._ask_bend(context, hold)

    def hold(self, context: Context) -> Hold:
        """What holds the place; slopes that may be errors of differences, or are tiny for the scale, hold nothing."""
        return hold_of(_constraints(context), self.launch.point, self.launch.gradient, self.floor)

    def _floor(self, context: Context) -> float:
        launch, tolerances = self.launch, context.tolerances
        h = TUNING.difference * float(np.sqrt(tolerances.coarseness(launch.value)))
        error = 0.0 if context.order else 4.0 * float(tolerances.error_of(launch.value)) / h
        return _PUSH * context.spread + error

    def _is_stationary(self, context: Context, hold: Hold) -> bool:
        """Whether the residual is what differences and the last step explain."""
        worst, bend = (float(np.abs(each).max(initial=0.0)) for each in (hold.residual, self.launch.hessian))
        allowed = TUNING.slack * float(np.abs(self.launch.gradient).max(initial=0.0)) + 100.0 * context.xtol * bend
        return worst <= allowed + context.tolerances.rounding() / TUNING.difference

    def settle(self, context: Context) -> None:
        """Only its value says that it is an optimum: a population has converged here."""
        self.kind, self.launch.gradient = "unverified", np.zeros(context.box.d)
        self.launch.hessian = context.scale * np.eye(context.box.d)
        self._compare(context)

    # ---- curvature

    def _ask_bend(self, context: Context, hold: Hold) -> None:
        constraints, V = _constraints(context), hold.tangent
        t = V.shape[1]
        ways = [*V.T] if context.order else [*V.T, *-V.T, *(V[:, i] + V[:, j] for i, j in pairs(t))]
        self.width = bend_width(context, self.launch.value, V.T @ self.launch.hessian @ V)
        for shrink in (1.0, 0.1, 0.01):
            points = np.array([beside(constraints, self.launch.point, hold, shrink * self.width * way) for way in ways])
            if context.box.inside(points).all() and constraints.is_allowed(points).all():
                break
        else:
            self.kind = "unverified"
            self._compare(context)
            return
        self.width *= shrink
        self.stage, self.asked = BEND, points

    def tell(self, context: Context, values: Array, gradients: Array | None, hessians: Array | None) -> None:
        """What came of the points asked for."""
        launch = self.launch
        launch.cost += len(values)
        if self.stage == BETWEEN:
            self._compared(context, values)
        elif self.stage == KINK:
            rise, expected = float(values.sum() - 2.0 * launch.value), steepest(self.reduced)[0] * self.width**2
            if np.isfinite(rise) and rise < _KINKED * expected:
                self._end(NOWHERE)
            else:
                self._compare(context)
        elif self.stage == FINAL:
            if values[0] <= launch.value + context.tolerances.rounding():
                launch.point, launch.value = self.asked[0], float(values[0])
                if gradients is not None and np.isfinite(gradients[0]).all():
                    launch.gradient = gradients[0]
            self._compare(context)
        elif self.stage == PROBE:
            if values.min() < launch.value - context.tolerances.rounding():
                self._send_on(self.asked[int(values.argmin())])
            else:
                if self.kind == "flat" and values.min() > launch.value + _LEVEL * context.scale:  # the rest is barred
                    self.kind = "optimum"
                self._compare(context)
        elif not np.isfinite(values).all() or (gradients is not None and not np.isfinite(gradients).all()):
            self.kind = "unverified"
            self._compare(context)
        else:
            self._bent(context, values, gradients)

    def _bent(self, context: Context, values: Array, gradients: Array | None) -> None:
        """The curvature along the active set has been measured."""
        launch, hold = self.launch, self.hold(context)
        V = hold.tangent
        if gradients is None:
            slopes, reduced = curvature_from_values(launch.value, values, V.shape[1], self.width)
            self._judge(context, hold, None, (slopes, reduced))
            return
        steps, changes = self.asked - launch.point, gradients - launch.gradient
        for step, change in zip(steps, changes, strict=True):
            launch.learn(step, change)
        bends = np.linalg.lstsq(steps @ V, changes @ V, rcond=None)[0]
        self._judge(context, hold, 0.5 * (bends + bends.T), None)

    def _judge(
        self, context: Context, hold: Hold, of_objective: Array | None, measured: tuple[Array, Array] | None
    ) -> None:
        """Second-order conditions: a minimum along the active set, a saddle, or level ground."""
        launch, V = self.launch, hold.tangent
        if measured is None:
            assert of_objective is not None
            slopes = V.T @ hold.residual
            self.reduced = of_objective - V.T @ _constraints(context).curvature(launch.point, hold.multipliers) @ V
        else:
            slopes, self.reduced = measured
        sizes, vectors = np.linalg.eigh(self.reduced)
        error = 20.0 * float(context.tolerances.error_of(launch.value)) / self.width**2 if measured is not None else 0.0
        level = max(TUNING.level * max(float(np.abs(sizes).max()), float(np.abs(launch.hessian).max())), error)
        level = max(level, _LEVEL * context.scale)
        bent = sizes > level
        step = V @ (vectors[:, bent] @ (vectors[:, bent].T @ -slopes / sizes[bent]))
        if np.abs(step).max(initial=0.0) > _FAR * context.xtol:  # it has not arrived
            self._go_on(context, step, hold)
        elif bent.all():
            self._refine(context, step, hold)
        else:
            self._look_around(context, V @ vectors[:, ~bent], float(sizes[0]) < -level)

    def _look_around(self, context: Context, ways: Array, is_saddle: bool) -> None:
        """Where the active set is level or bends down: look for lower ground nearby, where no constraint bars the way.

        A saddle is left along the first way. Elsewhere points on all sides are asked for.
        """
        constraints, point, d = _constraints(context), self.launch.point, context.box.d
        if is_saddle:
            side = 1.0 if context.rng.random() < 0.5 else -1.0
            open_ = reachable(constraints, point, TUNING.aside * np.array([side, -side])[:, None] * ways[:, 0])
            if len(open_):
                self._send_on(open_[0])
                return
        random = context.rng.standard_normal((2 * d, d))
        random /= np.abs(random).max(axis=1, keepdims=True)
        open_ = reachable(constraints, point, TUNING.probe * np.concatenate([ways.T, -ways.T, random]))
        if len(open_):
            self.kind, self.stage, self.asked = "flat", PROBE, open_
        else:
            self._compare(context)

    def _go_on(self, context: Context, step: Array, hold: Hold) -> None:
        """The curvature says that the optimum is elsewhere: the search goes on, with what was learnt."""
        constraints, launch, V = _constraints(context), self.launch, hold.tangent
        bent = self.reduced + V.T @ constraints.curvature(launch.point, hold.multipliers) @ V
        launch.hessian = launch.hessian + V @ (bent - V.T @ launch.hessian @ V) @ V.T
        found = nearest_feasible(constraints, launch.point + step * min(1.0, TUNING.first_radius / np.abs(step).max()))
        self._send_on(launch.point if found is None else found)

    def _refine(self, context: Context, step: Array, hold: Hold) -> None:
        """The last step of Newton along the active set, and onto it, where that is worth an evaluation."""
        constraints, point = _constraints(context), self.launch.point
        off = float(np.abs((constraints.rows(point) - constraints.margin) * hold.multipliers).sum())
        if np.abs(step).max() > 0.1 * context.xtol or off > context.tolerances.rounding():
            found = beside(constraints, point, hold, step)
            is_near = np.abs(found - point).max() <= TUNING.probe
            if is_near and constraints.is_feasible(found[None])[0] and context.box.inside(found[None])[0]:
                self.stage, self.asked = FINAL, found[None]
                return
        self._compare(context)

    def _send_on(self, point: Array) -> None:
        self.launch.send_on(point)
        self._end(ON if self.launch.restarts <= TUNING.restarts else NOWHERE)

    # ---- is it known?

    def _compare(self, context: Context) -> None:
        """Compare with the closest mode, by values between if that is elsewhere; if level, with all of that height."""
        archive, launch = context.archive, self.launch
        mode, apart = archive.closest(launch.point)
        if apart < context.tolerances.same:
            self.rival = mode
            self._end(KNOWN)
            return
        rivals = [mode] if apart < context.tolerances.close else []
        if self.kind == "flat":
            height = np.abs(archive.values + launch.value) <= context.tolerances.tie
            rivals += [int(j) for j in np.flatnonzero(height) if archive.records[j].kind == "flat"]
        for rival in rivals:
            if rival not in self.tried and self._ask_between(context, rival):
                return
        if not self._ask_sides(context):
            self._end(NEW)

    def _ask_sides(self, context: Context) -> bool:
        """Values tell apart what curvature cannot: a kink from a narrow valley, an inflection from a minimum."""
        launch, hold = self.launch, self.hold(context)
        if self.kind == "optimum" and not self.is_smooth:
            points = where_steep(context, launch.point, launch.value, hold, self.reduced, self.width)
            self.stage, self.asked, self.is_smooth = KINK, points, True
            if len(points):
                return True
        if self.kind == "optimum" and not self.is_confirmed:
            points = where_weak(context, launch.point, hold, self.reduced)
            self.stage, self.asked, self.is_confirmed = PROBE, points, True
            if len(points):
                return True
        return False

    def _ask_between(self, context: Context, rival: int) -> bool:
        """Points between, on the feasible set; False if there are none."""
        constraints, end = _constraints(context), context.archive.means[rival]
        found = [nearest_feasible(constraints, z) for z in points_between(context.box, self.launch.point, end)]
        if any(point is None for point in found):
            return False
        self.stage, self.rival, self.asked = BETWEEN, rival, np.array(found)
        return True

    def _compared(self, context: Context, values: Array) -> None:
        """Between two different minima the objective rises."""
        higher = max(self.launch.value, -float(context.archive.values[self.rival]))
        if is_one_hill(-higher, -values, context.tolerances.rounding()):
            self._end(KNOWN)
        else:
            self.tried = (*self.tried, self.rival)
            self._compare(context)

    def _end(self, verdict: str) -> None:
        self.stage, self.verdict = DONE, verdict


def _constraints(context: Context) -> Constraints:
    assert context.constraints is not None
    return context.constraints
