"""Constants of where local searches begin, and of how many are in flight."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    # between modes
    tries: int = constant(8, "draws", "for each start between modes: many lie outside, or at a known mode")

    # near the best mode
    farthest: float = constant(0.2, "box", "deviation of starts around the best mode: others search the whole box")

    # screened points
    screened_each: int = constant(100, "points per coordinate", "of a screening: enough to see hills side by side")
    screened_growth: float = constant(0.1, "share", "of the points so far: finding neighbours costs as much again")
    misses: int = constant(3, "searches", "in a row without success: what is left is worse, new points may be better")

    # the kinds compete
    first_cost: float = constant(3.0, "evaluations", "taken for the first success of a kind: all are tried early")
    most_given: int = constant(20, "points", "evaluated by others that become starts: most others would be recognised")

    given_radius: float = constant(
        0.05, "box", "first step from points that are given, which are to stay in their basins"
    )

    # in flight
    narrowest: int = constant(2, "searches", "in flight at first: each learns from those that ended before it began")
    narrowest_of_fits: int = constant(1, "searches", "the same, of residuals: each step of one costs a Jacobian")
    widest: int = constant(256, "searches", "in flight at most: enough for large batches, few enough to learn")
    searches_per_width: int = constant(8, "searches", "that ended for each in flight: few miss what the others find")


TUNING = Tuning()
