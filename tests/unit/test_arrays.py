"""The array operations that NumPy and JAX do not share."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.special

from allmodes.arrays import (
    cholesky,
    leaves,
    logsumexp,
    logsumexp_and_shares,
    map_leaves,
    namespace,
    solve_lower,
    special,
)


class Pair(NamedTuple):
    first: object
    second: object


def test_the_namespace_is_that_of_the_array():
    assert namespace(np.ones(2)) is np
    assert namespace(jnp.ones(2)) is jnp
    assert namespace(np.float64(1.0)) is np


def test_special_functions_are_those_of_the_array():
    assert special(np.ones(2)) is scipy.special
    assert special(jnp.ones(2)) is jax.scipy.special


def test_logsumexp_is_scipys():
    a = np.random.default_rng(0).normal(scale=30.0, size=(4, 5))
    for axis in (0, 1, -1):
        np.testing.assert_allclose(logsumexp(a, axis=axis), scipy.special.logsumexp(a, axis=axis), rtol=1e-14)


@pytest.mark.parametrize(
    ("a", "wanted"),
    [
        ([1e4, 1e4], 1e4 + np.log(2.0)),
        ([-1e4, -1e4], -1e4 + np.log(2.0)),
        ([0.0, -np.inf], 0.0),
        ([-np.inf, -np.inf], -np.inf),
        ([7.0], 7.0),
    ],
)
def test_logsumexp_does_not_overflow_and_knows_impossible_events(a, wanted):
    assert logsumexp(np.array(a)) == wanted
    with jax.enable_x64(True):
        assert float(logsumexp(jnp.asarray(a))) == wanted


def test_logsumexp_keeps_nan():
    assert np.isnan(logsumexp(np.array([np.nan, 0.0])))


def test_shares_sum_to_one_and_are_zero_where_nothing_is_possible():
    a = np.array([[1e4, -np.inf, 3.0], [1e4 - 2.0, -np.inf, 3.0], [-1e4, -np.inf, -np.inf]])
    total, shares = logsumexp_and_shares(a)
    np.testing.assert_allclose(shares.sum(axis=0), [1.0, 0.0, 1.0])
    np.testing.assert_allclose(shares[:, 0], [1 / (1 + np.exp(-2.0)), np.exp(-2.0) / (1 + np.exp(-2.0)), 0.0])
    np.testing.assert_array_equal(total == -np.inf, [False, True, False])


def test_cholesky_gives_nan_for_the_matrices_that_have_none_and_for_no_other():
    good = np.array([[4.0, 2.0], [2.0, 3.0]])
    stack = np.array([good, -good, [[1.0, 2.0], [2.0, 1.0]], 9.0 * good]).reshape(2, 2, 2, 2)
    found = cholesky(stack)
    assert found.shape == stack.shape
    np.testing.assert_allclose(found[0, 0], np.linalg.cholesky(good))
    np.testing.assert_allclose(found[1, 1], 3.0 * np.linalg.cholesky(good))
    assert np.isnan(found[0, 1]).all()
    assert np.isnan(found[1, 0]).all()
    with jax.enable_x64(True):
        theirs = np.asarray(cholesky(jnp.asarray(stack)))
    np.testing.assert_array_equal(np.isnan(theirs).any(axis=(2, 3)), [[False, True], [True, False]])
    np.testing.assert_allclose(theirs[0, 0], found[0, 0])


def test_cholesky_of_one_matrix():
    np.testing.assert_allclose(cholesky(np.array([[4.0]])), [[2.0]])
    assert np.isnan(cholesky(np.array([[-4.0]]))).all()


def test_solve_lower_is_a_triangular_solve():
    rng = np.random.default_rng(1)
    L = np.tril(rng.normal(size=(3, 4, 4))) + 3.0 * np.eye(4)
    b = rng.normal(size=(3, 4, 2))
    wanted = np.stack([scipy.linalg.solve_triangular(l, r, lower=True) for l, r in zip(L, b, strict=True)])
    np.testing.assert_allclose(solve_lower(L, b), wanted, rtol=1e-12)
    with jax.enable_x64(True):
        np.testing.assert_allclose(solve_lower(jnp.asarray(L), jnp.asarray(b)), wanted, rtol=1e-12)


def test_solve_lower_keeps_its_accuracy_when_the_matrix_is_badly_scaled():
    """Rows that differ by thirty orders of magnitude: every entry is right, not only the large ones."""
    L = np.array([[1e-15, 0.0, 0.0], [3.0, 1.0, 0.0], [2e15, 5e15, 1e15]])
    x = np.array([[2.0], [3.0], [5.0]])
    np.testing.assert_allclose(solve_lower(L, L @ x), x, rtol=1e-12)


def test_map_leaves_keeps_the_build_and_leaves_none_alone():
    tree = Pair(np.array([1.0]), (np.array([2.0]), None))
    found = map_leaves(lambda a, b: a + b, tree, tree)
    assert isinstance(found, Pair)
    assert isinstance(found.second, tuple)
    assert found.second[1] is None
    assert [leaf.tolist() for leaf in leaves(found)] == [[2.0], [4.0]]


def test_map_leaves_refuses_trees_of_different_build():
    with pytest.raises(ValueError, match="zip"):
        map_leaves(lambda a, b: a, (1.0, 2.0), (1.0,))


def test_leaves_come_in_order():
    assert leaves(None) == []
    assert leaves(3) == [3]
    assert leaves((1, (2, None, (3,)), Pair(4, None))) == [1, 2, 3, 4]
