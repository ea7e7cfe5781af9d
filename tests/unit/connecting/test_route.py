"""A way while it is being lowered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from landscapes import bent, kinked
from test_saddles import surface

from allmodes.connecting.route import Corner, Route
from allmodes.connecting.tuning import TUNING


def route(fun, bounds, start, end, middle=None):
    ground = surface(fun, bounds)
    places = ground.box.to_unit(np.array([start, end], dtype=float))
    ends = [Corner(place, float(height), is_done=True) for place, height in zip(places, ground.heights(places),
            strict=True)]  # fmt: skip
    between = [] if middle is None else [Corner(ground.box.to_unit(np.array([middle], dtype=float))[0], np.inf)]
    return ground, Route.through(ground, (0, 1), [ends[0], *between, ends[1]])


def finished(ground, way):
    for _ in range(50):
        if way.is_done:
            return
        way.advance(ground)
    pytest.fail("it goes on and on")


def test_a_straight_way_is_seen_at_even_places():
    _, way = route(bent, [(-2, 2), (-1, 3)], (-1, 1), (1, 1))
    (piece,) = way.pieces
    assert len(piece.points) == TUNING.samples - 1
    np.testing.assert_allclose(np.diff(piece.points[:, 0]), way.length / TUNING.samples)
    assert way.height == pytest.approx(10.5)


@pytest.mark.parametrize("middle", [None, (0.0, 2.0), (0.5, -0.5)])
def test_it_becomes_lower_until_its_top_is_a_saddle(middle):
    ground, way = route(bent, [(-2, 2), (-1, 3)], (-1, 1), (1, 1), middle)
    before = way.height
    finished(ground, way)
    assert way.height < before
    assert way.top.is_saddle
    assert way.height == pytest.approx(0.5025031, abs=1e-6)  # where 2 a (a^2 - 1) = -0.1
    assert way.passes == pytest.approx(way.height)


def test_heights_between_corners_are_those_of_the_function():
    ground, way = route(bent, [(-2, 2), (-1, 3)], (-1, 1), (1, 1))
    finished(ground, way)
    for piece in way.pieces:
        np.testing.assert_array_equal(piece.heights, ground.heights(piece.points))
    shares = np.linspace(0.0, 1.0, 200)[:, None]
    corners = [corner.point for corner in way.corners]
    line = np.concatenate([a + shares * (b - a) for a, b in pairwise(corners)])
    assert ground.heights(line).max() <= way.height + 2e-3 * way.climb


def test_the_top_at_a_kink_is_looked_at_closely():
    ground, way = route(kinked, [(-2, 2)] * 2, (-1, -1), (1, -1))
    finished(ground, way)
    assert not way.top.is_saddle
    assert way.height == pytest.approx(0.7, abs=2e-3)
