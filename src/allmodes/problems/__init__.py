"""Objectives with known modes."""

from allmodes.problems.degenerate import degenerate
from allmodes.problems.gaussian_mixtures import asymmetric_mixture, mixture_objective, symmetric_mixture
from allmodes.problems.problem import Problem
from allmodes.problems.styblinski_tang import styblinski_tang, styblinski_tang_objective

__all__ = [
    "Problem",
    "asymmetric_mixture",
    "degenerate",
    "mixture_objective",
    "styblinski_tang",
    "styblinski_tang_objective",
    "symmetric_mixture",
]
