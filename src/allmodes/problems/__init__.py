"""Objectives with known modes."""

from allmodes.problems import applications, gllim, hapke, mean_shift, metrics
from allmodes.problems.banana import banana
from allmodes.problems.benchmark_problems import benchmark_problems
from allmodes.problems.cec2013 import NichingProblem, cec2013
from allmodes.problems.constrained import ConstrainedProblem
from allmodes.problems.constrained_bed import constrained_problems
from allmodes.problems.degenerate import degenerate
from allmodes.problems.extension import pyramidal
from allmodes.problems.fits import FitProblem, fit_problems
from allmodes.problems.gaussian_mixtures import asymmetric_mixture, mixture_objective, symmetric_mixture
from allmodes.problems.himmelblau import himmelblau
from allmodes.problems.needle_basins import needle_basins
from allmodes.problems.niching2026 import CompositeProblem, niching2026
from allmodes.problems.problem import Problem
from allmodes.problems.random_mixtures import posterior_mixture, random_mixture
from allmodes.problems.rastrigin_funnels import rastrigin_funnels
from allmodes.problems.shubert import shubert
from allmodes.problems.six_hump_camel import six_hump_camel
from allmodes.problems.styblinski_tang import styblinski_tang, styblinski_tang_objective
from allmodes.problems.vincent import vincent

__all__ = [
    "CompositeProblem",
    "ConstrainedProblem",
    "FitProblem",
    "NichingProblem",
    "Problem",
    "applications",
    "asymmetric_mixture",
    "banana",
    "benchmark_problems",
    "cec2013",
    "constrained_problems",
    "degenerate",
    "fit_problems",
    "gllim",
    "hapke",
    "himmelblau",
    "mean_shift",
    "metrics",
    "mixture_objective",
    "needle_basins",
    "niching2026",
    "posterior_mixture",
    "pyramidal",
    "random_mixture",
    "rastrigin_funnels",
    "shubert",
    "six_hump_camel",
    "styblinski_tang",
    "styblinski_tang_objective",
    "symmetric_mixture",
    "vincent",
]
