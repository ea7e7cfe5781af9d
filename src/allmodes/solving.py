"""From minima of a sum of squares to roots: Newton's steps, the test for a root, its rank and multiplicity, proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.krawczyk import NO_INTERVALS, NoCallsLeft, Proof, Room, prove
from allmodes.objective.residuals import SumOfSquares
from allmodes.result import Mode, Result, Root
from allmodes.summary import BEYOND

_STEPS = 30  # of Newton's method: a multiple root takes one for each binary digit
_FARTHEST = 0.02  # of the bounds: a longer step of Newton's leads elsewhere
_SETTLED = 1e-8  # of the bounds: the Jacobian hardly changes over such a step
_SHORTEST = 1e-15  # of the bounds: steps are rounding
_ROUNDING = 1e-11  # of the terms of F: it is zero to rounding
_FULLY = 1e-15  # of the terms of F: nothing is left to gain
_SINGULAR = 1e-6  # of the size of the equations: a double root is located to about 1e-8
_WIDE = 0.1  # of the bounds, over which the size of the equations is seen
_ASIDE = 1e-2  # of the bounds, by which a singular root is left to see whether others are beside it
_BACK = 6  # steps of Newton's method from there
_STEADY = 0.3, 0.95  # a step for each step before, where Newton's method converges linearly

Floats = NDArray[np.float64]


class SpentError(NoCallsLeft):
    """No evaluation is left."""

    def __init__(self) -> None:
        super().__init__("no evaluations were left for a proof: allow more (maxfev)")


@dataclass
class Equations:
    """F in unit coordinates; counts what it evaluates, and stops when nothing is left."""

    part: SumOfSquares
    left: int
    nfev: int = 0
    njev: int = 0

    def F(self, z: Floats) -> Floats:
        """At z (d,): (m,)."""
        self.spend(1)
        return self.part.residuals(self._user(z)[None])[0]

    def jacobian(self, z: Floats, F: Floats) -> Floats:
        """At z (d,), where F is known: (m, d)."""
        counts = self.part.cost(self.part.provides)
        self.spend(counts.nfev - 1, counts.njev)
        J = self.part.jacobian(self._user(z)[None], F[None])[0]
        return self.part.box.gradient_to_unit(J)

    def spend(self, nfev: int, njev: int = 0) -> None:
        if self.nfev + nfev > self.left:
            raise SpentError
        self.nfev, self.njev = self.nfev + nfev, self.njev + njev

    def _user(self, z: Floats) -> Floats:
        return self.part.box.to_user(z[None])[0]


class End(NamedTuple):
    """Where Newton's method ends: place, F, Jacobian, and the lengths of its steps."""

    z: Floats
    F: Floats
    J: Floats
    steps: list[float]

    @property
    def step(self) -> Floats:
        return _step(self.J, self.F)

    def terms(self, x: Floats, size: Floats) -> Floats:
        """The size of what is added up in each equation, (m,)."""
        return np.asarray(np.abs(self.J) @ np.abs(x) + size)


def _step(J: Floats, F: Floats) -> Floats:
    """Of Newton, whatever the sizes of the equations, or of Gauss and Newton: the shortest to solve the model best."""
    sizes = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300) if len(F) == J.shape[1] else np.ones(len(F))
    return np.asarray(np.linalg.lstsq(J / sizes[:, None], -F / sizes, rcond=1e-13)[0])


def newton(equations: Equations, z: Floats, most: int = _STEPS, longest: float = _FARTHEST) -> End:
    """Steps of Newton's method from z (d,) as long as each makes F smaller."""
    box, F = equations.part.box, equations.F(z)
    J, steps = equations.jacobian(z, F), []
    sizes = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
    for _ in range(most):
        if not (np.isfinite(F).all() and np.isfinite(J).all()) or not F.any():
            break
        step = _step(J, F)
        length = float(np.abs(step).max(initial=0.0))
        if length > longest or length < _SHORTEST:
            break
        ahead = box.project(z + step)
        there = equations.F(ahead)
        if not (np.abs(there) / sizes).max() < (np.abs(F) / sizes).max():
            break
        z, F = ahead, there
        steps.append(length)
        if length > _SETTLED:
            J = equations.jacobian(z, F)
    return End(z, F, J, steps)


def solved(result: Result, part: SumOfSquares, left: int, xtol: float) -> Result:
    """The result with its roots alone, each with a `Root`, in the order of their coordinates.

    F is evaluated in this process, within the evaluations that are left.
    """
    equations, roots, kept = Equations(part, left), [], []
    places: list[Floats] = []
    asks, reason, untried = True, "", 0
    for i, mode in enumerate(result.modes):
        try:
            end = newton(equations, part.box.to_unit(mode.x[None])[0])
            known = None if not np.isfinite(end.F).all() else _judged(equations, end, xtol)
        except SpentError:
            untried += 1
            continue
        if known is None:
            continue
        if any(np.abs(part.box.difference(end.z, other)).max(initial=0.0) < 10.0 * xtol for other in places):
            continue
        root, x = known, part.box.to_user(end.z[None])[0]
        if asks:
            proof = _proof(equations, x, root)
            reason = proof.reason if proof.reason.startswith(NO_INTERVALS) else ""
            asks = not reason
        else:
            proof = Proof(None, None, reason, 0)
        root = replace(root, certified=proof.box is not None, box=proof.box, enclosure=proof.enclosure,
                       reason=proof.reason)  # fmt: skip
        places.append(end.z)
        kept.append(i)
        roots.append(_mode(mode, x, root, part))
    return _told(result, equations, roots, kept, untried)


def _judged(equations: Equations, end: End, xtol: float) -> Root | None:
    """What is known of the end of Newton's method, if that is a root."""
    box, (m, d) = equations.part.box, end.J.shape
    sign = np.where(np.arange(d) % 2, -1.0, 1.0)
    if m <= d and np.abs(end.step).max(initial=0.0) > _FARTHEST and (end.F**2).sum() > 0.0 and not end.steps:
        return None  # a minimum that is not a root: Newton's method leads far away
    wide = [equations.F(box.project(end.z + s * _WIDE * sign)) for s in (1.0, -1.0)]
    size = np.nan_to_num(np.abs(wide), nan=0.0, posinf=0.0).max(axis=0)
    rows = np.maximum(np.abs(end.J).max(axis=1, initial=0.0), size / _WIDE)
    scaled = end.J / np.maximum(rows, 1e-300)[:, None]
    rank = int((np.linalg.svd(scaled, compute_uv=False) > _SINGULAR).sum())
    terms = end.terms(box.to_user(end.z[None])[0][box.free] / box.scale, size)
    is_zero = bool((np.abs(end.F) <= _ROUNDING * terms).all())
    is_close = rank == m and bool(np.abs(end.step).max(initial=0.0) <= xtol)
    if not (is_zero or is_close):
        return None
    values = np.linalg.svd(end.J, compute_uv=False)
    is_sure = rank == d and (d == 0 or values[-1] > 0.0)
    condition = math.inf if not is_sure else float(values[0] / values[d - 1]) if d else 1.0
    multiplicity = 1 if rank == d else _multiplicity(equations, end, scaled, rows, terms)
    return Root(end.F, condition, rank, rank < d, multiplicity or None, False, None, None, "" if multiplicity else
                "roots beside it form a curve or a surface" if multiplicity is None else "")  # fmt: skip


def _multiplicity(equations: Equations, end: End, scaled: Floats, rows: Floats, terms: Floats) -> int | None:
    """Of a singular root, from Newton's method from a place beside it; None on a curve, 0 where it cannot be told.

    It goes back to a root of multiplicity mu by (mu - 1) / mu of the way that is left, but straight to a curve.
    """
    kernel = np.linalg.svd(scaled)[2][-1]
    box = equations.part.box
    beside = box.project(end.z + _ASIDE * kernel)
    if not np.abs(box.difference(beside, end.z)).max() > 0.3 * _ASIDE * np.abs(kernel).max():
        beside = box.project(end.z - _ASIDE * kernel)
    back = newton(equations, beside, _BACK, _WIDE)
    if (np.abs(back.F) <= _ROUNDING * terms).all() and np.abs(back.z - end.z).max() > 0.3 * _ASIDE * np.abs(
        kernel
    ).max():
        return None
    ratios = [b / a for a, b in zip(back.steps, back.steps[1:], strict=False)]
    if len(ratios) < 2 or not _STEADY[0] < ratios[-1] < _STEADY[1]:
        return 0
    return round(1.0 / (1.0 - ratios[-1]))


def _proof(equations: Equations, x: Floats, root: Root) -> Proof:
    """Of a regular root of as many equations as unknowns."""
    part, box = equations.part, equations.part.box
    if root.is_singular:
        return Proof(None, None, root.reason or "the root is singular", 0)
    if len(root.residual) != box.d:
        return Proof(None, None, f"{len(root.residual)} equations for {box.d} unknowns: rounding decides", 0)

    def one(values: Any) -> Any:
        equations.spend(1)
        return part.function(values[None])[0] if part.batched else part.function(values)

    width = np.ones(box.D)
    width[box.free] = box.scale
    lower, upper = (np.nan_to_num(side, posinf=1e300, neginf=-1e300) for side in (box.lower, box.upper))
    return prove(one, x, Room(lower, upper, width, box.free))


def _mode(mode: Mode, x: Floats, root: Root, part: SumOfSquares) -> Mode:
    is_curve = root.is_singular and root.multiplicity is None and bool(root.reason) and not root.certified
    active = tuple(i for i in np.flatnonzero(part.box.free & ~part.box.periodic).tolist()
                   if x[i] in (part.box.lower[i], part.box.upper[i]))  # fmt: skip
    kind = "flat" if is_curve and root.reason.startswith("roots beside") else "root"
    return replace(mode, x=x, fun=0.5 * float((root.residual**2).sum()), kind=kind, is_global=True, root=root,
                   multiplicity=root.multiplicity, active=active)  # fmt: skip


def _told(result: Result, equations: Equations, roots: list[Mode], kept: list[int], untried: int) -> Result:
    """The result of the roots, in words, too."""
    order = sorted(range(len(roots)), key=lambda i: tuple(roots[i].x.round(9).tolist()))
    counts = result.coverage.counts
    gone = sum(count for i, count in enumerate(counts) if i not in kept)
    coverage = replace(
        result.coverage,
        counts=tuple(counts[kept[i]] for i in order if kept[i] < len(counts)),
        searches=result.coverage.searches - gone,
    )
    modes = tuple(roots[i] for i in order)
    share = 1.0 / max(1, len(modes))
    modes = tuple(replace(mode, weight=share) for mode in modes)
    best = (modes[0].x, modes[0].fun) if modes else (result.x, result.fun)
    message = result.message.replace(f" {BEYOND[0].upper()}{BEYOND[1:]}.", "") if modes else result.message
    return replace(
        result, modes=modes, x=best[0], fun=best[1], success=result.success and bool(modes), coverage=coverage,
        message=f"{_sentence(result, modes, untried)} {message}", mixture=None,
        nfev=result.nfev + equations.nfev, njev=result.njev + equations.njev,
    )  # fmt: skip


def _sentence(result: Result, modes: tuple[Mode, ...], untried: int) -> str:
    """How many roots there are, and how many are proved."""
    late = f" {untried} candidates were not looked at: allow more evaluations (maxfev)." if untried else ""
    if not modes:
        norm = math.sqrt(2.0 * max(result.fun, 0.0)) if math.isfinite(result.fun) else math.nan
        return f"No root was found; x is the point with the smallest |F| evaluated, {norm:.4g}.{late}"
    proved = sum(mode.root is not None and mode.root.certified for mode in modes)
    flat = sum(mode.kind == "flat" for mode in modes)
    isolated = len(modes) - flat
    said = f"{isolated} {'root' if isolated == 1 else 'roots'}, {proved} certified." if isolated else ""
    if flat:
        said += f" {flat} {'is a point' if flat == 1 else 'are points'} of a curve or surface of roots."
    return said.strip() + late
