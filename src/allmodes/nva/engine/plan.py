"""Everything about a run that is known before it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number, whole_number
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.schedules import Constant, as_schedule, tabulate
from allmodes.nva.engine.step import Settings
from allmodes.nva.mixture.families.family import Rates
from allmodes.objective import Evaluation, Objective

# Numbers a trace may hold before it is thinned (64 MB).
_TRACE_LIMIT = 2**23

Evaluate = Callable[[NDArray[np.float64]], Evaluation]


@dataclass(frozen=True)
class Plan:
    """The algorithm, the objective, and the numbers of every step.

    Args:
        first_step: the t of the first step, 1 unless the run goes on from another.
        temperatures, learning_rates, num_samples: one entry per step.
        tolerance: stop when the means move less than this in one step, summed over components; 0 never does.
        is_cut_short: whether the evaluation budget ends the run before its last step.
        trace_every: keep every so many steps in the trace.
    """

    algorithm: Algorithm
    objective: Objective
    log_prior: Objective | None
    first_step: int
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
        t = self.first_step + np.arange(start, stop)
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


def _steps_within(max_evaluations: int | None, points_per_step: NDArray[np.int64]) -> int:
    """How many steps fit the evaluation budget."""
    if max_evaluations is None:
        return len(points_per_step)
    return int(np.searchsorted(np.cumsum(points_per_step), max_evaluations, side="right"))


def _default_trace_every(steps: int, K: int, d: int, replicates: int) -> int:
    """Every step, or as many as fit the memory set aside for a trace."""
    return max(1, -(-steps * K * (d + 2) * replicates // _TRACE_LIMIT))


def make_plan(
    algorithm: Algorithm,
    objective: Objective,
    K: int,
    d: int,
    *,
    temperature: Any,
    learning_rate: Any,
    steps: int,
    log_prior: Objective | None = None,
    num_samples: Any = None,
    first_step: int = 1,
    tolerance: float = 0.0,
    max_evaluations: int | None = None,
    trace_every: int | None = None,
    replicates: int = 1,
) -> Plan:
    """A plan from what the caller of `anneal` said, checked."""
    steps = whole_number("steps", steps, 0)
    first = whole_number("first_step", first_step, 1)
    number("tolerance", tolerance, at_least=0.0)
    cooling = as_schedule("temperature", temperature)
    temperatures = tabulate("temperature", cooling, steps, first)
    if not algorithm.is_annealed and steps and np.ptp(temperatures) > 0:
        raise ValueError(
            f"temperature is {cooling!r}; {algorithm.name} keeps one temperature. Pass a number, or use nva_m()."
        )
    rates = tabulate("learning_rate", as_schedule("learning_rate", learning_rate).given(cooling), steps, first)
    sizes = _batch_sizes(algorithm, num_samples, steps, first)
    if max_evaluations is not None:
        whole_number("max_evaluations", max_evaluations, 0)
    points = np.array([algorithm.proposal.num_points(K, int(B)) for B in sizes], dtype=np.int64)
    within = _steps_within(max_evaluations, points)
    every = _default_trace_every(within, K, d, replicates) if trace_every is None else trace_every
    return Plan(
        algorithm=algorithm,
        objective=objective,
        log_prior=log_prior,
        first_step=first,
        temperatures=temperatures[:within],
        learning_rates=rates[:within],
        num_samples=sizes[:within],
        tolerance=float(tolerance) if tolerance else -1.0,  # no displacement is below it
        is_cut_short=within < steps,
        trace_every=whole_number("trace_every", every, 1),
        K=K,
        d=d,
    )


def _batch_sizes(algorithm: Algorithm, given: Any, steps: int, first: int) -> NDArray[np.int64]:
    """B for every step. A number must be whole; the values of a schedule are rounded."""
    schedule = as_schedule("num_samples", algorithm.num_samples if given is None else given)
    values = tabulate("num_samples", schedule, steps, first)
    if isinstance(schedule, Constant) and schedule.value != int(schedule.value):
        raise ValueError(f"num_samples is {schedule.value}; a whole number, or a schedule (rounded), was wanted.")
    sizes = np.rint(values).astype(np.int64)
    if (sizes < 1).any():
        step = first + int(np.argmin(sizes))
        raise ValueError(f"num_samples is {sizes.min()} at step {step}; it must be at least 1.")
    if steps:
        algorithm.estimator.check_samples(int(sizes.min()))
    return sizes
