"""The search distribution: covariance structures, families, mixtures of them."""

from allmodes.mixture.mixture import LogDensity, Mixture, log_density, log_weights, responsibilities

__all__ = ["LogDensity", "Mixture", "log_density", "log_weights", "responsibilities"]
