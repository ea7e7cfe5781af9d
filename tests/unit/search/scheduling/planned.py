"""A scheduler over a known function, with a member whose candidates are planned."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import GRADIENT, Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import POPULATION, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searcher import Request, Searcher
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.verify.verifier import Verifier
from allmodes.storage import stored

WIDTH = 1e-3  # standard deviation of a component that has converged


@stored(key="tests.Planned")
@dataclass
class Planned(Searcher):
    """Asks for so many points a turn, and proposes the places of its plan, one after the other."""

    plan: list = field(default_factory=list)
    size: int = 50
    over: str = ""
    name: str = POPULATION
    turns: int = 0
    points: list = field(default_factory=list)
    stuck: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)

    def ask(self, is_settled):
        self.turns += 1
        return Request(np.full((self.size, 2), 0.01))

    def tell(self, evaluation):
        assert len(evaluation.value) == self.size
        if not self.plan:
            return []
        place, value = self.plan.pop(0)
        origin = Origin(self.name, "component", 0)
        factor, zero = WIDTH * np.eye(2), np.zeros(2)
        return [Arrived(Candidate(np.array(place), value, zero, -np.eye(2), "component", origin, WIDTH, factor=factor))]

    def judged(self, event):
        self.verdicts.append(type(event).__name__)

    def add_points(self, points, values):
        self.points.append(points)

    def add_stuck(self, point, value):
        self.stuck.append((point, value))

    @property
    def ending(self):
        return self.over

    @property
    def account(self):
        return "planned"


def make_context(order=0, is_global=False, maxfev=10_000):
    box = Box.make([(0, 1), (0, 1)])
    context = Context(box, Archive(box), np.random.default_rng(0), order=order, is_global=is_global, maxfev=maxfev)
    context.observe_level(np.linspace(-1.0, 1.0, 101))
    return context


def make_scheduler(context, *members, is_passive=False, may_join=(), polishes=True, **settings):
    """Local searches, and these members."""
    multistart = Multistart(context, is_passive=is_passive)
    named, turns = {member.name: member for member in members}, Turns(context, multistart, may_join)
    verifier = Verifier(context, polishes)
    return Scheduler(context, multistart, LocalSearch(context), verifier, turns, members=named, **settings)


def play(scheduler, function, rounds=10**6, until=lambda: False):
    """Rounds of a search; whose members asked in them."""
    context, turns = scheduler.context, []
    while len(turns) < rounds and not scheduler.ending and not until():
        request = scheduler.ask()
        if not len(request.points):
            break
        assert context.box.inside(request.points).all()
        turns.append(scheduler.flights[str(request.ticket)].member)
        evaluation = evaluate(function, request)
        context.observe(request.points, evaluation.value, len(request.points))
        scheduler.tell(evaluation, request.ticket)
    return turns


def evaluate(function, request):
    """Values, and gradients by differences."""
    z, h = request.points, 1e-6
    gradient = None
    if request.needs >= GRADIENT:
        moved = z[:, None] + h * np.eye(2)[None], z[:, None] - h * np.eye(2)[None]
        gradient = (function(moved[0]) - function(moved[1])) / (2 * h)
    return Evaluation(function(z), gradient, None)
