"""A verification in progress: a chain of questions, answered by values or by local searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Continue, SearchEvent
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
class Optimum(NamedTuple):
    """A candidate is an optimum of this kind; it remains to be told apart from those that are known.

    `is_level` says that it may be extended: a plateau, a valley floor, a long and thin component.
    """

    candidate: Candidate
    kind: str
    is_level: bool = False


PLATEAU = "a plateau below the best value"  # this reason is counted: the function is level there, not rough


class NoOptimum(NamedTuple):
    """A candidate is no optimum, and why."""

    reason: str


class Higher(NamedTuple):
    """There is higher ground: the search goes on from this point."""

    point: Array
    radius: float
    is_kinked: bool = False


class Elsewhere(NamedTuple):
    """A search from beside a candidate has arrived at a better one, which is verified in its place."""

    candidate: Candidate


class Same(NamedTuple):
    """An optimum is this mode, or a part of it, and so are the points (n, d) of a path between the two."""

    optimum: Optimum
    mode: int
    path: Array | None = None


class Different(NamedTuple):
    """An optimum has been told apart from this mode."""

    optimum: Optimum
    mode: int


class ByValues(ABC):
    """A question that values answer. Questions are stored dataclasses: a search may be saved between ask and tell."""

    @abstractmethod
    def points(self, context: Context) -> Array:
        """Where values are wanted, (m, d), inside the bounds."""

    @abstractmethod
    def answer(self, context: Context, points: Array, values: Array) -> Step:
        """What the values at `points` say: another question, or what the candidate is."""


class BySearch(ABC):
    """A question that the end of a local search answers."""

    @abstractmethod
    def search(self, context: Context, origin: Origin) -> Continue:
        """The local search that is wanted."""

    @abstractmethod
    def ended(self, context: Context, event: SearchEvent) -> Step:
        """What its end says: another question, or what the candidate is."""


Question: TypeAlias = ByValues | BySearch
Step: TypeAlias = Question | Optimum | NoOptimum | Higher | Elsewhere | Same | Different
