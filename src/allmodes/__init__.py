"""Find every good optimum of a function, not just one."""

from importlib.metadata import version as _version

from allmodes import baselines, problems
from allmodes.finder import ModeFinder
from allmodes.finding import find_maxima, find_minima
from allmodes.nva.annealing import (
    Algorithm,
    control_variates,
    estimators,
    presets,
    proposals,
    schedules,
    updates,
    utilities,
)
from allmodes.nva.engine import Run, Runs, Trace, anneal
from allmodes.nva.mixture import covariances, families
from allmodes.objective import Objective
from allmodes.result import Mode, Result
from allmodes.status import Status

__version__ = _version("allmodes")

__all__ = [
    "Algorithm",
    "Mode",
    "ModeFinder",
    "Objective",
    "Result",
    "Run",
    "Runs",
    "Status",
    "Trace",
    "anneal",
    "baselines",
    "control_variates",
    "covariances",
    "estimators",
    "families",
    "find_maxima",
    "find_minima",
    "presets",
    "problems",
    "proposals",
    "schedules",
    "updates",
    "utilities",
]
