"""Log-densities of mixtures of many Gaussians drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number, whole_number
from allmodes.problems.ascent import climb, distinct
from allmodes.problems.gaussian_mixtures import mixture_objective
from allmodes.problems.problem import Problem, best_first

_WIDTH = 10.0  # of the box in every coordinate
_MARGIN = 0.1  # share of the width at each side without component means
_AXIS_SPREAD = 0.7  # log-range of the axes of one component, per unit of anisotropy
_SIZE_SPREAD = 0.5  # log-range of the overall size of components
_LEAST_SHARE = 0.1  # of the weight, dealt equally, so that no component vanishes
_EXTRA_STARTS = 100  # draws from the mixture: modes between components have no mean of their own
_REACH = 0.5  # longest step of the climb, about the width of a component
_APART = 1e-4  # climbs end within rounding of a mode; modes are at least a thousand times further apart


def random_mixture(d: int, K: int, scale: float, anisotropy: float = 1.0, seed: int | None = None) -> Problem:
    """The log-density of K Gaussians of random place, shape and weight in the box [0, 10]^d.

    The modes are where climbs from all component means and from a hundred draws of the mixture end, those inside the
    box; thousands of random starts have found no other in the mixtures of `benchmark_problems`.

    Args:
        scale: typical standard deviation of a component.
        anisotropy: how different the axes of a component are: standard deviations range over e^(+-0.7 anisotropy).
        seed: of the random generator; 10 d + K unless given.
    """
    d, K = whole_number("d", d, 1), whole_number("K", K, 1)
    scale = number("scale", scale, above=0.0)
    anisotropy = number("anisotropy", anisotropy, at_least=0.0)
    rng = np.random.default_rng(10 * d + K if seed is None else whole_number("seed", seed, 0))
    means, roots, weights = _draw(rng, d, K, scale, anisotropy)
    objective = mixture_objective(means, roots @ roots.mT, weights)
    which = rng.choice(K, size=_EXTRA_STARTS, p=weights)
    draws = means[which] + (roots[which] @ rng.standard_normal((_EXTRA_STARTS, d, 1)))[..., 0]
    modes = distinct(climb(objective, np.vstack([means, draws]), _REACH), _APART)
    is_inside = ((modes > 0.0) & (modes < _WIDTH)).all(axis=1)
    bounds = np.array([[0.0, _WIDTH]] * d)
    return best_first(f"Gaussian mixture d={d} K={K}", objective, bounds, modes[is_inside])


def _draw(
    rng: np.random.Generator, d: int, K: int, scale: float, anisotropy: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Means (K, d), roots of the covariances (K, d, d) and weights (K,)."""
    means = _WIDTH * rng.uniform(_MARGIN, 1.0 - _MARGIN, (K, d))
    roots = np.empty((K, d, d))
    for k in range(K):
        axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
        lengths = np.exp(_AXIS_SPREAD * rng.uniform(-anisotropy, anisotropy, d))
        roots[k] = axes * (scale * lengths * np.exp(rng.uniform(-_SIZE_SPREAD, _SIZE_SPREAD)))
    weights = (1.0 - _LEAST_SHARE) * rng.dirichlet(np.ones(K)) + _LEAST_SHARE / K
    return means, roots, weights


def posterior_mixture() -> Problem:
    """A mixture like the posterior of a small inverse problem: 34 modes of 40 elongated components in 4 dimensions."""
    problem = random_mixture(4, 40, scale=0.6, anisotropy=1.2, seed=4040)
    return best_first("posterior-like mixture d=4 K=40", problem.objective, problem.bounds, problem.modes)
