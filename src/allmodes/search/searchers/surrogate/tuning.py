"""Constants of searches with few evaluations."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`."""

    # the model
    usual_length: float = constant(0.4, "box", "over which functions change, for the root of d: a guess before data")
    unsure: float = constant(1.0, "e-folds", "by which that guess may be wrong")
    finest: float = constant(1e-10, "share", "of the variance that counts as rounding, at least: it keeps factors")
    roughest: float = constant(
        0.1, "share", "of the variance that ripples may have; of a noisy function, noise may have all"
    )
    relearnt: float = constant(1.1, "ratio", "of points at which lengths are learnt again: that is what takes time")
    most: int = constant(1000, "points", "that a model takes: its cost grows with their cube")

    # where to look
    design: int = constant(4, "points", "for each coordinate and one more, before the first model")
    width: int = constant(4, "points", "in a round: enough for workers, few enough to learn from each")
    waves: int = constant(256, "waves", "that a random function is made of")
    starts: int = constant(8, "starts", "for each coordinate and one more, of a search of the model")
    apart: float = constant(0.02, "box", "from all points, of an optimum that is worth a look though nothing is there")
    remembered: int = constant(16, "functions", "whose optima are counted, to say how many may be missing")
    exploited: float = constant(0.5, "share", "of a round that goes to optima of the model; the rest looks for others")

    # what counts
    located: float = constant(1e-3, "box", "from an optimum of the model to a value: close enough to go on elsewhere")
    kept: float = constant(0.2, "share", "of the budget that may go to verifying what was located")
    shortest: float = constant(0.01, "box", "step of a verification, at least; and twice as much at most")
    drop: float = constant(0.02, "share", "of the deviation of values, by which they should fall over such a step")
    above: float = constant(4.0, "deviations", "of the noise, by which values of a noisy function should fall")
    longest: float = constant(0.1, "box", "step of a verification of a noisy function, at most")
    alike: float = constant(2.0, "ratio", "of the fall that is seen to the one that the model expects, either way")
    barren: int = constant(20, "points", "for each coordinate and one more, that bring no new mode: the search ends")


TUNING = Tuning()
