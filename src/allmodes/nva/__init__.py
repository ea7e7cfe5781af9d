"""Natural Variational Annealing: the paper's algorithms, and the parts they are made of."""

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
from allmodes.nva.mixture import Mixture, covariances, families

__all__ = [
    "Algorithm",
    "Mixture",
    "Run",
    "Runs",
    "Trace",
    "anneal",
    "control_variates",
    "covariances",
    "estimators",
    "families",
    "presets",
    "proposals",
    "schedules",
    "updates",
    "utilities",
]
