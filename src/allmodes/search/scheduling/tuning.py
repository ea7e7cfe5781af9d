"""Constants of whose turn it is, and of when it is enough."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    few: int = constant(8, "searches", "fewer say nothing about a function, and are too few to split into rounds")

    # when local searches are enough
    patience: int = constant(100, "searches", "without a new mode: most of them cost little more than one point")
    patience_per_mode: int = constant(
        5, "searches", "without a new mode, for each mode found: more may hide among more"
    )
    rare: float = constant(0.02, "share", "of searches whose mode was found once: the chance that the next is new")
    barren: int = constant(4, "screenings", "that bring no new mode, before a search for the best modes ends")

    # whose turn it is
    first_mode_cost: float = constant(
        1000.0,
        "evaluations",
        "for each coordinate and one more, of a member's first mode; and before a function is rugged",
    )
    rough: float = constant(0.5, "share", "of local searches that end in no mode, above which the function is rough")
    rugged: float = constant(0.9, "share", "of local searches that found a mode nobody else did: small traps")


TUNING = Tuning()
