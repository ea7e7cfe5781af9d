"""All optima of a model, found as those of any function are."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import GIVEN, Start
from allmodes.search.context import Context
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.verify.verifier import Verifier

Array = NDArray[np.float64]

_MOST = 60  # evaluations of the model for each start: local searches with Hessians need fewer


class Smooth(Protocol):
    """A function whose derivatives are known."""

    def expected(self, x: Array) -> tuple[Array, Array, Array]:
        """Values (N,) at points (N, d), gradients and Hessians."""
        ...


class Optima(NamedTuple):
    """Optima of a model.

    Args:
        points, values: (m, d) and (m,).
        gradients, hessians: (m, d), not zero at bounds, and (m, d, d).
        active: (m, d), which coordinates bounds hold.
    """

    points: Array
    values: Array
    gradients: Array
    hessians: Array
    active: NDArray[np.bool_]

    def of(self, chosen: NDArray[np.bool_]) -> Optima:
        """Some of them."""
        places = self.points[chosen], self.values[chosen]
        return Optima(*places, self.gradients[chosen], self.hessians[chosen], self.active[chosen])


def optima_of(function: Smooth, box: Box, starts: Array, rng: np.random.Generator) -> Optima:
    """The optima that local searches from starts (n, d) lead to."""
    n, d = starts.shape
    context = Context(box, Archive(box), rng, order=2, maxfev=_MOST * n)
    multistart = Multistart(context, [Start(start, GIVEN) for start in starts], is_passive=True, width=(n, n))
    search = Scheduler(context, multistart, LocalSearch(context), Verifier(context), Turns(context, multistart, ()))
    context.observe_level(function.expected(starts)[0])
    while not search.ending and context.left > 0:
        request = search.ask()
        if not len(request.points):
            break
        told = Evaluation(*function.expected(request.points))
        context.observe(request.points, np.asarray(told.value), len(request.points))
        search.tell(told, request.ticket)
    records = context.archive.records
    return Optima(
        context.archive.means.copy(),
        context.archive.values.copy(),
        np.array([record.gradient for record in records]).reshape(-1, d),
        np.array([record.hessian for record in records]).reshape(-1, d, d),
        np.array([record.active for record in records], np.bool_).reshape(-1, d),
    )
