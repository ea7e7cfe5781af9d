"""What every way of searching has in common: ask where to evaluate, tell what was found there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import VALUE, Evaluation, Needs


class Request(NamedTuple):
    """Points (N, d) of one round, in unit coordinates and inside the box, and which derivatives are wanted there.

    The ticket is what the strategy calls the round, when several are under way.
    """

    points: NDArray[np.float64]
    needs: Needs = VALUE
    ticket: int = 0


class Strategy(ABC):
    """A way of searching. All state is plain data, so that a search can be saved and resumed."""

    @abstractmethod
    def ask(self) -> Request:
        """The points of the next round. None means that there is nothing left to do."""

    @abstractmethod
    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        """What came of the points of a round, all of them, in their order.

        Values are to be maximised; a point at which the function failed has the value -inf and derivatives of NaN.
        """

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked for another round while some are not told."""
        return False

    def withdraw(self, ticket: int) -> None:
        """A round will not be told: the budget ends in the middle of it."""
        return

    @property
    @abstractmethod
    def ending(self) -> str:
        """Why the search is over, in words; empty while it goes on."""

    def add_points(self, points: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Points (n, d) that were evaluated without being asked for, and their values. A strategy may ignore them."""
        return

    @property
    def lost_launches(self) -> int:
        """Launches from evenly spread starts that ended in no mode."""
        return 0

    @property
    def account(self) -> str:
        """What was done and why, in a sentence for the user."""
        return ""
