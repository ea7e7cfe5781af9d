"""The search as an object: ask where to evaluate, tell what came of it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.modes.coverage import estimate
from allmodes.objective import Needs
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.frame import Frame
from allmodes.result import History, Result
from allmodes.round import Round, checked_told
from allmodes.settings import Settings, prepare
from allmodes.status import Status
from allmodes.storage import stored
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Request, Strategy
from allmodes.summary import build_result

Array = NDArray[np.float64]

_KIND = "mode finder"
_ALL_FAILED = 100  # failures, for each coordinate and one more, without a single value before a search gives up
_SIDES = ("lower", "upper", "periodic")


@stored
@dataclass
class _State:
    """Everything a search consists of: what is saved and loaded."""

    settings: Settings
    frame: Frame
    search: Search
    strategy: Strategy
    round: Round
    history: History = field(default_factory=History)
    nit: int = 0
    nfail: int = 0
    njev: int = 0
    nhev: int = 0
    elapsed: float = 0.0
    reason: str = ""
    is_out_of_budget: bool = False
    stopped: str = ""
    stopped_status: int = 0


class ModeFinder:
    """Finds all good optima of a function that you evaluate yourself.

    Args:
        bounds, x0, target, method, n_modes, maxfev, maxiter, maxtime, xtol, periodic, noise, polish, rng, names,
            options: as in `find_minima`.
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
        self._state = _State(settings, frame, search, strategy, Round.empty(frame.box))
        self._begun = time.monotonic()

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
            self._welcome(*others)
        self._pass_on()

    def tell_round(self, value: Array, gradient: Array | None = None, hessian: Array | None = None) -> None:
        """What came of all the points that `ask()` gave, in their order; for loops that check what they tell."""
        self._state.round.fill(value, gradient, hessian)
        self._pass_on()

    def _refill(self) -> None:
        """The next round, when the last one is told."""
        state = self._state
        if not state.round.is_told or self.stop():
            return
        with np.errstate(all="ignore"):  # failed points are -inf inside; what comes of them is looked at
            request = state.strategy.ask()
        left = state.search.maxfev - state.search.nfev
        cost = self.cost_per_hessian if "hessian" in request.needs else 1
        if left < cost:  # too little for a Hessian from differences: values at least
            request, cost = Request(request.points), 1
            state.round = Round.of(state.frame.box, request, left)
            state.round.is_whole = False
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
        self._note(round_.units, evaluation.value, round_.cost)
        if round_.is_whole:
            with np.errstate(all="ignore"):
                state.strategy.tell(evaluation)
        state.reason = state.strategy.ending
        best = state.search.best_value
        state.history.add(
            state.search.nfev, state.frame.value(best) if np.isfinite(best) else np.nan, len(state.search.archive)
        )

    def _welcome(self, points: Array, values: Array) -> None:
        """Points that were not asked for."""
        state = self._state
        inside = state.frame.inward(values).value
        units = state.frame.box.to_unit(points)
        self._note(units, inside, 1)
        state.strategy.add_points(units, inside)

    def _note(self, units: Array, inside: Array, cost: int) -> None:
        """Count evaluations, remember the best."""
        state, search = self._state, self._state.search
        search.nfev += len(inside) * cost
        state.nfail += int(np.isinf(inside).sum())
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
        return self._state.search.nfev

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
        return build_result(self._state, self.stop())

    def result_with(self, evaluator: Evaluator) -> Result:
        """The result, with the calls that the evaluator counted and the failures that it saw."""
        return replace(
            self.result,
            njev=evaluator.njev,
            nhev=evaluator.nhev,
            nfail=max(evaluator.nfail, self._state.nfail),
            failures=tuple(evaluator.failures),
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

    def check_same(self, other: ModeFinder, path: Any) -> None:
        """Refuse to go on with a search that was asked for something else."""
        ours, theirs = self._state, other._state
        for name in ("method", "target", "names"):
            if getattr(ours.settings, name) != getattr(theirs.settings, name):
                found, wanted = getattr(ours.settings, name), getattr(theirs.settings, name)
                raise ValueError(
                    f"{path} holds a search with {name}={found!r}; this one has {wanted!r}. Use another file."
                )
        same_box = all(
            np.array_equal(getattr(ours.frame.box, side), getattr(theirs.frame.box, side)) for side in _SIDES
        )
        if not same_box or ours.frame.maximise != theirs.frame.maximise or ours.search.order != theirs.search.order:
            raise ValueError(f"{path} holds a search of another problem (bounds, sign or derivatives differ).")
        ours.settings = theirs.settings  # budgets may have grown
        ours.search.maxfev = theirs.settings.maxfev
        ours.stopped, ours.is_out_of_budget = "", False

    # ---- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the search to one file; `ModeFinder.load` goes on exactly there."""
        state = self._state
        state.elapsed, self._begun = self.elapsed, time.monotonic()
        storage.save(path, state, kind=_KIND)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ModeFinder:
        """A search as it was saved."""
        finder = cls.__new__(cls)
        finder._state = storage.load(path, kind=_KIND)
        finder._begun = time.monotonic()
        return finder
