"""Constants that decide whose turn it is, and when the search has seen enough."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    few: int = constant(8, "searches", "fewer say nothing about a function, and are too few to split into rounds")

    # when local searches are enough
    least_searches: int = constant(100, "searches", "fewer say too little about how unequal the basins are")
    few_modes: float = constant(
        0.1, "modes", "expected of the evaluations ahead, below which it ends: one chance in ten that any would come"
    )
    judged_again: float = constant(
        1.06, "ratio", "growth of the number of searches before they are judged again, which costs time"
    )
    barren: int = constant(4, "screenings", "that bring no new mode, before a search for the best modes ends")

    # whose turn it is
    first_mode_cost: float = constant(
        1000.0,
        "evaluations",
        "for each coordinate and one more, of a member's first mode; and before a function is rugged",
    )
    rough: float = constant(0.5, "share", "of local searches that end in no mode, above which the function is rough")
    endless: float = constant(0.3, "share", "of local searches that found a mode no other found: most are unknown")
    overview: float = constant(0.25, "budget", "that a look at the whole box may cost where all modes count")
    looks: float = constant(0.1, "evaluations", "that looks at the whole box take once they agree on the best value")
    rugged: float = constant(0.9, "share", "of local searches that found a mode no other found: small traps")


TUNING = Tuning()
