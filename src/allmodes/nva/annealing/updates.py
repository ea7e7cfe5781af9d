"""Update rules: how far a step along the natural gradient bends to stay in the domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.nva.mixture.covariances import Covariance


@lru_cache(maxsize=64)
def _identity(covariance: Covariance, d: int) -> Array:
    """The identity as blocks: a NumPy constant, which JAX takes as well."""
    identity = np.array(covariance.identity(np.ones(()), d))
    identity.setflags(write=False)
    return identity


@dataclass(frozen=True)
class NaturalGradient:
    """The plain rule S_new = S - rho gamma_Sigma: leaves the domain when the step is too long, and the run then ends.

    Paper: eq:natural_gradient_update_s
    """

    def precision_change(self, covariance: Covariance, X: Array, d: int) -> Array:
        """M = I - X."""
        return _identity(covariance, d) - X

    def retract(self, parameters: Array, change: Array) -> Array:
        """lambda + change where that is positive, else NaN."""
        xp = namespace(parameters)
        new = parameters + change
        return xp.where(new > 0, new, xp.nan)


@dataclass(frozen=True)
class ImprovedBLR:
    """The improved Bayesian learning rule: a second-order step that cannot leave the domain, for any learning rate.

    (In floating point: for whitened steps rho G up to about 1e7.)

    S_new = S - rho gamma + rho^2 gamma S^-1 gamma / 2 for precisions. The same retraction, lambda (1 + x + x^2 / 2)
    with x = change / lambda, keeps the parameters of gamma and beta components positive (a choice made here: the paper
    states the rule for Gaussian components only).

    Paper: subsec:up_rules_gm
    """

    def precision_change(self, covariance: Covariance, X: Array, d: int) -> Array:
        """M = I - X + X^2 / 2, written ((I - X)^2 + I) / 2 so that it is positive definite in floating point too."""
        identity = _identity(covariance, d)
        rest = identity - X
        return 0.5 * (covariance.multiply(rest, rest) + identity)

    def retract(self, parameters: Array, change: Array) -> Array:
        """lambda (1 + x + x^2 / 2) = lambda ((1 + x)^2 + 1) / 2."""
        return 0.5 * parameters * ((1.0 + change / parameters) ** 2 + 1.0)
