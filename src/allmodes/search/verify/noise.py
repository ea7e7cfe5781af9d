"""Judges the candidates of a noisy function, once a search is over. Nobody else writes the archive then.

Candidates are recorded as they come. Then, in stages: those on one hill are merged; parabolas are fitted to fresh
values around each, which move it, verify it or reject it; values between them sort out which are one; and fresh values
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
from allmodes.search.verify.noisy_pairs import Pairs, nearest_better
from allmodes.search.verify.parabola import find_peak, first_factor, fit_parabola, next_factor, num_coefficients
from allmodes.search.verify.same_mode import Relation, compare, points_between
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Merging:
    """Drops candidates on the hill of a better one: the function does not seem to fall halfway to it.

    Attributes:
        pairs: (J - 1, 2), every candidate but the best and the nearest better one.
        is_over: whether that is done.
    """

    context: Context
    pairs: NDArray[np.intp] = field(init=False)
    is_over: bool = False

    def __post_init__(self) -> None:
        archive = self.context.archive
        chosen = np.zeros(len(archive), bool)
        chosen[np.argsort(-archive.values, kind="stable")[: TUNING.most_candidates]] = True
        archive.keep(chosen)
        self.pairs = nearest_better(self.context.box, archive.means, archive.values, 1)

    def ask(self) -> Array:
        """Every candidate and the points halfway, each a few times."""
        box, means = self.context.box, self.context.archive.means
        if self.is_over:
            return np.zeros((0, box.d))
        worse, better = means[self.pairs.T]
        halfway = points_between(box, worse, better)[:, 2]
        return np.repeat(np.concatenate([means, halfway]), TUNING.repeats, axis=0)

    def tell(self, values: Array) -> None:
        archive, told = self.context.archive, values.reshape(-1, TUNING.repeats).mean(axis=1)
        heights, halfway = told[: len(archive)], told[len(archive) :]
        worse = self.pairs[:, 0]
        slack = TUNING.hint * self.context.noise * math.sqrt(2.0 / TUNING.repeats)
        kept = np.isfinite(heights)
        kept[worse] &= compare(heights[worse], halfway[:, None], slack) == Relation.TWO
        kept[np.argmax(archive.values)] = True
        for j in np.flatnonzero(np.isfinite(heights)).tolist():
            archive.revalue(j, float(heights[j]))
        archive.keep(kept)
        self.is_over = True


@stored
@dataclass
class Fitting:
    """Fits parabolas to fresh values around the modes and moves these to their peaks, until they are there.

    A mode whose curvature is not surely negative in all directions that no bound holds stays unverified; one that is
    still on a slope in the end goes.

    Attributes:
        rounds: so far.
        fitted: numbers of the modes of this round, whose parabolas go through the points `asked`.
        factors: (J, d, d), how wide the points around each mode are.
        is_settled, was_poor: (J,), which need no other fit, and where the function was once no parabola.
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
        context, archive = self.context, self.context.archive
        d, J, narrowest = context.box.d, len(archive), context.tolerances.near
        self.asked, self.fitted = np.zeros((0, d)), np.zeros(0, np.intp)
        factors = [first_factor(record.hessian, context.noise, narrowest) for record in archive.records]
        self.factors = np.array(factors).reshape(J, d, d)
        self.is_settled, self.was_poor = np.zeros((2, J), bool)
        self.ascents = np.zeros(J)

    def ask(self) -> Array:
        """Points around the modes that are not settled, each twice; what follows is left its share of the budget."""
        context, d, J = self.context, self.context.box.d, len(self.context.archive)
        self.fitted = np.flatnonzero(~self.is_settled)
        left = context.left - TUNING.confirmations * (3 if J > 1 else 1) * J
        soon = min(TUNING.looks // 2, TUNING.looks - self.rounds)
        each = left // max(1, len(self.fitted) * soon)
        each = min(TUNING.per_coefficient * num_coefficients(d), each)
        if soon == 0 or not len(self.fitted) or each < 1:
            self._finish()
            return np.zeros((0, d))
        steps = context.rng.standard_normal((len(self.fitted), (each + 1) // 2, d)) @ self.factors[self.fitted].mT
        points = np.repeat(context.archive.means[self.fitted, None] + steps, 2, axis=1)[:, :each]
        self.asked = context.box.reflect(points.reshape(-1, d))
        return self.asked

    def tell(self, values: Array) -> None:
        box, n = self.context.box, len(self.fitted)
        points, values = self.asked.reshape(n, -1, box.d), values.reshape(n, -1)
        for j, where, told in zip(self.fitted.tolist(), points, values, strict=True):
            is_fine = np.isfinite(told)
            self._fit(j, box.difference(where[is_fine], self.context.archive.means[j]), told[is_fine])
        self.rounds += 1
        self._merge()

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
        if np.isfinite(fit.curvature_error) and not is_settled:
            self.factors[j] = next_factor(fit, context.noise, bool(self.was_poor[j]), context.tolerances.near)
            self.was_poor[j] |= fit.is_poor
        archive.change(j, peak.point, fit.value + peak.rise, record)

    def _merge(self) -> None:
        """Modes within the points of a settled one, where its parabola is trusted, are that one."""
        archive = self.context.archive
        kept = np.ones(len(archive), bool)
        order = np.argsort(-archive.values, kind="stable")
        for j in order[self.is_settled[order]]:
            if kept[j]:
                apart = self.context.box.difference(archive.means, archive.means[j])
                whitened = np.linalg.solve(self.factors[j], apart.T)
                is_covered = (whitened**2).sum(axis=0) <= TUNING.reach**2
                is_covered[j] = False
                kept &= ~is_covered
        self._keep(kept)

    def _finish(self) -> None:
        """What was last seen on a slope goes, but never the best."""
        kept = self.ascents <= 2.0 * TUNING.sure
        kept[np.argmax(self.context.archive.values)] = True
        self._keep(kept)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.context.archive.keep(kept)
        self.factors, self.is_settled = self.factors[kept], self.is_settled[kept]
        self.was_poor, self.ascents = self.was_poor[kept], self.ascents[kept]


@stored
@dataclass
class Sorting:
    """Evaluates points between modes, again and again: two are one unless the value falls between by more than luck."""

    context: Context
    pairs: Pairs = field(init=False)
    rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))

    def __post_init__(self) -> None:
        self.pairs = Pairs.of(self.context.box, self.context.archive.means, self.context.archive.values)

    def ask(self) -> Array:
        """Points between modes that are not told apart yet."""
        self.rows = self.pairs.rows
        left = self.context.left - TUNING.confirmations * len(self.context.archive)
        times = min(TUNING.repeats, left // max(1, len(self.rows)))
        if times > 1 and len(self.rows):
            return np.repeat(self.pairs.points[self.rows], times, axis=0)
        self._finish()
        return np.zeros((0, self.context.box.d))

    def tell(self, values: Array) -> None:
        self.pairs.tell(self.rows, values.reshape(len(self.rows), -1), self.context.noise)

    def _finish(self) -> None:
        """Of modes that are one the best is kept, or one that is verified and not surely worse."""
        archive, pairs, n = self.context.archive, self.pairs, len(self.context.archive)
        groups, counts = pairs.groups(), np.maximum(pairs.counts[:n], 1.0)
        values = np.where(pairs.counts[:n] > 0, pairs.means[:n], archive.values)
        is_verified = np.array([record.kind != "unverified" for record in archive.records], bool)
        kept = np.zeros(n, bool)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            best = members[values[members].argmax()]
            slack = TUNING.sure * self.context.noise * np.sqrt(1.0 / counts[members] + 1.0 / counts[best])
            equal = members[is_verified[members] & (values[members] >= values[best] - slack)]
            kept[equal[values[equal].argmax()] if len(equal) else best] = True
        archive.keep(kept)


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


_STAGES = (Merging, Fitting, Sorting, Confirming)


@stored
@dataclass
class NoisyVerifier:
    """Records candidates while a search goes on, and judges them afterwards.

    Attributes:
        stage: what is done now; None before the first. `passed`, how many stages there were.
    """

    context: Context
    stage: Merging | Fitting | Sorting | Confirming | None = None
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
        while len(self.context.archive) and self.passed <= len(_STAGES):
            points = np.zeros((0, 0)) if self.stage is None else self.stage.ask()
            if len(points):
                return points
            if self.passed == len(_STAGES):
                break
            self.stage, self.passed = _STAGES[self.passed](self.context), self.passed + 1
        return np.zeros((0, self.context.box.d))

    def tell(self, values: Array) -> None:
        """Values at the points last asked for."""
        assert self.stage is not None
        self.stage.tell(values)
