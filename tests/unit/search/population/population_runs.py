"""Populations alone, with a judge that takes every candidate for a mode that is not next to a known one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Event, KnownMode, NewMode, Recognised
from allmodes.search.searchers.population.population import Population

Array = NDArray[np.float64]
HIMMELBLAU = np.array([[3.0, 2.0], [-2.805118, 3.131313], [-3.779310, -3.283186], [3.584428, -1.848127]])
COST = 10  # evaluations that a verdict costs


def himmelblau(x: Array) -> Array:
    return -((x[:, 0] ** 2 + x[:, 1] - 11) ** 2) - (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


def make_context(bounds=((0, 1), (0, 1)), maxfev=10_000, seed=0, periodic=None, **given) -> Context:
    box = Box.make(list(bounds), periodic=periodic)
    return Context(box, Archive(box), np.random.default_rng(seed), order=0, maxfev=maxfev, **given)


def add_mode(context: Context, point, value: float, curvature: float = 1.0) -> int:
    d = context.box.d
    record = Frozen(np.zeros(d), -curvature * np.eye(d), np.zeros(d, bool), "optimum", "component", context.nfev)
    return context.archive.add(np.asarray(point, dtype=np.float64), value, record)


def judge(context: Context, candidate: Candidate) -> Event:
    """A verdict, and the archive's part of it."""
    origin = candidate.origin._replace(cost=COST)
    context.nfev += COST
    mode, distance = context.archive.closest(candidate.point)
    if distance < (1e-3 if context.noise == 0 else 0.05):
        return KnownMode(origin, mode)
    return NewMode(origin, add_mode(context, candidate.point, candidate.value, max(context.scale, 1e-9)))


def play(population: Population, values_of: Callable[[Array], Array], rounds: int) -> list[Event]:
    """Some rounds, without verdicts; what was said."""
    events: list[Event] = []
    context = population.context
    for _ in range(rounds):
        points = population.ask(is_settled=True).points
        assert context.box.inside(points).all()
        values = values_of(context.box.to_user(points))
        context.observe(points, values, len(points))
        events += population.tell(Evaluation(values))
    return events


def search(population: Population, values_of: Callable[[Array], Array], rounds: int = 10**9) -> Population:
    """A whole search, or some rounds of it."""
    context = population.context
    for _ in range(rounds):
        if context.nfev >= context.maxfev or population.ending:
            break
        for event in play(population, values_of, 1):
            if isinstance(event, Recognised):
                context.archive.hit(event.mode)
            elif isinstance(event, Arrived):
                population.judged(judge(context, event.candidate))
    return population


def found(population: Population) -> Array:
    context = population.context
    return context.box.to_user(context.archive.means[context.counted])


def matches(points: Array, wanted: Array, within: float) -> bool:
    distance = np.linalg.norm(points[:, None] - wanted, axis=2)
    return len(points) == len(wanted) and bool((distance.min(axis=0) < within).all())
