"""Rounds in flight, and the parts of what is told of them."""

from __future__ import annotations

from typing import NamedTuple

from allmodes.objective import Evaluation
from allmodes.search.searcher import Block
from allmodes.storage import stored


@stored(formerly=("search.scheduling.scheduler.Flight",))
class Flight(NamedTuple):
    """A round that has been asked for and not told yet.

    Attributes:
        blocks: what local searches and the verifier want to know; screened points are a block, too.
        member: who asked for the rest of the points; empty if nobody did.
    """

    blocks: list[Block]
    member: str = ""


def part_of(evaluation: Evaluation, first: int, n: int, each: int) -> Evaluation:
    """What belongs to a block, as (n, each, ...)."""
    part = slice(first, first + n * each)
    return Evaluation(*[None if a is None else a[part].reshape(n, each, *a.shape[1:]) for a in evaluation])
