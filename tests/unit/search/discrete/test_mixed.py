"""Levels beside reals: one mode for one hill, better neighbours found although they begin worse."""

from __future__ import annotations

import numpy as np

from allmodes import find_minima


def test_a_neighbour_that_begins_worse_is_tried():
    """With the reals of another level every neighbour is worse; optimised, all but one are better."""

    def fun(x):
        return 50.0 * (x[0] - 0.1 * x[1]) ** 2 + 0.05 * abs(x[1] - 7)

    result = find_minima(fun, [(-1, 2), (0, 9)], integrality=[0, 1], rng=0)
    assert [mode.x[1] for mode in result.modes] == [7]


def test_minima_of_the_reals_are_all_listed_and_each_once():
    def fun(x):
        return (x[0] ** 2 - 1.0) ** 2 + 0.1 * x[0] + (x[1] - 2) ** 2

    result = find_minima(fun, [(-2, 2), (0, 5)], integrality=[0, 1], rng=0)
    assert [(round(mode.x[0]), mode.x[1]) for mode in result.modes] == [(-1, 2), (1, 2)]


def test_a_kink_is_one_mode():
    def fun(x):
        return 100.0 * abs(x[0] - x[1]) + (x[0] + x[1] - 1.1) ** 2 + abs(x[2] - 3)

    result = find_minima(fun, [(0, 1), (0, 1), (0, 5)], integrality=[0, 0, 1], rng=0, maxfev=6000)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.55, 0.55, 3.0], atol=1e-4)


def test_wide_catalogues_are_crossed_in_leaps():
    sizes = [0.1 * i for i in range(400)]
    result = find_minima(lambda x: (x[0] - 31.2) ** 2 + (x[1] - 0.3) ** 2, [sizes, (0, 1)], rng=0, n_modes=1)
    np.testing.assert_allclose(result.x, [31.2, 0.3], atol=1e-5)
    assert result.nfev < 1500  # 200 levels away on average, each with a local search if they were crossed one by one


def test_periodic_reals_are_one_place_all_round():
    def fun(x):
        return -np.cos(x[0] - 0.01) + (x[1] - 2) ** 2

    result = find_minima(fun, [(0, 2 * np.pi), (0, 5)], integrality=[0, 1], periodic=[0], rng=0)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.01, 2.0], atol=1e-4)
