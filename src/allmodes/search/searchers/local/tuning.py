"""Constants of local searches."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """What local searches can be tuned by; lengths are shares of the box."""

    # ---- first steps and trust regions
    shortest_first_radius: float = constant(
        0.02, "box", "first step among crowded modes, and of the first line at a kink"
    )
    first_radius: float = constant(0.15, "box", "longest first step; longer ones leave the basin they begin in")
    spacing_share: float = constant(0.5, "spacing of modes", "first step: half the way to the next mode")
    growth: float = constant(2.5, "radius", "next radius after a model that predicted well")
    shrinkage: float = constant(0.3, "step", "next step, in a trust region or on a line, after one that was too long")
    patience: int = constant(300, "steps", "a search that takes longer is on something that has no optimum")
    patience_per_dimension: int = constant(10, "steps", "updated models learn one direction with each step")
    refusals: int = constant(6, "trial points", "so many that are no better are needed to call the function rough")
    refused_share: float = constant(0.4, "trial points", "smooth functions refuse fewer: models are not to be trusted")
    farthest: float = constant(1e6, "box", "farther away from an open box there is no optimum")

    # ---- arrival
    arrival: float = constant(0.1, "xtol", "a Newton step that is shorter changes nothing that the user wants to know")
    negligible: float = constant(1e-3, "xtol or first slope", "not worth an evaluation; at a smooth optimum alone")
    level_slope: float = constant(1e-8, "scale per box", "a slope that counts as none")
    little: float = constant(0.01, "tie, or loss of a search with a goal", "a gain that no longer matters")
    remeasure: float = constant(0.2, "distance", "next measurement of the curvature, after one that came too early")
    slow: float = constant(0.55, "last step", "steps that shrink by less converge linearly: 2/3 at a quartic optimum")
    quadratic: float = constant(
        0.1, "last step", "steps that shrink to less converge quadratically; those that shrink by less are not followed"
    )
    agreement: float = constant(
        0.5,
        "distance, climb or change of gradient",
        "a model that misses by less falls into a mode; by more it is stale",
    )

    # ---- derivatives from values
    gradient_step: float = constant(1e-7, "box", "the error of an optimum's position is half of it")
    kink_step: float = constant(0.1, "gradient step", "shorter on lines, not to reach across a kink that is close")
    curvature_step: float = constant(1e-3, "box", "longest step over which the curvature is taken not to change")
    rough: float = constant(0.7, "bend", "curvatures on two sides that differ by more are those of a kink")
    small_steps: int = constant(3, "lines in a row", "so many small gains say that a search over kinks has arrived")


TUNING = Tuning()
