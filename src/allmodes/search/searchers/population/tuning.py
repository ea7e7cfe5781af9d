"""Constants of the populations."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `docs/tuning.md` for what halving and doubling each does."""

    slots: int = constant(
        16, "components", "components and probes at once: enough for workers, few enough to learn from"
    )
    first_cost: float = constant(1500.0, "evaluations", "what the first mode of a kind of start is taken to cost")
    less_credit: float = constant(0.3, "modes", "credited in advance to rays, mixes and reheating; 1 to the others")
    reheat_size: int = constant(10, "populations", "size of one that goes on from a local optimum: ripples average out")

    # space-filling points, in rounds
    pool_share: float = constant(0.1, "evaluations", "space-filling points at least; more of them only take from hops")
    round_points: int = constant(100, "points / d", "of the first round: enough to see the largest hills")
    round_growth: float = constant(
        0.3, "first round", "points that each round has more: closer starts need more of them"
    )
    first_radius: float = constant(
        0.25, "box", "of exclusion around known points in a first round: a few starts, far apart"
    )
    shrink: float = constant(0.75, "radius", "from one round to the next")
    last_radius: float = constant(0.004, "box", "below it the next round begins with the first radius again")

    # components
    widest: float = constant(
        0.1, "box", "standard deviation at a start, and longest hop: wider ones see no single hill"
    )
    apart: float = constant(
        0.5, "distance", "a component narrower than this share of a distance is apart from what is there"
    )
    first_step: float = constant(0.02, "box", "of a hop or ray, until its place has taught a better one")
    stop_share: float = constant(0.6, "radius", "components from far away are stopped this close to a mode")
    look_every: int = constant(
        5, "generations", "between two looks at a component: is it on a known hill, is it hopeless?"
    )
    cut: float = constant(10.0, "last gain", "a component with a larger gap to the best is given up")
    hop_cut: float = constant(2.0, "last gain", "the same for hops, which are many, against where they hopped from")
    converged: float = constant(
        1e-8, "scale", "range of the last generations' best values; its root is an accuracy of places"
    )
    most_checks: int = constant(5, "verdicts", "that a component is no optimum yet, before it is given up")
    widen: float = constant(3.0, "deviation", "of a component after such a verdict")

    # hops among local optima
    funnel: float = constant(0.05, "box", "within it only the best local optimum is hopped from")
    hop_growth: float = constant(1.5, "step", "when a hop came back; its fourth root is the way down when it did not")
    hop_nothing: float = constant(0.02, "step or gap", "a hop that moved or gained less has brought nothing")
    hop_spread: float = constant(0.3, "step", "deviation of a hopping component")
    hop_doubt: int = constant(4, "failures", "that a hop into a known mode counts for, or one that cannot get away")
    impatience: float = constant(1.1, "gap", "a failure makes the gap to the best count for this much more")

    # rays from modes, and mixes of them
    ray_stretch: float = constant(1.35, "length", "of a ray from one point to the next: hills are not stepped over")
    ray_learnt: float = constant(0.3, "length", "at which the last ray rose again, where the next one begins")
    probe_spread: float = constant(
        0.2, "distance", "to the mode (root mean square), deviation of a component that starts there"
    )


TUNING = Tuning()
