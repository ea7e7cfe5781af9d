"""Walks among points: uphill, along plateaus, ended where others have been."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.walk import Walk


@pytest.fixture
def parts():
    box = Box.make([(0, 30), (0, 30)], integrality=True)
    context = Context(box, Archive(box), np.random.default_rng(0))
    return context, Space.of(box), Nodes(2, 0)


def walked(start, value, parts):
    context, space, nodes = parts
    walk = Walk(np.array(start), True)
    while len(levels := walk.ask(context, space, nodes)):
        assert len(np.unique(levels, axis=0)) == len(levels)
        assert (nodes.find_all(levels) < 0).all()  # nothing is asked twice
        nodes.add_all(levels, np.zeros((len(levels), 0)), np.array([value(*each) for each in levels.tolist()]))
    assert walk.is_over
    return walk


def test_it_ends_where_no_neighbour_is_better(parts):
    walk = walked([2, 28], lambda x, y: -float((x - 20) ** 2 + (y - 5) ** 2), parts)
    assert walk.is_optimum
    np.testing.assert_array_equal(parts[2].levels[walk.row], [20, 5])
    assert len(parts[2]) < 60  # leaps: 41 levels away


def test_it_ends_in_the_mode_that_a_point_of_its_path_led_to(parts):
    def value(x, y):
        return -float((x - 20) ** 2 + (y - 5) ** 2)

    first = walked([2, 28], value, parts)
    parts[2].lead(first.path + first.level, 4)
    again = walked(parts[2].levels[first.path[1]], value, parts)
    assert again.mode == 4
    assert not again.is_optimum
    assert len(again.path) == 1


def test_a_plateau_with_a_way_up_is_left_and_one_without_is_an_optimum(parts):
    walk = walked([3, 3], lambda x, y: float(min(x, 10)), parts)
    assert walk.is_optimum
    assert walk.is_cut  # level for 21 times 31 points: more than are followed
    small = walked([15, 15], lambda x, y: 0.0, (parts[0], parts[1], Nodes(2, 0)))
    assert small.is_cut


def test_failed_points_are_not_entered(parts):
    walk = walked([2, 2], lambda x, y: -np.inf if x > 8 else float(x - (y - 4) ** 2), parts)
    assert walk.is_optimum
    np.testing.assert_array_equal(parts[2].levels[walk.row], [8, 4])
