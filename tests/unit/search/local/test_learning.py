"""What trust-region searches ask for, and how models, radii and gradients change by the answers."""

import numpy as np
import pytest
from local_runs import a_context

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.searchers.local import learning
from allmodes.search.searchers.local.learning import TrustRegionTable
from allmodes.search.searchers.local.table import Phase

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
    else:  # the first Newton step is as long as the radius
        step = -np.linalg.solve(table.hessian[rows], table.gradient[rows][..., None])[..., 0]
        np.testing.assert_allclose(np.linalg.norm(step, axis=1), 0.1)
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
    assert table.radius[0] == pytest.approx(0.25)  # predicted well, and as long as the radius


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
