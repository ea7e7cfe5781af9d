"""Every covariance structure against dense matrices, from its operations alone."""

import jax
import members
import numpy as np
import pytest

from allmodes.nva.annealing.updates import ImprovedBLR

STRUCTURES = members.covariances()
SIZES = [(K, d) for K in (1, 3) for d in (1, 2, 5)]
SCALES = (1.0, 1e-24)
EVERY = [
    pytest.mark.parametrize("structure", STRUCTURES, ids=members.name_of),
    pytest.mark.parametrize(("K", "d"), SIZES),
]


def every(test):
    for mark in EVERY:
        test = mark(test)
    return test


def assert_close(found, wanted, rtol=1e-11):
    """Equal up to rtol of the largest wanted entry: a relative test that zeros do not spoil."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.isfinite(found).all()
    assert np.abs(found - wanted).max() <= rtol * np.abs(wanted).max()


def positive_definite(rng, K, d):
    """Random matrices with eigenvalues between 0.3 and 3."""
    Q = np.linalg.qr(rng.standard_normal((K, d, d)))[0]
    M = (Q * rng.uniform(0.3, 3.0, (K, 1, d))) @ Q.mT
    return 0.5 * (M + M.mT)


def held(structure, rng, K, d):
    """Random matrices (K, d, d) of the richest kind that the structure accepts."""
    M = positive_definite(rng, K, d)
    for candidate in (M, np.diagonal(M, axis1=1, axis2=2)[:, :, None] * np.eye(d), M[:, :1, :1] * np.eye(d)):
        try:
            structure.start(candidate)
        except ValueError:
            continue
        return candidate
    raise AssertionError(f"{structure!r} holds no multiples of the identity")


def dense(structure, factors, K, d):
    """C and A as matrices: what the structure does to the unit vectors."""
    unit = np.broadcast_to(np.eye(d), (K, d, d))
    return structure.whiten(factors, unit), structure.colour(factors, unit).mT


def as_matrices(structure, blocks, K, d):
    """Positive-definite blocks as matrices: the precisions that they make of unit ones."""
    unit = structure.start(np.broadcast_to(np.eye(d), (K, d, d)))
    C, _ = dense(structure, structure.advance(unit, structure.root(blocks), np.zeros((K, d)))[0], K, d)
    return C @ C.mT


def has_nan(stack):
    """For every entry of a stack of blocks, whether there is a NaN in it."""
    return np.isnan(stack).reshape(len(stack), -1).any(axis=1)


@pytest.mark.parametrize("scale", SCALES)
@every
def test_factors_are_those_of_the_matrices(structure, K, d, scale):
    rng = np.random.default_rng(1)
    sigma = scale * held(structure, rng, K, d)
    factors = structure.start(sigma)
    C, A = dense(structure, factors, K, d)
    assert_close(A @ A.mT, sigma)
    assert_close(C.mT @ A, np.broadcast_to(np.eye(d), (K, d, d)))
    assert_close(C @ C.mT @ sigma, np.broadcast_to(np.eye(d), (K, d, d)))
    assert_close(structure.matrices(factors, d), sigma)
    assert_close(structure.precision(factors), structure.project(C @ C.mT))
    wanted = -0.5 * np.linalg.slogdet(sigma / scale)[1] - 0.5 * d * np.log(scale)
    assert_close(structure.log_det_root_precision(factors, d), wanted)


@pytest.mark.parametrize("scale", SCALES)
@every
def test_vectors_are_taken_there_and_back(structure, K, d, scale):
    rng = np.random.default_rng(2)
    factors = structure.start(scale * held(structure, rng, K, d))
    C, A = dense(structure, factors, K, d)
    x = rng.standard_normal((K, 7, d))
    assert_close(structure.colour(factors, x), np.einsum("kij,knj->kni", A, x))
    assert_close(structure.whiten(factors, x), np.einsum("kji,knj->kni", C, x))
    assert_close(structure.lift(factors, x), np.einsum("kij,knj->kni", C, x))
    assert_close(structure.pull_back(factors, x), np.einsum("kji,knj->kni", A, x))
    assert_close(structure.whiten(factors, structure.colour(factors, x)), x)
    assert_close(structure.pull_back(factors, structure.lift(factors, x)), x)


@every
def test_points_shared_by_all_components_broadcast(structure, K, d):
    rng = np.random.default_rng(3)
    factors = structure.start(held(structure, rng, K, d))
    x = rng.standard_normal((1, 4, d))
    assert_close(structure.whiten(factors, x), structure.whiten(factors, np.repeat(x, K, axis=0)))
    assert_close(structure.pull_back(factors, x), structure.pull_back(factors, np.repeat(x, K, axis=0)))


@every
def test_gram_is_the_projection_of_the_sum_of_outer_products(structure, K, d):
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((2, K, 6, d))
    assert_close(structure.gram(a, b), structure.project(np.einsum("kni,knj->kij", a, b)))


@every
def test_projection_is_linear_and_orthogonal(structure, K, d):
    rng = np.random.default_rng(5)
    M, N = positive_definite(rng, K, d), positive_definite(rng, K, d)
    assert_close(structure.project(2.0 * M - 3.0 * N), 2.0 * structure.project(M) - 3.0 * structure.project(N))
    # What it takes away has no inner product with anything that is held.
    kept, projected = held(structure, rng, K, d), as_matrices(structure, structure.project(M), K, d)
    assert_close(np.trace(projected @ kept, axis1=1, axis2=2), np.trace(M @ kept, axis1=1, axis2=2))
    assert_close(structure.project(projected), structure.project(M))


@pytest.mark.parametrize("scale", SCALES)
@every
def test_sandwich_whitens_a_hessian(structure, K, d, scale):
    rng = np.random.default_rng(6)
    factors = structure.start(scale * held(structure, rng, K, d))
    _, A = dense(structure, factors, K, d)
    H = held(structure, rng, K, d)
    assert_close(structure.sandwich(factors, structure.project(H)), structure.project(A.mT @ H @ A))


@every
def test_identity_product_and_root(structure, K, d):
    rng = np.random.default_rng(7)
    M, N = held(structure, rng, K, d), held(structure, rng, K, d)
    a, b = structure.project(M), structure.project(N)
    scale = rng.uniform(0.5, 2.0, K)
    assert_close(structure.identity(scale, d) + 0.0 * a, structure.project(scale[:, None, None] * np.eye(d)))
    assert_close(structure.multiply(a, b), structure.project(M @ N))
    assert_close(structure.multiply(a, structure.identity(np.ones(K), d)), a)
    assert_close(as_matrices(structure, a, K, d), M)


@pytest.mark.parametrize("scale", SCALES)
@every
def test_advance_changes_the_precision_and_moves_the_mean(structure, K, d, scale):
    rng = np.random.default_rng(8)
    sigma, M, g = scale * held(structure, rng, K, d), held(structure, rng, K, d), rng.standard_normal((K, d))
    factors = structure.start(sigma)
    C, _ = dense(structure, factors, K, d)
    new, displacement = structure.advance(factors, structure.root(structure.project(M)), g)
    C_new, A_new = dense(structure, new, K, d)
    sigma_new = np.linalg.inv(C @ M @ C.mT * scale) * scale
    assert_close(C_new @ C_new.mT, C @ M @ C.mT)
    assert_close(A_new @ A_new.mT, sigma_new)
    assert_close(C_new.mT @ A_new, np.broadcast_to(np.eye(d), (K, d, d)))
    assert_close(displacement, np.einsum("kij,kjl,kl->ki", sigma_new, C, g))
    wanted = structure.log_det_root_precision(factors, d) + 0.5 * np.linalg.slogdet(M)[1]
    assert_close(structure.log_det_root_precision(new, d), wanted)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("tau", [0.0, 0.7, 1e6])
@every
def test_damping_adds_to_the_covariance(structure, K, d, tau, scale):
    rng = np.random.default_rng(9)
    sigma = scale * held(structure, rng, K, d)
    damped = structure.damp(structure.start(sigma), scale * tau)
    C, A = dense(structure, damped, K, d)
    assert_close(A @ A.mT, sigma + scale * tau * np.eye(d))
    assert_close(C.mT @ A, np.broadcast_to(np.eye(d), (K, d, d)))
    wanted = -0.5 * np.linalg.slogdet(sigma / scale + tau * np.eye(d))[1] - 0.5 * d * np.log(scale)
    assert_close(structure.log_det_root_precision(damped, d), wanted, rtol=1e-10)


@pytest.mark.parametrize("structure", STRUCTURES, ids=members.name_of)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_factors_stay_inverse_to_each_other_over_thousands_of_updates(structure, d):
    rng = np.random.default_rng(10)
    K = 3
    factors = structure.start(1e-12 * held(structure, rng, K, d))
    noise = 0.01 * rng.standard_normal((5000, K, d, d))
    none = np.zeros((K, d))
    for X in noise + noise.mT:
        R = structure.root(ImprovedBLR().precision_change(structure, structure.project(X), d))
        factors, _ = structure.advance(factors, R, none)
    C, A = dense(structure, factors, K, d)
    assert_close(C.mT @ A, np.broadcast_to(np.eye(d), (K, d, d)), rtol=1e-9)
    assert np.isfinite(structure.log_det_root_precision(factors, d)).all()


@every
def test_the_root_of_what_is_not_positive_definite_is_nan(structure, K, d):
    rng = np.random.default_rng(11)
    good = held(structure, rng, K, d)
    assert has_nan(structure.root(structure.project(-good))).all()
    assert has_nan(structure.root(structure.project(np.zeros((K, d, d))))).all()
    mixed = structure.project(np.concatenate([good, -good, good]))
    root = structure.root(mixed)
    assert_close(root[:K], structure.root(structure.project(good)))
    assert has_nan(root[K : 2 * K]).all()
    assert_close(root[2 * K :], structure.root(structure.project(good)))


@every
def test_start_keeps_a_matrix_exactly_or_refuses_it(structure, K, d):
    rng = np.random.default_rng(12)
    M = positive_definite(rng, K, d)
    diagonal = np.diagonal(M, axis1=1, axis2=2)[:, :, None] * np.eye(d)
    nearly = 1.0 * np.broadcast_to(np.eye(d), (K, d, d))
    nearly[-1, -1, -1] += 1e-6
    for given in (M, diagonal, nearly, M[:, :1, :1] * np.eye(d)):
        refusal = members.refusal(structure.start, given)
        if refusal is None:
            assert_close(structure.matrices(structure.start(given), d), given)
        else:
            assert "covariances" in refusal
            assert type(structure).__name__ in refusal


def _all_operations(structure, d):
    """Every operation once, as a function of arrays alone."""

    def operations(factors, x, M, N, g, tau):
        a, b = structure.project(M), structure.project(N)
        advanced, displacement = structure.advance(factors, structure.root(a), g)
        return (
            structure.matrices(factors, d),
            structure.colour(factors, x),
            structure.whiten(factors, x),
            structure.lift(factors, x),
            structure.pull_back(factors, x),
            structure.log_det_root_precision(factors, d),
            structure.precision(factors),
            structure.gram(x, x),
            structure.sandwich(factors, b),
            structure.identity(g[:, 0], d),
            structure.multiply(a, b),
            structure.root(a),
            *advanced,
            displacement,
            *structure.damp(factors, tau),
        )

    return operations


@pytest.mark.parametrize("structure", STRUCTURES, ids=members.name_of)
@pytest.mark.parametrize(("K", "d"), [(1, 1), (3, 5)])
def test_numpy_and_jax_agree(structure, K, d):
    rng = np.random.default_rng(13)
    factors = structure.start(1e-3 * held(structure, rng, K, d))
    M, N = held(structure, rng, K, d), held(structure, rng, K, d)
    arguments = (factors, rng.standard_normal((K, 4, d)), M, N, rng.standard_normal((K, d)), np.float64(0.3))
    wanted = _all_operations(structure, d)(*arguments)
    with jax.enable_x64(True):
        found = jax.jit(_all_operations(structure, d))(*arguments)
        negative = jax.jit(structure.root)(structure.project(-M))
    for ours, theirs in zip(wanted, found, strict=True):
        assert theirs.dtype == np.float64
        assert_close(theirs, ours, rtol=1e-12)
    assert has_nan(np.asarray(negative)).all()
