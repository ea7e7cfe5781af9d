"""The constants of searches on noisy functions, and of the verifier that goes with them (verify/noise.py)."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """How often a noisy function is evaluated, and what is believed then.

    "Widths" are standard deviations of the points that a parabola is fitted to.
    """

    repeats: int = constant(6, "evaluations", "at one point in one round: enough for a standard error")
    confirmations: int = constant(30, "evaluations", "at every mode in the end, or at points between that stay unclear")
    reserve: float = constant(0.3, "budget", "kept for what follows the search")
    looks: int = constant(6, "rounds", "of parabolas, at most; half of them do for most modes")
    per_coefficient: int = constant(20, "points", "for each coefficient of a parabola")
    fall: float = constant(5.0, "noise", "by which the function falls within the points of a parabola")
    widest: float = constant(0.1, "box", "width at most: farther away few functions are parabolas")
    wider: float = constant(2.0, "ratio", "by which the width grows at most; its root where it shrinks again")
    reach: float = constant(2.0, "widths", "over which a parabola is trusted; a mode within half of that has arrived")
    sure: float = constant(
        2.0, "standard errors", "of a slope, curvature or misfit that is not chance; twice that for a rejection"
    )
    alike: float = constant(
        0.1, "noise", "deviation of repeats that is too small for noise: the function is rough, not random"
    )


TUNING = Tuning()
