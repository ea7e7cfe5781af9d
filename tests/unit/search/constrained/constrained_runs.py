"""What tests of constrained searches share: contexts in the unit square, and local searches played to their end."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint

from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.arrival import DONE, Arrival
from allmodes.search.searchers.constrained.launch import Launch

UNIT = [(0.0, 1.0)] * 2
MIDDLE = np.array([0.5, 0.5])
DISC = NonlinearConstraint(lambda x: (x - MIDDLE) @ (x - MIDDLE), -np.inf, 0.09)  # radius 0.3 around the middle
CIRCLE = NonlinearConstraint(lambda x: (x - MIDDLE) @ (x - MIDDLE), 0.09, 0.09)


def constraints_of(given: Any, bounds: Any = UNIT, **options: Any) -> Constraints:
    made = Constraints.make(given, Box.make(bounds), **options)
    assert made is not None
    return made


def make_context(given: Any, bounds: Any = UNIT, order: int = 0) -> Context:
    box = Box.make(bounds)
    context = Context(box, Archive(box), np.random.default_rng(0), order)
    context.constraints = Constraints.make(given, box)
    context.observe_level(np.linspace(-1.0, 0.0, 64))
    return context


def told(machine: Any, context: Context, points: Any, fun: Any, grad: Any) -> None:
    """Answer a machine; everything is minimised here."""
    gradients = np.array([grad(point) for point in points]) if context.order else None
    machine.tell(context, np.array([fun(point) for point in points]), gradients, None)


def play(launch: Launch, context: Context, fun: Any, grad: Any = None) -> list[Any]:
    """A local search until it stops; the points that it asked for."""
    asked: list[Any] = []
    while launch.is_moving:
        points = launch.ask(context)
        asked += list(points)
        told(launch, context, points, fun, grad)
    return asked


def verify(launch: Launch, context: Context, fun: Any, grad: Any = None) -> Arrival:
    arrival = Arrival(launch)
    arrival.begin(context)
    while arrival.stage != DONE:
        told(arrival, context, arrival.asked, fun, grad)
    return arrival
