"""Find every good optimum of a function, not just one."""

from importlib.metadata import version as _version

from allmodes import problems
from allmodes.annealing import (
    Algorithm,
    control_variates,
    estimators,
    presets,
    proposals,
    schedules,
    updates,
    utilities,
)
from allmodes.engine import Run, Runs, Trace, anneal
from allmodes.mixture import covariances, families
from allmodes.objective import Objective
from allmodes.status import Status

__version__ = _version("allmodes")

__all__ = [
    "Algorithm",
    "Objective",
    "Run",
    "Runs",
    "Status",
    "Trace",
    "anneal",
    "control_variates",
    "covariances",
    "estimators",
    "families",
    "presets",
    "problems",
    "proposals",
    "schedules",
    "updates",
    "utilities",
]
