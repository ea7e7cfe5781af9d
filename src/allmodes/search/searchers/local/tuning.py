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
    largest_radius: float = constant(0.5, "box diagonal of a unit cube", "models of half the box are never right")
    growth: float = constant(2.5, "radius", "next radius after a model that predicted well")
    shrinkage: float = constant(0.3, "step", "next step, in a trust region or on a line, after one that was too long")
    patience: int = constant(60, "steps", "a search that takes longer is on something that has no optimum")
    patience_per_dimension: int = constant(10, "steps", "updated models learn one direction with each step")
    refusals: int = constant(6, "trial points", "so many that are no better are needed to call the function rough")
    refused_share: float = constant(0.4, "trial points", "smooth functions refuse fewer: models are not to be trusted")
    farthest: float = constant(1e6, "box", "farther away from an open box there is no optimum")

    # ---- arrival
    arrival: float = constant(0.1, "xtol", "a Newton step that is shorter changes nothing that the user wants to know")
    negligible: float = constant(1e-3, "xtol", "a step that is not worth an evaluation")
    level_slope: float = constant(1e-8, "scale per box", "a slope that counts as none")
    little: float = constant(0.01, "tie", "a gain that no longer matters, after the last step or on a line")
    remeasure: float = constant(0.2, "distance", "next measurement of the curvature, after one that came too early")
    stale: float = constant(0.3, "change of gradient", "a measured model that misses more is out of date")
    slow: float = constant(0.55, "last step", "steps that shrink by less converge linearly: 2/3 at a quartic optimum")
    longest_stretch: float = constant(10.0, "Newton steps", "slower convergence is not extrapolated")
    steady: float = constant(0.05, "last step", "shrinkage that changes by less is the same again")
    quadratic: float = constant(0.1, "last step", "steps that shrink by more converge quadratically")
    agreement: float = constant(0.5, "distance or climb left", "a model that misses a known mode by less falls into it")

    # ---- derivatives from values
    gradient_step: float = constant(1e-7, "box", "the error of an optimum's position is half of it")
    curvature_step: float = constant(1e-3, "box", "longest step over which the curvature is taken not to change")
    rough: float = constant(0.7, "bend", "curvatures on two sides that differ by more are those of a kink")

    # ---- lines over kinks
    small_steps: int = constant(3, "lines in a row", "so many small gains say that a search has arrived")
    smooth_slope: float = constant(1e-3, "slope where the kink was met", "less is left at a smooth optimum alone")
    regained: float = constant(0.01, "loss when put aside", "what may be missing when a search has come back")


TUNING = Tuning()
