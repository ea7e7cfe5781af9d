"""The state of a running search, for those who watch it."""

from __future__ import annotations

from typing import NamedTuple

from allmodes.driver import Driver
from allmodes.modes.coverage import estimate


class Progress(NamedTuple):
    """What may be shown while a search goes on; values are in the user's sign.

    Attributes:
        nfev, maxfev: evaluations made and allowed.
        seconds: since the search began, over all its parts.
        modes: found so far.
        best: best value, NaN or infinite while there is none.
        temperature: of the annealing that is running, in units of the function; None where nothing is annealed.
    """

    nfev: int
    maxfev: int
    seconds: float
    modes: int
    best: float
    temperature: float | None


def progress_of(driver: Driver) -> Progress:
    """The state of a search. It costs next to nothing: no result is built for it."""
    state = driver.state
    inside = state.search.temperature
    omega = None if inside is None else inside / (state.frame.factor or 1.0)
    best = state.frame.value(state.context.best_value)
    return Progress(driver.nfev, state.settings.maxfev, driver.elapsed, driver.modes_found, best, omega)


def progress_text(driver: Driver, elapsed: float) -> str:
    """The state of a search after this many seconds, as one line for a terminal."""
    state, context = driver.state, driver.state.context
    maxfev, maxtime = state.settings.maxfev, state.settings.maxtime
    left = elapsed * (maxfev / max(driver.nfev, 1) - 1.0)
    if maxtime is not None:
        left = min(left, maxtime - elapsed)
    fresh = state.search.fresh
    missing = estimate(fresh.of(len(context.archive))[context.archive.own], lost=fresh.lost).share
    best = state.frame.value(context.best_value)
    return (
        f"{driver.nfev}/{maxfev} evaluations  {driver.modes_found} modes  best {best:.5g}  "
        f"new next: {100 * missing:.0f} %  < {left:.0f} s left"
    )
