"""Hessians known along a few directions: they are what the matrix is that they stand for."""

import numpy as np
import pytest

from allmodes.search.curvature import LowRank, largest, squares, weakest
from allmodes.storage import pack, unpack

RNG = np.random.default_rng(0)
AXES = np.linalg.qr(RNG.standard_normal((6, 6)))[0]
EIGENVALUES = np.array([-9.0, -4.0, -0.5])
H = LowRank(-2.0, EIGENVALUES, AXES[:3])
DENSE = AXES.T @ np.diag([*EIGENVALUES, -2.0, -2.0, -2.0]) @ AXES


def test_it_is_read_as_an_array():
    np.testing.assert_allclose(np.asarray(H), DENSE, atol=1e-12)
    np.testing.assert_allclose(H[np.ix_([0, 2], [1, 3])], DENSE[np.ix_([0, 2], [1, 3])], atol=1e-12)
    vector = RNG.standard_normal(6)
    np.testing.assert_allclose(H @ vector, DENSE @ vector, atol=1e-12)
    assert (len(H), np.asarray(H, dtype=np.float32).dtype) == (6, np.float32)
    assert H.copy() is H


def test_the_fall_over_a_step_is_that_of_the_matrix():
    vectors = RNG.standard_normal((5, 6))
    expected = -np.einsum("nd,de,ne->n", vectors, DENSE, vectors)
    np.testing.assert_allclose(squares(H, vectors), expected)
    np.testing.assert_allclose(squares(DENSE, vectors), expected)


def test_curvature_that_is_next_to_nothing_counts_as_a_thousandth_of_the_largest():
    flat = LowRank(0.0, np.array([-5.0]), np.eye(3)[:1])
    np.testing.assert_allclose(squares(flat, np.eye(3)), [5.0, 0.005, 0.005])


@pytest.mark.parametrize(("base", "expected"), [(-2.0, (9.0, 0.5)), (-0.1, (9.0, 0.1)), (-20.0, (20.0, 0.5))])
def test_the_largest_and_the_weakest_curvature_count_all_directions(base, expected):
    seen = LowRank(base, EIGENVALUES, AXES[:3])
    assert (largest(seen), weakest(seen)) == expected


def test_a_whole_basis_leaves_nothing_for_the_base():
    seen = LowRank(-100.0, np.arange(-6.0, 0.0), AXES)
    assert (largest(seen), weakest(seen)) == (6.0, 1.0)
    assert weakest(-np.diag([3.0, 2.0])) == pytest.approx(2.0)


def test_it_is_saved():
    tree, arrays = pack(H)
    again = unpack(tree, arrays)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(H))
