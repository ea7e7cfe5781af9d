"""How well a mode explains the data: residuals, errors of the parameters, and what the data do not tell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Fit:
    """One explanation of data, of `find_fits` and `curve_fit`; a mode has its attributes, too.

    Attributes:
        residuals: (m,), divided by their errors; empty if the budget did not reach for them.
        cost: half the sum of their squares, or of the loss of them, as in SciPy.
        data: how many residuals there are; `parameters`, how many coordinates are free.
        is_absolute: whether errors of the data are known, and not estimated from the residuals.
        covariance: of the parameters (D, D), from the Jacobian as in scipy.optimize.curve_fit; infinite for parameters
            that the data do not determine.
        undetermined: what the data do not tell of the parameters, in words.
    """

    residuals: Floats
    cost: float
    data: int
    parameters: int
    is_absolute: bool
    covariance: Floats
    undetermined: tuple[str, ...] = ()

    @property
    def chi2(self) -> float:
        """The sum of squares, or of the loss: twice the cost."""
        return 2.0 * self.cost

    @property
    def dof(self) -> int:
        """Degrees of freedom: residuals less free parameters."""
        return self.data - self.parameters

    @property
    def reduced_chi2(self) -> float:
        """chi2 for each degree of freedom: about 1 where errors are known and the model is right."""
        return self.chi2 / self.dof if self.dof > 0 else math.nan

    @property
    def standard_errors(self) -> Floats:
        """Of the parameters, (D,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlations(self) -> Floats:
        """Of the errors of parameters, (D, D); NaN for those that are not determined, or fixed."""
        errors = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(errors, errors))

    @property
    def aic(self) -> float:
        """Akaike's information criterion: to compare models of the same data; the smaller, the better."""
        return self._misfit + 2.0 * self.parameters

    @property
    def bic(self) -> float:
        """The Bayesian information criterion: to compare models of the same data; the smaller, the better."""
        return self._misfit + math.log(max(1, self.data)) * self.parameters

    @property
    def _misfit(self) -> float:
        """-2 log likelihood, but for a constant; errors that are not known are those that fit best."""
        if self.is_absolute:
            return self.chi2
        return self.data * math.log(self.chi2 / self.data) if self.chi2 > 0.0 else -math.inf
