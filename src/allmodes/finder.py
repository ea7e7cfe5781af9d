"""The search as an object: ask where to evaluate, tell what came of it."""

from __future__ import annotations

import math
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
from allmodes.round import checked_told
from allmodes.settings import prepare
from allmodes.state import FinderState, Tally
from allmodes.status import Status
from allmodes.summary import build_result

Array = NDArray[np.float64]

_KIND = "mode finder"
_AT_ONCE = ("maxfev", "maxtime", "stopped")  # reasons that do not wait for points under way
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
        self._state = FinderState(settings, frame, search, strategy, known)
        self._begun = time.monotonic()
        self._earlier = Tally()  # what evaluators of other processes have called
        if len(known):
            self._state.welcome(known.points, known.values, 0)

    # ---- asking and telling

    def ask(self, n: int | None = None) -> Array:
        """Where to evaluate next: points (m, D), at most n of them; none once the search is over.

        Points asked for and not yet told are asked for again when no others are left.
        """
        self._refill()
        points = self._state.rounds.hand_out(n, not self._is_cut)
        return points if len(points) else np.zeros((0, self._state.frame.box.D))

    @property
    def needs(self) -> Needs:
        """Which derivatives are wanted at the points last asked for."""
        return self._state.rounds.needs

    def tell(self, x: Any, values: Any, gradients: Any = None, hessians: Any = None) -> None:
        """What came of evaluating points (m, D), in any order: values (m,), NaN where the function failed.

        Points that were never asked for are welcome too: they count as evaluations, and the search may start there.
        """
        box = self._state.frame.box
        told = checked_told(box, x, values, gradients, hessians)
        if len(told[0]):
            box.checked("x", told[0])
        others = self._state.rounds.take(*told)
        if others is not None:
            self._state.welcome(*others, 1)
        self._pass_on()

    # ---- for loops that check what they tell

    def tell_round(self, value: Array, gradient: Any = None, hessian: Any = None, rows: Any = None) -> None:
        """What came of the points `ask` gave last, in order, or of some rows of them."""
        self._state.rounds.fill(value, gradient, hessian, rows)
        self._pass_on()

    def hand_out(self) -> list[tuple[int, Array, Needs]]:
        """Every round in flight that was not handed out yet: its number, points (m, D), derivatives wanted there.

        Several may be in flight at once; their points may be told in any order and in part, by `tell_rows`.
        """
        self._refill()
        return self._state.rounds.hand_out_rounds(not self._is_cut)

    def tell_rows(self, number: int, rows: Any, value: Array, gradient: Any = None, hessian: Any = None) -> None:
        """What came of some of the points that `hand_out` gave for a round, by their places there."""
        self._state.rounds.fill_rows(number, np.asarray(rows), value, gradient, hessian)
        self._pass_on()

    @property
    def is_in_round(self) -> bool:
        """Whether some points that were handed out, or others of their rounds, are still to be told."""
        return self._state.rounds.is_begun

    def _refill(self) -> None:
        """Rounds in flight, as many as the strategy allows; those of which everything is known are told at once."""
        self._begin_rounds()
        while self._pass_on():
            self._begin_rounds()

    def _begin_rounds(self) -> None:
        state, maxiter = self._state, self._state.settings.maxiter
        while not len(state.rounds) or state.strategy.is_ready:
            if self._reasons() or (len(state.rounds) and state.left <= 0):
                return
            if maxiter is not None and state.nit + len(state.rounds) >= maxiter:
                return
            if not state.begin_round(self.cost_per_hessian):
                return

    def _pass_on(self) -> bool:
        """Give the strategy the rounds that are told, in the order of asking; whether there were any.

        A round is asked for as soon as one is told and before the next one is: what is asked for depends on what was
        told alone, not on who evaluates and how quickly.
        """
        state, count = self._state, self._state.nit
        in_order = state.settings.options.get("order") != "completion"
        while (round_ := state.rounds.next_told(in_order)) is not None:
            state.pass_on(round_)
            if len(state.rounds):
                self._begin_rounds()
        return state.nit > count

    # ---- ending

    def stop(self) -> dict[str, str]:
        """Why the search is over: a name and a sentence for each reason; empty while it goes on.

        A search that has found enough still waits for the points under way.
        """
        reasons = self._reasons()
        if reasons and len(self._state.rounds):
            return {name: why for name, why in reasons.items() if name in _AT_ONCE}
        return reasons

    def _reasons(self) -> dict[str, str]:
        """Why nothing more is asked for."""
        state, settings, search = self._state, self._state.settings, self._state.search
        reasons = {}
        if state.reason:
            reasons["nothing_new"] = state.reason
        if search.nfev >= settings.maxfev or state.is_out_of_budget:
            reasons["maxfev"] = f"{search.nfev} of {settings.maxfev} evaluations are made"
        if settings.maxiter is not None and state.nit >= settings.maxiter:
            reasons["maxiter"] = f"{state.nit} of {settings.maxiter} rounds are done"
        if self.is_late:
            reasons["maxtime"] = f"{settings.maxtime:g} s have passed"
        if settings.n_modes is not None and self.modes_found >= settings.n_modes:
            reasons["n_modes"] = f"{self.modes_found} modes are found"
        if search.nfev >= _ALL_FAILED * (1 + state.frame.box.d) and not math.isfinite(search.best_value):
            reasons["all_failed"] = f"all {search.nfev} evaluations failed"
        if state.stopped:
            reasons["stopped"] = state.stopped
        return reasons

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        maxtime = self._state.settings.maxtime
        return maxtime is not None and self.elapsed >= maxtime

    @property
    def _is_cut(self) -> bool:
        """Whether rounds that were not begun are not begun any more."""
        return bool(self._state.stopped) or self.is_late

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
        return self._state.search.nfev + self._state.rounds.pending

    @property
    def nit(self) -> int:
        """Rounds so far."""
        return self._state.nit

    @property
    def modes_found(self) -> int:
        """Distinct modes of the wanted kind so far."""
        search = self._state.search
        hills = search.archive.hills
        return len(np.unique(hills[search.is_best] if search.is_global else hills))

    @property
    def result(self) -> Result:
        """What is found so far."""
        return build_result(self._state, self.stop(), self.elapsed)

    def go_on_with(self, evaluator: Evaluator) -> None:
        """Let an evaluator call the function as it was called before: by compiled code, if that is how it was."""
        evaluator.compiled_from = self._earlier.compiled_from

    def count(self, evaluator: Evaluator) -> None:
        """What the evaluator has called and seen fail, on top of what others did in earlier parts of the search."""
        self._state.tally = self._earlier.plus(evaluator)

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
