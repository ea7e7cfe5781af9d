"""Everything a search consists of: what is saved and loaded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.known import Known
from allmodes.memory import Memory, keys_of
from allmodes.objective import Evaluation, Needs
from allmodes.objective.equations import slopes_of_squares
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.frame import Frame
from allmodes.result import History
from allmodes.round import Round
from allmodes.rounds import Rounds
from allmodes.search.context import Context
from allmodes.search.diagnosis import Diagnosis
from allmodes.search.methods import NOISY_METHODS
from allmodes.search.searcher import LOOSE, Strategy
from allmodes.search.searchers.noisy.noisy import Noisy
from allmodes.settings import Settings
from allmodes.storage import stored

Array = NDArray[np.float64]

_LOOK = 0  # the ticket of rounds of the first look, while that is not over
_MOST_RECALLED = 10_000  # points: with more, a search ends if most of its points are free, for no budget would end it
_MOST_FAILURES = 20  # kept, as by one evaluator: the state of a search that is often resumed stays bounded


@stored
class Tally(NamedTuple):
    """What evaluators have called and seen fail, over all the parts of a search.

    Args:
        njev, nhev: points at which gradients and Hessians were computed.
        nfail: points at which something failed, failures (point, kind, text) the first of them.
        compiled_from: number of the first round that compiled code evaluates, once the function was seen to be JAX's:
            such code may round differently. None until then.
    """

    njev: int = 0
    nhev: int = 0
    nfail: int = 0
    failures: tuple[Any, ...] = ()
    compiled_from: int | None = None

    def plus(self, evaluator: Evaluator) -> Tally:
        """This and what an evaluator has done since it was made."""
        failures = (*self.failures, *(tuple(failure) for failure in evaluator.failures))
        return Tally(
            self.njev + evaluator.njev,
            self.nhev + evaluator.nhev,
            self.nfail + evaluator.nfail,
            failures[:_MOST_FAILURES],
            evaluator.compiled_from,
        )


@stored
@dataclass
class FinderState:
    """What a ModeFinder is made of, and how it changes when points are asked for and told.

    `recalled` is how many points were asked for and had been evaluated before.
    """

    settings: Settings
    frame: Frame
    context: Context
    search: Strategy
    known: Known
    memory: Memory
    diagnosis: Diagnosis
    rounds: Rounds = field(default_factory=Rounds)
    history: History = field(default_factory=History)
    tally: Tally = field(default_factory=Tally)
    nit: int = 0
    nfail: int = 0
    njev: int = 0
    nhev: int = 0
    recalled: int = 0
    elapsed: float = 0.0
    reason: str = ""
    stopped: str = ""
    stopped_status: int = 0

    @property
    def is_ready(self) -> bool:
        """Whether another round may begin while some are in flight."""
        return self.diagnosis.is_over and self.search.is_ready

    @property
    def left(self) -> int:
        """Evaluations that are neither made nor in flight, nor kept back for the modes."""
        return self.context.left - self.context.kept_back - self.rounds.reserved

    def begin_round(self, cost: Callable[[Needs], int], more: int = 0) -> bool:
        """Ask the search for another round, of points that cost so much; False if that has no points.

        What the budget does not allow of it is held back: a search that is resumed with a larger one goes on there.

        Args:
            cost: of a point at which these derivatives are wanted.
            more: points that are wanted whatever is in flight; 0 for a round when it is due.
        """
        with np.errstate(all="ignore"):  # failed points are -inf inside; what follows from them is checked
            if more:
                request = self.search.more(more)
            else:
                request = self.search.ask() if self.diagnosis.is_over else self.diagnosis.ask()
        box = self.frame.box
        if not len(request.points):
            if not len(self.rounds):
                self.reason = self.search.ending or "nothing is left to try"
            return False
        round_ = Round.of(box, request, self.rounds.begun, cost(request.needs))
        if not self.context.noise:
            self.recall(round_)
        round_.allow(self.left)
        self.rounds.flying.append(round_)
        self.rounds.begun += 1
        return True

    def recall(self, round_: Round, is_once: bool = False) -> None:
        """What is known of the points of a round from an earlier one, or from before the search.

        With `is_once` no point is tried again at which the function failed.
        """
        if round_.ticket == _LOOK and not self.diagnosis.is_over:
            return
        recalled = self.memory.recall(round_.points, round_.needs, is_once)
        if recalled is not None:
            round_.fill_free(*recalled)
            self.recalled += int(recalled[0].sum())
        if len(self.known) and not round_.needs:
            is_free, values = self.known.at(round_.points, self.frame.box)
            round_.fill_free(is_free, Evaluation(values))

    def pass_on(self, round_: Round) -> None:
        """Give the search a round that is told."""
        paid, is_look = round_.pending, not self.diagnosis.is_over and round_.ticket == _LOOK
        if is_look:
            self._look(round_)
        self.nit += 1
        self.njev += len(paid) * ("gradient" in round_.needs)
        self.nhev += len(paid) * ("hessian" in round_.needs)
        told = (round_.points, round_.value, round_.gradient, round_.hessian)
        if not self.context.noise:
            self.memory.remember(*(None if part is None else part[paid] for part in told))  # type: ignore[arg-type]
        derivatives = round_.gradient, round_.hessian, round_.points
        if self.context.is_system:
            evaluation = self.frame.equations_inward(round_.value, *derivatives)
        else:
            evaluation = self.frame.inward(round_.value, *derivatives, self.context.has_model)
        if self.settings.within is not None:
            self.context.want_within(self.settings.within * (self.frame.factor or 1.0))
        self.note(round_.units, evaluation.value, round_.cost, round_.is_free)
        if round_.ticket == LOOSE:
            self.search.add_points(round_.units, evaluation.value)
        elif not is_look:
            with np.errstate(all="ignore"):
                self.search.tell(evaluation, round_.ticket)
            self.reason = self.search.ending
        if not self.reason and self.recalled > max(_MOST_RECALLED, self.context.nfev):
            self.reason = f"{self.recalled} points had been evaluated before, more than were new"
        best = self.context.best_value
        found = len(self.context.archive.own)
        self.history.add(self.context.nfev, self.frame.value(best) if math.isfinite(best) else math.nan, found)

    def _look(self, round_: Round) -> None:
        """The first look at the function. One that proves noisy is searched as such, by the methods that can."""
        with np.errstate(all="ignore"):
            told = Evaluation(round_.value, round_.gradient, round_.hessian)
            self.diagnosis.tell(round_.points, slopes_of_squares(told) if self.context.is_system else told)
        if self.diagnosis.twice and self.context.constraints is not None:
            first, second = self.diagnosis.twice
            raise ValueError(
                f"constraints are given and fun is noisy: two values at one point are {first:.10g} and {second:.10g}. "
                "Constrained searches compare exact values: make fun exact, or add a penalty to it and leave "
                "constraints out."
            )
        if self.diagnosis.twice and self.settings.method in NOISY_METHODS:
            self.context.learn_noise(math.nan)
            self.search = Noisy(self.context)
            for other in self.rounds.flying:  # of the search that there was
                other.ticket = LOOSE
            if len(self.known):
                self.welcome(self.known.points, self.known.values, 0)

    @property
    def account(self) -> str:
        """What was seen of the function and done, in sentences for the user."""
        said = self.diagnosis.account
        if self.diagnosis.twice:
            method = self.settings.method
            unable = f', and method "{method}" compares single values: use "auto" or "black-box"'
            said += ", and it was searched as with noise=True" if method in NOISY_METHODS else unable
        drawn = "" if self.context.drawn is None else self.context.drawn.account
        return "; ".join(part for part in (said, self.search.account, drawn) if part)

    def unheard(self, points: Array, values: Array) -> tuple[Array, Array]:
        """Points and values without those at points that were told before."""
        told = {key for round_ in self.rounds.flying for key in keys_of(round_.points[round_.is_known])}
        first = dict(zip(reversed(keys_of(points)), reversed(range(len(points))), strict=True))
        rows = sorted(row for key, row in first.items() if key not in told and key not in self.memory)
        return points[rows], values[rows]

    def welcome(self, points: Array, values: Array, cost: int) -> None:
        """Points that were not asked for."""
        inside = self.frame.inward(values).value
        units = self.frame.box.to_unit(points)
        self.note(units, inside, cost, np.zeros(len(inside), np.bool_))
        self.search.add_points(units, inside)
        if cost and not self.context.noise:
            self.memory.remember(points, values)

    def note(self, units: Array, inside: Array, cost: int, is_free: NDArray[np.bool_]) -> None:
        """Count the evaluations that are not free; remember the best."""
        self.context.observe(units, inside, cost * (len(inside) - int(np.count_nonzero(is_free))))
        if cost:
            self.nfail += int(np.count_nonzero(np.isinf(inside) & ~is_free))
