"""Levels of coordinates: whole numbers, catalogues, choices."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.objective.grids import Grid, Steps, WithChoices, without_choices


def test_grids_count_levels_both_ways():
    grid = Grid(3, sizes=np.array([0.5, 0.75, 2.0]))
    np.testing.assert_array_equal(grid.from_units(grid.units(np.array([0.5, 0.75, 2.0]))), [0.5, 0.75, 2.0])
    box = Box.make([(2, 5), [4.0, 1.0, 9.0]], integrality=[1, 0])
    np.testing.assert_array_equal(box.to_user(box.to_unit(np.array([[3.0, 4.0]]))), [[3.0, 4.0]])


def test_all_at_once_is_the_same_as_one_after_the_other():
    grids = [(0, Grid(4, -2.0)), (2, Grid(3, sizes=np.array([0.5, 0.75, 2.0]))), (3, Grid(2, labels=("a", "b")))]
    units = np.random.default_rng(0).random((50, 4)) * 1.2 - 0.1
    x = units.copy()
    Steps.of(grids).put(units, x)
    for place, grid in grids:
        np.testing.assert_array_equal(x[:, place], grid.from_units(units[:, place]))
    np.testing.assert_array_equal(x[:, 1], units[:, 1])


@pytest.mark.parametrize("far", [2.0**40, -(2.0**52)])
def test_large_whole_numbers_stay_whole(far):
    box = Box.make([(far, far + 1000)], integrality=True)
    points = far + np.arange(1001.0)[:, None]
    np.testing.assert_array_equal(box.to_user(box.to_unit(points)), points)


def test_lists_of_choices_are_told_from_pairs():
    bounds = [(0, 1), [0, 1], ("b", "a"), [3.0, 1.0, 2.0], np.array([1.0, 2.0, 4.0]), ["x", 2, None]]
    pairs, grids = without_choices(bounds)
    assert sorted(grids) == [2, 3, 4, 5]
    assert pairs[:2] == [(0, 1), [0, 1]]
    assert grids[3].choices == [1.0, 2.0, 3.0]
    assert grids[5].choices == ["x", 2, None]
    assert grids[2].is_like(Grid(2, labels=("b", "a")))
    assert not grids[2].is_like(Grid(2, labels=("a", "b")))


def test_functions_see_choices_one_point_or_many():
    call = WithChoices(lambda x: x[..., 1].tolist(), {1: ("oak", None, 3)})
    assert call(np.array([0.5, 2.0])) == 3
    assert call(np.array([[0.5, 0.0], [0.1, 1.0]])) == ["oak", None]
