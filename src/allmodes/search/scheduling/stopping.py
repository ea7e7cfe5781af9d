"""When local searches are enough: the only such rule there is."""

from __future__ import annotations

from dataclasses import dataclass, field

from allmodes.search.context import Context
from allmodes.search.scheduling.tuning import TUNING
from allmodes.search.searchers.multistart import Counts
from allmodes.storage import stored


@stored
@dataclass
class Stopping:
    """Local searches end when many in a row found no new mode, and hardly any mode was found only once.

    Attributes:
        patience: searches without a new mode, at least.
        persistence: evaluations without a new mode, at least.
    """

    patience: int = field(default_factory=lambda: TUNING.patience)
    persistence: int = 0

    def ending(self, context: Context, counts: Counts, running: list[int]) -> str:
        """Why local searches are enough, in words; empty while they are not. Those `running` are given by number."""
        if not len(context.archive) and counts.searches >= TUNING.few and 2 * counts.runaways > counts.searches:
            return f"{counts.runaways} of {counts.searches} local searches ran away without end"
        if context.nfev - counts.last_new < self.persistence:
            return ""
        return _best_found(counts) if context.is_global else self._all_found(context, counts, running)

    def _all_found(self, context: Context, counts: Counts, running: list[int]) -> str:
        hits = context.archive.hits
        if counts.searches < self.patience or (hits == 1).sum() >= TUNING.rare * counts.searches:
            return ""
        if counts.since_new < max(self.patience, TUNING.patience_per_mode * len(hits)):
            return ""
        if min(running, default=counts.awaited + 1) <= counts.awaited:
            return ""  # of many that began together the quick ones say little about the others
        return f"the last {counts.since_new} of {counts.searches} local searches found no new mode"


def _best_found(counts: Counts) -> str:
    return f"{counts.barren} screenings in a row found no new mode" if counts.barren > TUNING.barren else ""
