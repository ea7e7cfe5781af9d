"""What data tell of parameters, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.modes.identified import covariance, undetermined

WIDE = np.full(3, 10.0)


def test_a_covariance_is_the_inverse_of_the_normal_matrix():
    J = np.random.default_rng(0).standard_normal((20, 3)) * [1.0, 1e-6, 1e6]
    found = covariance(J, 2.0)
    assert found.known == pytest.approx(2.0 * np.linalg.inv(J.T @ J), rel=1e-6)
    assert found.finite == pytest.approx(found.known)


def test_a_parameter_that_changes_nothing_has_an_infinite_error():
    J = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    found = covariance(J, 1.0).known
    assert np.isinf(found[1, 1])
    assert np.isfinite(found[np.ix_([0, 2], [0, 2])]).all()


def test_where_no_parameter_changes_anything_all_errors_are_infinite_and_nothing_is_divided_by_zero():
    errors = covariance(np.zeros((5, 2)), 1.0)
    assert np.isinf(np.diagonal(errors.known)).all()
    assert np.isfinite(errors.finite).all()
    assert (np.diagonal(errors.finite) > 1e100).all()


def test_fixed_parameters_have_no_error():
    found = covariance(np.array([[1.0, np.nan], [2.0, np.nan]]), 1.0).known
    assert found.tolist() == pytest.approx(np.array([[0.2, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize(("direction", "words"), [
    ([1.0, 1.0, 0.0], "difference"), ([1.0, -1.0, 0.0], "sum"), ([1.0, 3.0, 0.0], "ratio"),
    ([1.0, -3.0, 0.0], "product"),
])  # fmt: skip
def test_two_parameters_known_only_together_are_named(direction, words):
    x = np.array([1.0, 3.0, 2.0])
    errors = 4.0 * np.outer(direction, direction) + 1e-6 * np.eye(3)
    assert undetermined(x, errors, WIDE, ["a", "b", "c"]) == (f"a and b only through their {words}",)


def test_what_is_known_well_is_not_mentioned():
    correlated = 0.01 * np.array([[1.0, 0.999], [0.999, 1.0]])
    assert undetermined(np.array([5.0, 5.0]), correlated, WIDE[:2], ["a", "b"]) == ()


def test_a_parameter_as_open_as_its_bounds_is_named():
    assert undetermined(np.array([5.0, 1.0]), np.diag([9.0, 0.01]), WIDE[:2], ["a", "b"]) == ("a hardly at all",)


def test_three_that_only_go_together_are_named():
    direction = np.array([1.0, 2.0, -2.5])
    errors = 9.0 * np.outer(direction, direction) + 1e-4 * np.eye(3)
    x = np.array([1.0, 1.0, 1.0])
    assert undetermined(x, errors, WIDE, ["a", "b", "c"]) == ("a, b and c only in combination",)
