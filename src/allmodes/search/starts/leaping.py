"""Starts far from which their searches begin: optima that climbing hardly reaches may lie where it points to."""

from __future__ import annotations

from allmodes.search.candidate import LEAPING, Start
from allmodes.search.context import Context


def draw(context: Context, n: int) -> list[Start]:
    """n starts anywhere; their searches first go as far as the bounds, where all slopes point to, or back from there.

    Climbing step by step, a search ends in the nearest hollow of a wide slope. What lies at the end of the slope has a
    small basin then, however wide the slope is.
    """
    return [Start(point, LEAPING) for point in context.scatter(n)]
