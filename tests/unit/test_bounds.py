"""The box: bounds in every form, unit coordinates, and the ways back inside."""

import pickle

import numpy as np
import pytest
from scipy.optimize import Bounds

from allmodes.objective.bounds import Box

INF = np.inf
RNG = np.random.default_rng(0)

BOXES = {
    "finite": Box.make([(-1.1, 2.3), (0.1, 0.7), (1e-9, 1e9)]),
    "periodic": Box.make([(-np.pi, np.pi), (0.1, 0.7)], periodic=[0]),
    "half open": Box.make([(0.3, None), (None, -7.0), (-2, 2)]),
    "open": Box.make(None, x0=[3.0, -40.0]),
    "fixed": Box.make([(0, 1), (4.2, 4.2), (-3, 3)]),
    "everything": Box.make(
        [(0.1, 1), (7, 7), (-3, 3), (None, 2), (-1, None), (None, None)], [0.5, 7, 0.5, 0.5, 0.5, 0.5], [2]
    ),
}
each_box = pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)


def test_finite_bounds_are_the_start_region():
    box = Box.make([(-1, 2), (0, 5)])
    np.testing.assert_array_equal(box.lower, [-1, 0])
    np.testing.assert_array_equal(box.upper, [2, 5])
    np.testing.assert_array_equal(box.start_lower, box.lower)
    np.testing.assert_array_equal(box.start_upper, box.upper)
    np.testing.assert_array_equal(box.scale, [3, 5])
    np.testing.assert_array_equal(box.lower_unit, [0, 0])
    np.testing.assert_array_equal(box.upper_unit, [1, 1])
    assert (box.d, box.D) == (2, 2)
    assert not box.periodic.any()
    assert box.free.all()


@pytest.mark.parametrize(
    "given",
    [
        [(0, 1), (-INF, 2)],
        ((0, 1), (None, 2)),
        [[0, 1], [None, 2]],
        np.array([[0, 1], [-INF, 2]]),
        Bounds([0, -INF], [1, 2]),
        zip([0, None], [1, 2], strict=True),
    ],
    ids=["inf", "None", "lists", "array", "Bounds", "iterator"],
)
def test_bounds_in_every_form(given):
    box = Box.make(given)
    np.testing.assert_array_equal(box.lower, [0, -INF])
    np.testing.assert_array_equal(box.upper, [1, 2])
    np.testing.assert_array_equal(box.lower_unit, [0, -INF])


def test_scalar_bounds_of_scipy_hold_for_every_coordinate_of_x0():
    box = Box.make(Bounds(-1, 1), x0=[0.0, 0.5, 1.0])
    np.testing.assert_array_equal(box.lower, [-1, -1, -1])
    assert Box.make(Bounds(-1, 1)).d == 1


def test_start_region_where_the_bounds_are_open():
    np.testing.assert_array_equal(Box.make([(3, None)]).start_upper, [33])
    np.testing.assert_array_equal(Box.make([(None, -0.5)]).start_lower, [-10.5])
    box = Box.make(None, x0=[0.5, -20.0])
    np.testing.assert_array_equal(box.start_lower, [-4.5, -120])
    np.testing.assert_array_equal(box.start_upper, [5.5, 80])
    several = Box.make([(None, None), (-21, None)], x0=[[0.5, -20.0], [2.0, 0.0]])
    np.testing.assert_array_equal(several.start_lower, [-8, -21])
    np.testing.assert_array_equal(several.start_upper, [12, 80])


def test_a_coordinate_without_room_leaves_the_problem():
    box = BOXES["fixed"]
    assert (box.d, box.D) == (2, 3)
    np.testing.assert_array_equal(box.free, [True, False, True])
    np.testing.assert_array_equal(box.to_user(np.array([[0.5, 1.0]])), [[0.5, 4.2, 3.0]])
    np.testing.assert_array_equal(box.to_unit(np.array([[0.5, 4.2, 3.0]])), [[0.5, 1.0]])


def test_a_box_can_be_a_single_point():
    box = Box.make([(1, 1), (2, 2)], periodic=True)
    assert box.d == 0
    assert not box.periodic.any()
    np.testing.assert_array_equal(box.to_user(np.empty((2, 0))), [[1, 2], [1, 2]])
    assert box.to_unit(np.array([[1.0, 2.0]])).shape == (1, 0)
    np.testing.assert_array_equal(box.inside(np.empty((2, 0))), [True, True])


@each_box
def test_the_ends_are_exact(box):
    corners = np.array([[0.0] * box.d, [1.0] * box.d])
    x = box.to_user(corners)
    np.testing.assert_array_equal(x[0], box.start_lower)
    np.testing.assert_array_equal(x[1], np.where(box.periodic, box.start_lower, box.start_upper))
    np.testing.assert_array_equal(box.to_unit(x), np.where(box.periodic[box.free], 0.0, corners))


@each_box
def test_there_and_back(box):
    z = RNG.random((50, box.d))
    back = box.to_unit(box.to_user(z))
    np.testing.assert_allclose(back, z, rtol=1e-12, atol=1e-14)
    assert box.to_user(z).shape == (50, box.D)


@each_box
def test_no_point_of_the_user_is_outside_the_bounds(box):
    z = np.concatenate(
        [RNG.normal(scale=10, size=(200, box.d)), np.nextafter([[0.0, 1.0]] * box.d, [[-1.0, 2.0]] * box.d).T]
    )
    for points in (z, np.nextafter(np.ones((1, box.d)), 0), box.reflect(z), box.project(z)):
        x = box.to_user(points)
        assert (x >= box.lower).all()
        assert (x <= box.upper).all()
        assert (x[:, box.periodic] < box.upper[box.periodic]).all()


def test_ends_survive_rounding():
    """lower + (upper - lower) is not upper for many pairs of numbers; z = 1 is."""
    lower, upper = -RNG.exponential(size=500), RNG.exponential(scale=0.01, size=500)
    assert (lower + (upper - lower) != upper).any()
    box = Box.make(np.column_stack([lower, upper]))
    np.testing.assert_array_equal(box.to_user(np.ones((1, 500)))[0], upper)


def test_what_overflows_is_cut_to_the_largest_number():
    box = Box.make(None, x0=[0.0])
    assert np.isfinite(box.to_user(np.array([[1e308], [-1e308]]))).all()


def test_periodic_coordinates_wrap():
    box = Box.make([(0, 4), (0, 1)], periodic=[True, False])
    np.testing.assert_array_equal(
        box.to_user(np.array([[1.25, 0.5], [-0.25, 0.5], [1.0, 1.0]])), [[1, 0.5], [3, 0.5], [0, 1]]
    )
    np.testing.assert_array_equal(
        box.to_unit(np.array([[4.0, 1.0], [9.0, 1.0], [-1.0, 0.0]])), [[0, 1], [0.25, 1], [0.75, 0]]
    )
    np.testing.assert_array_equal(box.to_user(np.array([[-1e-300, 0.0]])), [[0, 0]])
    np.testing.assert_array_equal(box.lower_unit, [-INF, 0])
    np.testing.assert_array_equal(box.upper_unit, [INF, 1])
    np.testing.assert_array_equal(box.project(np.array([[2.75, 1.5]])), [[0.75, 1]])


def test_difference_takes_the_shortest_way_round():
    box = Box.make([(0, 4), (0, 1)], periodic=[0])
    a, b = np.array([[[0.9, 0.9]], [[0.1, 0.2]]]), np.array([[0.1, 0.1], [0.3, 0.3]])
    found = box.difference(a, b)
    assert found.shape == (2, 2, 2)
    np.testing.assert_allclose(found[0], [[-0.2, 0.8], [-0.4, 0.6]])
    np.testing.assert_allclose(found[1], [[0.0, 0.1], [-0.2, -0.1]])
    np.testing.assert_array_equal(BOXES["finite"].difference(np.ones(3), np.zeros(3)), np.ones(3))


@each_box
def test_points_brought_back_are_inside_and_inner_points_stay_as_they_are(box):
    z = RNG.normal(scale=5, size=(200, box.d))
    inner = RNG.random((20, box.d)) * 1e-20
    for bring in (box.project, box.reflect):
        assert box.inside(bring(z)).all()
        np.testing.assert_array_equal(bring(inner), inner)
    assert not box.inside(np.full((1, box.d), np.nan)).any()


def test_reflect_mirrors_at_the_bounds():
    box = Box.make([(0, 1), (0, None), (None, 0), (0, 1)], periodic=[3])
    found = box.reflect(
        np.array([[-0.25, -0.25, 1.25, -0.25], [1.25, 7.0, 0.5, 1.25], [4.75, -7.0, 9.0, 0.5], [-3.5, 0.0, -4.0, 0.0]])
    )
    np.testing.assert_array_equal(
        found, [[0.25, 0.25, 0.75, 0.75], [0.75, 7.0, 0.5, 0.25], [0.75, 7.0, -7.0, 0.5], [0.5, 0.0, -4.0, 0.0]]
    )


def test_inside_looks_at_every_coordinate():
    box = Box.make([(0, 1), (0, None)])
    np.testing.assert_array_equal(box.inside(np.array([[0.0, 1.0], [1.0, 9.0], [1.1, 0.5], [0.5, -0.1]])), [1, 1, 0, 0])


@each_box
def test_derivatives_follow_the_chain_rule(box):
    """A quadratic l(x) = g x + x H x / 2, seen through the map to unit coordinates."""
    g, H = RNG.normal(size=(3, box.D)), RNG.normal(size=(3, box.D, box.D))
    z, step = RNG.random((1, box.d)), 1e-3 * RNG.random((1, box.d))
    dx = (box.to_user(z + step) - box.to_user(z))[0]
    np.testing.assert_allclose(box.gradient_to_unit(g) @ step[0], g @ dx, rtol=1e-6)
    np.testing.assert_allclose(step[0] @ box.hessian_to_unit(H) @ step[0], dx @ H @ dx, rtol=1e-6)
    mask = box.free.astype(float)
    np.testing.assert_allclose(box.gradient_to_user(box.gradient_to_unit(g)), g * mask, rtol=1e-12)
    np.testing.assert_allclose(box.hessian_to_user(box.hessian_to_unit(H)), H * mask * mask[:, None], rtol=1e-12)
    assert box.hessian_to_user(np.zeros((box.d, box.d))).shape == (box.D, box.D)


@pytest.mark.parametrize("given", [True, [0, 1], [True, True], np.array([0, -1]), (np.bool_(True), True)])
def test_periodic_in_every_form(given):
    assert Box.make([(0, 1), (0, 1)], periodic=given).periodic.all()


@pytest.mark.parametrize("given", [None, False, [], [False, False]])
def test_periodic_off_in_every_form(given):
    assert not Box.make([(0, 1), (0, 1)], periodic=given).periodic.any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bounds": None}, ValueError, "bounds and x0 are both None"),
        ({"bounds": []}, ValueError, r"bounds has shape \(0,\)"),
        ({"bounds": (0, 1)}, TypeError, r"bounds is \(0, 1\); bounds needs one \(lower, upper\) pair"),
        ({"bounds": 3}, TypeError, r"bounds is 3; bounds needs one"),
        ({"bounds": [(0, 1, 2)]}, ValueError, r"bounds\[0\] has 3 entries"),
        ({"bounds": [(0, 1), (2,)]}, ValueError, r"bounds\[1\] has 1 entries"),
        ({"bounds": [(0, 1), (2, 1)]}, ValueError, r"bounds of coordinate 1 are \(2.0, 1.0\); wanted lower <= upper"),
        ({"bounds": [(0, np.nan)]}, ValueError, r"bounds of coordinate 0 are \(0.0, nan\)"),
        ({"bounds": [(INF, INF)]}, ValueError, r"bounds of coordinate 0 are \(inf, inf\)"),
        ({"bounds": [(0, 1j)]}, TypeError, "bounds has dtype complex128"),
        ({"bounds": [(-1e308, 1e308)]}, ValueError, "too wide for float64"),
        ({"bounds": [(0, 1), (None, None)]}, ValueError, "coordinate 1 has no bounds; .* x0"),
        ({"bounds": [(0, 1)], "x0": [0.5, 0.5]}, ValueError, r"x0 has shape \(2,\); a point \(1,\)"),
        ({"bounds": [(0, 1)], "x0": [[[0.5]]]}, ValueError, r"x0 has shape \(1, 1, 1\)"),
        ({"bounds": [(0, 1)], "x0": [np.nan]}, ValueError, "x0 contains nan"),
        (
            {"bounds": [(0, 1)], "x0": [[0.5], [2.0]]},
            ValueError,
            r"x0 has 2.0 in coordinate 0, outside its bounds \[0.0, 1.0\]",
        ),
        ({"bounds": None, "x0": []}, ValueError, r"x0 has shape \(0,\)"),
        ({"bounds": None, "x0": [1e308]}, ValueError, "does not fit float64"),
        ({"bounds": [(1e308, None)]}, ValueError, "does not fit float64"),
        ({"bounds": None, "x0": [1j]}, TypeError, "x0 has dtype complex128"),
        ({"bounds": [(0, 1)], "periodic": [1]}, ValueError, r"periodic is \[1\]; wanted True, 1 booleans"),
        ({"bounds": [(0, 1)], "periodic": [True, False]}, ValueError, "periodic is .* 1 booleans"),
        ({"bounds": [(0, 1)], "periodic": "x"}, ValueError, "periodic is 'x'"),
        ({"bounds": [(0, None)], "periodic": True}, ValueError, r"coordinate 0 is periodic with bounds \(0.0, inf\)"),
    ],
)
def test_what_is_no_box_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Box.make(**arguments)


def test_points_of_the_user_are_checked():
    box = Box.make([(0, 1), (0, 1)])
    np.testing.assert_array_equal(box.checked("x0", [0.5, 1]), [[0.5, 1]])
    assert box.checked("x0", [[0.5, 1], [0, 0]]).shape == (2, 2)
    with pytest.raises(ValueError, match=r"points has -1\.0 in coordinate 1"):
        box.checked("points", [0.5, -1])


def test_a_box_cannot_be_written_to_and_can_be_pickled():
    box = BOXES["everything"]
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 3.0
    z = RNG.random((3, box.d))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(box)).to_user(z), box.to_user(z))
