"""Estimators of natural gradients: one small file each."""

from allmodes.nva.annealing.estimators.black_box import BlackBox
from allmodes.nva.annealing.estimators.estimator import Estimator, MeanEstimator, ScoreEstimator
from allmodes.nva.annealing.estimators.fitness_shaped import FitnessShaped
from allmodes.nva.annealing.estimators.gradient import Gradient
from allmodes.nva.annealing.estimators.hessian import Hessian

__all__ = ["BlackBox", "Estimator", "FitnessShaped", "Gradient", "Hessian", "MeanEstimator", "ScoreEstimator"]
