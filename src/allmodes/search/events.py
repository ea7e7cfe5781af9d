"""What machines report when they are told values; whoever told them passes it on. Nobody sets another's fields.

Searchers say `Arrived`, `Recognised`, `Stuck`, `RanAway` or `Failed`; the verifier says `NewMode`, `KnownMode` or
`Rejected`. Both say `Continue` where a local search is to begin or to go on.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import Candidate, Origin
from allmodes.storage import stored

Array = NDArray[np.float64]


class Arrived(NamedTuple):
    """A search gets no higher; the verifier is to judge where it is. `rival` is a mode to compare it with first."""

    candidate: Candidate
    rival: int = -1


class Recognised(NamedTuple):
    """A local search was stopped because it is falling into a known mode."""

    origin: Origin
    mode: int


class Stuck(NamedTuple):
    """A local search ended at no optimum: the function is too rough there, or its patience ran out (`is_tired`)."""

    origin: Origin
    point: Array
    value: float
    is_tired: bool = False


class RanAway(NamedTuple):
    """A local search left for infinity, or for where it is of no use."""

    origin: Origin


class Failed(NamedTuple):
    """A local search could not begin: the function failed at its start."""

    origin: Origin


class NewMode(NamedTuple):
    """A candidate is a mode that was not known."""

    origin: Origin
    mode: int


class KnownMode(NamedTuple):
    """A candidate is a mode that is known."""

    origin: Origin
    mode: int


class Rejected(NamedTuple):
    """A candidate is no mode; the reason in words."""

    origin: Origin
    point: Array
    value: float
    reason: str


@stored
class Continue(NamedTuple):
    """A local search should go on, or begin, at a point.

    Attributes:
        origin: the search that goes on; with a `question`, whose end the verifier waits for.
        point: where.
        radius: its first step, as a share of the box.
        is_kinked: whether the function is not smooth there.
        goal, goal_value, goal_reach: a point that the search may come back to: once it is that close, and has regained
            nearly all of the value, it ends. None without one.
        along: a unit vector (d,) in which a smooth search does not move; None for one that moves freely.
        ceiling: the value above which a smooth search is of no use, and ends.
        between: two points (2, d), no farther from both than they are apart it is to stay, or ends; None if anywhere.
    """

    origin: Origin
    point: Array
    radius: float
    is_kinked: bool = False
    goal: Array | None = None
    goal_value: float = np.inf
    goal_reach: float = 0.0
    along: Array | None = None
    ceiling: float = np.inf
    between: Array | None = None


SearchEvent: TypeAlias = Arrived | Recognised | Stuck | RanAway | Failed
Verdict: TypeAlias = NewMode | KnownMode | Rejected | Continue
Event: TypeAlias = SearchEvent | Verdict
