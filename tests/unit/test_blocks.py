"""Many points are taken in blocks, and nothing but memory changes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allmodes.arrays import leaves, map_leaves
from allmodes.nva.mixture import Mixture, log_density, mixture
from allmodes.nva.mixture.covariances import Diagonal, Full
from allmodes.nva.mixture.families import Gamma, Gaussian
from allmodes.objective import GRADIENT, HESSIAN, VALUE

CASES = [(Gaussian(Full()), GRADIENT | HESSIAN), (Gaussian(Diagonal()), HESSIAN), (Gamma(), VALUE)]


@pytest.mark.parametrize("is_jax", [False, True], ids=["numpy", "jax"])
@pytest.mark.parametrize(("family", "needs"), CASES, ids=["full", "diagonal", "gamma"])
@pytest.mark.parametrize("N", [7, 8, 9])
def test_blocks_give_the_same(family: Any, needs: Any, N: int, is_jax: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    start = Mixture(rng.normal(size=3), family.start(rng.uniform(0.5, 2.0, (3, 2)), 0.3))
    points = rng.uniform(0.2, 3.0, (N, 2))
    with jax.enable_x64(True):
        if is_jax:
            start, points = map_leaves(jnp.asarray, start), jnp.asarray(points)
        whole = log_density(family, start, points, needs)
        monkeypatch.setattr(mixture, "LARGEST_TEMPORARY", 3 * 2 * 4)  # four points at a time
        parts = log_density(family, start, points, needs)
        for a, b in zip(leaves(whole), leaves(parts), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-13, atol=1e-13)
