"""Models of Gauss and Newton in local searches: their pace, what they leave out, and when they convince."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from allmodes.search.searchers.local import residuals
from allmodes.search.searchers.local.tuning import TUNING

ROWS = np.arange(2)


def a_context(has_model=True):
    return SimpleNamespace(has_model=has_model, box=SimpleNamespace(d=4), tolerances=SimpleNamespace(tie=1e-12))


def a_table(**given):
    d = 2
    usual = {
        "value": np.full(2, -1.0), "hessian": np.tile(-np.eye(d), (2, 1, 1)),
        "gauss_newton": np.tile(-np.eye(d), (2, 1, 1)), "second": np.zeros((2, d, d)),
        "missed": np.zeros(2), "last_step": np.full(2, 0.1),
        "is_measured": np.zeros(2, bool), "was_measured": np.zeros(2, bool),
    }  # fmt: skip
    return SimpleNamespace(**(usual | given))


def test_only_residuals_have_a_pace_and_a_first_step_of_their_own():
    assert residuals.pace(a_context(False)) == residuals.USUAL == (TUNING.growth, TUNING.shrinkage)
    assert residuals.pace(a_context()) == (TUNING.growth_of_fits, TUNING.shrinkage_of_fits)
    assert residuals.first_radius(a_context(False)) == pytest.approx(2.0 * TUNING.first_radius)
    assert residuals.first_radius(a_context()) == pytest.approx(2.0 * TUNING.first_radius_of_fits)
    assert residuals.slowest(a_context(False)) < residuals.slowest(a_context()) < 1.0


def learn(s, curvature, **given):
    """What is learnt from steps over which the slope changes by a curvature, where Gauss and Newton say -1."""
    table, context = a_table(**given), a_context()
    context.box.d = 2
    change = curvature * s
    residuals.learn_second(context, table, ROWS, s, change, np.tile(-np.eye(2), (2, 1, 1)))
    return table


def test_what_is_left_out_is_learnt_and_put_in_after_short_steps():
    s = 1e-3 * np.eye(2)
    once = learn(s, -3.0)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", once.second, s), -2.0 * s, atol=1e-12)
    again = learn(s, -3.0, second=once.second)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", again.hessian, s), -3.0 * s, atol=1e-12)


def test_over_long_steps_it_is_left_out_of_the_model():
    second = np.tile(-2.0 * np.eye(2), (2, 1, 1))
    table = learn(0.5 * np.eye(2), -3.0, second=second)
    np.testing.assert_array_equal(table.hessian, np.tile(-np.eye(2), (2, 1, 1)))


def test_where_residuals_vanish_nothing_is_left_out():
    table = learn(1e-3 * np.eye(2), -3.0, value=np.array([0.0, -1.0]), second=np.tile(-np.eye(2), (2, 1, 1)))
    np.testing.assert_array_equal(table.second[0], np.zeros((2, 2)))
    assert table.second[1].any()
    assert table.is_measured.tolist() == [True, False]


def test_measured_curvature_is_kept_while_it_tells_the_slope_and_steps_shrink():
    kept = {"was_measured": np.ones(2, bool)}
    assert residuals.is_kept(a_table(**kept), ROWS, np.full(2, 0.01)).all()
    assert not residuals.is_kept(a_table(), ROWS, np.full(2, 0.01)).any()
    assert not residuals.is_kept(a_table(**kept), ROWS, np.full(2, 0.1)).any()
    assert not residuals.is_kept(a_table(**kept, missed=np.ones(2)), ROWS, np.full(2, 0.01)).any()


def test_models_convince_where_they_missed_little_and_are_not_level():
    level = np.stack([-np.eye(2), -np.diag([1.0, 1e-9])])
    assert residuals.is_convincing(a_table(hessian=level), ROWS).tolist() == [True, False]
    assert residuals.is_convincing(a_table(gauss_newton=level), ROWS).tolist() == [True, False]
    missed = np.array([0.5 * TUNING.convincing_of_fits, 2.0 * TUNING.convincing_of_fits])
    assert residuals.is_convincing(a_table(missed=missed), ROWS).tolist() == [True, False]
