"""Constants of the verifier."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """How candidates are judged. "Box" is the width of the domain, "scale" the spread of the function over it."""

    level: float = constant(1e-9, "largest curvature", "least curvature that can be told from none")
    vague_of_fits: float = constant(
        1e-6,
        "largest curvature",
        "of residuals, least in a level valley that bends, where a parabola may fit by chance",
    )
    weak: float = constant(
        0.05, "largest curvature", "least that needs no confirmation: over sqrt(xtol) a bent valley changes by as much"
    )
    gentle: float = constant(0.1, "scale", "the same, beside the spread of the function")
    clear: float = constant(1e4, "rounding of a value", "fall that shows the curvature")
    beyond: float = constant(100.0, "gain of the last step", "fall that is not due to what is still to be gained")
    linear: float = constant(8.0, "fall nearby", "fall four times as far away: 16 of a parabola, 4 beside a kink")
    quartic: float = constant(
        64.0, "fall nearby", "fall four times as far away: 16 of a parabola, 256 of what is level to fourth order"
    )
    shortest: float = constant(1e-5, "box", "shortest distance over which curvature is measured")
    longest: float = constant(1e-2, "box", "longest distance over which curvature is measured")
    unsure: float = constant(1e-7, "largest curvature", "slope that differences cannot distinguish from none")
    rim: float = constant(1e-3, "curvature upward", "slope at a bound that may be an error of differences")
    probe_near: float = constant(3e-3, "box", "first distance at which a direction that looks level is probed")
    probe_ratio: float = constant(10.0, "ratio", "next distance over the last, up to the whole box")
    curved: float = constant(0.3, "ratio", "share of a parabola's fall that counts as curved: a quartic shows less")
    seen: float = constant(0.5, "ratio", "share of the predicted fall: where less is seen the model is out of date")
    most_restarts: int = constant(5, "times", "a candidate sent to higher ground more often is no optimum")
    component_step: float = constant(3.0, "standard deviations", "distance of the points around a component")
    component_alike: float = constant(0.1, "ratio", "smaller of two falls over the larger that a peak shows")
    component_long: float = constant(4.0, "ratio", "length over width from which on it may lie in a bent valley")
    level_rivals: int = constant(
        2, "modes", "nearest level modes of its height, that a level candidate is compared with"
    )
    path_pieces: int = constant(12, "searches", "local searches from between, after which a path without a gap is one")
    path_shrink: float = constant(0.95, "ratio", "length of half a piece over the piece: across a gap none is shorter")
    path_straight: float = constant(0.15, "ratio", "bow over length of a short piece that needs no more points")
    back: float = constant(0.1, "ratio", "how near it must come, over the distance moved aside")
    returns: int = constant(3, "times", "how often it must come back, from directions at right angles")
    kink_valley: float = constant(
        0.05, "ratio", "fall along a straight line that a bent ridge explains, over its slope"
    )


TUNING = Tuning()
