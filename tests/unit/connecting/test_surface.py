"""Heights and slopes over the unit box, counted."""

from __future__ import annotations

import numpy as np
import pytest
from landscapes import himmelblau

from allmodes.connecting.surface import SpentError, Surface
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator

BOUNDS = [(-6.0, 6.0), (-5.0, 5.0)]


def gradient(x):
    a, b = x[:, 0] ** 2 + x[:, 1] - 11, x[:, 0] + x[:, 1] ** 2 - 7
    return np.stack([4 * x[:, 0] * a + 2 * b, 2 * a + 4 * x[:, 1] * b], axis=1)


def surface(maxfev=1000, jac=None, fun=himmelblau):
    box = Box.make(BOUNDS)
    return Surface(Evaluator(Source.make(fun, (), jac, None, True, box=box), on_error="nan"), box, False, maxfev)


@pytest.mark.parametrize("point", [(0.3, 0.6), (0.0, 0.2), (1.0, 1.0), (0.9999, 0.0)])
def test_differences_are_as_good_as_derivatives_also_at_bounds(point):
    seen = []

    def watched(x):
        seen.append(x)
        return himmelblau(x)

    plain, exact = surface(fun=watched), surface(jac=gradient)
    height, slope, H = plain.curvature(np.array(point), 1e-3)
    wanted, true_slope, true_H = exact.curvature(np.array(point), 1e-5)
    assert height == wanted
    np.testing.assert_allclose(slope, true_slope, rtol=2e-3, atol=2.0)
    np.testing.assert_allclose(H, true_H, rtol=0.02, atol=100.0)
    np.testing.assert_allclose(plain.slope(np.array(point), 1e-4)[1], true_slope, rtol=2e-3, atol=2.0)
    points = np.concatenate(seen)
    assert (points >= np.array(BOUNDS)[:, 0]).all()
    assert (points <= np.array(BOUNDS)[:, 1]).all()


def test_what_is_not_left_is_not_spent():
    ground = surface(maxfev=5)
    ground.heights(np.full((3, 2), 0.5))
    with pytest.raises(SpentError):
        ground.heights(np.full((3, 2), 0.5))
    assert ground.left == 2
    assert ground.evaluator.nfev == 3


def test_failures_are_infinitely_high():
    ground = surface(fun=lambda x: np.where(x[:, 0] > 0.0, np.nan, -1.0))
    np.testing.assert_array_equal(ground.heights(np.array([[0.2, 0.5], [0.8, 0.5]])), [-1.0, np.inf])
