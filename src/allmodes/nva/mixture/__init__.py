"""The search distribution: covariance structures, families, mixtures of them."""

from allmodes.nva.mixture.mixture import LogDensity, Mixture, log_density, log_weights, responsibilities

__all__ = ["LogDensity", "Mixture", "log_density", "log_weights", "responsibilities"]
