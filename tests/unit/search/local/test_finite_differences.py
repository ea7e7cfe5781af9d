"""Derivatives from differences: exact for quadratics, inside the box, and wary of kinks."""

import tracemalloc

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import Origin
from allmodes.search.context import Context
from allmodes.search.searchers.local import finite_differences as differences
from allmodes.search.searchers.local.learning import points_of
from allmodes.search.searchers.local.table import Phase, TrustRegionTable

RNG = np.random.default_rng(0)
D = 3
A = RNG.normal(size=(D, D))
A = A + A.T
B = RNG.normal(size=D)
LOWER, UPPER = np.zeros(D), np.ones(D)
PLACES = np.array([[0.5, 0.4, 0.3], [0.0, 1.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1e-9, 1.0 - 1e-9, 5e-4]])


def quadratic(x):
    return 0.5 * np.einsum("...i,ij,...j->...", x, A, x) + x @ B + 2.0


def slope(x):
    return x @ A + B


def is_inside(points):
    return (points >= LOWER).all() and (points <= UPPER).all()


@pytest.mark.parametrize("size", [1e-7, 1e-3])
def test_gradients_are_those_of_the_function_and_stay_inside(size):
    steps = differences.inward(PLACES, np.full_like(PLACES, size), UPPER)
    moved = differences.gradient_points(PLACES, steps)
    assert moved.shape == (len(PLACES), D, D)
    assert is_inside(moved)
    found = differences.gradient(PLACES, quadratic(PLACES), moved, quadratic(moved))
    bias = 0.5 * (moved[:, range(D), range(D)] - PLACES) * np.diag(A)
    np.testing.assert_allclose(found - bias, slope(PLACES), atol=1e-8 if size < 1e-5 else 1e-10)


def test_a_step_is_what_floating_point_made_of_it():
    """1e-7 beside 1000 is off by a relative 4e-7; the step that was made is what divides."""
    point = np.array([[1000.0]])
    moved = differences.gradient_points(point, np.full((1, 1), 1e-7))
    assert moved[0, 0, 0] - 1000.0 != 1e-7
    slope = differences.gradient(point, np.zeros(1), moved, 3.0 * (moved[..., 0] - 1000.0))
    assert slope[0, 0] == pytest.approx(3.0, rel=1e-14)


def test_steps_turn_inward_at_the_upper_bound_alone():
    steps = differences.inward(np.array([[0.0, 0.5, 1.0]]), np.full((1, 3), 0.1), UPPER)
    np.testing.assert_array_equal(steps, [[0.1, 0.1, -0.1]])


@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.1])
def test_curvature_is_exact_for_quadratics_at_the_bounds_too(size):
    steps = np.full_like(PLACES, size)
    moved = differences.hessian_points(PLACES, steps, LOWER, UPPER)
    assert moved.shape == (len(PLACES), 9, D)
    assert is_inside(moved)
    found = differences.hessian(PLACES, quadratic(PLACES), moved, quadratic(moved))
    np.testing.assert_allclose(found, np.broadcast_to(A, found.shape), atol=2e-15 / size**2 + 1e-9)
    np.testing.assert_array_equal(found, found.mT)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_number_of_points_is_that_of_the_coefficients(d):
    """Value and gradient are known: a quadratic in d coordinates has d + d (d + 1) / 2 further coefficients."""
    middle = np.full((2, d), 0.5)
    moved = differences.hessian_points(middle, np.full((2, d), 1e-3), np.zeros(d), np.ones(d))
    assert moved.shape[1] == d + d * (d + 1) // 2


def turned_axes(n):
    """Orthonormal axes (n, D, D), other ones for each point."""
    return np.linalg.qr(np.random.default_rng(1).normal(size=(n, D, D)))[0]


def test_hessians_from_gradients_along_axes_of_each_point():
    axes, lengths = turned_axes(len(PLACES)), np.full_like(PLACES, 1e-4)
    lengths[:, 1] = -3e-4  # backward
    moved = PLACES[:, None] + lengths[..., None] * axes
    found = differences.hessian_of_gradients(slope(PLACES), lengths, slope(moved), axes)
    np.testing.assert_allclose(found, np.broadcast_to(A, found.shape), atol=1e-9)
    np.testing.assert_allclose(found, found.mT, atol=1e-15)


FUNCTIONS = {
    "parabola": (lambda x: ((x - 0.4) ** 2).sum(axis=-1), False),
    "cosine": (lambda x: np.cos(5.0 * x).sum(axis=-1), False),
    "level": (lambda x: 0.0 * x[..., 0] + 3.0, False),
    "linear": (lambda x: x.sum(axis=-1), False),
    "kink": (lambda x: np.abs(x - 0.5).sum(axis=-1), True),
    "kink with a slope": (lambda x: np.abs(x - 0.5).sum(axis=-1) + 0.5 * x[..., 0], True),
    "jump": (lambda x: np.where(x[..., 0] > 0.5 + 1e-5, 1.0, 0.0), True),
    "not a number": (lambda x: np.where(x[..., 0] > 0.5 + 1e-5, np.nan, 0.0), True),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.parametrize("side", [0.0, 1e-6])
def test_kinks_and_jumps_are_seen(name, side):
    function, is_rough = FUNCTIONS[name]
    point = np.full((1, 2), 0.5 + side)
    lower, upper = np.zeros(2), np.ones(2)
    near = differences.gradient_points(point, np.full((1, 2), 1e-7))
    gradient = differences.gradient(point, function(point), near, function(near))
    moved = differences.hessian_points(point, np.full((1, 2), 1e-3), lower, upper)
    told = function(point), gradient, np.zeros((1, 2)), moved, function(moved), 1e-11
    assert differences.is_rough(point, *told).tolist() == [is_rough]


def test_a_kink_is_seen_along_the_axes_of_each_point():
    """|x - y| has a kink across the diagonal alone, where x + y does not change."""
    points, r = np.full((2, 2), 0.5), np.sqrt(0.5)
    axes = np.array([[[r, r], [r, -r]], [[r, r], [r, r]]])
    moved = differences.hessian_points(points, np.full((2, 2), 1e-3), np.zeros(2), np.ones(2), axes)

    def function(x):
        return np.abs(x[..., 0] - x[..., 1]) + x.sum(axis=-1)

    slopes = np.array([[2.0 * r, 2.0 * r], [2.0 * r, 2.0 * r]])  # on one side of the kink
    told = function(points), slopes, np.zeros((2, 2)), moved, function(moved), 1e-11
    assert differences.is_rough(points, *told, axes).tolist() == [True, False]


def test_what_the_errors_of_slopes_explain_is_no_kink():
    """At the minimum of a parabola a slope that is off by more than the bend looks like a kink."""
    point = np.array([[0.4]])
    moved = differences.hessian_points(point, np.full((1, 1), 1e-4), np.zeros(1), np.ones(1))
    rises = (moved[..., 0] - 0.4) ** 2
    for error, is_rough in ((0.0, True), (1e-3, False)):
        told = np.zeros(1), np.full((1, 1), 4e-4), np.full((1, 1), error), moved, rises, 1e-15
        assert differences.is_rough(point, *told).tolist() == [is_rough]


def test_one_kink_among_many_points_is_told_apart():
    points = np.array([[0.2], [0.5], [0.8]])
    moved = differences.hessian_points(points, np.full((3, 1), 1e-3), np.zeros(1), np.ones(1))

    def function(x):
        return np.abs(x[..., 0] - 0.5)

    gradient = np.array([[-1.0], [1.0], [1.0]])
    told = function(points), gradient, np.zeros((3, 1)), moved, function(moved), 1e-11
    rough = differences.is_rough(points, *told)
    assert rough.tolist() == [False, True, False]


# ---- along any axes


SKEWED = np.array([[2.0, 1.0, 0.0], [-0.3, 0.5, 0.1], [0.0, -1.0, 3.0]])  # neither of unit length nor at right angles
ROTATED = np.linalg.qr(RNG.normal(size=(D, D)))[0]


@pytest.mark.parametrize("axes", [SKEWED, ROTATED, 1e-3 * SKEWED, np.eye(D)])
@pytest.mark.parametrize("size", [1e-3, 0.05])
def test_second_derivatives_along_axes_are_exact_for_quadratics(axes, size):
    points = PLACES[[0, 4]]  # inside, and so near to bounds that the steps turn
    steps = np.full_like(points, size)
    moved = differences.hessian_points(points, steps, LOWER, UPPER, axes)
    assert moved.shape == (2, 9, D)
    assert is_inside(moved)
    found = differences.hessian(points[:1], quadratic(points[:1]), moved[:1], quadratic(moved[:1]), axes)
    rounding = 4e-15 / size**2
    np.testing.assert_allclose(found[0], axes @ A @ axes.T, atol=rounding + 1e-9 * np.abs(axes).max() ** 2)
    inverse = np.linalg.inv(axes)
    np.testing.assert_allclose(inverse @ found[0] @ inverse.T, A, atol=30 * rounding * np.abs(inverse).max() ** 2)
    bends = differences.curvatures(points[:1], quadratic(points[:1]), moved[:1], quadratic(moved[:1]), axes)
    np.testing.assert_array_equal(bends[0], np.diagonal(found[0]))


@pytest.mark.parametrize("axes", [SKEWED, ROTATED])
def test_second_derivatives_are_exact_wherever_along_the_axes_the_points_are(axes):
    """Points that failed are replaced by others: each was moved by a share of its own."""
    points = PLACES[:1]
    moved = differences.hessian_points(points, np.full_like(points, 0.05), LOWER, UPPER, axes)
    shares = np.array([0.9, 1.0, -0.6, 0.8, 1.0, 1.0, -0.6, 0.9, 1.0])
    moved = points[:, None] + shares[:, None] * (moved - points[:, None])
    found = differences.hessian(points, quadratic(points), moved, quadratic(moved), axes)
    np.testing.assert_allclose(found[0], axes @ A @ axes.T, atol=1e-10)


def test_axes_that_meet_a_bound_are_followed_as_far_as_there_is_room():
    """Two axes lead to the same corner: the steps turn back, and their pair with them; or they are shortened."""
    axes, point = np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([[0.95, 0.95]])
    B = np.array([[-3.0, 1.0], [1.0, 2.0]])

    def function(x):
        return 0.5 * np.einsum("...i,ij,...j->...", x, B, x) + x @ [0.3, -0.7]

    for lower, size, first in ((0.0, 0.025, 0.025), (0.0, 0.04, -0.04), (0.93, 0.04, 0.025)):
        points = differences.hessian_points(point, np.full((1, 2), size), np.full(2, lower), np.ones(2), axes)
        assert (points >= lower).all()
        assert (points <= 1.0).all()
        np.testing.assert_allclose(points[0, 4] - point[0], first * axes.sum(axis=0))
        found = differences.hessian(point, function(point), points, function(points), axes)
        np.testing.assert_allclose(found[0], axes @ B @ axes.T, atol=1e-10)


def test_an_axis_without_room_has_no_second_derivative():
    """In a corner a diagonal between the walls leads outside both ways; the other axis is not affected."""
    axes, point = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([[0.0, 1.0]])
    moved = differences.hessian_points(point, np.full((1, 2), 0.1), np.zeros(2), np.ones(2), axes)
    assert (moved >= 0.0).all()
    assert (moved <= 1.0).all()
    with np.errstate(invalid="ignore"):
        found = differences.curvatures(point, np.zeros(1), moved, (moved**2).sum(axis=-1) - 1.0, axes)
    assert np.isnan(found[0, 0])
    assert found[0, 1] == pytest.approx(4.0)


def test_an_axis_across_a_corner_is_cut_short():
    lower, upper = np.zeros(2), np.ones(2)
    across = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2.0)
    points, steps = np.array([[1e-9, 1e-9], [0.5, 0.5], [1e-9, 0.5]]), np.full((3, 2), 1e-3)
    cut = [differences.is_cut_short(points, axes, steps, lower, upper).tolist() for axes in (across, np.eye(2))]
    assert cut == [[True, False, False], [False, False, False]]


def test_slopes_are_exact_for_quadratics():
    """Along axes of each point; next to bounds, where both points lie on one side, too."""
    points, axes = np.array([[0.5, 0.4, 0.3], [0.6, 0.6, 0.7], [0.0, 1.0, 5e-4]]), turned_axes(3)
    axes[2] = np.eye(D)
    moved = differences.hessian_points(points, np.full((3, D), 1e-3), LOWER, UPPER, axes)
    told = points, quadratic(points), moved, quadratic(moved), axes
    wanted = np.einsum("nid,nd->ni", axes, slope(points))
    np.testing.assert_allclose(differences.slopes(*told), wanted, atol=1e-10)
    M = axes @ A @ axes.mT
    np.testing.assert_allclose(differences.hessian(*told), M, atol=1e-7)
    np.testing.assert_allclose(differences.turned(M, axes), np.broadcast_to(A, M.shape), atol=1e-12)


# ---- how long the steps are


def a_context(order=0):
    box = Box.make([(0, 1), (0, 1)])
    return Context(box, Archive(box), np.random.default_rng(0), order=order)


def test_gradient_steps_balance_rounding_of_values_and_curvature():
    """With rounding e and curvature h forward differences are best over 2 sqrt(e / h), within limits."""
    points, values, bends = np.full((5, 2), 0.5), np.array([1e4, 1.0, 0.0, 1e9, np.inf]), np.array([-100.0, 1e4])
    steps = differences.gradient_steps(a_context(), points, values, bends)
    np.testing.assert_allclose(steps[0], 2.0 * np.sqrt(8.8e-12 / np.abs(bends)))
    np.testing.assert_array_equal(steps[1:], [[1e-8, 1e-8], [1e-8, 1e-8], [1e-5, 1e-5], [1e-8, 1e-8]])
    straight = differences.gradient_steps(a_context(), points[:1], values[:1], 0.0)
    np.testing.assert_array_equal(straight, [[1e-5, 1e-5]])


def test_gradient_steps_turn_inward():
    steps = differences.gradient_steps(a_context(), np.array([[0.0, 1.0]]), np.zeros(1), 1.0)
    np.testing.assert_array_equal(steps, [[1e-8, -1e-8]])


def test_curvature_is_measured_over_steps_as_short_as_rounding_allows():
    """Over the step the function falls by a hundred thousand roundings; with gradients it need not."""
    values, bends = np.array([1.0, 0.0, 1e9]), np.array([[-1.0, 0.01]])
    steps = differences.curvature_steps(a_context(), values, np.repeat(bends, 3, axis=0))
    falls = 0.5 * np.abs(bends[0]) * steps[0] ** 2
    np.testing.assert_allclose(falls, 1e5 * 8.8e-16)
    np.testing.assert_array_equal(steps[1:], [[1e-5, 1e-5], [1e-2, 1e-2]])
    np.testing.assert_array_equal(differences.curvature_steps(a_context(1), values, bends), np.full((3, 2), 1e-5))


def test_steps_are_longer_for_coarse_functions_and_never_as_long_as_modes_are_apart():
    box = Box.make([(0, 1)])
    lengths = []
    for rounding in (0.0, 1e-7, 1e-5):
        context = Context(box, Archive(box), np.random.default_rng(0))
        context.learn_rounding(rounding)
        point, value, curvature = np.array([[0.5]]), np.array([1.0]), np.array([[10.0]])
        steps = differences.gradient_steps(context, point, value, curvature)
        lengths.append([float(steps[0, 0]), float(differences.curvature_steps(context, value, curvature)[0, 0])])
    assert (np.diff(lengths, axis=0) >= 0.0).all()
    assert lengths[0][0] < 1e-7 < 1e-4 < lengths[1][0]
    assert np.max(lengths) <= 0.02


def test_with_gradients_no_point_is_made_for_pairs_of_axes():
    """In 200 dimensions those would take 32 megabytes for each search, to be thrown away."""
    along = differences.axis_points(PLACES, np.full_like(PLACES, 0.01), LOWER, UPPER)
    np.testing.assert_array_equal(
        along, differences.hessian_points(PLACES, np.full_like(PLACES, 0.01), LOWER, UPPER)[:, : 2 * D]
    )
    d = 200
    context = Context(box := Box.make([(0, 1)] * d), Archive(box), np.random.default_rng(0), order=1)
    table = TrustRegionTable(d)
    rows = table.open(np.full((1, d), 0.5), [Origin("local", "space-filling", 0)], [0])
    tracemalloc.start()
    points = points_of(context, table, Phase.CURVE, rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert points.shape == (1, d, d)
    assert most < 50 * points.nbytes


def test_second_derivatives_on_both_sides_do_not_see_third_ones():
    """Those on one side are off by the third derivative times the step."""
    point, size = np.array([0.5, 0.4, 0.3]), 1e-3
    axes, _ = np.linalg.qr(RNG.normal(size=(D, D)))

    def cubic(x):
        return quadratic(x) + 50.0 * x.prod(axis=-1) + 30.0 * x[..., 0] ** 3

    others = np.array([[0.0, point[2], point[1]], [point[2], 0.0, point[0]], [point[1], point[0], 0.0]])
    H = A + 50.0 * others + np.diag([180.0 * point[0], 0.0, 0.0])
    steps = np.full(D, size)
    moved = differences.central_points(point, steps, axes)
    assert moved.shape == (D * D + D, D)
    M = differences.central_hessian(cubic(point), cubic(moved), steps)
    np.testing.assert_allclose(differences.turned(M, axes), H, atol=1e-7)
    one_sided = differences.hessian_points(point[None], steps[None], LOWER, UPPER, axes)
    M = differences.hessian(point[None], cubic(point)[None], one_sided, cubic(one_sided), axes)[0]
    assert np.abs(differences.turned(M, axes) - H).max() > 1e-3
