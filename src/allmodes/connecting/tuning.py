"""Numbers that were chosen, and why. Lengths are shares of the straight way between both modes."""

from __future__ import annotations

from typing import Final, NamedTuple


class Tuning(NamedTuple):
    """Of ways between modes."""

    samples: int = 12  # heights on the straight way between two modes: hills narrower than a twelfth are not seen
    fewest_samples: int = 3  # of a piece of a way
    most_samples: int = 24
    lowerings: int = 12  # of the highest point of one way: as many passes as it may have, with some to spare
    difference: float = 1e-3  # steps of differences: errors of 1e-6 in the slope, 1e-12 in the height of a saddle
    first_radius: float = 0.15  # of steps towards a saddle
    largest_radius: float = 0.4
    smallest_radius: float = 1e-5  # shorter steps than this are not worth their evaluations
    farthest: float = 1.0  # a saddle farther from the way than this belongs to another one
    steps: int = 40  # towards a saddle: Newton's need less than ten, updated curvatures in many dimensions more
    arrived: float = 1e-5  # the step that is left when a saddle is found: its height is then known to ten digits
    measured: int = 20  # coordinates up to which the curvature is measured at the first point
    bend: float = 0.5  # how far aside further ways begin
    further: int = 1  # ways that are tried aside of each branch of the tree, after all neighbours
    round: float = 0.25  # of a period: modes this far apart are joined the other way round, too
    around: int = 6  # likewise, where the function fails on all ways that are known
    lower: float = 1e-6  # of the climb: by as much a way is lower than another one, not by luck
    looks: int = 8  # closer at the top of a way that is no saddle
    halvings: int = 5  # of the stretches on both sides of a top that is no saddle, as at a kink
    seen: float = 1e-3  # of the climb: a top that is expected to be no higher than this above what was seen is known


TUNING: Final = Tuning()
