"""What modes weigh: importance sampling from a mixture of components on the modes, Pareto-smoothed, mode by mode."""

from allmodes.masses.weigh import masses_of

__all__ = ["masses_of"]
