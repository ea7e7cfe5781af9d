"""Judges the candidates of a noisy function, once a search is over. Nobody else writes the archive then.

Candidates are recorded as they come. Then, in stages: those on one hill are merged; parabolas are fitted to fresh
values around each, which move it, verify it or reject it; those that are on one hill now are merged; and fresh values
at each give its height with a standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.search.archive import Frozen
from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.events import NewMode
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.verify.noisy_pairs import Sorting
from allmodes.search.verify.parabola import find_peak, first_factor, fit_parabola, next_factor, num_coefficients
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Fitting:
    """Fits parabolas to fresh values around the modes and moves these to their peaks, until they are there.

    A mode whose curvature is not surely negative in all directions that no bound holds stays unverified; one that is
    still on a slope at the end is dropped.

    Attributes:
        rounds: so far.
        fitted: numbers of the modes of this round, whose parabolas go through the points `asked`.
        factors: (J, d, d), how wide the points around each mode are.
        is_settled, was_poor: (J,), which need no further fit, and where a parabola once did not fit.
        ascents: (J,), how surely each was on a slope in its last fit, in standard errors.
    """

    context: Context
    rounds: int = 0
    asked: Array = field(init=False)
    fitted: NDArray[np.intp] = field(init=False)
    factors: Array = field(init=False)
    is_settled: NDArray[np.bool_] = field(init=False)
    was_poor: NDArray[np.bool_] = field(init=False)
    ascents: Array = field(init=False)

    def __post_init__(self) -> None:
        context, J = self.context, len(self.context.archive)
        self.asked, self.fitted = np.zeros((0, context.box.d)), np.zeros(0, np.intp)
        narrowest = context.tolerances.near
        self.factors = np.array(
            [first_factor(np.asarray(record.hessian), context.noise, narrowest) for record in context.archive.records]
        )
        self.is_settled, self.was_poor = np.zeros((2, J), bool)
        self.ascents = np.zeros(J)

    def ask(self) -> Array:
        """Points around the modes that are not settled, each twice; later stages keep their share of the budget."""
        context, d, J = self.context, self.context.box.d, len(self.context.archive)
        self.fitted = np.flatnonzero(~self.is_settled)
        n, p = len(self.fitted), num_coefficients(d)
        left = context.left - TUNING.confirmations * (3 if J > 1 else 1) * J
        each = min(TUNING.per_coefficient * p, left // max(1, 2 * n))
        if self.rounds == TUNING.looks or not n or each < 2 * p:
            self._finish()
            return np.zeros((0, d))
        steps = context.rng.standard_normal((n, each // 2, d)) @ self.factors[self.fitted].mT
        points = np.repeat(context.archive.means[self.fitted, None] + steps, 2, axis=1)
        self.asked = context.box.reflect(points.reshape(-1, d))
        return self.asked

    def tell(self, values: Array) -> None:
        box, n = self.context.box, len(self.fitted)
        points, values = self.asked.reshape(n, -1, box.d), values.reshape(n, -1)
        for j, where, told in zip(self.fitted.tolist(), points, values, strict=True):
            is_fine = np.isfinite(told)
            self._fit(j, box.difference(where[is_fine], self.context.archive.means[j]), told[is_fine])
        self.rounds += 1

    def _fit(self, j: int, steps: Array, values: Array) -> None:
        """Move a mode to the peak of the parabola through values at steps (n, d) from it."""
        context, archive = self.context, self.context.archive
        fit = fit_parabola(steps, values, context.noise, self.factors[j])
        if fit is None:
            return
        peak = find_peak(fit, archive.means[j], context.box)
        is_there = peak.ascent <= TUNING.sure and peak.step <= 0.5 * TUNING.reach
        is_settled = peak.is_sure and not fit.is_poor and is_there
        self.is_settled[j], self.ascents[j] = is_settled, peak.ascent
        kind = "unverified" if not is_settled else "boundary" if peak.active.any() else "optimum"
        record = replace(archive.records[j], kind=kind, active=peak.active, standard_error=fit.error)
        if peak.is_sure:
            record = replace(record, hessian=fit.hessian, source="differences", gradient=peak.gradient)
        self.was_poor[j] |= fit.is_poor
        self.factors[j] = next_factor(fit, context.noise, bool(self.was_poor[j]), context.tolerances.near)
        archive.change(j, peak.point, fit.value + peak.rise, record)

    def _finish(self) -> None:
        """Drop the modes that were last seen on a slope, but never the best one."""
        kept = self.ascents <= 2.0 * TUNING.sure
        kept[np.argmax(self.context.archive.values)] = True
        self.context.archive.keep(kept)


@stored
@dataclass
class Confirming:
    """The value of a mode is the mean of fresh evaluations there, with its standard error."""

    context: Context
    is_over: bool = False

    def ask(self) -> Array:
        archive = self.context.archive
        times = min(TUNING.confirmations, self.context.left // max(1, len(archive)))
        return np.repeat(archive.means, 0 if self.is_over else times, axis=0)

    def tell(self, values: Array) -> None:
        archive = self.context.archive
        for j, told in enumerate(values.reshape(len(archive), -1)):
            fine = told[np.isfinite(told)]
            if len(fine):
                error = float(fine.std(ddof=1)) if len(fine) > 1 else self.context.noise
                archive.revalue(j, float(fine.mean()), standard_error=error / math.sqrt(len(fine)))
        self.is_over = True


@stored
@dataclass
class NoisyVerifier:
    """Records candidates while a search goes on, and judges them afterwards.

    Attributes:
        stage: what is done now; None before the first. `passed`, how many there were, with this one.
    """

    context: Context
    stage: Sorting | Fitting | Confirming | None = None
    passed: int = 0

    def record(self, candidate: Candidate) -> NewMode:
        """A candidate becomes an unverified mode: single values cannot judge it."""
        context, d = self.context, self.context.box.d
        record = Frozen(
            np.zeros(d), candidate.hessian, np.zeros(d, bool), "unverified", "component", context.nfev, context.noise
        )
        mode = context.archive.add(candidate.point, candidate.value, record)
        context.archive.hit(mode)
        return NewMode(candidate.origin, mode)

    def hit(self, mode: int) -> None:
        """A search ended in a mode that is known."""
        self.context.archive.hit(mode)

    def ask(self) -> Array:
        """Points (n, d) of the present stage, or of the next one that has any; none when all is judged."""
        while len(self.context.archive):
            points = np.zeros((0, 0)) if self.stage is None else self.stage.ask()
            if len(points) or isinstance(self.stage, Confirming):
                return points
            self.stage = self._next()
        return np.zeros((0, self.context.box.d))

    def _next(self) -> Sorting | Fitting | Confirming:
        """The stage after the present one."""
        context = self.context
        self.passed += 1
        if self.passed == 1:
            self._limit()
            return Sorting(context, is_final=False)
        if self.passed == 2:
            return Fitting(context)
        return Sorting(context, is_final=True) if self.passed == 3 else Confirming(context)

    def _limit(self) -> None:
        """Keep the best candidates, as many as half of the budget that is left can confirm."""
        archive = self.context.archive
        most = max(1, self.context.left // (2 * TUNING.confirmations))
        chosen = np.zeros(len(archive), bool)
        chosen[np.argsort(-archive.values, kind="stable")[:most]] = True
        archive.keep(chosen)

    def tell(self, values: Array) -> None:
        """Values at the points last asked for."""
        assert self.stage is not None
        self.stage.tell(values)
