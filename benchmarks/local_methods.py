"""One local search from one start, by allmodes and by SciPy: where it ends and what it costs.

A value is a unit, so is a gradient, a Hessian, a residual vector and its Jacobian.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import SPACE_FILLING, Start
from allmodes.search.context import Context
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.verify.verifier import Verifier
from local_cases import Case

Floats = NDArray[np.float64]

MOST = 20_000  # units, after which a search is lost
NEAR = 1e-4  # of the box: so close to its end a search has reached it
_STEP = 1.5e-8  # of forward differences, SciPy's own
_BAD = 1e30  # value of a point at which the function failed: SciPy's line searches cannot do with infinity
_LARGE = 1e10  # residual of such a point
_INSIDE = 1e-9  # of the box: least distance from the bounds of a start that must be inside
_TIGHT = 1e-12  # relative tolerances: with SciPy's own, searches along valleys end far from the minimum
_FLAT = 1e-8  # a gradient, by unit coordinates, that ends a search


class OverError(Exception):
    """A search has used up its units."""


class Ended(NamedTuple):
    """What came of a search.

    Attributes:
        reach, end: units until it was first close to its end, and until it was over.
        is_arrived: whether it ended at a minimum.
        is_listed: whether it called its end a minimum, which only allmodes says.
    """

    reach: int
    end: int
    is_arrived: bool
    is_listed: bool = False


Method: TypeAlias = Callable[[Case, int, Floats, Floats], Ended]


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

    def note(self, z: Floats, value: float) -> float:
        """The value at one point (d,), which SciPy can take; it costs a unit."""
        self.add(z[None].copy())
        if value < self.least:
            self.best, self.least = z.copy(), value
        return value if np.isfinite(value) else _BAD

    def value(self, z: Floats) -> float:
        """At one point (d,), for SciPy."""
        return self.note(z, float(self.case.value(z[None])[0]))

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
    parts = multistart, LocalSearch(context), Verifier(context), Turns(context, multistart, ())
    search, trail = Scheduler(context, *parts), Trail(case)
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
    return trail.ended(known[0] if len(known) else best)._replace(is_listed=len(known) > 0)


# ---- SciPy


def _differences(trail: Trail, z: Floats, outputs: Callable[[Floats], Floats], here: Floats) -> Floats:
    """Forward differences (..., d) inside the box of `outputs`, at a point (d,) where these are `here`."""
    case = trail.case
    h = _STEP * np.maximum(1.0, np.abs(z))
    h = np.where(~case.is_periodic & (z + h > 1.0), -h, h)
    beside = z + h[:, None] * np.eye(case.d)
    trail.add(beside)
    return np.moveaxis(np.nan_to_num(outputs(beside), nan=_BAD) - here, 0, -1) / h


def _minimize(method: str, has_bounds: bool, **options: Any) -> Method:
    """A method of `scipy.optimize.minimize`; from values alone it is given forward differences."""

    def run(case: Case, order: int, start: Floats, level: Floats) -> Ended:
        trail = Trail(case)

        def both(z: Floats) -> tuple[float, Floats]:
            value = trail.value(z)
            return value, _differences(trail, z, case.value, np.asarray(value))

        given: dict[str, Any] = {"fun": trail.value, "jac": trail.gradient, "method": method, "options": options}
        if has_bounds:
            given["bounds"] = [(None, None) if q else (0.0, 1.0) for q in case.is_periodic]
        if order == 0:
            given |= {"fun": both, "jac": True}
        if order == 2:
            given["hess"] = trail.hessian
        return trail.ended(_end(trail, lambda: minimize(x0=start, **given).x))

    return run


def _least_squares(case: Case, order: int, start: Floats, level: Floats) -> Ended:
    """`scipy.optimize.least_squares` with its trust-region reflective method, which starts inside the bounds."""
    trail, inside = Trail(case), np.where(case.is_periodic, start, np.clip(start, _INSIDE, 1.0 - _INSIDE))
    told: dict[bytes, Floats] = {}

    def residuals(z: Floats) -> Floats:
        r = np.nan_to_num(case.residual(z[None])[0], nan=_LARGE, posinf=_LARGE, neginf=-_LARGE)
        trail.note(z, float(r @ r))
        told[z.tobytes()] = r
        return r

    def jacobian(z: Floats) -> Floats:
        if order == 0:
            return _differences(trail, z, case.residual, told[z.tobytes()])
        trail.add(z[None].copy())
        return np.nan_to_num(case.slopes(z[None])[0])

    bounds = np.where(case.is_periodic, -np.inf, 0.0), np.where(case.is_periodic, np.inf, 1.0)
    tight: dict[str, Any] = dict.fromkeys(("ftol", "xtol", "gtol"), _TIGHT)
    return trail.ended(
        _end(trail, lambda: least_squares(residuals, inside, jacobian, bounds, max_nfev=MOST, **tight).x)
    )


def _end(trail: Trail, search: Callable[[], Any]) -> Floats:
    """Where a search of SciPy's ended, or its best point when its units were used up."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SciPy, about steps that rounding made useless
        try:
            return np.asarray(search(), dtype=float)
        except OverError:
            return trail.best


METHODS: dict[str, tuple[tuple[int, ...], Method]] = {  # orders of derivatives that each is measured with
    "allmodes": ((0, 1, 2), ours),
    "L-BFGS-B": ((0, 1), _minimize("L-BFGS-B", True, ftol=_TIGHT, gtol=_FLAT, maxiter=MOST, maxfun=MOST)),
    "BFGS": ((1,), _minimize("BFGS", False, gtol=_FLAT, maxiter=MOST)),
    "trust-krylov": ((2,), _minimize("trust-krylov", False, gtol=_FLAT, maxiter=MOST)),
    "trust-exact": ((2,), _minimize("trust-exact", False, gtol=_FLAT, maxiter=MOST)),
    "least_squares": ((0, 1), _least_squares),
}
