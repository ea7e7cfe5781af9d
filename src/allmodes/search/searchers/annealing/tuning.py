"""The constants of annealing."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """What the paper leaves to the user's hand, and when runs begin and end."""

    first_components: int = constant(4, "components", "of the first run; twice as many where values alone are known")
    most_components: int = constant(64, "components", "more would not fit the budgets that runs are made for")
    steps: int = constant(20, "steps", "of a run: enough for a component to settle at each temperature")
    first_spread: float = constant(0.3, "box", "standard deviation of a lone component at first: it sees the whole box")
    gain: float = constant(0.4, "share", "by which one step may change a component; more leaves what the model knows")
    penalty: float = constant(20.0, "scales", "lost at a distance of one box outside: steeper than most functions")
    end_width: float = constant(0.02, "box", "standard deviation of a settled component at the end: inside one basin")
    coldest_end: float = constant(1e-4, "scale", "of the end temperature; colder ones take steps that gain nothing")
    warmest_end: float = constant(1e-2, "scale", "of the end temperature; at warmer ones components are not settled")
    run_share: float = constant(0.8, "left budget", "for one run at most; the rest is for polishing its ends")
    sample: int = constant(8, "points", "space-filling, for each dimension and two more, which show level and scale")
    failed_rounds: int = constant(4, "rounds", "of space-filling points without a value before the search gives up")
    draws: int = constant(4, "points", "drawn for every start, of which those far from modes are taken")
    frozen_weight: float = constant(20.0, "components", "live ones that an archived mode counts as when it repels them")
    shared: float = constant(2.0, "deviations", "between means of components that are taken to share a basin")
    rare: float = constant(0.025, "chance", "that a component ends in a new mode, at which annealing ends")
    rugged: float = constant(0.9, "share", "of ends in modes of their own from which on a landscape is called rugged")
    polish_radius: float = constant(0.03, "box", "first step of the local search from an end: about the end's width")


TUNING = Tuning()
