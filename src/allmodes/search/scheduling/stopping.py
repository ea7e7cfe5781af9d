"""When local searches are enough: the one rule for all searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allmodes.modes.missing import Missing
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.tuning import TUNING
from allmodes.search.searchers.multistart import Counts
from allmodes.search.wanted import is_wanted
from allmodes.storage import stored


@stored
@dataclass
class Stopping:
    """Local searches end when hardly any new mode is expected of the evaluations ahead.

    Attributes:
        patience: searches without a new mode, at least; as many are made before anything is judged.
        persistence: evaluations without a new mode, at least.
        effort: evaluations ahead, in multiples of those made; never more than the budget has left.
        judged: searches and modes when it was judged last.
        expected: new modes from the evaluations that were ahead then.
        waits: whether it only waits for local searches that take long, so that no others are to begin.
    """

    patience: int = 0
    persistence: int = 0
    effort: float = 1.0
    judged: tuple[int, int] = (0, -1)
    expected: float = np.inf
    waits: bool = False

    @property
    def least(self) -> int:
        """Searches that are made before anything is judged."""
        return self.patience or TUNING.least_searches

    def ending(self, context: Context, counts: Counts, running: list[int]) -> str:
        """Why local searches are enough, in words; empty while they are not. `running`: numbers of the others."""
        self.waits = False
        if not len(context.archive) and counts.searches >= TUNING.few and 2 * counts.runaways > counts.searches:
            return f"{counts.runaways} of {counts.searches} local searches ran away without end"
        if context.nfev - counts.last_new < self.persistence:
            return ""
        return _best_found(counts) if context.is_global else self._all_found(context, counts, running)

    def _all_found(self, context: Context, counts: Counts, running: list[int]) -> str:
        if counts.searches < self.least or counts.since_new < self.patience:
            return ""
        records = context.archive.records
        last = max((records[j].found_at for j in np.flatnonzero(is_wanted(context))), default=0)
        if records and context.nfev - last < self.persistence:  # other members find some
            return ""
        ahead = int(min(context.left, self.effort * context.nfev))
        if self._expected(context, counts, ahead) >= TUNING.few_modes:
            return ""
        # of many that began together the quick ones say little about the others; so do those that overtook one, as
        # many as are in flight and again as many: what takes long may be where no other search has been
        self.waits = min(running, default=np.inf) <= max(counts.awaited, counts.searches - 2 * len(running))
        if self.waits:
            return ""
        return f"hardly any new mode is expected of {ahead} more evaluations ({self.expected:.1g})"

    def _expected(self, context: Context, counts: Counts, ahead: int) -> float:
        """New modes from the evaluations ahead; as it was judged last, unless much has happened since."""
        modes, fresh = len(context.archive), counts.fresh
        if counts.searches > TUNING.judged_again * self.judged[0] or modes != self.judged[1]:
            self.judged = counts.searches, modes
            self.expected = expected_of(context, fresh, ahead) if fresh.searches else np.inf  # nothing is known
        return self.expected


def expected_of(context: Context, fresh: Fresh, ahead: int) -> float:
    """New modes that so many evaluations more would find, where some local searches ended in modes."""
    times = ahead / fresh.cost(context.nfev) / max(1, fresh.ended)
    own = context.archive.own
    share = (1.0 + is_wanted(context)[own].sum()) / (1.0 + len(own))  # new modes are wanted as often as known
    return float(share * Missing(fresh.of(len(context.archive))[own]).expected(times))


def _best_found(counts: Counts) -> str:
    return f"{counts.barren} screenings in a row found no new mode" if counts.barren > TUNING.barren else ""
