"""Noisy functions: measure the noise, search by populations, then look again at what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.archive import Found
from allmodes.strategy.comparison import Comparison
from allmodes.strategy.looking import Looking
from allmodes.strategy.looks import LUCK
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_PLACES, _REPEATS = 4, 6  # even points, and evaluations at each, from which the noise is measured
_RESERVE = 0.3  # share of the budget kept for looking again
_MOST = 100  # candidates that are compared
_TIMES = 5  # evaluations at each point when candidates are compared
_HINT = 1.0  # standard errors of a fall that let a candidate be looked at: what is no mode goes later
_NARROW = 0.1  # of the box: components of this spread that have not converged are looked at, too
_AT_ONCE = 6  # evaluations at each point between modes in a round
_SORTING = 60  # evaluations for each mode that are kept for that
_CONFIRMATIONS = 30  # evaluations at every mode in the end


@stored
@dataclass
class Noisy(Strategy):
    """A search in parts; `stage` is "measure", "search", "compare", "look", "sort", "confirm" or "done".

    Comparing evaluates every candidate, and the point halfway to the next better one, a few times: where the function
    seems not to fall in between, the two are one.

    Looking again fits a parabola to fresh evaluations around every mode, and moves it to its top in the box, until that
    is near and the parabola is one. A mode whose curvature is not surely negative in all directions that no bound
    holds stays unverified, and one that is still on a slope goes.

    Sorting evaluates points between modes, again and again: two are one unless the value falls between them by more
    than luck. What is left is evaluated afresh, which gives its value and a standard error.
    """

    search: Search
    population: Population = field(init=False)
    stage: str = "search"
    asked: Array = field(init=False)
    looking: Looking | None = None
    comparison: Comparison | None = None

    def __post_init__(self) -> None:
        self.population = Population(self.search)
        self.asked = np.zeros((0, self.search.box.d))
        if math.isnan(self.search.noise):
            self.stage = "measure"

    def ask(self) -> Request:
        search = self.search
        if self.stage == "measure":
            places = search.rng.random((_PLACES, search.box.d))
            return self._request(np.repeat(places, _REPEATS, axis=0))
        if self.stage == "search":
            is_late = search.nfev >= (1.0 - _RESERVE) * search.maxfev
            if not is_late and not self.population.ending:
                return self.population.ask()
            self._harvest()
            self.stage = "compare" if len(search.archive) else "done"
        if self.stage == "compare":
            return self._request(self._between())
        if self.stage == "look":
            self.looking = self.looking or Looking(search)
            kept = _CONFIRMATIONS + (_SORTING if len(search.archive) > 1 else 0)
            points = self.looking.ask(search.maxfev - search.nfev - kept * len(search.archive))
            if len(points):
                return self._request(points)
            self.looking.end()
            self.comparison = Comparison.of(search.box, search.archive.means, search.archive.values)
            self.stage = "sort"
        if self.stage == "sort":
            points = self._ways()
            if len(points):
                return self._request(points)
            self._sort()
        if self.stage == "confirm":
            left = (search.maxfev - search.nfev) // max(1, len(search.archive))
            points = np.repeat(search.archive.means, min(_CONFIRMATIONS, left), axis=0)
            if len(points):
                return self._request(points)
            self.stage = "done"
        return Request(np.zeros((0, search.box.d)))

    def _request(self, points: Array) -> Request:
        self.asked = points
        return Request(points)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value)
        if self.stage == "search":
            self.population.tell(evaluation)
        elif self.stage == "measure":
            self.search.noise = _noise(values.reshape(_PLACES, _REPEATS))
            self.search.add_levels(values)
            self.stage = "search"
        elif self.stage == "compare":
            self._merge(values.reshape(2, -1, _TIMES).mean(axis=2))
            self.stage = "look"
        elif self.stage == "look":
            assert self.looking is not None
            self.looking.tell(values)
        elif self.stage == "sort":
            assert self.comparison is not None
            rows = self.comparison.rows
            self.comparison.tell(rows, values.reshape(len(rows), -1), self.search.noise)
        else:
            self._confirm(values)
            self.stage = "done"

    # ---- candidates

    def _harvest(self) -> None:
        """Components that were on their way when the time to look again came."""
        search, d = self.search, self.search.box.d
        for band in self.population.bands:
            evolution = band.evolution
            for k in np.flatnonzero(evolution.deviation() < _NARROW):
                inverse = np.linalg.pinv(evolution.covariance_factor(int(k)))
                hessian = -search.noise * inverse.T @ inverse
                found = Found(
                    np.zeros(d), hessian, np.zeros(d, bool), "unverified", "component", search.nfev, search.noise
                )
                point, value = search.box.reflect(evolution.mean[k]), float(evolution.best_value[k])
                search.archive.hit(search.archive.add(point, value, found), False)

    def _between(self) -> Array:
        """Every candidate, best first, and the points halfway from each to the closest of the better ones."""
        archive, box = self.search.archive, self.search.box
        order = np.argsort(-archive.values, kind="stable")[:_MOST]
        kept = np.zeros(len(archive), bool)
        kept[order] = True
        archive.keep(kept)
        order = np.argsort(-archive.values, kind="stable")
        means = archive.means
        halfway = means.copy()
        for rank, j in enumerate(order[1:], 1):
            ways = box.difference(means[order[:rank]], means[j])
            halfway[j] = means[j] + 0.5 * ways[(ways**2).sum(axis=1).argmin()]
        return np.repeat(box.project(np.concatenate([means, halfway])), _TIMES, axis=0)

    def _merge(self, told: Array) -> None:
        """Candidates that are on the hill of a better one go; told (2, J) are values at candidates and halfway."""
        archive = self.search.archive
        values, halfway = told
        slack = _HINT * self.search.noise * math.sqrt(2.0 / _TIMES)
        order = np.argsort(-archive.values, kind="stable")
        kept = np.isfinite(values)
        for j in order[1:]:
            kept[j] &= halfway[j] < values[j] - slack
        kept[order[0]] = True
        archive.values = np.where(np.isfinite(values), values, archive.values)
        archive.keep(kept)

    # ---- sorting

    def _ways(self) -> Array:
        """Points between modes that are not told apart yet."""
        search, comparison = self.search, self.comparison
        assert comparison is not None
        rows = comparison.rows
        left = search.maxfev - search.nfev - _CONFIRMATIONS * len(search.archive)
        times = min(_AT_ONCE, left // max(1, len(rows)))
        return np.repeat(comparison.points[rows], times, axis=0) if times > 1 else np.zeros((0, search.box.d))

    def _sort(self) -> None:
        """Of modes that are one the best is kept, or one that is verified and not surely worse."""
        comparison, archive = self.comparison, self.search.archive
        assert comparison is not None
        groups, n = comparison.groups(), len(archive)
        counts = np.maximum(comparison.counts[:n], 1.0)
        values = np.where(comparison.counts[:n] > 0, comparison.means[:n], archive.values)
        is_verified = np.array([found.kind != "unverified" for found in archive.found], bool)
        kept = np.zeros(n, bool)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            best = members[values[members].argmax()]
            slack = LUCK * self.search.noise * np.sqrt(1.0 / counts[members] + 1.0 / counts[best])
            equal = members[is_verified[members] & (values[members] >= values[best] - slack)]
            kept[equal[values[equal].argmax()] if len(equal) else best] = True
        archive.keep(kept)
        self.comparison, self.stage = None, "confirm"

    def _confirm(self, values: Array) -> None:
        """The value of a mode is the mean of fresh evaluations there, with its standard error."""
        archive = self.search.archive
        for j, told in enumerate(values.reshape(len(archive), -1)):
            fine = told[np.isfinite(told)]
            if len(fine):
                error = float(fine.std(ddof=1)) if len(fine) > 1 else self.search.noise
                archive.values[j] = float(fine.mean())
                archive.found[j] = replace(archive.found[j], standard_error=error / math.sqrt(len(fine)))

    # ---- the rest of the protocol

    def add_points(self, points: Array, values: Array) -> None:
        self.population.add_points(points, values)

    @property
    def account(self) -> str:
        return f"populations on a noisy function (standard deviation {self.search.noise:.3g} inside)"

    @property
    def ending(self) -> str:
        return "what was found has been looked at again" if self.stage == "done" else ""


def _noise(values: Array) -> float:
    """Standard deviation of repeated values (places, repeats), pooled over places."""
    deviations = values - values.mean(axis=1, keepdims=True)
    squares = (deviations[np.isfinite(deviations).all(axis=1)] ** 2).sum(axis=1)
    return math.sqrt(squares.mean() / (values.shape[1] - 1)) if len(squares) else 0.0
