"""Constants of symmetries."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """How symmetries are guessed from equal modes and tested by values."""

    rivals: int = constant(16, "modes", "equally good ones that a new mode is compared with: each may show a symmetry")
    most: int = constant(32, "maps", "of which all others are made: a group of 2^32 maps has no more generators")
    nodes: int = constant(500, "matrices", "begun for a pair of modes: coordinates that are equal make many possible")
    alike: float = constant(0.03, "curvature", "by which a mode's Hessian and that of its image may differ")
    probe_near: float = constant(0.1, "box", "around a mode, where the first point lies that a symmetry is tested at")
    probe_far: float = constant(0.3, "box", "the same, for the second: what holds there as well is no accident")
    digits: float = constant(1e-8, "change of the value", "by which values at a point and at its image may differ")


TUNING = Tuning()
