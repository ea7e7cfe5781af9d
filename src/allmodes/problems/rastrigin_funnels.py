"""Three broad funnels covered with ripples."""

from __future__ import annotations

from itertools import product

import numpy as np

from allmodes.arrays import Array, namespace
from allmodes.checks import whole_number
from allmodes.objective import Objective
from allmodes.problems.gaussian_mixtures import mixture_objective
from allmodes.problems.problem import Problem, best_first, refine

# Centres at whole numbers, so that the funnels and the ripples agree on where the best points are.
_CENTRES = {
    2: ((-3.0, 2.0), (3.0, 3.0), (1.0, -4.0)),
    4: ((-3.0, 2.0, 0.0, 1.0), (3.0, 3.0, -2.0, -1.0), (1.0, -4.0, 2.0, -2.0)),
}
_WIDTH = 1.5  # standard deviation of a funnel: several ripples wide
_HALF_WIDTH = 6
_EQUAL = 1e-2  # the three best values differ by at most 3e-4, for the funnels overlap; the next is lower by 0.2


def rastrigin_funnels(d: int = 2) -> Problem:
    """The log-density of three equal Gaussians plus sum_i (cos(2 pi x_i) - 1): one mode per whole-numbered point.

    The best mode of each funnel is global; their values agree up to 3e-4. With d = 2 all 169 modes are listed, with
    d = 4 only the three global ones of 13^4. There are none on the boundary.
    """
    if whole_number("d", d, 1) not in _CENTRES:
        raise ValueError(f"d is {d}; the funnels are laid out for 2 and 4 dimensions, wanted one of these.")
    centres = np.array(_CENTRES[d])
    funnels = mixture_objective(centres, np.broadcast_to(_WIDTH**2 * np.eye(d), (3, d, d)), np.full(3, 1 / 3))

    def fun(x: Array) -> Array:
        return funnels.fun(x) + (namespace(x).cos(2.0 * np.pi * x) - 1.0).sum(axis=-1)

    def jac(x: Array) -> Array:
        assert funnels.jac is not None
        return funnels.jac(x) - 2.0 * np.pi * namespace(x).sin(2.0 * np.pi * x)

    def hess(x: Array) -> Array:
        assert funnels.hess is not None
        xp = namespace(x)
        return funnels.hess(x) - 4.0 * np.pi**2 * xp.cos(2.0 * np.pi * x)[..., None] * xp.eye(d)

    objective = Objective(fun, jac, hess, vectorized=True)
    whole = np.arange(-_HALF_WIDTH, _HALF_WIDTH + 1.0)  # the outermost modes are drawn into the box by the funnels
    near = np.array(list(product(whole, repeat=d))) if d == 2 else centres
    bounds = np.array([[-_HALF_WIDTH, _HALF_WIDTH]] * d, dtype=np.float64)
    return best_first("Rastrigin funnels", objective, bounds, refine(objective, near), _EQUAL)
