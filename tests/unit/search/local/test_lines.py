"""Lines: where they lead, how they are divided, what is learnt from them."""

import numpy as np
import pytest
from local_runs import a_context

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.searchers.local import lines
from allmodes.search.searchers.local.lines import LineTable
from allmodes.search.searchers.local.table import Phase
from allmodes.search.searchers.local.tuning import TUNING


def on_lines(points, gradients, inverse=None):
    """Searches at points with these gradients, in a unit square; the context, their table and rows."""
    context, table = a_context(), LineTable(2)
    origins = [Origin(LOCAL, SPACE_FILLING, i) for i in range(len(points))]
    rows = table.open(np.array(points, dtype=float), origins, list(range(len(points))))
    table.value[rows], table.gradient[rows] = 1.0, gradients
    first = 0.02 / np.linalg.norm(gradients, axis=1)[:, None, None] * np.eye(2)
    table.inverse_hessian[rows] = first if inverse is None else inverse
    return context, table, rows


def test_an_update_predicts_the_last_step():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 3, 3))
    s = rng.standard_normal((5, 3))
    y = s + 0.1 * rng.standard_normal((5, 3))
    new = lines.updated(root @ root.mT, s, y, np.ones(5, bool))
    np.testing.assert_allclose((new @ y[..., None])[..., 0], s, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(new, new.mT, atol=1e-12)
    assert (np.linalg.eigvalsh(new) > 0.0).all()


def test_the_first_update_sets_the_scale():
    s, y = np.array([[1.0, 0.0]]), np.array([[4.0, 0.0]])
    new = lines.updated(1e6 * np.eye(2)[None], s, y, np.zeros(1, bool))
    np.testing.assert_allclose(new[0], 0.25 * np.eye(2))


def test_a_step_against_the_curvature_teaches_nothing():
    B, s = np.eye(2)[None], np.array([[1.0, 0.5]])
    np.testing.assert_array_equal(lines.updated(B, s, -s, np.ones(1, bool)), B)


def test_a_first_line_is_as_long_as_the_first_step_and_leads_uphill():
    context, table, rows = on_lines([(0.5, 0.5)], [(3.0, 4.0)])
    assert not len(lines.begin(context, table, rows))
    np.testing.assert_allclose(table.trial[rows], [[0.512, 0.516]])
    assert table.phase[rows] == Phase.STEP.value
    assert table.slope[rows] == pytest.approx(0.02 * 5.0)


def test_a_line_has_a_longest_first_point():
    context, table, rows = on_lines([(0.5, 0.5)], [(1.0, 0.0)], inverse=100.0 * np.eye(2))
    lines.begin(context, table, rows)
    assert table.trial[rows][0, 0] == pytest.approx(0.5 + TUNING.longest_line)


@pytest.mark.parametrize("inverse", [-np.eye(2), np.full((2, 2), np.nan), np.full((2, 2), 1e300)])
def test_a_bad_inverse_hessian_never_makes_a_bad_point(inverse):
    context, table, rows = on_lines([(0.5, 0.5)], [(1e10, 2e10)], inverse)
    with np.errstate(all="ignore"):
        lines.begin(context, table, rows)
    assert np.isfinite(table.trial[rows]).all()
    if not np.isfinite(inverse).all() or inverse[0, 0] < 0.0:
        np.testing.assert_allclose(table.way[rows][0], 1e-3 * np.array([1.0, 2.0]) / np.sqrt(5.0))


def test_a_line_does_not_leave_the_box_and_one_that_cannot_move_is_reported():
    context, table, rows = on_lines([(1.0, 0.5), (1.0, 1.0)], [(1.0, 1.0), (1.0, 1.0)])
    assert lines.begin(context, table, rows).tolist() == [rows[1]]
    assert table.trial[rows][0].tolist() == [1.0, pytest.approx(0.5 + 0.02 / np.sqrt(2.0))]


def test_failures_are_not_high_enough_and_shorten_the_line():
    context, table, rows = on_lines([(0.5, 0.5)] * 3, [(1.0, 0.0)] * 3)
    lines.begin(context, table, rows)
    assert lines.is_enough(table, rows, np.array([-np.inf, np.nan, 1.01])).tolist() == [False, False, True]
    table.high[rows] = 1.0
    assert [len(a) for a in lines.divide(context, table, rows)] == [0, 0]
    np.testing.assert_allclose(table.trial[rows][:, 0], 0.5 + TUNING.shrinkage * 0.02)


def test_a_line_is_doubled_then_halved_and_at_last_given_up():
    context, table, rows = on_lines([(0.1, 0.5)], [(1.0, 0.0)])
    lines.begin(context, table, rows)
    table.low[rows] = 1.0
    lines.divide(context, table, rows)
    assert table.length[rows] == 2.0
    table.high[rows] = 2.0
    lines.divide(context, table, rows)
    assert table.length[rows] == 1.5
    table.high[rows] = 1.0 + 1e-9
    risen, level = lines.divide(context, table, rows)
    assert risen.tolist() == rows.tolist()
    assert not len(level)
    table.low[rows], table.high[rows] = 0.0, 1e-9
    risen, level = lines.divide(context, table, rows)
    assert not len(risen)
    assert level.tolist() == rows.tolist()


def test_a_slope_that_is_left_says_that_the_step_is_too_short():
    context, table, rows = on_lines([(0.5, 0.5)] * 2, [(1.0, 0.0)] * 2)
    lines.begin(context, table, rows)
    table.gradient[rows] = [(0.95, 0.0), (0.5, 0.0)]
    assert lines.is_turned(context, table, rows).tolist() == [False, True]
