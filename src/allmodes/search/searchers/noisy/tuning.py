"""The constants of searches on noisy functions, and of the verifier that goes with them (verify/noise.py)."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """How often a noisy function is evaluated, and what is believed then.

    "Widths" are standard deviations of the points that a parabola is fitted to.
    """

    places: int = constant(4, "points", "at which the noise is measured")
    repeats: int = constant(6, "evaluations", "at one point in one round: enough for a standard error")
    reserve: float = constant(0.3, "budget", "kept for what follows the search")
    narrow: float = constant(0.1, "box", "standard deviation of components that count though they have not converged")
    most_candidates: int = constant(100, "candidates", "that are compared: more would use up the reserve")
    hint: float = constant(
        1.0, "standard errors", "of a fall for which a candidate is kept; others are sorted out later"
    )
    looks: int = constant(6, "rounds", "of parabolas, at most; half of them do for most modes")
    per_coefficient: int = constant(20, "points", "for each coefficient of a parabola")
    fall: float = constant(5.0, "noise", "by which the function falls within the points of a parabola")
    first_wider: float = constant(2.0, "ratio", "of the first width: noisy components shrink for no reason")
    widest: float = constant(0.07, "box", "width that curvature can ask for: farther away few functions are parabolas")
    widest_unsure: float = constant(0.2, "box", "width where the curvature could not be told")
    wider: float = constant(2.5, "ratio", "by which the width grows then; its root where it shrinks again")
    misfit: float = constant(3.0, "standard errors", "by which a function differs from a parabola and is none")
    alike: float = constant(
        0.1, "noise", "of repeats that are no measure of the noise: the function is rough, not random"
    )
    sure: float = constant(
        2.0, "standard errors", "of a slope or a curvature that is not luck; twice that for a rejection"
    )
    reach: float = constant(2.0, "widths", "as far as a parabola is trusted, half of it where the fit is poor")
    rivals: int = constant(2, "modes", "better ones, the nearest, that every mode is compared with")
    confirmations: int = constant(
        30, "evaluations", "at every mode in the end, and at a point between that stays unclear"
    )


TUNING = Tuning()
