"""The table of running searches for roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from allmodes.search.searchers.local.table import Array, Counts, Mask, Table, column
from allmodes.storage import stored


@stored(formerly=("search.searchers.roots.newton.RootTable",))
@dataclass(eq=False)
class RootTable(Table):
    """Searches for roots; `gradient` is F.

    Attributes:
        jacobian: at the point if `is_exact`, otherwise updated since.
        radius: of the trust region.
        mark: the norm of F so many steps ago; `marked`, the steps taken since.
        iterations: trial points so far.
        refusals, barren: trial points in a row that were no better, and that gained nothing to speak of.
        renewals: Jacobians since the norm last fell by much.
    """

    jacobian: Array = column(2)
    radius: Array = column()
    mark: Array = column()
    marked: Counts = column(dtype=np.int64)
    iterations: Counts = column(dtype=np.int64)
    refusals: Counts = column(dtype=np.int64)
    barren: Counts = column(dtype=np.int64)
    renewals: Counts = column(dtype=np.int64)
    is_exact: Mask = column(dtype=np.bool_)
