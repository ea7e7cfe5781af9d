"""Every way a run ends, with its message and its advice."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a run ended. Zero and above: as planned. Below zero: something to look at."""

    STEPS_DONE = 0
    CONVERGED = 1
    BUDGET_SPENT = 2
    STOPPED = 3
    INTERRUPTED = -1
    OBJECTIVE_NOT_FINITE = -2
    LEFT_DOMAIN = -3
    DIVERGED = -4
    PRIOR_NOT_FINITE = -5

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
    Status.STEPS_DONE: ("All steps were done.", ""),
    Status.CONVERGED: ("The means moved less than the tolerance in one step.", ""),
    Status.BUDGET_SPENT: ("Another step would exceed max_evaluations.", ""),
    Status.STOPPED: ("The callback asked to stop.", ""),
    Status.INTERRUPTED: (
        "Interrupted from the keyboard; this is the mixture of the last finished step.",
        "To go on from here pass mixture=run.mixture and first_step=run.nit + 1.",
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
        "updates have no scale of their own and want a learning rate below 1 at every step. A function to be minimised "
        "diverges too: anneal maximises.",
    ),
}
