"""The constants of annealing."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """What the paper leaves to the user, and when runs begin and end."""

    first_components: int = constant(4, "components", "of the first run; twice as many where values alone are used")
    steps: int = constant(20, "steps", "of a run: enough for a component to settle at each temperature")
    first_spread: float = constant(0.3, "box", "initial deviation of a single component: it sees the whole box")
    end: float = constant(3e-3, "scale", "last temperature: colder steps gain nothing, at warmer ones nothing settles")
    gain: float = constant(0.4, "share", "by which one step may change a component; more leaves what the model knows")
    penalty: float = constant(20.0, "scales", "lost at a distance of one box outside: steeper than most functions")
    frozen_weight: float = constant(20.0, "components", "live ones that an archived mode counts as when it repels them")
    shared: float = constant(2.0, "deviations", "between means of components that are taken to share a basin")
    run_share: float = constant(0.8, "left budget", "for one run at most; the rest is for polishing its ends")
    sample: int = constant(
        4, "points", "space-filling, for every start; at first twice that for each dimension and two"
    )
    rare: float = constant(0.025, "chance", "of a new mode by one more component, at which annealing ends")


TUNING = Tuning()
