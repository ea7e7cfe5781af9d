"""Noisy functions: measure the noise, search by populations, then look again at what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.archive import Found
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_PLACES, _REPEATS = 4, 6  # even points, and evaluations at each, from which the noise is measured
_RESERVE = 0.3  # share of the budget kept for looking again
_MOST = 100  # candidates that are compared
_TIMES = 5  # evaluations at each point when candidates are compared
_LUCK = 2.0  # standard errors that may be luck
_FALL = 5.0  # standard deviations of the noise by which the function falls where a parabola is fitted
_WIDEST = 0.07  # of the box: standard deviation of the points that it is fitted to, at most
_NARROW = 0.1  # of the box: components of this spread that have not converged are looked at, too
_LOOKS = 4
_CONFIRMATIONS = 30  # evaluations at every mode in the end
_WIDER = 3.0  # factor on the width of the next look when one could not tell the curvature
_PER_COEFFICIENT = 20  # points for each coefficient of the parabola
_SURE = 2.0  # standard errors by which a curvature must differ from none


@stored
@dataclass
class Noisy(Strategy):
    """A search in parts; `stage` is "measure", "search", "compare", "look", "confirm" or "done".

    Comparing evaluates every candidate, and the point halfway to the next better one, a few times: where the function
    does not fall in between by more than luck, the two are one.

    Looking again fits a parabola to fresh evaluations around every mode: its top is the place, its value there has a
    standard error, and a mode whose curvature is not surely negative in all directions stays unverified.
    """

    search: Search
    population: Population = field(init=False)
    stage: str = "search"
    looks: int = 0
    asked: Array = field(init=False)

    def __post_init__(self) -> None:
        self.population = Population(self.search)
        self.asked = np.zeros((0, self.search.box.d))
        if math.isnan(self.search.noise):
            self.stage = "measure"

    def ask(self) -> Request:
        search = self.search
        if self.stage == "measure":
            places = search.rng.random((_PLACES, search.box.d))
            self.asked = np.repeat(places, _REPEATS, axis=0)
            return Request(self.asked)
        if self.stage == "search":
            is_late = search.nfev >= (1.0 - _RESERVE) * search.maxfev
            if not is_late and not self.population.ending:
                return self.population.ask()
            self._harvest()
            self.stage = "compare" if len(search.archive) else "done"
        if self.stage == "compare":
            self.asked = self._between()
            return Request(self.asked)
        if self.stage == "look":
            self.asked = self._around()
            return Request(self.asked)
        if self.stage == "confirm":
            left = (search.maxfev - search.nfev) // max(1, len(search.archive))
            self.asked = np.repeat(search.archive.means, min(_CONFIRMATIONS, left), axis=0)
            if len(self.asked):
                return Request(self.asked)
            self.stage = "done"
        return Request(np.zeros((0, search.box.d)))

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value)
        if self.stage == "search":
            self.population.tell(evaluation)
        elif self.stage == "measure":
            self.search.noise = _noise(values.reshape(_PLACES, _REPEATS))
            self.search.add_levels(values)
            self.stage = "search"
        elif self.stage == "confirm":
            self._confirm(values)
            self.stage = "done"
        elif self.stage == "compare":
            self._merge(values.reshape(2, -1, _TIMES).mean(axis=2))
            self.stage = "look"
        else:
            self._look(values)
            self.looks += 1
            self.stage = "confirm" if self.looks == _LOOKS else "look"

    # ---- looking again

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
        slack = _LUCK * self.search.noise * math.sqrt(2.0 / _TIMES)
        order = np.argsort(-archive.values, kind="stable")
        kept = np.isfinite(values)
        for j in order[1:]:
            kept[j] &= halfway[j] < values[j] - slack
        kept[order[0]] = True
        archive.values = np.where(np.isfinite(values), values, archive.values)
        archive.keep(kept)

    def _around(self) -> Array:
        """Points around every mode, (modes x points each, d), as many as the budget allows."""
        search, archive, d = self.search, self.search.archive, self.search.box.d
        wanted = _PER_COEFFICIENT * _coefficients(d)
        left = (search.maxfev - search.nfev - _CONFIRMATIONS * len(archive)) // (_LOOKS - self.looks)
        each = min(wanted, max(1, left // len(archive)))
        noise = search.rng.standard_normal((len(archive), each, d))
        # a component falls by half the squared whitened distance
        factors = math.sqrt(2.0 * _FALL * search.noise) * archive.components.factors.A
        widths = np.sqrt((factors**2).sum(axis=2).max(axis=1))
        factors *= np.minimum(1.0, _WIDEST / np.maximum(widths, 1e-300))[:, None, None]
        steps = np.matmul(noise, factors.mT)
        return search.box.reflect((archive.means[:, None] + steps).reshape(-1, d))

    def _look(self, values: Array) -> None:
        archive, search = self.search.archive, self.search
        each = len(values) // len(archive)
        is_top = np.ones(len(archive), bool)
        points = self.asked.reshape(len(archive), each, -1)
        for j, (where, told) in enumerate(zip(points, values.reshape(len(archive), each), strict=True)):
            is_fine = np.isfinite(told)
            fit = _fit(search.box.difference(where[is_fine], archive.means[j]), told[is_fine], search.noise)
            if fit is None:
                continue
            value, error, gradient, hessian, is_sure = fit
            is_top[j] = is_sure or archive.found[j].active.any() or _is_level(gradient, where, search.noise)
            found = archive.found[j]
            step = np.linalg.solve(hessian, -gradient) if is_sure else np.zeros_like(gradient)
            reach = np.abs(where - archive.means[j]).max(axis=0)
            point = archive.means[j]
            if is_sure and (np.abs(step) <= reach).all() and not found.active.any():
                point = search.box.project(point + step)
                value += float(0.5 * gradient @ step)
                found = replace(found, kind="optimum", hessian=hessian, source="differences")
            elif not is_sure:  # too narrow a look to tell: a wider one next
                found = replace(found, hessian=found.hessian / _WIDER**2)
            archive.change(j, point, value, replace(found, standard_error=error))
        if self.looks == _LOOKS - 1:  # the last: what is seen to be on a slope goes, but never the best
            is_top[np.argmax(archive.values)] = True
            archive.keep(is_top)

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


def _is_level(gradient: Array, points: Array, noise: float) -> bool:
    """Whether a slope explains no more over the points than the noise does: else a candidate is not at a top."""
    spread = points.std(axis=0)
    return bool((np.abs(gradient) * spread).max(initial=0.0) <= _LUCK * noise)


def _coefficients(d: int) -> int:
    return 1 + d + d * (d + 1) // 2


def _fit(steps: Array, values: Array, noise: float) -> tuple[float, float, Array, Array, bool] | None:
    """Value with its standard error, gradient and Hessian at the centre of a parabola through points (n, d).

    The last entry says whether all curvatures are surely negative. None when there are too few points.
    """
    n, d = steps.shape
    i, j = np.triu_indices(d)
    scale = np.maximum(np.abs(steps).max(axis=0, initial=0.0), 1e-300)
    z = steps / scale
    design = np.concatenate([np.ones((n, 1)), z, z[:, i] * z[:, j]], axis=1)
    if n == 0 or n < 2 * design.shape[1]:
        return (float(values.mean()), noise / math.sqrt(n), np.zeros(d), np.zeros((d, d)), False) if n else None
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    covariance = np.linalg.pinv(design.T @ design)
    residual = values - design @ coefficients
    sigma = math.sqrt(float(residual @ residual) / (n - design.shape[1]))
    errors = sigma * np.sqrt(np.diag(covariance))
    H = np.zeros((d, d))
    H[i, j] = coefficients[1 + d :]
    H = H + H.T
    margin = _SURE * 2.0 * float(errors[1 + d :].max())
    is_sure = bool(np.linalg.eigvalsh(H)[-1] < -margin)
    return (
        float(coefficients[0]),
        float(errors[0]),
        coefficients[1 : 1 + d] / scale,
        H / np.outer(scale, scale),
        is_sure,
    )
