"""Annealing with and without polishing: one mode for each hill, and what is known of it."""

import numpy as np
import pytest

from allmodes import find_minima

MINIMA = np.array([[3, 2], [3.584428, -1.848126], [-3.779310, -3.283186], [-2.805118, 3.131312]])


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("polish", "accuracy", "kind", "curvature"),
    [(False, 0.5, "unverified", "component"), (True, 1e-5, "minimum", "differences")],
)
def test_every_basin_is_listed_once(polish, accuracy, kind, curvature, seed):
    result = find_minima(
        himmelblau, [(-6, 6)] * 2, vectorized=True, method="anneal", polish=polish, rng=seed, maxfev=6000
    )
    places = np.array([mode.x for mode in result.modes])
    assert len(places) == 4
    assert np.abs(places[:, None] - MINIMA).max(axis=2).min(axis=0).max() < accuracy
    assert {mode.kind for mode in result.modes} == {kind}
    assert {mode.curvature_from for mode in result.modes} == {curvature}


def test_without_polishing_no_value_is_lost():
    """A mode is at the best of the ends that were evaluated in its basin, and has the value of its place."""
    result = find_minima(himmelblau, [(-6, 6)] * 2, vectorized=True, method="anneal", polish=False, rng=0, maxfev=3000)
    for mode in result.modes:
        assert mode.fun == himmelblau(mode.x[None])[0]


@pytest.mark.parametrize("polish", [False, True])
def test_values_that_fail_are_no_modes(polish):
    def half(x):
        return np.where(x[:, 0] > 0.0, himmelblau(x), np.nan)

    result = find_minima(half, [(-6, 6)] * 2, vectorized=True, method="anneal", polish=polish, rng=0, maxfev=3000)
    assert len(result.modes) == 2
    assert all(mode.x[0] > 0.0 for mode in result.modes)


@pytest.mark.parametrize("seed", range(3))
def test_a_cone_with_a_ridge_is_one(seed):
    result = find_minima(
        lambda x: 3 * abs(x[:, 0] + x[:, 1] - 0.9) + abs(x[:, 0] - x[:, 1] + 0.3), [(0, 1)] * 2, vectorized=True,
        method="anneal", polish=False, rng=seed, maxfev=4000,
    )  # fmt: skip
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.3, 0.6], atol=1e-2)
