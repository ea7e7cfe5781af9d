"""The search as an object: ask where to evaluate, tell what came of it."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.known import Known
from allmodes.modes.coverage import estimate
from allmodes.objective import Needs
from allmodes.objective.evaluator import Evaluator, Failure
from allmodes.result import Result
from allmodes.round import Round, checked_told
from allmodes.settings import prepare
from allmodes.state import FinderState, Tally
from allmodes.status import Status
from allmodes.strategy.strategy import Request
from allmodes.summary import build_result

Array = NDArray[np.float64]

_KIND = "mode finder"
_ALL_FAILED = 100  # failures, for each coordinate and one more, without a single value before a search gives up


class ModeFinder:
    """Finds all good optima of a function that you evaluate yourself.

    Args:
        bounds, x0, warm_start, target, method, n_modes, maxfev, maxiter, maxtime: as in `find_minima`.
        xtol, periodic, noise, polish, rng, names, options: likewise.
        jac, hess: whether you will tell gradients and Hessians.
        maximise: whether larger values are better.

    >>> finder = ModeFinder([(-2, 2)], rng=0)
    >>> while not finder.stop():
    ...     x = finder.ask()
    ...     finder.tell(x, ((x**2 - 1) ** 2)[:, 0])
    >>> [round(float(mode.x[0]), 3) for mode in finder.result.modes]
    [-1.0, 1.0]
    """

    cost_per_hessian = 1  # evaluations of the function that a point with Hessian costs

    def __init__(
        self,
        bounds: Any = None,
        *,
        x0: Any = None,
        warm_start: Any = None,
        jac: bool = False,
        hess: bool = False,
        maximise: bool = False,
        target: str = "all",
        method: Any = "auto",
        n_modes: int | None = None,
        maxfev: int | None = None,
        maxiter: int | None = None,
        maxtime: float | None = None,
        xtol: float = 1e-6,
        periodic: Any = None,
        noise: Any = None,
        polish: bool = True,
        rng: Any = None,
        names: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        settings, frame, search, strategy = prepare(
            bounds, x0=x0, order=2 if hess else int(bool(jac)), maximise=maximise, target=target, method=method,
            n_modes=n_modes, maxfev=maxfev, maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic, noise=noise,
            polish=polish, rng=rng, names=names, options=options,
        )  # fmt: skip
        known = Known.of(warm_start, frame.box, settings.names)
        self._state = FinderState(settings, frame, search, strategy, Round.empty(frame.box), known)
        self._begun = time.monotonic()
        self._earlier = Tally()  # what evaluators of other processes have called
        if len(known):
            self._welcome(known.points, known.values, 0)

    # ---- asking and telling

    def ask(self, n: int | None = None) -> Array:
        """Where to evaluate next: points (m, D), at most n of them; none once the search is over.

        Points asked for and not yet told are asked for again when no others are left.
        """
        self._refill()
        return self._state.round.hand_out(n)

    @property
    def needs(self) -> Needs:
        """Which derivatives are wanted at the points last asked for."""
        return self._state.round.needs

    def tell(self, x: Any, values: Any, gradients: Any = None, hessians: Any = None) -> None:
        """What came of evaluating points (m, D), in any order: values (m,), NaN where the function failed.

        Points that were never asked for are welcome too: they count as evaluations, and the search may start there.
        """
        round_, box = self._state.round, self._state.frame.box
        told = checked_told(box, x, values, gradients, hessians)
        if len(told[0]):
            box.checked("x", told[0])
        round_.take(*told)
        others = round_.drain()
        if others is not None:
            self._welcome(*others, 1)
        self._pass_on()

    def tell_round(self, value: Array, gradient: Any = None, hessian: Any = None, rows: Any = None) -> None:
        """What came of the points `ask` gave last, in order, or of some rows of them; for loops that check it."""
        self._state.round.fill(value, gradient, hessian, rows)
        self._pass_on()

    @property
    def is_in_round(self) -> bool:
        """Whether some points of a round are still to be told."""
        return not self._state.round.is_told

    def _refill(self) -> None:
        """The next round, when the last one is told; those of which everything is known are told at once."""
        state = self._state
        while state.round.is_told and not self.stop():
            self._begin_round()
            self._pass_on()

    def _begin_round(self) -> None:
        state = self._state
        with np.errstate(all="ignore"):  # failed points are -inf inside; what comes of them is looked at
            request = state.strategy.ask()
        left = state.search.maxfev - state.search.nfev
        cost = self.cost_per_hessian if "hessian" in request.needs else 1
        if left < cost:  # too little for a Hessian from differences: values at least
            request, cost = Request(request.points), 1
            state.round = Round.of(state.frame.box, request, left)
            state.round.is_whole = False
        elif len(state.known) and not request.needs and not state.search.noise:
            is_free, values = state.known.at(state.frame.box.to_user(request.points), state.frame.box)
            most = int(np.searchsorted(np.cumsum(~is_free), left, side="right"))
            state.round = Round.of(state.frame.box, request, most)
            state.round.fill_free(is_free[:most], values[:most])
        else:
            state.round = Round.of(state.frame.box, request, left // cost)
        state.round.cost = cost
        if not len(state.round.points):
            state.reason = "" if len(request.points) else state.strategy.ending or "nothing is left to try"
            state.is_out_of_budget = len(request.points) > 0

    def _pass_on(self) -> None:
        """Give the strategy a round that is told."""
        state, round_ = self._state, self._state.round
        if not round_.is_told or round_.is_passed:
            return
        round_.is_passed = True
        state.nit += 1
        state.njev += len(round_.value) * ("gradient" in round_.needs)
        state.nhev += len(round_.value) * ("hessian" in round_.needs)
        evaluation = state.frame.inward(round_.value, round_.gradient, round_.hessian)
        self._note(round_.units, evaluation.value, np.where(round_.is_free, 0, round_.cost))
        if round_.is_whole:
            with np.errstate(all="ignore"):
                state.strategy.tell(evaluation)
        state.reason = state.strategy.ending
        best = state.search.best_value
        state.history.add(
            state.search.nfev, state.frame.value(best) if np.isfinite(best) else np.nan, len(state.search.archive)
        )

    def _welcome(self, points: Array, values: Array, cost: int) -> None:
        """Points that were not asked for."""
        state = self._state
        inside = state.frame.inward(values).value
        units = state.frame.box.to_unit(points)
        self._note(units, inside, np.full(len(inside), cost))
        state.strategy.add_points(units, inside)

    def _note(self, units: Array, inside: Array, cost: NDArray[np.intp]) -> None:
        """Count evaluations, those that cost something; remember the best."""
        state, search = self._state, self._state.search
        search.nfev += int(cost.sum())
        state.nfail += int((np.isinf(inside) & (cost > 0)).sum())
        if len(inside):
            best = int(np.argmax(inside))
            if inside[best] > search.best_value:
                search.best_value, search.best_point = float(inside[best]), units[best].copy()

    # ---- ending

    def stop(self) -> dict[str, str]:
        """Why the search is over: a name and a sentence for each reason; empty while it goes on."""
        state, settings, search = self._state, self._state.settings, self._state.search
        reasons = {}
        if state.reason:
            reasons["nothing_new"] = state.reason
        if search.nfev >= settings.maxfev or state.is_out_of_budget:
            reasons["maxfev"] = f"{search.nfev} of {settings.maxfev} evaluations are made"
        if settings.maxiter is not None and state.nit >= settings.maxiter:
            reasons["maxiter"] = f"{state.nit} of {settings.maxiter} rounds are done"
        if settings.maxtime is not None and self.elapsed >= settings.maxtime:
            reasons["maxtime"] = f"{settings.maxtime:g} seconds have passed"
        if settings.n_modes is not None and self.modes_found >= settings.n_modes:
            reasons["n_modes"] = f"{self.modes_found} modes are found"
        if search.nfev >= _ALL_FAILED * (1 + state.frame.box.d) and not np.isfinite(search.best_value):
            reasons["all_failed"] = f"all {search.nfev} evaluations failed"
        if state.stopped:
            reasons["stopped"] = state.stopped
        return reasons

    def end(self, why: str, status: Status) -> None:
        """End the search from outside."""
        self._state.stopped, self._state.stopped_status = why, int(status)

    @property
    def elapsed(self) -> float:
        """Seconds since the search began, over all its parts if it was saved and loaded."""
        return self._state.elapsed + time.monotonic() - self._begun

    @property
    def nfev(self) -> int:
        """Evaluations so far."""
        round_ = self._state.round
        return self._state.search.nfev + len(round_.pending) * round_.cost

    @property
    def modes_found(self) -> int:
        """Distinct modes of the wanted kind so far."""
        search = self._state.search
        if not search.is_global:
            return len(search.archive)
        return int(search.is_best.sum())

    @property
    def result(self) -> Result:
        """What is found so far."""
        return build_result(self._state, self.stop(), self.elapsed)

    def go_on_with(self, evaluator: Evaluator) -> None:
        """Let an evaluator call the function as it was called before: by compiled code, if that is how it was."""
        self._plain = evaluator.source
        if self._earlier.is_compiled:
            evaluator.source = evaluator.source.compiled(self._state.frame.box.D)

    def count(self, evaluator: Evaluator) -> None:
        """What the evaluator has called and seen fail, on top of what others did in earlier parts of the search."""
        self._state.tally = self._earlier.plus(evaluator, evaluator.source is not self._plain)

    def result_with(self, evaluator: Evaluator) -> Result:
        """The result, with the calls that evaluators counted and the failures that they saw."""
        self.count(evaluator)
        tally = self._state.tally
        failures = tuple(Failure(*failure) for failure in tally.failures)
        result = self.result
        return replace(
            result, njev=tally.njev, nhev=tally.nhev, nfail=max(tally.nfail, result.nfail), failures=failures
        )

    def progress_text(self, elapsed: float) -> str:
        """One line for a terminal."""
        state, search = self._state, self._state.search
        maxfev, maxtime = state.settings.maxfev, state.settings.maxtime
        left = elapsed * (maxfev / max(search.nfev, 1) - 1.0)
        if maxtime is not None:
            left = min(left, maxtime - elapsed)
        missing = estimate(search.archive.even_hits, state.strategy.lost_launches).missing
        best = state.frame.value(search.best_value)
        return (
            f"{search.nfev}/{maxfev} evaluations  {self.modes_found} modes  best {best:.5g}  "
            f"new next: {100 * missing:.0f} %  < {left:.0f} s left"
        )

    # ---- saving

    def save(self, path: str | os.PathLike[str], *, keeps_previous: bool = False) -> None:
        """Write the search to one file; `ModeFinder.load` goes on exactly there."""
        state = self._state
        state.elapsed, self._begun = self.elapsed, time.monotonic()
        note = f"{self.nfev} evaluations, {self.modes_found} modes"
        storage.save(path, state, kind=_KIND, note=note, settings=asdict(state.settings), keeps_previous=keeps_previous)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ModeFinder:
        """A search as it was saved."""
        finder = cls.__new__(cls)
        finder._state = storage.load(path, kind=_KIND)
        finder._begun = time.monotonic()
        finder._earlier = finder._state.tally
        return finder
