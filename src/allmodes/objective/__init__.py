"""The user's function: values, derivatives, counts, failures."""

from allmodes.objective.evaluation import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.objective.objective import Objective

__all__ = ["GRADIENT", "HESSIAN", "VALUE", "Evaluation", "Needs", "Objective"]
