"""Natural Variational Annealing: the paper's algorithms, and the parts they are made of.

Parts live in the namespaces `estimators`, `families`, ..., with the base classes of new ones; `namespace` gives the
module, numpy or jax.numpy, that an array belongs to.
"""

from allmodes.arrays import namespace
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
    "namespace",
    "presets",
    "proposals",
    "schedules",
    "updates",
    "utilities",
]
