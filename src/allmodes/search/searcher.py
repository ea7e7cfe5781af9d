"""The two protocols of a search: what the finder drives, and what the scheduler is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import VALUE, Evaluation, Needs
from allmodes.search.events import Event
from allmodes.search.fresh import Fresh
from allmodes.storage import stored

Array = NDArray[np.float64]

LOOSE = -2  # the ticket of a round whose points are told by `add_points`


class Request(NamedTuple):
    """Points (N, d) of one round, in unit coordinates and inside the box, and which derivatives are wanted there.

    The ticket is what the search calls the round, when several are in flight.
    """

    points: Array
    needs: Needs = VALUE
    ticket: int = 0


class Strategy(ABC):
    """A whole search, as the finder drives it. All state is plain data, so that it can be saved and resumed."""

    @abstractmethod
    def ask(self) -> Request:
        """The points of the next round. No points mean that there is nothing left to do."""

    @abstractmethod
    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        """The values at all points of a round, in the order in which they were asked for.

        Values are to be maximised; a point at which the function failed has the value -inf and derivatives of NaN.
        """

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked for another round while some are in flight."""
        return False

    @property
    def in_turn(self) -> str:
        """Why it has no points beyond those of its rounds, in words; empty if `more` can give any number."""
        return "it has to know whole rounds before it goes on"

    def more(self, n: int) -> Request:
        """What it wants to know, whatever is in flight: what waits, or n points of searches that begin for it."""
        raise NotImplementedError

    def take_budget(self, other: Strategy) -> None:
        """Take over whatever follows from the budget of a search that has not begun: this one is resumed with it."""
        return

    @property
    @abstractmethod
    def ending(self) -> str:
        """Why the search is over, in words; empty while it goes on."""

    def add_points(self, points: Array, values: Array) -> None:
        """Points (n, d) that were evaluated without being asked for, and their values. A search may ignore them."""
        return

    @property
    def fresh(self) -> Fresh:
        """Local searches from new places: what is known of modes that were not found."""
        return Fresh()

    @property
    def searched(self) -> tuple[int, int]:
        """How many local searches have ended, and how many do at least before it ends as hardly any mode is expected.

        The latter is 0 where it does not end by that.
        """
        return 0, 0

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of those who take part beside local searches."""
        return ()

    @property
    def symmetries(self) -> list[Array]:
        """Matrices (d, d) that take points into others of the same value, in the user's coordinates."""
        return []

    @property
    def violated(self) -> Array | None:
        """The point (d,) that violates constraints least, if none was found that satisfies them."""
        return None

    @property
    def noted(self) -> dict[str, Any]:
        """What else is kept with the settings of a result."""
        return {}

    @property
    def temperature(self) -> float | None:
        """Of the annealing that is running; None where nothing is annealed."""
        return None

    @property
    def account(self) -> str:
        """What was done and why, in a sentence for the user."""
        return ""


class Searcher(ABC):
    """A way of looking for candidates, a member of the scheduler. It reads the archive and never writes it."""

    name: str  # a member's name of candidate.py: on its candidates' origins, and in accounts
    wants_derivatives = False  # whether its points are evaluated with derivatives, if there are any

    @abstractmethod
    def ask(self, is_settled: bool) -> Request:
        """Points of its next round. No points mean that it waits, or has nothing left to do.

        `is_settled` says whether all its candidates have been judged.
        """

    @abstractmethod
    def tell(self, evaluation: Evaluation) -> list[Event]:
        """The values at the points last asked for; returns what it has to say."""

    def judged(self, event: Event) -> None:
        """A verdict about one of its candidates, or how the polishing of one ended."""
        return

    def add_points(self, points: Array, values: Array) -> None:
        """Points (n, d) that others evaluated, and their values."""
        return

    def add_stuck(self, point: Array, value: float) -> None:
        """A local search got stuck at a point."""
        return

    @property
    @abstractmethod
    def ending(self) -> str:
        """Why it has nothing left to try, in words; empty while it has."""

    @property
    @abstractmethod
    def account(self) -> str:
        """What it did, in a few words for the user."""


@stored
class Block(NamedTuple):
    """Points of one round that belong to one machine: what it wants to know, and about whom.

    Attributes:
        machine: whose it is.
        kind: what the machine calls the question.
        rows: (n,), the local searches or verifications that ask.
        points: (n, points each, d).
        centres: (n, d), beside which the points lie and may be moved a little where the function fails; None where it
            has to be these points.
        has_sides: whether a point on the other side of its centre will do as well.
    """

    machine: str
    kind: str
    rows: NDArray[np.intp]
    points: Array
    centres: Array | None = None
    has_sides: bool = False
