"""Covariance structures: one small file each."""

from allmodes.nva.mixture.covariances.covariance import Covariance, Factors
from allmodes.nva.mixture.covariances.diagonal import Diagonal
from allmodes.nva.mixture.covariances.elementwise import Elementwise
from allmodes.nva.mixture.covariances.fixed import Fixed
from allmodes.nva.mixture.covariances.full import Full
from allmodes.nva.mixture.covariances.isotropic import Isotropic

__all__ = ["Covariance", "Diagonal", "Elementwise", "Factors", "Fixed", "Full", "Isotropic"]
