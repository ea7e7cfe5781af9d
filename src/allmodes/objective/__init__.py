"""The user's function: values, derivatives, counts, failures."""

from allmodes.objective.evaluation import BY_ORDER, GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.objective.objective import Objective

__all__ = ["BY_ORDER", "GRADIENT", "HESSIAN", "VALUE", "Evaluation", "Needs", "Objective"]
