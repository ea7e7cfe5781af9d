"""What becomes of trust-region searches that cannot go on, whichever models they have."""

from __future__ import annotations

import numpy as np

from allmodes.search.context import Context
from allmodes.search.events import Failed, RanAway, Stuck
from allmodes.search.searchers.local import convergence
from allmodes.search.searchers.local.limited_table import LimitedTable
from allmodes.search.searchers.local.table import Ends, Mask, Rows, TrustRegionTable
from allmodes.search.searchers.local.tuning import TUNING


def patience(d: int) -> int:
    """The steps after which a search is on something that has no optimum."""
    return TUNING.patience + TUNING.patience_per_dimension * d


def ends_of(context: Context, table: TrustRegionTable | LimitedTable, rows: Rows, has_no_model: Mask) -> Ends:
    """How searches end; None for those that go on over a kink. (n,) says whose models are not finite."""
    ends = Ends()
    for k, is_broken in zip(rows.tolist(), has_no_model.tolist(), strict=True):
        if _is_at_kink(context, table, k, is_broken):
            ends[k] = None
        elif not np.abs(table.trial[k]).max() < TUNING.farthest:
            ends[k] = RanAway(table.origin(k))
        elif table.iterations[k] or table.has_met_kink[k]:
            is_tired = bool(table.iterations[k] > patience(table.d))
            ends[k] = Stuck(table.origin(k), table.point[k].copy(), float(table.value[k]), is_tired)
        else:
            ends[k] = Failed(table.origin(k))
    return ends


def _is_at_kink(context: Context, table: TrustRegionTable | LimitedTable, k: int, is_broken: bool) -> bool:
    """Whether a lost search has something to go on with: a slope, where models do not hold."""
    if table.has_met_kink[k] or not table.iterations[k] or not np.isfinite(table.value[k]):
        return False
    is_rough = table.refusals[k] >= TUNING.refused_share * table.iterations[k]
    slope = convergence.free_slope(context, table.point[k], table.gradient[k])
    return bool(convergence.no_slope(context) < slope < np.inf and (is_rough or is_broken))
