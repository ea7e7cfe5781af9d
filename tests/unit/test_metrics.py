"""Metrics of mode finding against cases counted by hand."""

import numpy as np
import pytest

from allmodes.objective import Objective
from allmodes.problems import Problem, styblinski_tang
from allmodes.problems.metrics import (
    all_peak_ratio,
    collapse_rate,
    found_modes,
    global_peak_ratio,
    global_success_rate,
)

NOTHING = [np.nan, np.nan]
A, B, C = [0.0, 0.0], [1.0, 0.0], [5.0, 5.0]  # the modes; the first two are global
FAR = [-3.0, 8.0]

PROBLEM = Problem(
    "three modes",
    Objective(lambda x: np.zeros(len(x)), vectorized=True),
    np.array([[-9.0, 9.0]] * 2),
    np.array([A, B, C]),
    np.array([True, True, False]),
)
RUNS = np.array(
    [
        [A, B, C, FAR],  # everything
        [[0.05, -0.09], A, A, FAR],  # one global mode, three times
        [[0.0, 0.2], [5.0, 4.95], FAR, FAR],  # near the first in one coordinate only; the local one
        [NOTHING, NOTHING, NOTHING, NOTHING],  # diverged
    ]
)


def test_found_modes_are_within_the_tolerance_in_every_coordinate():
    wanted = [[True, True, True], [True, False, False], [False, False, True], [False, False, False]]
    np.testing.assert_array_equal(found_modes(PROBLEM, RUNS), wanted)
    np.testing.assert_array_equal(found_modes(PROBLEM, RUNS, 0.25)[2], [True, False, True])
    np.testing.assert_array_equal(found_modes(PROBLEM, RUNS, 0.01)[2], [False, False, False])


def test_global_peak_ratio():
    result = global_peak_ratio(PROBLEM, RUNS)
    np.testing.assert_array_equal(result.per_run, [1.0, 0.5, 0.0, 0.0])
    assert result.mean == 1.5 / 4


def test_all_peak_ratio():
    result = all_peak_ratio(PROBLEM, RUNS)
    np.testing.assert_allclose(result.per_run, [1.0, 1 / 3, 1 / 3, 0.0])
    assert result.mean == pytest.approx(5 / 12)


def test_global_success_rate_counts_runs_that_found_all_global_modes():
    result = global_success_rate(PROBLEM, np.concatenate([RUNS, [[B, A, FAR, FAR]]]))
    np.testing.assert_array_equal(result.per_run, [1.0, 0.0, 0.0, 0.0, 1.0])
    assert result.mean == 0.4
    assert result.per_run.dtype == np.float64


def test_collapse_rate_counts_points_that_share_a_mode():
    # At 0.01: run 1 has three points on three modes; run 2 two of three points exactly on A; run 3 none on any.
    np.testing.assert_array_equal(collapse_rate(PROBLEM, RUNS).per_run, [0.0, 1.0, 0.0, 0.0])
    # At 0.1 all three points of run 2 are on A, and run 3 has one on C.
    result = collapse_rate(PROBLEM, RUNS, 0.1)
    np.testing.assert_array_equal(result.per_run, [0.0, 2.0, 0.0, 0.0])
    assert result.mean == 0.5


def test_collapse_rate_of_several_shared_modes():
    runs = [[A, A, B, B, B, [5.0, 5.009], FAR, NOTHING]]  # six on modes, three modes
    assert collapse_rate(PROBLEM, runs).mean == 3.0


def test_a_point_within_reach_of_two_modes_belongs_to_the_nearer_one():
    between = [[[0.4, 0.0], [0.45, 0.0], [0.9, 0.0], FAR]]
    assert collapse_rate(PROBLEM, between, 0.7).mean == 1.0
    assert all_peak_ratio(PROBLEM, between, 0.7).mean == pytest.approx(2 / 3)


def test_part_of_a_run_may_have_diverged():
    run = [[A, NOTHING, [np.inf, 0.0], B]]
    assert global_success_rate(PROBLEM, run).mean == 1.0
    assert collapse_rate(PROBLEM, run).mean == 0.0


def test_the_modes_themselves_are_all_found():
    problem = styblinski_tang(3)
    assert all_peak_ratio(problem, problem.modes[None], 1e-9).mean == 1.0
    assert global_peak_ratio(problem, problem.modes[None, 1:]).mean == 0.0


@pytest.mark.parametrize("shape", [(4, 2), (2, 4, 3), (0, 4, 2), (2,)])
def test_points_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"points has shape .*wanted \(H, K, 2\)"):
        all_peak_ratio(PROBLEM, np.zeros(shape))


@pytest.mark.parametrize("metric", [all_peak_ratio, global_peak_ratio, global_success_rate, collapse_rate])
def test_the_tolerance_must_be_positive(metric):
    with pytest.raises(ValueError, match="tolerance is 0"):
        metric(PROBLEM, RUNS, 0.0)
