"""Points and bounds: held coordinates, room, distances where coordinates are periodic."""

from __future__ import annotations

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.geometry import clip, embed, is_held, lengths, room

PLAIN, ROUND = Box.make([(0, 1), (0, 1)]), Box.make([(0, 1), (0, 1)], periodic=[0])


def test_coordinates_are_held_where_the_ascent_pushes_outward():
    box = Box.make([(0, 1)] * 5)
    held = is_held(box, np.array([0.0, 0.0, 1.0, 1.0, 0.5]), np.array([-1.0, 1.0, 1.0, -1.0, 1.0]))
    assert held.tolist() == [True, False, True, False, False]


def test_a_point_that_rounding_keeps_off_a_bound_is_on_it():
    assert is_held(PLAIN, np.array([0.5, 6e-22]), np.array([0.0, -3.0])).tolist() == [False, True]


def test_periodic_coordinates_and_slopes_that_are_unknown_are_not_held():
    assert not is_held(ROUND, np.array([0.0, 0.5]), np.array([-1.0, 0.0])).any()
    assert not is_held(PLAIN, np.array([0.0, 1.0]), np.full(2, np.nan)).any()


def test_room_is_the_way_to_the_first_bound():
    point, way = np.array([0.2, 0.9]), np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.5], [0.0, -3.0], [0.0, 0.0]])
    np.testing.assert_allclose(room(PLAIN, point, way), [0.8, 0.2, 0.2, 0.3, np.inf])
    assert room(ROUND, point, np.array([1.0, 0.0])) == np.inf
    moved = point + room(PLAIN, point, way)[:4, None] * way[:4]
    assert (PLAIN.inside(moved + 1e-12) | PLAIN.inside(moved - 1e-12)).all()


def test_points_are_clipped_where_there_are_bounds():
    np.testing.assert_array_equal(clip(PLAIN, np.array([[-0.5, 0.3], [2.0, 1.0]])), [[0.0, 0.3], [1.0, 1.0]])
    np.testing.assert_array_equal(clip(ROUND, np.array([-0.5, 2.0])), [-0.5, 1.0])


def test_lengths_are_those_of_numpy():
    vectors = np.random.default_rng(0).normal(size=(3, 4, 5))
    np.testing.assert_allclose(lengths(vectors), np.linalg.norm(vectors, axis=-1))


def test_embedded_points_have_the_right_distances_close_by():
    points = np.array([[0.99, 0.2], [0.01, 0.2], [0.01, 0.23]])
    places = embed(ROUND, points)
    apart = ROUND.difference(points[:, None], points[None])
    np.testing.assert_allclose(lengths(places[:, None] - places[None]), lengths(apart), rtol=1e-3)
    np.testing.assert_allclose(embed(ROUND, points + np.array([1.0, 0.0])), places, atol=1e-12)
    assert embed(PLAIN, points) is points
