"""From a high point to the saddle beside it."""

from __future__ import annotations

import numpy as np
import pytest
from landscapes import HIMMELBLAU, himmelblau, kinked

from allmodes.connecting.saddles import lower
from allmodes.connecting.surface import Surface
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator


def surface(fun, bounds, maxfev=10_000, maximise=False, **derivatives):
    box = Box.make(bounds)
    source = Source.make(fun, (), derivatives.get("jac"), None, True, box=box)
    return Surface(Evaluator(source, on_error="nan"), box, maximise, maxfev)


SQUARE = [(-6.0, 6.0)] * 2


@pytest.mark.parametrize("start", [(3.3, 0.6), (3.0, -0.2), (3.6, 0.1)])
def test_it_climbs_along_the_way_and_falls_across_it(start):
    ground = surface(himmelblau, SQUARE)
    point = ground.box.to_unit(np.array([start]))[0]
    found = lower(ground, point, np.array([0.1, 1.0]), 0.3, None)
    assert found.is_saddle
    np.testing.assert_allclose(ground.box.to_user(found.point[None])[0], HIMMELBLAU[13.3119263], atol=1e-4)
    assert found.height == pytest.approx(13.3119263)
    assert ground.evaluator.nfev < 80


def test_of_a_maximum_it_is_the_same_upside_down():
    ground = surface(lambda x: -himmelblau(x), SQUARE, maximise=True)
    point = ground.box.to_unit(np.array([[3.3, 0.6]]))[0]
    assert lower(ground, point, np.array([0.1, 1.0]), 0.3, None).height == pytest.approx(13.3119263)


def test_across_the_way_it_only_falls_and_stays_in_the_plane():
    ground = surface(himmelblau, SQUARE)
    point, along = np.array([0.52, 0.6]), np.array([0.8, 0.6])
    found = lower(ground, point, along, 0.5, None, across_only=True)
    assert not found.is_saddle
    assert found.height < ground.heights(point[None])[0]
    assert abs((found.point - point) @ along) < 1e-9


def test_a_saddle_at_a_bound():
    def slope(x):  # falls beyond the lower bound of the second coordinate
        return (x[:, 0] ** 2 - 1) ** 2 + x[:, 1]

    ground = surface(slope, [(-2.0, 2.0), (0.0, 1.0)])
    found = lower(ground, np.array([0.52, 0.1]), np.array([1.0, 0.0]), 0.5, None)
    assert found.is_saddle
    np.testing.assert_allclose(found.point, [0.5, 0.0], atol=1e-5)


def test_a_kink_has_no_saddle_and_is_lowered_all_the_same():
    ground = surface(kinked, [(-2.0, 2.0)] * 2)
    point = np.array([0.51, 0.4])
    found = lower(ground, point, np.array([1.0, 0.0]), 0.5, None, across_only=True)
    assert found.height < ground.heights(point[None])[0] - 0.05


def test_nothing_is_found_where_the_function_fails():
    ground = surface(lambda x: np.full(len(x), np.nan), SQUARE)
    assert lower(ground, np.array([0.5, 0.5]), np.array([1.0, 0.0]), 0.5, None) is None


def test_in_many_dimensions_the_curvature_of_the_modes_stands_in():
    d = 24

    def wells(x):
        return (x[:, 0] ** 2 - 1) ** 2 + (x[:, 1:] ** 2).sum(axis=1)

    ground = surface(wells, [(-2.0, 2.0)] * d)
    guess = np.diag([128.0, *[32.0] * (d - 1)])
    start = np.full(d, 0.51)
    found = lower(ground, start, np.eye(d)[0], 0.5, guess)
    np.testing.assert_allclose(found.point, 0.5, atol=1e-4)
    assert found.is_saddle
    assert ground.evaluator.nfev < 1 + d * (d + 3) // 2
