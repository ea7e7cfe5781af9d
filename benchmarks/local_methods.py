"""One local search from one start, by allmodes and by SciPy: where it ends and what it costs.

A value is a unit, so is a gradient, a Hessian, a residual vector and its Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.context import Context
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.starts.start import Start
from allmodes.search.verify.verifier import Verifier
from local_cases import Case

Floats = NDArray[np.float64]

MOST = 20_000  # units, after which a search is lost
NEAR = 1e-4  # of the box: so close to its end a search has reached it
_STEP = 1.5e-8  # of forward differences, SciPy's own
_BAD = 1e30  # value of a point at which the function failed: SciPy's line searches cannot do with infinity


class OverError(Exception):
    """A search has used up its units."""


class Ended(NamedTuple):
    """Units until the search was first close to its end, until it was over, and whether it arrived at a minimum."""

    reach: int
    end: int
    arrived: bool


class Trail:
    """Units, where a search was when it had used so many, and the best point of SciPy's."""

    def __init__(self, case: Case) -> None:
        self.case, self.units = case, 0
        self.best, self.least = np.zeros(case.d), np.inf
        self.points: list[Floats] = []
        self.after: list[NDArray[np.int_]] = []

    def add(self, points: Floats, each: int = 1) -> None:
        """Points (n, d) that cost so many units each."""
        if self.units >= MOST:
            raise OverError
        self.points.append(points)
        self.after.append(self.units + each * np.arange(1, len(points) + 1))
        self.units += each * len(points)

    def ended(self, end: Floats) -> Ended:
        """What came of it."""
        is_near = self.case.apart(np.concatenate(self.points), end) <= NEAR
        reach = int(np.concatenate(self.after)[is_near].min(initial=self.units))
        return Ended(reach, self.units, self.case.is_minimum(end))

    def value(self, z: Floats) -> float:
        """At one point (d,), for SciPy."""
        self.add(z[None].copy())
        value = float(self.case.value(z[None])[0])
        if value < self.least:
            self.best, self.least = z.copy(), value
        return value if np.isfinite(value) else _BAD

    def gradient(self, z: Floats) -> Floats:
        """At one point (d,), for SciPy."""
        self.add(z[None].copy())
        return np.nan_to_num(self.case.gradient(z[None])[0])

    def hessian(self, z: Floats) -> Floats:
        """At one point (d,), for SciPy."""
        self.add(z[None].copy())
        return np.nan_to_num(self.case.hessian(z[None])[0])


# ---- allmodes


def ours(case: Case, order: int, start: Floats, level: Floats) -> Ended:
    """A local search from a start of the space-filling kind, as the first of a search, to the verifier's verdict.

    Args:
        level: values at the starts, which tell the level and the scale of the function: in a search several begin at
            once. They are not counted.
    """
    box = Box.make([(0.0, 1.0)] * case.d, periodic=case.is_periodic)
    context = Context(box, Archive(box), np.random.default_rng(0), order=order, maxfev=MOST)
    context.observe_level(-level)
    multistart = Multistart(context, [Start(start, SPACE_FILLING)], is_passive=True)
    search, trail = Scheduler(context, multistart, LocalSearch(context), Verifier(context)), Trail(case)
    with np.errstate(all="ignore"):
        while len((request := search.ask()).points) and trail.units < MOST:
            points = request.points
            trail.add(points, 1 + len(request.needs))
            value = -case.value(points)
            value[~np.isfinite(value)] = -np.inf
            gradient = -case.gradient(points) if "gradient" in request.needs else None
            hessian = -case.hessian(points) if "hessian" in request.needs else None
            context.observe(points, value, len(points))
            search.tell(Evaluation(value, gradient, hessian), request.ticket)
    known = context.archive.means
    best = start if context.best_point is None else context.best_point
    return trail.ended(known[0] if len(known) else best)


# ---- SciPy


def peer(method: str, has_bounds: bool, **options: Any) -> Callable[[Case, int, Floats, Floats], Ended]:
    """A method of `scipy.optimize.minimize`; from values alone it gets forward differences that stay in the box."""

    def run(case: Case, order: int, start: Floats, level: Floats) -> Ended:
        trail = Trail(case)
        bounds = [(None, None) if q else (0.0, 1.0) for q in case.is_periodic] if has_bounds else None

        def by_differences(z: Floats) -> tuple[float, Floats]:
            h = _STEP * np.maximum(1.0, np.abs(z))
            h = np.where(~case.is_periodic & (z + h > 1.0), -h, h)
            f = trail.value(z)
            beside = z + h[:, None] * np.eye(case.d)
            trail.add(beside)
            return f, (np.nan_to_num(case.value(beside), nan=_BAD) - f) / h

        given: dict[str, Any] = {"method": method, "bounds": bounds, "options": options}
        if order == 0:
            given |= {"fun": by_differences, "jac": True, "options": {}}
        else:
            given |= {"fun": trail.value, "jac": trail.gradient}
        if order == 2:
            given["hess"] = trail.hessian
        with np.errstate(all="ignore"):
            try:
                end = minimize(x0=start, **given).x
            except OverError:
                end = trail.best
        return trail.ended(np.asarray(end))

    return run


METHODS: dict[str, tuple[tuple[int, ...], Callable[[Case, int, Floats, Floats], Ended]]] = {
    "allmodes": ((0, 1, 2), ours),
    "L-BFGS-B": ((0, 1), peer("L-BFGS-B", True, ftol=1e-12, gtol=1e-8, maxiter=10_000, maxfun=10**6)),
    "BFGS": ((1,), peer("BFGS", False, gtol=1e-8)),
}
