"""What values around a top say: smooth or not, a saddle along a crease, a cusp."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.strategy.relief import AROUND, points_around, relief

BOX = Box.make([(0, 1), (0, 1)])
TURN = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]])  # rows: across the crease, along it


def seen(function, point=(0.5, 0.5), axes=TURN, height=1.0):
    point = np.asarray(point, dtype=float)
    where = points_around(BOX, point, axes)
    value = float(function((axes @ (point - point)).T))
    return relief(point, value, axes, where, np.array([function(axes @ (z - point)) for z in where]), height, 1e-12)


def test_a_parabola_is_smooth():
    found = seen(lambda u: -3.0 * u[0] ** 2 - u[1] ** 2)
    assert found.is_smooth
    assert not found.is_cusp
    assert found.rise is None
    np.testing.assert_allclose(np.linalg.eigvalsh(found.curve), [-6.0, -2.0])


def test_the_top_along_a_crease_is_that_of_the_parabola():
    found = seen(lambda u: -2.0 * abs(u[0]) - (u[1] - 3e-4) ** 2)
    assert not found.is_smooth
    assert not found.is_cusp
    assert found.rise is None
    np.testing.assert_allclose(found.top, 3e-4 * TURN[1], atol=1e-9)


def test_a_saddle_along_a_crease_rises_along_it():
    found = seen(lambda u: -2.0 * abs(u[0]) + u[1] ** 2 - 1e3 * u[1] ** 4)
    assert found.rise is not None
    assert abs(found.rise @ TURN[1]) == pytest.approx(1.0)


def test_a_saddle_between_axes_is_seen():
    """Both axes along a crease fall; the direction between them rises."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    box, point = Box.make([(0, 1)] * 3), np.full(3, 0.5)

    def function(z):
        u = turn @ (z - point)
        return -2.0 * abs(u[0]) - u[1] ** 2 - u[2] ** 2 + 6.0 * u[1] * u[2]

    where = points_around(box, point, turn)
    found = relief(point, 0.0, turn, where, np.array([function(z) for z in where]), 1.0, 1e-12)
    assert found.rise is not None
    assert abs(found.rise @ (turn[1] + turn[2])) == pytest.approx(np.sqrt(2.0))


def test_a_cone_has_no_smooth_direction_and_is_as_wide_as_it_is():
    found = seen(lambda u: -4.0 * np.hypot(*u), height=2.0)
    assert not found.is_smooth
    assert not found.is_cusp
    np.testing.assert_array_equal(found.top, 0.0)
    # a parabola of this curvature falls by the height where the cone does: at 2 / 4
    np.testing.assert_allclose(0.5 * np.diagonal(-found.curve) * 0.5**2, 2.0)


def test_a_root_is_a_cusp():
    assert seen(lambda u: -np.sqrt(abs(u[0])) - u[1] ** 2).is_cusp


def test_next_to_a_bound_one_side_counts():
    axes = np.eye(2)
    point = np.array([0.5, 0.0])
    where = points_around(BOX, point, axes)
    assert (where >= 0.0).all()
    values = -2.0 * np.abs(where[:, 0] - 0.5) - 3.0 * where[:, 1]
    found = relief(point, 0.0, axes, where, values, 1.0, 1e-12)
    assert not found.is_smooth
    assert found.rise is None
    assert np.diagonal(-found.curve)[1] == pytest.approx(2.0 * 9.0)


def test_points_are_close():
    assert np.abs(points_around(BOX, np.full(2, 0.5), TURN) - 0.5).max() <= np.sqrt(2.0) * AROUND
