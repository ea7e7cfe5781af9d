"""A robust regression."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, minimised
from allmodes.problems.problem import Problem

# Of 21 days: flow of air, temperature of cooling water, concentration of acid, and loss of ammonia through the stack.
_DAYS = np.array(
    [
        [80, 27, 89, 42], [80, 27, 88, 37], [75, 25, 90, 37], [62, 24, 87, 28], [62, 22, 87, 18], [62, 23, 87, 18],
        [62, 24, 93, 19], [62, 24, 93, 20], [58, 23, 87, 15], [58, 18, 80, 14], [58, 18, 89, 14], [58, 17, 88, 13],
        [58, 18, 82, 11], [58, 19, 93, 12], [50, 18, 89, 8], [50, 18, 86, 7], [50, 19, 72, 8], [50, 19, 79, 8],
        [50, 20, 80, 9], [56, 20, 82, 15], [70, 20, 91, 15],
    ],
    dtype=np.float64,
)  # fmt: skip
_LOSS = _DAYS[:, 3]
# A column of ones, and the regressors with mean 0 and standard deviation 1.
_DESIGN = np.insert((_DAYS[:, :3] - _DAYS[:, :3].mean(axis=0)) / _DAYS[:, :3].std(axis=0), 0, 1.0, axis=1)
_SCALE = 0.5  # of the Cauchy distribution
_BOUNDS = [[5.0, 30.0], [-5.0, 20.0], [-10.0, 15.0], [-10.0, 10.0]]


def _fun(x: Floats) -> Floats:
    return np.log1p(((_LOSS - x @ _DESIGN.T) / _SCALE) ** 2).sum(axis=1)


def _jac(x: Floats) -> Floats:
    error = _LOSS - x @ _DESIGN.T
    return -2.0 * (error / (_SCALE**2 + error**2)) @ _DESIGN


def stack_loss() -> Problem:
    """Robust regression of the stack-loss data: intercept and three slopes with Cauchy errors of scale 0.5.

    17 modes of the log-likelihood are known, one of them global; each fits other days well and takes the rest for
    outliers, and there may be more. There are no symmetries. Data: Brownlee, Statistical Theory and Methodology in
    Science and Engineering, 1965 (`stackloss` in R).
    """
    return minimised("stack loss", _fun, _jac, _BOUNDS)
