"""Components fitted to weighted draws."""

import numpy as np
import pytest

from allmodes.masses.proposal import Component
from allmodes.masses.refinement import fit
from allmodes.objective.bounds import Box

BOX = Box.make([(0.0, 1.0)] * 2)


def first(mean, width, side=(0.0, 0.0)):
    L = width * np.eye(2)
    return tuple(Component(np.array(mean), L, freedom, np.array(side), 3) for freedom in (np.inf, 3.0))


def divergence(fitted, z, log_p):
    """Mean of log p - log q at draws from p."""
    logs = np.array([part.log_density(BOX, z) for part in fitted.components])
    return float((log_p - np.logaddexp.reduce(np.log(fitted.shares)[:, None] + logs)).mean())


def bend(z):
    x, y = (z[:, 0] - 0.5) / 0.1, (z[:, 1] - 0.4) / 0.05
    return -0.5 * x**2 - 0.5 * (y - x**2) ** 2 - np.log(2.0 * np.pi * 0.1 * 0.05)


def bent_draws(n, rng):
    x = rng.standard_normal(n)
    return np.stack([0.5 + 0.1 * x, 0.4 + 0.05 * (x**2 + rng.standard_normal(n))], axis=1)


def test_a_bent_density_is_covered_better_than_by_one_component():
    rng = np.random.default_rng(0)
    z, base = bent_draws(2000, rng), first([0.5, 0.4], 0.1)
    fitted = fit(BOX, base, z, np.zeros(len(z)), rng)
    assert len(fitted.components) > 4
    assert fitted.shares.sum() == pytest.approx(1.0)
    assert {part.owner for part in fitted.components} == {3}
    new = bent_draws(4000, rng)
    of_base = float((bend(new) - base[1].log_density(BOX, new)).mean())
    assert divergence(fitted, new, bend(new)) < 0.5 * of_base


def test_weights_move_it():
    """Draws around one place, weighed as draws around another."""
    rng = np.random.default_rng(1)
    z = rng.normal(0.5, 0.1, (4000, 2))
    log_weights = (-0.5 * ((z - 0.55) / 0.05) ** 2 + 0.5 * ((z - 0.5) / 0.1) ** 2).sum(axis=1)
    fitted = fit(BOX, first([0.5, 0.5], 0.1), z, log_weights, rng)
    mean = sum(share * part.mean for share, part in zip(fitted.shares[:-2], fitted.components, strict=False))
    np.testing.assert_allclose(mean / fitted.shares[:-2].sum(), 0.55, atol=0.01)


def test_a_component_on_a_bound_stays_there():
    rng = np.random.default_rng(2)
    z = np.stack([np.abs(rng.normal(0.0, 0.02, 3000)), rng.normal(0.5, 0.1, 3000)], axis=1)
    fitted = fit(BOX, first([0.0, 0.5], 0.1, side=(1.0, 0.0)), z, np.zeros(3000), rng)
    for part in fitted.components:
        assert part.mean[0] == 0.0
        assert part.L[1, 0] == 0.0
    assert fitted.components[0].L[0, 0] == pytest.approx(0.02 * np.sqrt(1.3), rel=0.4)


def test_one_heavy_draw_is_no_component():
    rng = np.random.default_rng(3)
    z, log_weights = rng.normal(0.5, 0.1, (1000, 2)), np.zeros(1000)
    z[0], log_weights[0] = 0.9, 50.0
    fitted = fit(BOX, first([0.5, 0.5], 0.1), z, log_weights, rng)
    assert min(np.diag(part.L).min() for part in fitted.components) > 0.02


def test_draws_at_one_place_are_fitted_as_well():
    z = np.full((100, 2), 0.5)
    fitted = fit(BOX, first([0.5, 0.5], 0.1), z, np.zeros(100), np.random.default_rng(5))
    assert np.isfinite(fitted.shares).all()
    np.testing.assert_allclose([part.mean for part in fitted.components], 0.5)


def test_the_tails_of_the_first_component_are_kept():
    rng = np.random.default_rng(4)
    z, base = rng.normal(0.5, 0.001, (1000, 2)), first([0.5, 0.5], 0.1)
    fitted = fit(BOX, base, z, np.zeros(1000), rng)
    assert any(part is base[1] for part in fitted.components)
