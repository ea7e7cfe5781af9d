"""The search as loops drive it: rounds in flight, what came of them, the clock, and why it is over."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.checks import whole_number
from allmodes.journal import LOG, Journal
from allmodes.objective import Needs
from allmodes.objective.constraints import FEASIBILITY, Constraints
from allmodes.objective.evaluator import Evaluator, Failure
from allmodes.result import Result
from allmodes.round import checked_told
from allmodes.search.searchers.constrained.constrained import Constrained
from allmodes.search.wanted import is_wanted
from allmodes.state import FinderState
from allmodes.status import Status
from allmodes.summary import build_result

Array = NDArray[np.float64]

_KIND = "mode finder"
_AT_ONCE = ("maxfev", "maxtime", "stopped")  # reasons that do not wait for points in flight
_ALL_FAILED = 100  # times (d + 1) failures without a single value before a search gives up


def _one(needs: Needs) -> int:
    """What a point costs that the user evaluates."""
    return 1


class Driver:
    """Moves a search forward: asks it for rounds, hands them out, and passes on what is told.

    Args:
        state: the search, new or as it was saved.

    Attributes:
        cost: evaluations of the function that a point costs at which these derivatives are wanted.
        counts_best: whether only the best modes count as found: of sums of squares, those that are roots.
    """

    def __init__(self, state: FinderState) -> None:
        self.state = state
        self.cost: Callable[[Needs], int] = _one
        self.counts_best = False
        self._begun = time.monotonic()
        self._journal = Journal(len(state.context.archive))
        self._earlier = state.tally  # what evaluators in other processes have called

    # ---- asking and telling

    def ask(self, n: int | None = None, again: bool = False) -> Array:
        """Points (m, D), at most n, not yet handed out; when none are left, those not yet told (see `Rounds`)."""
        self._refill()
        points = self.state.rounds.hand_out(n, not self._is_cut, again)
        return points if len(points) else np.zeros((0, self.state.frame.box.D))

    def check_exact(self) -> None:
        """Refuse a search that has no points but those of its rounds."""
        if why := self.state.search.in_turn:
            raise ValueError(
                f"this search cannot give any number of new points at any time: {why}. ModeFinder.ask(n) without exact "
                "gives at most n points, those that there are."
            )

    def ask_exactly(self, n: Any) -> Array:
        """n points (n, D) that were never asked for, as long as the search goes on: it begins what is missing.

        Without n as many as are due, and at least one.
        """
        self.check_exact()
        state, wanted = self.state, 1 if n is None else whole_number("n", n, 1)
        state.diagnosis.stay_apart()
        state.rounds.give_up(self.nfev)
        while self._lacks(wanted) and state.begin_round(self.cost, wanted - state.rounds.waiting):
            pass
        points = state.rounds.hand_out_fresh(state.rounds.waiting if n is None else wanted, self.nfev)
        return points if len(points) else np.zeros((0, state.frame.box.D))

    def _lacks(self, n: int) -> bool:
        """Whether fewer than n new points wait, and more may begin."""
        state, maxiter = self.state, self.state.settings.maxiter
        if not state.context.noise:
            for round_ in state.rounds.flying:
                if len(round_.waiting) or round_.is_twin is not None:
                    state.recall(round_, is_once=True)
        self._refill()
        if not state.context.noise:
            state.rounds.pair()
        is_last = maxiter is not None and state.nit + len(state.rounds) >= maxiter
        is_held = any(round_.held for round_ in state.rounds.flying)
        return state.rounds.waiting < n and not (is_last or is_held or self._reasons())

    def tell(self, x: Any, values: Any, gradients: Any = None, hessians: Any = None) -> None:
        """Results at points in any order, checked; those not asked for are welcome, those told before ignored."""
        box = self.state.frame.box
        told = checked_told(box, x, values, gradients, hessians)
        if len(told[0]):
            box.checked("x", told[0])
        others = self.state.rounds.take(*told)
        if others is not None and not self.state.context.noise:  # values of a noisy function may well be told again
            others = self.state.unheard(*others)
        if others is not None and len(others[0]):
            self.state.welcome(*others, 1)
        self._pass_on()

    def tell_round(self, value: Array, gradient: Any = None, hessian: Any = None, rows: Any = None) -> None:
        """Results at the points that `ask` gave last, in order, or at some of their rows; not checked."""
        self.state.rounds.fill(value, gradient, hessian, rows)
        self._pass_on()

    def hand_out(self) -> list[tuple[int, Array, Needs]]:
        """Every round in flight not yet handed out: its number, points (m, D), and the derivatives wanted there.

        Several may be in flight at once; their points may be told in any order and in part, by `tell_rows`.
        """
        self._refill()
        return self.state.rounds.hand_out_rounds(not self._is_cut)

    def tell_rows(self, number: int, rows: Any, value: Array, gradient: Any = None, hessian: Any = None) -> None:
        """Results at some of the points that `hand_out` gave for a round, by their places there; not checked."""
        self.state.rounds.fill_rows(number, np.asarray(rows), value, gradient, hessian)
        self._pass_on()

    @property
    def is_in_round(self) -> bool:
        """Whether any points of rounds that were handed out are still to be told."""
        return self.state.rounds.is_begun

    def _refill(self) -> None:
        """As many rounds in flight as the search allows; those whose values are all known are told at once."""
        self._begin_rounds()
        while self._pass_on():
            self._begin_rounds()

    def _begin_rounds(self) -> None:
        state, maxiter = self.state, self.state.settings.maxiter
        while not len(state.rounds) or state.is_ready:
            if self._reasons():
                return
            if maxiter is not None and state.nit + len(state.rounds) >= maxiter:
                return
            if not state.begin_round(self.cost):
                return

    def _pass_on(self) -> bool:
        """Give the search the rounds that are told, in the order of asking; whether there were any.

        After each round that is told, and before the next is told, another is asked for: what is asked for depends only
        on what was told, not on who evaluates or how quickly.
        """
        state, count = self.state, self.state.nit
        in_order = state.settings.options.get("order") != "completion"
        while (round_ := state.rounds.next_told(in_order)) is not None:
            state.pass_on(round_)
            if LOG.isEnabledFor(logging.INFO):
                self._journal.note(state, round_)
            if len(state.rounds):
                self._begin_rounds()
        return state.nit > count

    # ---- ending

    def stop(self, waits: bool = True) -> dict[str, str]:
        """Why the search is over: a name and a sentence for each reason; empty while it goes on.

        Some reasons wait for the points in flight, if it `waits`.
        """
        reasons = self._reasons()
        if self.state.rounds.is_held:
            reasons["maxfev"] = self._spent
        if reasons and waits and len(self.state.rounds):
            return {name: why for name, why in reasons.items() if name in _AT_ONCE}
        return reasons

    @property
    def _spent(self) -> str:
        return f"{self.nfev} of {self.state.settings.maxfev} evaluations are made"

    def _reasons(self) -> dict[str, str]:
        """Why nothing more is asked for."""
        state, settings, context = self.state, self.state.settings, self.state.context
        reasons = {}
        if state.reason:
            reasons["nothing_new"] = state.reason
        if context.nfev >= settings.maxfev:
            reasons["maxfev"] = self._spent
        if settings.maxiter is not None and state.nit >= settings.maxiter:
            reasons["maxiter"] = f"{state.nit} of {settings.maxiter} rounds are done"
        if self.is_late:
            reasons["maxtime"] = f"{settings.maxtime:g} s have passed"
        if settings.n_modes is not None and self.modes_found >= settings.n_modes:
            reasons["n_modes"] = "1 mode is found" if self.modes_found == 1 else f"{self.modes_found} modes are found"
        if context.nfev >= _ALL_FAILED * (1 + state.frame.box.d) and not math.isfinite(context.best_value):
            reasons["all_failed"] = f"all {context.nfev} evaluations failed"
        if state.stopped:
            reasons["stopped"] = state.stopped
        return reasons

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        maxtime = self.state.settings.maxtime
        return maxtime is not None and self.elapsed >= maxtime

    @property
    def _is_cut(self) -> bool:
        """Whether no further rounds are to begin."""
        return bool(self.state.stopped) or self.is_late

    def end(self, why: str, status: Status) -> None:
        """End the search from outside."""
        self.state.stopped, self.state.stopped_status = why, int(status)

    # ---- how it stands

    @property
    def elapsed(self) -> float:
        """Seconds since the search began, over all its parts if it was saved and loaded."""
        return self.state.elapsed + time.monotonic() - self._begun

    @property
    def nfev(self) -> int:
        """Evaluations so far, including those already told of rounds in flight."""
        return self.state.context.nfev + self.state.rounds.pending

    @property
    def modes_found(self) -> int:
        """Distinct modes of the wanted kind so far."""
        context = self.state.context
        own = context.archive.own
        own = own[is_wanted(context)[own]]
        is_some = context.is_global or self.counts_best
        return int(context.is_best[own].sum()) if is_some else len(own)

    @property
    def best_x(self) -> Array:
        """The best point evaluated so far (D,), NaN while there is none."""
        box, best = self.state.frame.box, self.state.context.best_point
        return np.full(box.D, np.nan) if best is None else box.to_user(best[None])[0]

    @property
    def result(self) -> Result:
        """What is found so far."""
        return build_result(self.state, self.stop(), self.elapsed)

    @property
    def result_at_once(self) -> Result:
        """What is found so far; a search that has found enough is over, whatever is in flight."""
        return build_result(self.state, self.stop(waits=False), self.elapsed)

    # ---- evaluators

    def go_on_with(self, evaluator: Evaluator) -> None:
        """Let an evaluator call the function as it was called before: through compiled code, if it was."""
        evaluator.compiled_from = self._earlier.compiled_from

    def count(self, evaluator: Evaluator) -> None:
        """What the evaluator has called and seen fail, added to earlier parts of the search."""
        self.state.tally = self._earlier.plus(evaluator)

    def result_with(self, evaluator: Evaluator) -> Result:
        """The result, with the calls and failures that evaluators counted."""
        self.count(evaluator)
        tally = self.state.tally
        failures = tuple(Failure(*failure) for failure in tally.failures)
        result = self.result
        return replace(
            result, njev=tally.njev, nhev=tally.nhev, nfail=max(tally.nfail, result.nfail), failures=failures
        )

    # ---- saving

    def save(self, path: str | os.PathLike[str], *, keeps_previous: bool = False) -> None:
        """Write the search to one file."""
        state = self.state
        state.elapsed, self._begun = self.elapsed, time.monotonic()
        state.memory.settle()
        note = f"{self.nfev} evaluations, {self.modes_found} modes"
        storage.save(path, state, kind=_KIND, note=note, settings=asdict(state.settings), keeps_previous=keeps_previous)

    def constrain(self, constraints: Any, vectorized: bool = False) -> None:
        """The constraints of a search that was saved, as `find_minima` takes them."""
        state = self.state
        if isinstance(state.search, Constrained):
            feasibility = state.settings.options.get("feasibility", FEASIBILITY)
            made = Constraints.make(constraints, state.frame.box, vectorized, feasibility)
            if made is None:
                raise ValueError(
                    "the saved search has constraints, which are not saved; pass the same constraints again."
                )
            state.context.constrain(made)
        elif constraints is not None:
            raise ValueError("the saved search has no constraints; leave constraints out, or begin another search.")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Driver:
        """A search as it was saved."""
        return cls(storage.load(path, kind=_KIND, goes_on=True))
