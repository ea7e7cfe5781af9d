"""The problems on which solvers are compared."""

from __future__ import annotations

from dataclasses import replace

from allmodes.problems.banana import banana
from allmodes.problems.degenerate import degenerate
from allmodes.problems.gaussian_mixtures import asymmetric_mixture, symmetric_mixture
from allmodes.problems.himmelblau import himmelblau
from allmodes.problems.needle_basins import needle_basins
from allmodes.problems.problem import Problem
from allmodes.problems.random_mixtures import posterior_mixture, random_mixture
from allmodes.problems.rastrigin_funnels import rastrigin_funnels
from allmodes.problems.shubert import shubert
from allmodes.problems.six_hump_camel import six_hump_camel
from allmodes.problems.styblinski_tang import styblinski_tang
from allmodes.problems.vincent import vincent

# Dimension, components and scale of the random mixtures: the more components, the narrower.
_MIXTURES = ((2, 10, 0.5), (2, 50, 0.25), (5, 20, 0.7), (5, 50, 0.6), (10, 20, 0.9), (10, 50, 0.8))


def benchmark_problems() -> list[Problem]:
    """All problems with known modes, each under a name of its own, easy and hard ones mixed.

    >>> [problem.name for problem in benchmark_problems()][:3]
    ['symmetric mixture', 'asymmetric mixture', 'Styblinski–Tang d=2']
    """
    return [
        symmetric_mixture(),
        asymmetric_mixture(),
        *(_with_dimension(styblinski_tang(d)) for d in (2, 4, 6)),
        *(random_mixture(d, K, scale) for d, K, scale in _MIXTURES),
        himmelblau(),
        six_hump_camel(),
        shubert(),
        vincent(),
        *(_with_dimension(rastrigin_funnels(d)) for d in (2, 4)),
        banana(),
        degenerate(bounds=((-5.0, 6.0), (-3.0, 3.0))),
        *(_with_dimension(needle_basins(d)) for d in (2, 4)),
        posterior_mixture(),
    ]


def _with_dimension(problem: Problem) -> Problem:
    return replace(problem, name=f"{problem.name} d={problem.dimension}")
