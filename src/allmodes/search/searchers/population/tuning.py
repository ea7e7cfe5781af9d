"""Constants of the populations."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `docs/tuning.md` for what halving and doubling each does."""

    slots: int = constant(16, "components", "and probes at once: enough for workers, few enough to learn from")
    large_size: int = constant(10, "populations", "size of a large one over the usual: it sees the slope under ripples")
    generations: int = constant(20, "generations / d", "that it takes to converge, about: what it will cost")

    # distances
    whole: float = constant(0.3, "box", "deviation of a population as wide as the box")
    widest: float = constant(0.05, "box", "deviation at a start, longest hop, radius of a funnel: wider sees no hill")
    first_step: float = constant(0.02, "box", "of hops and rays; that close to known points nothing else begins")
    apart: float = constant(0.3, "distance", "deviation at a start; or of a component that is apart from a mode")

    # space-filling points, in rounds
    round_points: int = constant(100, "points / d", "of the first round: enough to see the largest hills")
    round_growth: float = constant(0.3, "first round", "points that each round has more: closer starts need more")
    first_radius: float = constant(0.25, "box", "of exclusion around known points at first: a few starts, far apart")
    shrink: float = constant(0.75, "radius", "from one round to the next")

    # components
    test_every: int = constant(5, "generations", "between two tests of a component: is it on a known hill?")
    cut: float = constant(10.0, "last gain", "a component with a larger gap to the value it is to beat is given up")
    converged: float = constant(1e-8, "scale", "range of the last best values; its root is an accuracy of places")

    # hops among local optima, rays from modes
    impatience: float = constant(1.1, "gap, step", "a failed hop makes the gap larger and steps shorter by this factor")
    ray_points: int = constant(14, "points", "of a ray from the first step to the width of the box, ever farther apart")


TUNING = Tuning()
