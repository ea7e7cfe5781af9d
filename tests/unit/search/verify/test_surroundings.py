"""What values around a peak say: smooth or not, a saddle along a ridge, a cusp."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.verify.surroundings import points_around, surroundings

H = 1e-3  # of the box: how far away values are looked at
BOX = Box.make([(0, 1), (0, 1)])
TURN = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]])  # rows: across the ridge, along it


def seen(function, point=(0.5, 0.5), axes=TURN, height=1.0):
    point = np.asarray(point, dtype=float)
    where = points_around(BOX, point, axes, H)
    value = float(function((axes @ (point - point)).T))
    values = np.array([function(axes @ (z - point)) for z in where])
    return surroundings(point, value, axes, H, where, values, height, 1e-12)


def test_a_parabola_is_smooth():
    found = seen(lambda u: -3.0 * u[0] ** 2 - u[1] ** 2)
    assert found.is_smooth
    assert not found.is_cusp
    assert found.rise is None
    np.testing.assert_allclose(np.linalg.eigvalsh(found.hessian), [-6.0, -2.0])


def test_the_peak_along_a_ridge_is_that_of_the_parabola():
    found = seen(lambda u: -2.0 * abs(u[0]) - (u[1] - 3e-4) ** 2)
    assert not found.is_smooth
    assert not found.is_cusp
    assert found.rise is None
    np.testing.assert_allclose(found.peak, 3e-4 * TURN[1], atol=1e-9)


def test_a_saddle_along_a_ridge_rises_along_it():
    found = seen(lambda u: -2.0 * abs(u[0]) + u[1] ** 2 - 1e3 * u[1] ** 4)
    assert found.rise is not None
    assert abs(found.rise @ TURN[1]) == pytest.approx(1.0)


def test_a_saddle_between_axes_is_seen():
    """Both axes along a ridge fall; the direction between them rises."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    box, point = Box.make([(0, 1)] * 3), np.full(3, 0.5)

    def function(z):
        u = turn @ (z - point)
        return -2.0 * abs(u[0]) - u[1] ** 2 - u[2] ** 2 + 6.0 * u[1] * u[2]

    where = points_around(box, point, turn, H)
    found = surroundings(point, 0.0, turn, H, where, np.array([function(z) for z in where]), 1.0, 1e-12)
    assert found.rise is not None
    assert abs(found.rise @ (turn[1] + turn[2])) == pytest.approx(np.sqrt(2.0))


def test_a_cone_has_no_smooth_direction_and_is_as_wide_as_it_is():
    found = seen(lambda u: -4.0 * np.hypot(*u), height=2.0)
    assert not found.is_smooth
    assert not found.is_cusp
    np.testing.assert_array_equal(found.peak, 0.0)
    # a parabola of this curvature falls by the height where the cone does: at 2 / 4
    np.testing.assert_allclose(0.5 * np.diagonal(-found.hessian) * 0.5**2, 2.0)


def test_a_root_is_a_cusp():
    assert seen(lambda u: -np.sqrt(abs(u[0])) - u[1] ** 2).is_cusp


def test_next_to_a_bound_one_side_counts():
    axes = np.eye(2)
    point = np.array([0.5, 0.0])
    where = points_around(BOX, point, axes, H)
    assert (where >= 0.0).all()
    values = -2.0 * np.abs(where[:, 0] - 0.5) - 3.0 * where[:, 1]
    found = surroundings(point, 0.0, axes, H, where, values, 1.0, 1e-12)
    assert not found.is_smooth
    assert found.rise is None
    assert np.diagonal(-found.hessian)[1] == pytest.approx(2.0 * 9.0)


def test_points_that_a_bound_cuts_off_are_not_counted():
    """In a corner of the box, of a function that is linear there: it falls, and is not smooth."""
    axes = np.eye(2)
    where = points_around(BOX, np.ones(2), axes, H)
    assert BOX.inside(where).all()
    found = surroundings(np.ones(2), 2.0, axes, H, where, where.sum(axis=1), 1.0, 1e-12)
    assert not found.is_smooth
    assert not found.is_cusp
    assert found.rise is None
    assert np.isfinite(found.hessian).all()


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_failed_values_give_no_point_that_is_not_finite(bad):
    where = points_around(BOX, np.full(2, 0.5), np.eye(2), H)
    values = -np.abs(where - 0.5).sum(axis=1)
    values[3] = bad
    found = surroundings(np.full(2, 0.5), 0.0, np.eye(2), H, where, values, 1.0, 1e-12)
    assert np.isfinite(found.peak).all()
    assert found.rise is None or np.isfinite(found.rise).all()
    assert np.isfinite(found.hessian).all()


def test_points_are_close():
    assert np.abs(points_around(BOX, np.full(2, 0.5), TURN, H) - 0.5).max() <= np.sqrt(2.0) * H
