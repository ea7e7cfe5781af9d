"""One step: what it looks at when numbers overflow."""

import jax.numpy as jnp
import numpy as np
import pytest

from allmodes import Status
from allmodes.nva import anneal, presets
from allmodes.nva.engine.step import is_finite
from allmodes.nva.mixture.covariances import Fixed


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ((np.ones(3), (np.zeros((2, 2)), None)), True),
        ((np.ones(3), (np.array([[0.0, np.nan]]), None)), False),
        ((np.array([np.inf]), np.ones(2)), False),
        ((np.array([-np.inf]), np.ones(2)), False),
    ],
    ids=["finite", "nan", "inf", "-inf"],
)
def test_one_number_that_is_not_finite_spoils_the_whole(tree, wanted):
    assert bool(is_finite(tree)) is wanted


def test_finiteness_is_seen_in_jax_too():
    assert bool(is_finite((jnp.ones(2), jnp.zeros(3))))
    assert not bool(is_finite((jnp.ones(2), jnp.array([1.0, jnp.nan]))))


def test_a_run_that_overflows_says_so_in_its_status_and_nowhere_else():
    """Infinities of both signs: no warning of NumPy escapes (warnings are errors here)."""
    for seed in range(5):
        run = anneal(
            lambda x: -10.0 * (x**2).sum(),
            algorithm=presets.nva_gm(0, Fixed()),
            means=[[0.0, 0.0], [1.0, 1.0]],
            covariances=1.0,
            temperature=1.0,
            learning_rate=1e308,
            steps=3,
            rng=seed,
        )
        assert run.status is Status.DIVERGED
        assert np.isfinite(run.means).all()
