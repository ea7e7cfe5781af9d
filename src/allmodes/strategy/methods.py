"""The ways of searching by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.strategy.auto import Auto
from allmodes.strategy.launches import Launches
from allmodes.strategy.noisy import Noisy
from allmodes.strategy.polished import Polished
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.single import Single
from allmodes.strategy.starts import GIVEN, Start
from allmodes.strategy.strategy import Strategy

_NEARBY = 0.05  # first radius of launches from the user's points: they are meant to stay in their basins
NOISY_METHODS = ("auto", "black-box")
METHODS = ("auto", "launch", "black-box", "anneal", "multistart")


def make_strategy(
    search: Search,
    method: str | Algorithm,
    starts: NDArray[np.float64],
    options: dict[str, Any],
    polish: bool,
    persistence: int = 0,
    is_exhaustive: bool = False,
) -> Strategy:
    """The strategy of a method, with points (n, d) to begin at.

    It goes on for so many evaluations after the last new mode, at least (`persistence`).
    """
    if search.box.d == 0:
        return Single(search)
    if search.noise != 0.0 and method not in NOISY_METHODS:
        name, allowed = getattr(method, "name", method), " or ".join(f'"{each}"' for each in NOISY_METHODS)
        raise ValueError(
            f'noise is set and method is "{name}", which compares single values and would find nothing; wanted method '
            f"{allowed} for a noisy function, or noise left out."
        )
    if isinstance(method, Algorithm) or method == "anneal":
        return Polished.make(search, method if isinstance(method, Algorithm) else None, starts, polish)
    if search.noise != 0.0:
        return Noisy(search)
    if method == "black-box" and not polish:
        return Population(search)
    given = [Start(point, _NEARBY, GIVEN) for point in starts]
    launches = Launches(search, given, is_plain=method == "multistart")
    if "width" in options:
        launches.width = (options["width"], max(options["width"], launches.width[1]))
        launches.overlap = "lanes"  # who wants many launches at once has slow functions and workers
    launches.persistence = persistence
    if options.get("order") == "completion":
        launches.overlap = "each"
    if "patience" in options:
        launches.patience = options["patience"]
    if method == "black-box":
        launches.is_passive = True
        return Auto(search, launches, is_exhaustive, is_black_box=True)
    return Auto(search, launches, is_exhaustive) if method == "auto" else launches
