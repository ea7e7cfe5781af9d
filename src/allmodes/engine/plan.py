"""Everything about a run that is known before it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.annealing.algorithm import Algorithm
from allmodes.engine.step import Settings
from allmodes.mixture.families.family import Rates
from allmodes.objective import Evaluation, Objective

# Numbers a trace may hold before it is thinned (64 MB).
_TRACE_LIMIT = 2**23

Evaluate = Callable[[NDArray[np.float64]], Evaluation]


@dataclass(frozen=True)
class Plan:
    """The algorithm, the objective, and the numbers of every step.

    Args:
        temperatures, learning_rates, num_samples: one entry per step.
        tolerance: stop when the means move less than this in one step, summed over components; 0 never does.
        is_cut_short: whether the evaluation budget ends the run before its last step.
        trace_every: keep every so many steps in the trace.
    """

    algorithm: Algorithm
    objective: Objective
    log_prior: Objective | None
    temperatures: NDArray[np.float64]
    learning_rates: NDArray[np.float64]
    num_samples: NDArray[np.int64]
    tolerance: float
    is_cut_short: bool
    trace_every: int
    K: int
    d: int

    @property
    def steps(self) -> int:
        return len(self.temperatures)

    def evaluations(self, steps: int) -> int:
        """Evaluations made in the first so many steps."""
        proposal = self.algorithm.proposal
        return sum(proposal.num_points(self.K, int(B)) for B in self.num_samples[:steps])

    def settings(self, start: int, stop: int) -> Settings:
        """The numbers of steps start ... stop - 1 (counted from 0), as arrays."""
        t = np.arange(start, stop) + 1
        updates_spread = t > self.algorithm.burn_in
        rho = self.learning_rates[start:stop]
        damping = self.algorithm.damping * updates_spread if self.algorithm.damping else None
        return Settings(self.temperatures[start:stop], Rates(rho, rho * updates_spread, damping))

    def each_settings(self) -> Iterator[Settings]:
        """The numbers of every step, one after the other."""
        omega, (mean, covariance, damping) = self.settings(0, self.steps)
        damping = [None] * self.steps if damping is None else damping.tolist()
        for row in zip(omega.tolist(), mean.tolist(), covariance.tolist(), damping, strict=True):
            yield Settings(row[0], Rates(*row[1:]))

    def is_traced(self, step: int) -> bool:
        """Whether the trace keeps the mixture after this many steps."""
        return step % self.trace_every == 0


def steps_within(max_evaluations: int | None, points_per_step: NDArray[np.int64]) -> int:
    """How many steps fit the evaluation budget."""
    if max_evaluations is None:
        return len(points_per_step)
    return int(np.searchsorted(np.cumsum(points_per_step), max_evaluations, side="right"))


def default_trace_every(steps: int, K: int, d: int, replicates: int) -> int:
    """Every step, or as many as fit the memory set aside for a trace."""
    return max(1, -(-steps * K * (d + 2) * replicates // _TRACE_LIMIT))
