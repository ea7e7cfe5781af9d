"""Estimators of natural gradients: one small file each."""

from allmodes.annealing.estimators.black_box import BlackBox
from allmodes.annealing.estimators.estimator import Estimator, MeanEstimator
from allmodes.annealing.estimators.fitness_shaped import FitnessShaped
from allmodes.annealing.estimators.gradient import Gradient
from allmodes.annealing.estimators.hessian import Hessian

__all__ = ["BlackBox", "Estimator", "FitnessShaped", "Gradient", "Hessian", "MeanEstimator"]
