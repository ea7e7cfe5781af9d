"""Judges candidates and keeps the archive: is it an optimum, of what kind, and is it one that is known?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.search.archive import Frozen
from allmodes.search.candidate import EQUATIONS, LOCAL, RETURN, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, KnownMode, NewMode, Recognised, Rejected, SearchEvent
from allmodes.search.geometry import is_held
from allmodes.search.orbits import add_images, change
from allmodes.search.searcher import Block
from allmodes.search.verify.comparison import Between, LevelSets
from allmodes.search.verify.components import AroundComponent
from allmodes.search.verify.images import AtImages
from allmodes.search.verify.kinks import AroundKink
from allmodes.search.verify.question import (
    BySearch,
    ByValues,
    Different,
    Elsewhere,
    Higher,
    NoOptimum,
    Optimum,
    Question,
    Same,
    Step,
)
from allmodes.search.verify.record import frozen_of, is_rough
from allmodes.search.verify.stationarity import LevelGround, examine
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

MACHINE = "verifier"


@stored
@dataclass
class Case:
    """A candidate that is being verified.

    Attributes:
        candidate: as it arrived.
        origin: where it came from, with what it has cost so far.
        question: what is to be answered next.
        is_asked: whether the values that this takes are in flight.
        tried: modes that it has been told apart from.
        is_paused: whether its search resumes once it is told apart from the mode it came near.
        is_compared: whether the function was asked for at its images by the stated symmetry.
    """

    candidate: Candidate
    origin: Origin
    question: Question | None = None
    is_asked: bool = False
    tried: tuple[int, ...] = ()
    is_paused: bool = False
    is_compared: bool = False


@stored
@dataclass
class Verifier:
    """Candidates under verification. Nobody else writes the archive.

    Attributes:
        context: what is shared.
        cases: by number.
        polishes: whether local searches go on from what populations find.
        level_sets: points that belong to level modes.
        numbered: numbers given so far.
    """

    context: Context
    polishes: bool = True
    cases: dict[str, Case] = field(default_factory=dict)
    level_sets: LevelSets = field(default_factory=LevelSets)
    numbered: int = 0

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def numbers(self) -> list[int]:
        """Of the local searches whose candidates are being verified."""
        return [case.origin.number for case in self.cases.values() if case.origin.member == LOCAL]

    @property
    def asking(self) -> int:
        """How many candidates are verified by values, rather than by local searches."""
        return sum(isinstance(case.question, ByValues) for case in self.cases.values())

    # ---- what comes in

    def judge(self, event: SearchEvent) -> list[Event]:
        """A search ended: begin to verify where it arrived, or continue with the question that it answers."""
        if isinstance(event, Recognised) and event.origin.question < 0:
            self.context.archive.hit(event.mode)
            return [event]
        origin = event.candidate.origin if isinstance(event, Arrived) else event.origin
        case = self.cases.get(str(origin.question))
        if case is not None and isinstance(case.question, BySearch):
            case.origin = case.origin._replace(cost=case.origin.cost + origin.cost)
            return self._go_on(origin.question, case.question.ended(self.context, event))
        if not isinstance(event, Arrived):
            return [event]
        return self._begin(event)

    def _begin(self, event: Arrived) -> list[Event]:
        candidate, archive = event.candidate, self.context.archive
        mode, apart = archive.closest(candidate.point)
        if apart < self.context.tolerances.same and not self._knows_more(candidate, mode):
            return self._known(candidate.origin, Optimum(candidate, "unverified"), mode)
        number, self.numbered = self.numbered, self.numbered + 1
        step = self._first_step(candidate)
        is_close = candidate.is_kinked and apart < self.context.tolerances.close
        rival = event.rival if event.rival >= 0 else mode if is_close else -1
        if rival >= 0:  # comparing the values between costs little beside verifying a kink
            step = Between(Optimum(candidate, "unverified"), rival, archive.means[rival].copy())
        self.cases[str(number)] = Case(candidate, candidate.origin, is_paused=event.rival >= 0)
        return self._go_on(number, step)

    def _first_step(self, candidate: Candidate) -> Step:
        """How a candidate is verified: by the kind of search that it comes from."""
        if candidate.is_kinked:
            return AroundKink(candidate)
        if candidate.source == EQUATIONS:  # a root whose Jacobian is regular is isolated, and surely there
            return Optimum(candidate, "optimum")
        if candidate.source != "component":
            return self._rather_known(candidate, examine(self.context, candidate))
        is_measured = candidate.factor is not None
        return AroundComponent(candidate, self.polishes) if is_measured else Optimum(candidate, "unverified")

    def _rather_known(self, candidate: Candidate, step: Step) -> Step:
        """For residuals: ground that looks level is first compared with level modes, which costs less than probes."""
        if self.context.has_model and isinstance(step, LevelGround):
            for rival in self.level_sets.rivals(self.context, candidate)[:1]:
                end, _ = self.level_sets.end_of(self.context, rival, candidate)
                return Between(Optimum(candidate, "unverified", is_level=True), rival, end)
        return step

    def _knows_more(self, candidate: Candidate, mode: int) -> bool:
        """Whether derivatives were measured where the curvature of a mode is that of a component."""
        return self.context.archive.records[mode].source == "component" and not is_rough(candidate)

    # ---- values

    def ask(self) -> list[Block]:
        """What is wanted of the candidates that are not waiting for anything."""
        blocks = []
        for number, case in self.cases.items():
            if isinstance(case.question, ByValues) and not case.is_asked:
                case.is_asked = True
                points, centre = case.question.points(self.context), case.candidate.point
                name = type(case.question).__name__
                blocks.append(Block(MACHINE, name, np.array([int(number)]), points[None], centre[None]))
        return blocks

    def tell(self, block: Block, values: Array) -> list[Event]:
        """The values (1, m) at the points of a block."""
        number = int(block.rows[0])
        case = self.cases[str(number)]
        assert isinstance(case.question, ByValues)
        case.origin = case.origin._replace(cost=case.origin.cost + values.size)
        return self._go_on(number, case.question.answer(self.context, block.points[0], values[0]))

    # ---- from one question to the next

    def _go_on(self, number: int, step: Step) -> list[Event]:
        """Ask the next question, or close the case."""
        case = self.cases[str(number)]
        if isinstance(step, Different):
            case.tried = (*case.tried, step.mode)
            if case.is_paused:
                return self._resume(number, step)
            step = self._told_apart(case.candidate, step.optimum)
        if isinstance(step, Optimum):
            step = self._compare(case, step)
        if isinstance(step, Optimum) and self.context.group is not None and not case.is_compared:
            case.is_compared, step = True, AtImages(step)
        if isinstance(step, ByValues | BySearch):
            case.question, case.is_asked = step, False
            origin = case.origin._replace(start=RETURN, cost=0, question=number)
            return [step.search(self.context, origin)] if isinstance(step, BySearch) else []
        del self.cases[str(number)]
        if isinstance(step, Optimum):
            return [self._add(case.origin, step)]
        if isinstance(step, Same):
            if step.path is not None:
                self.level_sets.add(self.context.box.project(step.path), step.mode)
            return self._known(case.origin, step.optimum, step.mode)
        if isinstance(step, NoOptimum):
            return [self._reject(case, step.reason)]
        assert isinstance(step, Higher | Elsewhere)
        return self._send_on(case, step)

    def _told_apart(self, candidate: Candidate, optimum: Optimum) -> Step:
        """What is next for an optimum that was told apart from a mode: some were compared before they were examined."""
        if optimum.kind == "unverified" and candidate.is_kinked:
            return AroundKink(candidate)
        is_next = optimum.kind == "unverified" and optimum.is_level and self.context.has_model
        return examine(self.context, candidate) if is_next else optimum

    def _compare(self, case: Case, optimum: Optimum) -> Between | Same | Optimum:
        """Tell an optimum apart from the closest mode, then from level modes of its height; itself if none is left."""
        context, candidate = self.context, optimum.candidate
        mode, apart = self._closest(candidate)
        if apart < context.tolerances.same:
            return Same(optimum, mode)
        reach = np.inf if candidate.source == "component" else context.tolerances.reach(candidate.hessian)
        if mode not in case.tried and apart < reach and candidate.source != EQUATIONS:
            return Between(optimum, mode, context.archive.means[mode].copy())
        for rival in self.level_sets.rivals(context, candidate) if optimum.is_level else []:
            if rival not in case.tried:
                return Between(optimum, rival, self.level_sets.end_of(context, rival, candidate)[0])
        return optimum

    def _closest(self, candidate: Candidate) -> tuple[int, float]:
        """The closest mode and its distance; for components, of those that count."""
        archive, counted = self.context.archive, self.context.counted
        if candidate.source != "component" or not len(counted):
            return archive.closest(candidate.point)
        apart = np.abs(self.context.box.difference(archive.means[counted], candidate.point)).max(axis=1)
        return int(counted[apart.argmin()]), float(apart.min())

    def _resume(self, number: int, step: Different) -> list[Event]:
        """A search that came near a mode is told apart from it, and goes on."""
        case, candidate = self.cases.pop(str(number)), step.optimum.candidate
        origin = case.origin._replace(compared=step.mode)
        return [Continue(origin, candidate.point, self.context.tolerances.near, candidate.is_kinked)]

    def _send_on(self, case: Case, step: Higher | Elsewhere) -> list[Event]:
        """A search goes on from higher ground, or has arrived there already."""
        origin = case.origin._replace(restarts=case.origin.restarts + 1)
        if origin.restarts > TUNING.most_restarts:
            return [self._reject(case, "there was higher ground beside it again and again")]
        if isinstance(step, Elsewhere):
            return self._begin(Arrived(replace(step.candidate, origin=origin)))
        return [Continue(origin, *step)]

    def _reject(self, case: Case, reason: str) -> Rejected:
        return Rejected(case.origin, case.candidate.point, case.candidate.value, reason)

    # ---- the archive

    def _known(self, origin: Origin, optimum: Optimum, mode: int) -> list[Event]:
        """A search has come to a known mode; it may know more about it."""
        candidate, archive = optimum.candidate, self.context.archive
        if optimum.is_level:
            self.level_sets.add(candidate.point[None], mode)
        record, is_guess = archive.records[mode], is_rough(candidate)
        least = 0.0 if is_guess else -self.context.tolerances.rounding()
        if record.source == "component" and candidate.value - archive.values[mode] > least:
            point = self.context.box.project(candidate.point)
            if is_guess or optimum.kind == "unverified":
                better = replace(record, gradient=candidate.gradient.copy())
            else:
                better = replace(frozen_of(self.context, optimum, point), found_at=record.found_at)
            self._change(mode, point, candidate.value, better)
        elif not is_guess and self._is_better(candidate, mode):
            located = replace(record, gradient=candidate.gradient.copy(), hessian=candidate.hessian.copy())
            self._change(mode, self.context.box.project(candidate.point), candidate.value, located)
        self.context.archive.hit(mode)
        return [KnownMode(origin, mode)]

    def _change(self, mode: int, point: Array, value: float, record: Frozen) -> None:
        """What is known of a mode now, and so of its images."""
        change(self.context.archive, self.context.group, mode, point, value, record)

    def _is_better(self, candidate: Candidate, mode: int) -> bool:
        """Whether a mode is located better by a candidate that is the same: higher, and at the same bounds."""
        archive, value = self.context.archive, float(self.context.archive.values[mode])
        is_higher = candidate.value > value + float(self.context.tolerances.error_of(value))
        held = is_held(self.context.box, candidate.point, candidate.gradient)
        return is_higher and archive.records[mode].kind != "flat" and np.array_equal(held, archive.records[mode].active)

    def _add(self, origin: Origin, optimum: Optimum) -> NewMode:
        candidate = optimum.candidate
        point = self.context.box.project(candidate.point)
        mode = self.context.archive.add(point, candidate.value, frozen_of(self.context, optimum, point))
        add_images(self.context, mode)
        if optimum.is_level:
            self.level_sets.add(point[None], mode)
        self.context.archive.hit(mode)
        return NewMode(origin, mode)
