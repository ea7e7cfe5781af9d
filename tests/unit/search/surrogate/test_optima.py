"""All optima of a smooth function whose derivatives are known."""

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.searchers.surrogate.optima import optima_of


class Waves:
    """Maxima at x = 0.25 and, higher, at the bound x = 1; none along y but the middle."""

    def expected(self, x):
        value = np.sin(2 * np.pi * x[:, 0]) + 2.0 * x[:, 0] - (x[:, 1] - 0.5) ** 2
        gradient = np.stack([2 * np.pi * np.cos(2 * np.pi * x[:, 0]) + 2.0, 1.0 - 2.0 * x[:, 1]], axis=1)
        hessian = np.zeros((len(x), 2, 2))
        hessian[:, 0, 0], hessian[:, 1, 1] = -4 * np.pi**2 * np.sin(2 * np.pi * x[:, 0]), -2.0
        return value, gradient, hessian


def test_all_are_found_once_with_the_bounds_that_hold_them():
    rng = np.random.default_rng(0)
    found = optima_of(Waves(), Box.make([(0, 1)] * 2), rng.random((20, 2)), rng)
    order = np.argsort(found.points[:, 0])
    first = np.arccos(-1 / np.pi) / (2 * np.pi)
    np.testing.assert_allclose(found.points[order], [[first, 0.5], [1.0, 0.5]], atol=1e-6)
    assert found.active[order].tolist() == [[False, False], [True, False]]
    kept = found.of(found.values > 1.7)
    assert len(kept.points) == len(kept.hessians) == 1
