"""Every way a run ends, with its message and its advice."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a run ended. Zero and above: as planned. Below zero: something to look at."""

    STEPS_DONE = 0
    CONVERGED = 1
    BUDGET_SPENT = 2
    STOPPED = 3
    NOTHING_NEW = 4
    ENOUGH_MODES = 5
    TIME_SPENT = 6
    RUNNING = 7
    INTERRUPTED = -1
    OBJECTIVE_NOT_FINITE = -2
    LEFT_DOMAIN = -3
    DIVERGED = -4
    PRIOR_NOT_FINITE = -5
    ALL_FAILED = -6
    NO_MODE = -7
    NO_FEASIBLE_POINT = -8

    def __str__(self) -> str:
        return self.name

    @property
    def success(self) -> bool:
        return self >= 0

    @property
    def message(self) -> str:
        return _MESSAGES[self][0]

    @property
    def advice(self) -> str:
        """What to change, or an empty string when nothing went wrong."""
        return _MESSAGES[self][1]


_MESSAGES = {
    Status.STEPS_DONE: ("All steps are done.", ""),
    Status.CONVERGED: ("The means moved less than the tolerance in one step.", ""),
    Status.BUDGET_SPENT: ("The budget of evaluations is spent.", ""),
    Status.STOPPED: ("The callback asked to stop.", ""),
    Status.NOTHING_NEW: ("Another local search would hardly find anything new.", ""),
    Status.ENOUGH_MODES: ("As many modes as were asked for have been found.", ""),
    Status.TIME_SPENT: ("The time was up before the search was over: with more (maxtime) it may find more.", ""),
    Status.RUNNING: ("The search goes on.", ""),
    Status.ALL_FAILED: (
        "The function gave no finite value at any point.",
        "Look at result.failures, and call the function yourself at one of these points.",
    ),
    Status.NO_MODE: (
        "The search ended without a mode; x is the best point evaluated.",
        'Allow more evaluations (maxfev) or time (maxtime). A step function needs method="black-box". Pass constraints '
        "with constraints= rather than as a steep penalty. A function without a lower bound has no mode: give bounds.",
    ),
    Status.NO_FEASIBLE_POINT: (
        "No point was found that satisfies all constraints; x is the one that violates them least.",
        "Look at the constraints at result.x: they may contradict each other or the bounds, or have the wrong sign "
        '("ineq" means fun(x) >= 0).',
    ),
    Status.INTERRUPTED: (
        "Interrupted; this is what was found so far.",
        "A run of anneal goes on with mixture=run.mixture and first_step=run.nit + 1.",
    ),
    Status.OBJECTIVE_NOT_FINITE: (
        "The objective returned a value or derivative that is not finite; this is the mixture before that step.",
        "Look at the objective at run.failure_point. Return a large negative number where it is undefined, or start "
        "with smaller covariances so that the samples stay where it is defined. Far-away points are a sign of a wrong "
        "sign: anneal maximises.",
    ),
    Status.PRIOR_NOT_FINITE: (
        "log_prior returned a value or derivative that is not finite; this is the mixture before that step.",
        "Look at log_prior at run.failure_point. Return a large negative number where the prior vanishes.",
    ),
    Status.LEFT_DOMAIN: (
        "A covariance stopped being positive definite, or a parameter positive; this is the mixture before that step.",
        "Use rule=updates.ImprovedBLR() (the default), which cannot leave the domain, or a smaller learning rate.",
    ),
    Status.DIVERGED: (
        "The mixture stopped being finite; this is the mixture before that step.",
        "Lower the learning rate, or bound it: schedules.coupled(..., maximum=0.05). Rank-based (fitness-shaped) "
        "updates have no scale of their own and need a learning rate below 1 at every step. A function to be minimised "
        "diverges too: anneal maximises.",
    ),
}
