"""What trust-region searches ask for, and how models, radii and gradients change by the answers."""

import numpy as np
import pytest
from local_runs import a_context, answer, begin

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.searchers.local import learning
from allmodes.search.searchers.local.table import Phase, TrustRegionTable
from allmodes.search.searchers.local.tuning import TUNING

H = np.array([[-4.0, 1.0], [1.0, -3.0]])
PEAK = np.array([0.45, 0.55])


def hill(z):
    apart = z - PEAK
    return 0.5 * np.einsum("...i,ij,...j->...", apart, H, apart), apart @ H, np.broadcast_to(H, (*z.shape, 2))


def searches(order, points=((0.3, 0.4), (1.0, 0.2)), radius=0.1):
    """The context, and a table with the searches at points where nothing is known yet."""
    context, table = a_context(order, function=hill), TrustRegionTable(2)
    origins = [Origin(LOCAL, SPACE_FILLING, i) for i in range(len(points))]
    rows = table.open(np.array(points, dtype=float), origins, list(range(len(points))))
    table.radius[rows] = radius
    return context, table, rows


def told(context, points):
    parts = hill(points)
    return Evaluation(*[part if i <= context.order else None for i, part in enumerate(parts)])


def ask_and_tell(context, table, phase, rows, tell):
    points = learning.points_of(context, table, phase, rows)
    assert context.box.inside(points.reshape(-1, 2)).all()
    return points.shape[1], tell(points)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_start_knows_value_gradient_and_a_model(order):
    context, table, rows = searches(order)
    each, ready = ask_and_tell(
        context, table, Phase.START, rows,
        lambda points: learning.told_start(context, table, rows, points, told(context, points)),
    )  # fmt: skip
    assert each == (3 if order == 0 else 1)
    assert ready.tolist() == rows.tolist()
    value, gradient, _ = hill(table.point[rows])
    np.testing.assert_array_equal(table.value[rows], value)
    np.testing.assert_allclose(table.gradient[rows], gradient, atol=1e-6)
    if order == 2:
        np.testing.assert_array_equal(table.hessian[rows], [H, H])
    else:  # so flat that the radius alone says how long the first step is
        step = -np.linalg.solve(table.hessian[rows], table.gradient[rows][..., None])[..., 0]
        np.testing.assert_allclose(np.linalg.norm(step, axis=1), 0.1 / TUNING.flatter)
        assert (np.linalg.eigvalsh(table.hessian[rows]) < 0.0).all()
    assert table.is_measured[rows].tolist() == [order == 2] * 2


@pytest.mark.parametrize("order", [0, 1])
def test_curvature_is_measured_inside_the_box(order):
    context, table, rows = searches(order)
    table.value[rows], table.gradient[rows], _ = hill(table.point[rows])
    table.hessian[rows] = -np.eye(2)
    each, _ = ask_and_tell(
        context, table, Phase.CURVE, rows,
        lambda points: learning.told_curve(context, table, rows, points, told(context, points)),
    )  # fmt: skip
    assert each == (5 if order == 0 else 2)
    np.testing.assert_allclose(table.hessian[rows], [H, H], atol=1e-3)
    assert table.is_measured[rows].all()
    assert table.measurements[rows].tolist() == [1, 1]


@pytest.mark.parametrize("order", [0, 1])
def test_curvature_is_measured_along_the_axes_of_the_model(order):
    context, table, rows = searches(order, points=[(0.3, 0.4)])
    table.value[rows], table.gradient[rows], _ = hill(table.point[rows])
    way = np.array([0.6, 0.8])
    table.hessian[rows] = -np.eye(2) - 1e4 * np.outer(way, way)
    points = learning.points_of(context, table, Phase.CURVE, rows)
    moves = points[0, :2] - table.point[0]
    directions = moves / np.linalg.norm(moves, axis=1)[:, None]
    np.testing.assert_allclose(np.abs(directions @ way), [1.0, 0.0], atol=1e-4)
    learning.told_curve(context, table, rows, points, told(context, points))
    np.testing.assert_allclose(table.hessian[rows], [H], atol=0.01)


def test_curvature_in_a_corner_is_measured_again_where_the_first_steps_were_too_long():
    """A start in a corner without slope knows nothing of the curvature: from values the first steps are the longest."""

    def quartic(z):
        return 1.0 - 10.0 * (z**2).sum(axis=-1) - 1e4 * (z**4).sum(axis=-1)

    context, table = a_context(0, function=lambda z: (quartic(z),)), TrustRegionTable(2)
    rows = table.open(np.zeros((1, 2)), [Origin(LOCAL, SPACE_FILLING, 0)], [0])
    table.value[rows], table.gradient[rows], table.hessian[rows] = 1.0, -1e-9, -1e-9 * np.eye(2)
    off = []
    for _ in range(2):
        points = learning.points_of(context, table, Phase.CURVE, rows)
        learning.told_curve(context, table, rows, points, Evaluation(quartic(points)))
        off.append(abs(table.hessian[0, 0, 0] + 20.0))
        is_measured = bool(table.is_measured[0])
    assert off[0] > 5.0
    assert off[1] < 0.01
    assert is_measured


def test_gradients_are_measured_with_the_curvature():
    """From both sides: one that is off by a thousandth of the slope is right afterwards."""
    context, table, rows = searches(0)
    table.value[rows], gradient, _ = hill(table.point[rows])
    table.gradient[rows], table.hessian[rows] = 1.001 * gradient, -np.eye(2)
    points = learning.points_of(context, table, Phase.CURVE, rows)
    learning.told_curve(context, table, rows, points, told(context, points))
    np.testing.assert_allclose(table.gradient[rows], gradient, rtol=1e-7)


def valley(z):
    """Minus Rosenbrock's function on [-2, 2]^2, with its Hessian."""
    x, y = 4.0 * z[..., 0] - 2.0, 4.0 * z[..., 1] - 2.0
    value = -(100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2)
    gradient = -4.0 * np.stack([-400.0 * x * (y - x**2) - 2.0 * (1.0 - x), 200.0 * (y - x**2)], axis=-1)
    rows = [1200.0 * x**2 - 400.0 * y + 2.0, -400.0 * x], [-400.0 * x, np.full_like(x, 200.0)]
    return value, gradient, -16.0 * np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@pytest.mark.parametrize("guess", [1.0, 0.5, 20.0])
def test_the_curvature_of_a_bent_valley_is_right_to_a_hundredth(guess):
    """At its minimum, from values, by a model that is off by this factor along the valley and across it."""
    context, table = a_context(0, function=valley), TrustRegionTable(2)
    rows = table.open(np.array([[0.75, 0.75]]), [Origin(LOCAL, SPACE_FILLING, 0)], [0])
    table.value[rows], table.gradient[rows], true = valley(table.point[rows])
    table.hessian[rows] = guess * true
    points = learning.points_of(context, table, Phase.CURVE, rows)
    learning.told_curve(context, table, rows, points, Evaluation(valley(points)[0]))
    np.testing.assert_allclose(np.linalg.eigvalsh(table.hessian[0]), np.linalg.eigvalsh(true[0]), rtol=0.01)


def step_to(trial, order, H0=None, radius=0.1, value=None):
    """One search at (0.3, 0.4) that knows everything there, told about a trial point."""
    context, table, rows = searches(order, points=[(0.3, 0.4)], radius=radius)
    table.value[rows], table.gradient[rows], _ = hill(table.point[rows])
    table.hessian[rows] = H if H0 is None else H0
    table.trial[rows], table.is_measured[rows] = trial, order == 2
    points = learning.points_of(context, table, Phase.STEP, rows)
    answer = told(context, points)
    answer = answer if value is None else answer._replace(value=np.array([[value]]))
    return table, learning.told_step(context, table, rows, points, answer)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_better_trial_point_is_taken(order):
    table, ready = step_to((0.4, 0.5), order)
    assert table.point[0].tolist() == [0.4, 0.5]
    assert table.value[0] == hill(np.array([0.4, 0.5]))[0]
    assert table.phase[0] == (Phase.SLOPE.value if order == 0 else Phase.START.value)
    assert ready.tolist() == ([] if order == 0 else [0])
    assert (table.iterations[0], table.refusals[0]) == (1, 0)
    assert table.radius[0] == pytest.approx(TUNING.growth * 0.1)  # longer than other steps: the model was exact


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("value", [None, -np.inf])
def test_a_worse_or_failed_trial_point_is_refused_and_shortens_the_next_step(order, value):
    table, ready = step_to((0.2, 0.3), order, value=value)
    assert table.point[0].tolist() == [0.3, 0.4]
    assert ready.tolist() == [0]
    assert (table.iterations[0], table.refusals[0]) == (1, 1)
    assert table.radius[0] == pytest.approx(0.3 * 0.1 * np.sqrt(2.0))
    assert np.isfinite(table.hessian[0]).all()


def test_a_refused_step_teaches_a_model_of_values_the_value_there():
    guess = -np.eye(2)
    table, _ = step_to((0.2, 0.3), 0, H0=guess)
    s, rise = np.array([-0.1, -0.1]), hill(np.array([0.2, 0.3]))[0] - hill(np.array([0.3, 0.4]))[0]
    assert table.gradient[0] @ s + 0.5 * s @ table.hessian[0] @ s == pytest.approx(rise)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("share", "is_taken"), [(0.09, False), (0.11, True), (2.9, True), (3.1, False)])
def test_a_step_that_rises_far_less_or_more_than_predicted_is_refused(order, share, is_taken):
    """It was too long, or it has leapt over a valley onto another hill."""
    old, new = (float(hill(np.array(place))[0]) for place in ((0.3, 0.4), (0.4, 0.5)))  # the model predicts new - old
    table, _ = step_to((0.4, 0.5), order, value=old + share * (new - old))
    assert table.point[0].tolist() == ([0.4, 0.5] if is_taken else [0.3, 0.4])
    assert (table.iterations[0], table.refusals[0]) == (1, 0 if is_taken else 1)
    assert table.last_step[0] == pytest.approx(0.1 * np.sqrt(2.0) if is_taken else 0.0)


def test_a_leap_that_teaches_a_hessian_nothing_shortens_the_next_step():
    """Or the same point would be tried until patience ends."""
    old, new = (float(hill(np.array(place))[0]) for place in ((0.3, 0.4), (0.4, 0.5)))
    table, _ = step_to((0.4, 0.5), 2, value=old + 5.0 * (new - old))
    np.testing.assert_array_equal(table.hessian[0], H)
    assert table.radius[0] == pytest.approx(0.3 * 0.1 * np.sqrt(2.0))


@pytest.mark.parametrize(("size", "is_kept"), [(1.0, True), (1.01, True), (1.05, False)])
def test_a_measured_model_is_kept_over_a_long_step_if_it_says_how_the_gradient_changes(size, is_kept):
    context, table, rows = searches(1, points=[(0.3, 0.4)])
    table.value[rows], table.gradient[rows], _ = hill(table.point[rows])
    table.hessian[rows], table.is_measured[rows], table.trial[rows] = size * H, True, (0.4, 0.5)
    points = learning.points_of(context, table, Phase.STEP, rows)
    learning.told_step(context, table, rows, points, told(context, points))
    assert table.point[0].tolist() == [0.4, 0.5]
    assert table.is_measured[0] == is_kept


def test_gradients_teach_a_model_their_change():
    table, _ = step_to((0.4, 0.5), 1, H0=-np.eye(2))
    s = np.array([0.1, 0.1])
    np.testing.assert_allclose(table.hessian[0] @ s, H @ s)


def test_a_measured_model_that_misses_the_slope_is_out_of_date():
    for H0, is_kept in ((H, True), (3.0 * H, False)):
        context, table, rows = searches(0, points=[(0.4, 0.5)])
        table.value[rows], true, _ = hill(table.point[rows])
        table.came_from[rows] = table.point[rows] - 0.01
        table.old_gradient[rows] = hill(table.came_from[rows])[1]
        table.hessian[rows], table.is_measured[rows] = H0, True
        points = learning.points_of(context, table, Phase.SLOPE, rows)
        learning.told_slope(context, table, rows, points, told(context, points))
        assert table.is_measured[0] == is_kept
        np.testing.assert_allclose(table.gradient[rows], true, atol=1e-6)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    ("at", "bend", "is_long"),
    [(0.5, 0.06, False), (0.5, 0.0, True), (5.0, 0.06, True)],
    ids=["bent", "exact", "outside"],
)
def test_steps_become_longer_than_basins_inside_the_box_only_where_models_are_exact(order, at, bend, is_long):
    """A long slope, which waves do not interrupt: outside of the box there is no such limit."""
    d, bounds = 4, [(0, None)] * 4

    def slope(z):
        value = (z + bend * np.sin(12.0 * z)).sum(axis=-1)
        return value, 1.0 + 12.0 * bend * np.cos(12.0 * z), -144.0 * bend * np.sin(12.0 * z)[..., None] * np.eye(d)

    context = a_context(order, bounds=bounds, function=slope)
    local, lengths, before = begin(context, [np.full(d, at)]), [], np.full(d, at)
    for _ in range(10):
        blocks = local.ask()
        where = blocks[0].points[0, 0]
        if blocks[0].kind == Phase.STEP.name:
            lengths.append(np.linalg.norm(where - before))
            before = where.copy()
        local.tell(blocks, answer(context, blocks, slope))
    longest = TUNING.first_radius * np.sqrt(d)
    assert max(lengths) > 2.0 * longest if is_long else longest <= max(lengths) < 1.5 * longest


def test_a_slope_that_a_model_of_values_misses_ends_long_steps():
    """The rise alone was as predicted."""
    for H0, radius in ((H, 0.3), (1.1 * H, TUNING.first_radius * np.sqrt(2.0))):
        context, table, rows = searches(0, points=[(0.4, 0.5)], radius=0.3)
        table.value[rows], _, _ = hill(table.point[rows])
        table.came_from[rows] = (0.3, 0.4)
        table.old_gradient[rows] = hill(table.came_from[rows])[1]
        table.hessian[rows] = H0
        points = learning.points_of(context, table, Phase.SLOPE, rows)
        learning.told_slope(context, table, rows, points, told(context, points))
        assert table.radius[0] == pytest.approx(radius)


def test_where_residuals_vanish_nothing_is_added_to_the_model_of_gauss_and_newton():
    """What was learnt from steps on the way there is no curvature that was measured."""
    context, table, rows = searches(1, points=((0.5, 0.5),))
    context.cost_of_mode = 1
    table.value[rows], table.gradient[rows], table.hessian[rows] = -1e-10, [2e-7, 0.0], -1e-4 * np.eye(2)
    table.gauss_newton[rows], table.second[rows] = -np.eye(2), 5.0 * np.eye(2)
    table.is_measured[rows] = True  # for residuals vanished a step ago, too
    table.trial[rows] = point = np.array([[[0.5005, 0.5]]])
    seen = Evaluation(np.array([[-1e-12]]), np.zeros((1, 1, 2)), -10.0 * np.eye(2)[None, None])
    learning.told_step(context, table, rows, point, seen)
    assert table.value[rows] == -1e-12  # the step is taken
    assert table.hessian[rows[0]].tolist() == (-10.0 * np.eye(2)).tolist()
    assert table.is_measured[rows].all()
