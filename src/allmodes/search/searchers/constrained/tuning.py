"""Constants of searches under constraints."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    # local searches
    first_radius: float = constant(0.1, "box", "of the first step, which knows no curvature")
    widest: float = constant(0.5, "box", "of any step")
    good: float = constant(0.75, "ratio", "of what was gained to what was promised, above which steps grow")
    poor: float = constant(0.25, "ratio", "likewise, below which they shrink")
    longest: int = constant(200, "steps", "of one local search, after which it is given up")
    difference: float = constant(1e-7, "box", "between values whose difference is a slope")

    # over kinks
    descent: float = constant(
        0.02, "box", "first deviation of a population that goes on where a local search got stuck"
    )

    # what is not possible
    hopeless: int = constant(64, "starts", "in a row without a feasible point nearby, after which none is expected")
    restorations: int = constant(20, "steps", "of Gauss and Newton back to the constraints")

    # recognition
    reach: float = constant(0.15, "box", "from a known mode, beyond which its model says nothing")
    alike: float = constant(0.1, "share", "by which value and slope may differ from the model of the known mode")
    ahead: float = constant(0.2, "share", "of the distance to it, within which the next step has to end")

    # verification
    bend: float = constant(1e-4, "box", "between values or slopes whose difference is a curvature")
    active: float = constant(1e-6, "scale", "a constraint this close to its bound is active")
    held: float = constant(1e-6, "share", "of the gradient: a smaller multiplier holds nothing")
    level: float = constant(1e-5, "share", "of the largest curvature: a smaller one counts as none")
    probe: float = constant(3e-3, "box", "to either side of a level mode, where lower ground would show")
    aside: float = constant(0.02, "box", "from a saddle to where the search goes on")
    restarts: int = constant(5, "times", "that a search is sent on, from a saddle or where it has not arrived")
    slack: float = constant(1e-4, "share", "of the first-order residual to the gradient that differences explain")


TUNING = Tuning()
