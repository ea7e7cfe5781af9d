"""Sharp peaks among broad hills."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.problems.ascent import climb, distinct
from allmodes.problems.gaussian_mixtures import mixture_objective
from allmodes.problems.problem import Problem, best_first

_HILL = 1.5  # standard deviation of the four broad components
_HALF_WIDTH = 5.0
_SEED = 77  # of the centres in four dimensions
_REACH = 0.02  # longest step of the climb: half the narrowest needle, so that no climb leaves it
_APART = 1e-3


def _two_dimensions() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    means = [[-3.0, -3.0], [3.0, -2.5], [-2.0, 3.0], [3.0, 3.0], [0.0, 0.0], [-4.0, 0.5], [1.0, 4.2], [4.2, 0.5]]
    widths = [*[_HILL] * 4, 0.05, 0.08, 0.04, 0.06]
    weights = [0.25, 0.25, 0.2, 0.2, 0.0025, 0.006, 0.0015, 0.003]
    return np.array(means), np.array(widths), np.array(weights)


def _four_dimensions() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    means = np.random.default_rng(_SEED).uniform(-4.0, 4.0, (8, 4))
    widths = np.array([*[_HILL] * 4, 0.25, 0.3, 0.35, 0.4])
    log_heights = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5, -0.5, 1.0])
    return means, widths, np.exp(log_heights) * widths**4


_LAYOUTS = {2: _two_dimensions, 4: _four_dimensions}


def needle_basins(d: int = 2) -> Problem:
    """The log-density of four broad Gaussians and four narrow ones: eight modes, one of them global.

    Uniform starts in the box rarely fall into the basins of the narrow ones. There are no modes on the boundary.
    """
    if whole_number("d", d, 1) not in _LAYOUTS:
        raise ValueError(f"d is {d}; the needles are laid out for 2 and 4 dimensions, wanted one of these.")
    means, widths, weights = _LAYOUTS[d]()
    objective = mixture_objective(means, widths[:, None, None] ** 2 * np.eye(d), weights / weights.sum())
    modes = distinct(climb(objective, means, _REACH), _APART)
    return best_first("needle basins", objective, np.array([[-_HALF_WIDTH, _HALF_WIDTH]] * d), modes)
