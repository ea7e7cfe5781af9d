"""Every control variate: the baseline of a sample does not depend on that sample."""

import jax
import members
import numpy as np
import pytest

every_variate = pytest.mark.parametrize("variate", members.control_variates(), ids=members.name_of)


def arrays(seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 1.0, (3, 6))
    return weights / weights.sum(axis=1, keepdims=True), rng.standard_normal((3, 6))


@every_variate
def test_baselines_broadcast_against_the_samples(variate):
    weights, f = arrays(1)
    assert np.broadcast_shapes(np.shape(variate(weights, f)), (3, 6)) == (3, 6)
    assert np.isfinite(variate(weights, f)).all()
    shared = variate(weights, f[:1])  # one sample that all components share
    assert np.broadcast_shapes(np.shape(shared), (3, 6)) == (3, 6)


@every_variate
def test_a_baseline_does_not_depend_on_its_own_sample(variate):
    """This, and nothing else, is what keeps the estimate unbiased."""
    weights, f = arrays(2)
    before = np.broadcast_to(variate(weights, f), f.shape)
    for n in range(f.shape[1]):
        other = f.copy()
        other[:, n] += 100.0
        after = np.broadcast_to(variate(weights, other), f.shape)
        np.testing.assert_allclose(after[:, n], before[:, n], rtol=1e-9, atol=1e-12)


@every_variate
def test_a_sample_with_all_the_weight_has_a_finite_baseline(variate):
    weights = np.array([[1.0, 0.0, 0.0]])
    assert np.isfinite(variate(weights, np.array([[5.0, 6.0, 7.0]]))).all()


@every_variate
def test_numpy_and_jax_agree(variate):
    weights, f = arrays(3)
    with jax.enable_x64(True):
        found = jax.jit(variate)(weights, f)
    np.testing.assert_allclose(found, variate(weights, f), rtol=1e-12)
