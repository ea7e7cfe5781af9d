"""Constants of searches over whole numbers and choices."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    width: int = constant(16, "walks", "in flight at once: enough for workers, few enough to learn from each other")
    width_mixed: int = constant(4, "walks", "in flight beside real coordinates: each is long, and asks for many points")
    share_looked: float = constant(0.25, "neighbours", "looked at before a walk goes on to the best of them")
    most_level: int = constant(200, "points", "of equal value that are followed; a larger plateau is not verified")
    kicked: float = constant(0.5, "share", "of walks that begin beside a known mode, where only the best count")
    kicked_all: float = constant(0.25, "share", "of walks that begin beside a known mode, where all modes count")
    kick: float = constant(0.15, "coordinates", "that are changed to leave a mode, at least two")
    least_walks: int = constant(100, "walks", "from random points: fewer say too little about how unequal basins are")
    barren: int = constant(100, "walks", "in a row that find nothing better, before a search for the best ends")
    small: int = constant(2**16, "points", "of a space that is evaluated as a whole, where no budget is given: 16 bits")
    largest: int = constant(2_000_000, "points", "of a space that is evaluated as a whole, of any budget: 16 MB")
    together: int = constant(1024, "points", "in a round where the rest of a space is evaluated")

    often: int = constant(3, "walks", "from random points to the best mode, which is then easily found, not by luck")
    longer: float = constant(4.0, "walks", "for each that it took to find a best mode that few others led to")

    # annealing, of bits
    first_run: int = constant(5120, "evaluations", "of the first run, where no budget is given; later ones are longer")
    drawn: int = constant(16, "points", "in a step: the paper's number for ranks")
    way: float = constant(16.0, "rate", "times the steps of a run: enough to settle every bit")
    warmth: float = constant(0.001, "scale", "first temperature, which leaves bits open that values do not decide")

    # real coordinates
    difference: float = constant(1e-4, "box", "step of central differences: balances rounding and third derivatives")
    bend: float = constant(1e-3, "box", "step of second differences, at a mode")
    first_step: float = constant(0.1, "box", "length of the first step at most")
    longest: float = constant(0.3, "box", "length of any step at most")
    rough: float = constant(1e-3, "box", "accuracy of real coordinates on the way: levels will still change")
    poll: float = constant(1e-2, "box", "first step of a poll, where differences lead nowhere: at kinks")
    most_steps: int = constant(200, "steps", "of a local search of real coordinates, for each of them")
    hopeless: float = constant(10.0, "ratio", "what is missing over what a step promises, to give a choice up")
    least_steps: int = constant(3, "steps", "before a choice is given up")


TUNING = Tuning()
