"""How a search that is under way stands, for those who watch it."""

from __future__ import annotations

from typing import NamedTuple

from allmodes.driver import Driver
from allmodes.modes.coverage import estimate
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


def progress_of(driver: Driver) -> Progress:
    """How a search stands. It costs next to nothing: results are not built for it."""
    state = driver.state
    annealed = _annealed(state.strategy)
    omega = None
    if annealed is not None and annealed.mixture is not None:
        share = temperature(annealed.step, annealed.last_step, annealed.end) if annealed.running.is_annealed else 1.0
        omega = share * annealed.spread.scale / (state.frame.factor or 1.0)
    best = state.frame.value(state.search.best_value)
    return Progress(driver.nfev, state.settings.maxfev, driver.elapsed, driver.modes_found, best, omega)


def progress_text(driver: Driver, elapsed: float) -> str:
    """How a search stands after so many seconds, in one line for a terminal."""
    state, search = driver.state, driver.state.search
    maxfev, maxtime = state.settings.maxfev, state.settings.maxtime
    left = elapsed * (maxfev / max(search.nfev, 1) - 1.0)
    if maxtime is not None:
        left = min(left, maxtime - elapsed)
    missing = estimate(search.archive.even_hits, state.strategy.lost_launches).missing
    best = state.frame.value(search.best_value)
    return (
        f"{search.nfev}/{maxfev} evaluations  {driver.modes_found} modes  best {best:.5g}  "
        f"new next: {100 * missing:.0f} %  < {left:.0f} s left"
    )


def _annealed(strategy: Strategy) -> Annealed | None:
    """The annealing in a strategy, if there is one."""
    if isinstance(strategy, Auto):
        found = (_annealed(member.strategy) for member in strategy.members)
        return next((annealed for annealed in found if annealed is not None), None)
    if isinstance(strategy, Polished):
        return strategy.annealed
    return strategy if isinstance(strategy, Annealed) else None
