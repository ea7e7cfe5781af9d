"""How a search that is under way stands, for those who watch it."""

from __future__ import annotations

from typing import NamedTuple

from allmodes.finder import ModeFinder
from allmodes.strategy.annealed import Annealed
from allmodes.strategy.auto import Auto
from allmodes.strategy.polished import Polished
from allmodes.strategy.strategy import Strategy
from allmodes.strategy.temperature import temperature


class Progress(NamedTuple):
    """What may be shown while a search goes on; values are in the user's sign.

    Attributes:
        nfev, maxfev: evaluations made and allowed.
        seconds: since the search began, over all its parts.
        modes: found so far.
        best: value, NaN or infinite while there is none.
        temperature: of the annealing under way, in units of the function; None where nothing is annealed.
    """

    nfev: int
    maxfev: int
    seconds: float
    modes: int
    best: float
    temperature: float | None


def progress_of(finder: ModeFinder) -> Progress:
    """How the search of a ModeFinder stands. It costs next to nothing: results are not built for it."""
    state = finder._state
    annealed = _annealed(state.strategy)
    omega = None
    if annealed is not None and annealed.mixture is not None:
        share = temperature(annealed.step, annealed.last_step, annealed.end) if annealed.running.is_annealed else 1.0
        omega = share * annealed.spread.scale / (state.frame.factor or 1.0)
    best = state.frame.value(state.search.best_value)
    return Progress(finder.nfev, state.settings.maxfev, finder.elapsed, finder.modes_found, best, omega)


def _annealed(strategy: Strategy) -> Annealed | None:
    """The annealing in a strategy, if there is one."""
    if isinstance(strategy, Auto):
        found = (_annealed(member.strategy) for member in strategy.members)
        return next((annealed for annealed in found if annealed is not None), None)
    if isinstance(strategy, Polished):
        return strategy.annealed
    return strategy if isinstance(strategy, Annealed) else None
