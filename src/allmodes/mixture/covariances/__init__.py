"""Covariance structures: one small file each."""

from allmodes.mixture.covariances.covariance import Covariance, Factors
from allmodes.mixture.covariances.diagonal import Diagonal
from allmodes.mixture.covariances.fixed import Fixed
from allmodes.mixture.covariances.full import Full
from allmodes.mixture.covariances.isotropic import Isotropic

__all__ = ["Covariance", "Diagonal", "Factors", "Fixed", "Full", "Isotropic"]
