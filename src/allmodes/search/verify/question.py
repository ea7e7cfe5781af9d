"""A verification in progress: a chain of questions, each of which asks for values and understands the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.events import SearchEvent
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
class Optimum(NamedTuple):
    """A candidate is an optimum of this kind; it remains to be told apart from those that are known.

    `is_level` says that it may extend: a plateau, a valley floor, a component that is long and thin.
    """

    candidate: Candidate
    kind: str
    is_level: bool = False


class NoOptimum(NamedTuple):
    """A candidate is none, and why."""

    reason: str


class Higher(NamedTuple):
    """There is higher ground: its search is to go on from this point."""

    point: Array
    radius: float
    is_kinked: bool = False


class Elsewhere(NamedTuple):
    """A search from beside a candidate has arrived at a better one, which is verified in its place."""

    candidate: Candidate


class Launch(NamedTuple):
    """A question that only a local search from this point can answer; see `events.Continue` for the rest."""

    question: Question
    point: Array
    radius: float
    is_kinked: bool = False
    goal: Array | None = None
    goal_value: float = np.inf
    goal_reach: float = 0.0
    along: Array | None = None


class Same(NamedTuple):
    """An optimum is this mode, or a part of it, and so are the points (n, d) of a path between the two."""

    optimum: Optimum
    mode: int
    path: Array | None = None


class Different(NamedTuple):
    """An optimum has been told apart from this mode."""

    optimum: Optimum
    mode: int


class New(NamedTuple):
    """An optimum that no known mode explains."""

    optimum: Optimum


class Question(ABC):
    """One step of a verification; members are stored dataclasses, for a search may be saved between ask and tell."""

    candidate: Candidate

    def points(self, context: Context) -> Array:
        """Where values are wanted, (m, d), inside the bounds; none if a local search answers."""
        return np.zeros((0, context.box.d))

    @abstractmethod
    def answer(self, context: Context, points: Array, values: Array) -> Step:
        """What the values at `points` say: another question, or what the candidate is."""

    def ended(self, context: Context, event: SearchEvent) -> Step:
        """What the end of a local search says that was launched for this question."""
        raise TypeError(f"{type(self).__name__} launches no local search, and was told of {event}.")


Step: TypeAlias = Question | Elsewhere | Launch | Optimum | NoOptimum | Higher | Same | Different | New
