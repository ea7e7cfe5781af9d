"""The state of a running search, for those who watch it."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from allmodes.driver import Driver
from allmodes.search.scheduling.stopping import expected_of
from allmodes.search.scheduling.tuning import TUNING
from allmodes.terminal import Shown, clock

_JUDGED_EVERY = 0.5  # seconds: what is expected changes slowly, and takes a millisecond


class Progress(NamedTuple):
    """What may be shown while a search goes on; values are in the user's sign.

    Attributes:
        nfev, maxfev: evaluations made and allowed.
        seconds: since the search began, over all its parts.
        modes: found so far.
        best: best value, NaN or infinite while there is none.
        temperature: of the annealing that is running, in units of the function; None where nothing is annealed.
        expected: how many new modes are expected of the evaluations ahead: as many again, or all that are left of a
            maxfev. NaN while that is not judged.
        searches: local searches that have ended, and `least`, how many there are before a search for all modes ends by
            what is expected; 0 where that does not end it.
        ends: what ends the search, in words, whichever comes first.
        share: how much of what is allowed by maxfev, maxtime, maxiter or n_modes is used up, 0 to 1; None where the
            user set no limit.
    """

    nfev: int
    maxfev: int
    seconds: float
    modes: int
    best: float
    temperature: float | None
    expected: float = math.nan
    searches: int = 0
    least: int = 0
    ends: str = ""
    share: float | None = None


class Outlook:
    """How a search stands, and what may still come of it. It costs next to nothing: no result is built for it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.ends = _ends(driver)
        self.expected = math.nan
        self.judged = -math.inf

    def progress(self) -> Progress:
        """The state of the search now."""
        driver, state = self.driver, self.driver.state
        if time.monotonic() - self.judged >= _JUDGED_EVERY:
            self.expected, self.judged = _expected(driver), time.monotonic()
        inside = state.search.temperature
        omega = None if inside is None else inside / (state.frame.factor or 1.0)
        best = state.frame.value(state.context.best_value)
        return Progress(
            driver.nfev, state.settings.maxfev, driver.elapsed, driver.modes_found, best, omega, self.expected,
            *_searched(driver), self.ends, _share(driver),
        )  # fmt: skip

    def shown(self, width: int) -> Shown:
        """The same as a line of a terminal or a notebook."""
        progress = self.progress()
        return Shown(line(progress, width), progress.share)


def progress_of(driver: Driver) -> Progress:
    """The state of a search."""
    return Outlook(driver).progress()


def _expected(driver: Driver) -> float:
    """New modes from the evaluations ahead, by the rule that ends a search for all modes."""
    state, context = driver.state, driver.state.context
    fresh = state.search.fresh
    if context.is_global or not fresh.searches or not fresh.ended:
        return math.nan
    settings = state.settings
    is_given = settings.maxfev_given is not None and settings.effort is None
    ahead = context.left if is_given else int(min(context.left, (settings.effort or 1.0) * context.nfev))
    return expected_of(context, fresh, ahead)


def _searched(driver: Driver) -> tuple[int, int]:
    """Local searches that have ended, and how many are made before it is judged whether they are enough."""
    searches, least = driver.state.search.searched
    return searches, 0 if driver.state.context.is_global else least


def _ends(driver: Driver) -> str:
    """What ends a search, in words."""
    settings = driver.state.settings
    limits = {
        "maxfev": None if settings.maxfev_given is None else f"{settings.maxfev:,} evaluations",
        "maxtime": None if settings.maxtime is None else f"{settings.maxtime:g} s",
        "maxiter": None if settings.maxiter is None else f"{settings.maxiter} rounds",
        "n_modes": None if settings.n_modes is None else f"{settings.n_modes} modes",
    }
    said = [text for text in limits.values() if text]
    if least := _searched(driver)[1]:
        said.insert(0, f"{TUNING.few_modes:g} expected after {least} searches")
    return " or ".join(said or [f"at most {settings.maxfev:,} evaluations"])


def _share(driver: Driver) -> float | None:
    settings = driver.state.settings
    shares = [
        made / allowed
        for made, allowed in (
            (driver.nfev, settings.maxfev_given), (driver.elapsed, settings.maxtime),
            (driver.state.nit, settings.maxiter), (driver.modes_found, settings.n_modes),
        )
        if allowed is not None
    ]  # fmt: skip
    return min(1.0, max(shares)) if shares else None


def line(progress: Progress, width: int | None = None) -> str:
    """Evaluations, modes, how many more are expected, best value, time, what ends it; as much as fits.

    >>> line(Progress(820, 30000, 75.2, 4, -1.25, None, 0.32, 76, 100, "0.1 expected after 100 searches"))
    '820 evaluations  4 modes + 0.32 expected  best -1.25  1:15  search 76/100  ends at 0.1 expected after 100 searches'
    """
    modes = "1 mode" if progress.modes == 1 else f"{progress.modes} modes"
    expected = "" if math.isnan(progress.expected) else f" + {progress.expected:.2g} expected"
    parts = [f"{progress.nfev} evaluations", f"{modes}{expected}"]
    if math.isfinite(progress.best):
        parts.append(f"best {progress.best:.4g}")
    parts.append(clock(progress.seconds))
    if progress.temperature is not None:
        parts.append(f"temperature {progress.temperature:.3g}")
    if progress.searches < progress.least:
        parts.append(f"search {progress.searches}/{progress.least}")
    if progress.ends:
        parts.append(f"ends at {progress.ends}")
    while width is not None and len(parts) > 1 and len("  ".join(parts)) > width:
        parts.pop()
    return "  ".join(parts)
