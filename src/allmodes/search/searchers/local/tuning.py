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
    first_radius: float = constant(
        0.05,
        "box, root mean square of the coordinates",
        "longest step inside the box where models are not exact, from the first on; longer ones leave the basin",
    )
    first_radius_of_fits: float = constant(
        0.2, "box, root mean square of the coordinates", "the same, of models of residuals, which hold farther"
    )
    growth_of_fits: float = constant(2.0, "radius", "next radius, of residuals, after a model that predicted well")
    shrinkage_of_fits: float = constant(
        0.25, "step", "next step, of residuals, after one that was too long: twice that is not as long again"
    )
    convincing_of_fits: float = constant(
        0.2, "change of gradient", "a model of residuals that misses less over the last step needs no measurement"
    )
    shrinking_of_fits: float = constant(
        0.75, "last step", "steps that shrink to less converge by a curvature that was measured, if slowly"
    )
    weakest_of_fits: float = constant(
        1e-6, "largest curvature", "the least that a model of residuals tells without a measurement"
    )
    longest_line: float = constant(0.15, "box", "longest first point of a line over kinks")
    spacing_share: float = constant(0.5, "spacing of modes", "first step: half the way to the next mode")
    flatter: float = constant(
        0.01, "slope over radius", "curvature of the first model: what is too steep must be unlearnt in each direction"
    )
    growth: float = constant(2.5, "radius", "next radius after a model that predicted well")
    shrinkage: float = constant(0.3, "step", "next step, in a trust region or on a line, after one that was too long")
    least_rise: float = constant(0.1, "predicted rise", "a step that rises less was too long, and is not taken")
    most_rise: float = constant(3.0, "predicted rise", "one that rises more has left the hill that the model describes")
    patience: int = constant(300, "steps", "a search that takes longer is where there is no optimum")
    patience_per_dimension: int = constant(10, "steps", "updated models learn one direction with each step")
    refusals: int = constant(6, "trial points", "that are no better, before the function is called rough")
    refused_share: float = constant(0.4, "trial points", "smooth functions refuse fewer: models cannot be trusted")
    farthest: float = constant(1e6, "box", "farther away from an open box there is no optimum")

    # ---- arrival
    arrival: float = constant(0.1, "xtol", "a Newton step that is shorter changes nothing that the user wants to know")
    negligible: float = constant(1e-3, "xtol or first slope", "not worth an evaluation; at a smooth optimum alone")
    little: float = constant(0.01, "tie, or loss of a search with a goal", "a gain that no longer matters")
    settled: float = constant(
        30.0,
        "sqrt(xtol)",
        "last step, above which the curvature is not measured yet: on the wall of a valley the next step is short, too",
    )
    remeasure: float = constant(0.2, "distance", "next measurement of the curvature, after one that came too early")
    fresh: float = constant(
        0.02,
        "change of gradient, or predicted rise",
        "a measured model that misses less is kept over a longer step; any may be followed over longer steps",
    )
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
    central: float = constant(
        1e-4, "box", "longest step whose slopes on both sides are better than one over a short step"
    )
    rough: float = constant(0.7, "bend", "curvatures on two sides that differ by more are those of a kink")
    small_steps: int = constant(3, "lines in a row", "small gains after which a search over kinks has arrived")


TUNING = Tuning()
